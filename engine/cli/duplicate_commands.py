"""Commands on atoms that say the same: supersede, merge, unmerge, duplicates, conflicts, settle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from engine.base.json_text import encode
from engine.base.model import Atom
from engine.cli.cli_output import counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import Positive, command
from engine.cli.shared_options import AsOf
from engine.cli.shown_labels import Labels, labels, names_of_devices
from engine.cli.shown_parts import Fields, Shown
from engine.commands import Supersede
from engine.text.language.snippets import beginning

if TYPE_CHECKING:
    from engine.commands.concurrent import Concurrent
    from engine.commands.conflicts import Conflict
    from engine.index.copies.duplicates import Duplicate, DuplicateGroup


@command("engine supersede 1f0c 9a2e --reason 'descaled on Fridays since June'")
def supersede(session: Session, old: str, new: str, *, reason: str = "") -> int:
    """Mark an atom as replaced by another atom; the old atom is kept.

    OLD and its near-duplicates are no longer recalled, unless --superseded is given. OLD gets the tag
    `superseded`. `engine revert` undoes this.

    Args:
        old: The atom that is wrong.
        new: The atom that is right.
    """
    with session.engine() as engine:
        given = engine.resolve(old), engine.resolve(new)
        receipt = engine.apply([Supersede(*given, reason)])[0]
        listed = [one.id for group in engine.duplicates(of=given[0]) for one in (group.keep, *group.others)]
        alike = [one for one in listed if engine.held_back(one) is not None]
        named = labels(session, engine, alike)
    code = session.done(receipt, "superseded", "nothing to do: NEW already supersedes OLD")
    for one in alike:
        if one not in given:
            session.out.note(
                f"{named.id(one)} is a near-duplicate of the old atom and is no longer recalled either"
            )
    return code


@command("engine merge 1f0c 9a2e", "engine merge 1f0c 9a2e --force")
def merge(session: Session, keep: str, other: str, *, force: bool = False) -> int:
    """Merge an atom into its near-duplicate.

    KEEP gets the tags and buckets of OTHER. An edge `supersedes` is added from KEEP to OTHER. OTHER is
    hidden, not deleted. `engine unmerge` undoes all of this. Prints the id of KEEP.

    Args:
        keep: The atom to keep.
        other: The atom that is merged into it.
        force: Merge the atoms even if they are not near-duplicates.
    """
    with session.engine() as engine:
        receipt = engine.merge(engine.resolve(keep), engine.resolve(other), force=force)
    return session.done(receipt, "merged", "nothing to do: the atoms are already merged")


@command("engine unmerge 9a2e")
def unmerge(session: Session, atom: str, *, force: bool = False) -> int:
    """Undo a merge.

    The merged atom is live again. The kept atom loses the tags and buckets that it gained by the merge. A tag
    or bucket that was added again later stays.
    """
    with session.engine() as engine:
        receipt = engine.unmerge(engine.resolve(atom), force=force)
    return session.done(receipt, "unmerged", "nothing to do: the atom is live, so there is no merge to undo")


@command("engine duplicates", "engine duplicates --of 1f0c")
def duplicates(
    session: Session, *, of: str | None = None, limit: Positive = 100, as_of: AsOf | None = None
) -> int:
    """List groups of near-duplicate atoms.

    In each group, the atom to keep comes first. The others are listed with the number of bits in which their
    fingerprints differ from its fingerprint. `engine merge` merges one of them into the atom to keep.

    Args:
        of: `ID` Show only the group that contains this atom.
    """
    with session.reading(as_of) as memory:
        groups = memory.duplicates(limit=limit, of=None if of is None else memory.resolve(of))
        named = labels(session, memory, (one.id for group in groups for one in (group.keep, *group.others)))
    atoms = sum(1 + len(group.others) for group in groups)
    session.out.note(f"{counted(len(groups), 'group')}, {counted(atoms, 'atom')}")
    return session.out.answer(encode(groups), (item for group in groups for item in _group(group, named)))


def _group(group: DuplicateGroup, named: Labels) -> Iterator[Shown]:
    yield _duplicate(group.keep, "keep", named)
    for other in group.others:
        yield _duplicate(other, counted(other.distance, "bit"), named)
    yield ""


def _duplicate(atom: Duplicate, place: str, named: Labels) -> Fields:
    return Fields(
        (
            (named.id(atom.id), "cyan"),
            (place, "green"),
            (atom.title or "", "bold"),
            (atom.snippet, ""),
            (atom.source or "", "dim"),
            (" ".join(f"#{tag}" for tag in atom.tags), "magenta"),
        )
    )


@command("engine conflicts", "engine conflicts --json")
def conflicts(session: Session) -> int:
    """List texts that were changed in two places.

    A conflict arises if a text in a file changes after its atom was revised or hidden by hand, or if two
    devices change a text before they hear of each other. Both versions are kept, and `engine settle` settles
    the conflict. An edit of a text that another device erased is listed as lost.
    """
    with session.engine() as engine:
        found = engine.conflicts()
        edits = engine.concurrent_edits()
        named = labels(session, engine, (atom.id for one in found for atom in (one.file, one.hand)))
        devices = names_of_devices(engine, (one.device for edit in edits for one in edit.versions))
    session.out.listed(len(found) + len(edits), "conflict")
    if any(one.shown for one in edits):
        session.out.note("`engine settle ATOM DEVICE` keeps the version of a device")
    lines = [item for one in found for item in _lines(one, named)]
    lines += [item for one in edits for item in _versions(one, devices)]
    return session.out.answer([*encode(found), *encode(edits)], lines)


@command(
    "engine settle 1f0c 9a2e --keep file",
    "engine settle 1f0c 9a2e --keep hand",
    "engine settle 1f0c 9a2e --keep both",
    "engine settle 1f0c 0b3d5e7a",
)
def settle(session: Session, file: str, hand: str, *, keep: str = "") -> int:
    """Settle a conflict: choose the text that is kept.

    If both atoms are live, the atom that is not kept is merged into the other. `engine unmerge` undoes the
    merge, but the conflict stays settled. `engine conflicts` lists the ids.

    If several devices changed an atom, name the atom and the device whose version is kept.

    Args:
        file: `FILE_ID|ATOM` The atom with the text of the file, or the atom that several devices changed.
        hand: `HAND_ID|DEVICE` The atom that was changed by hand, or the device whose version is kept.
        keep: `WHICH` What to keep: file, hand, both or device. Not needed with a device.
    """
    with session.engine() as engine:
        atom = engine.resolve(file)
        versions = [
            one for edits in engine.concurrent_edits() if edits.subject == atom for one in edits.versions
        ]
        if any(one.device.startswith(hand) for one in versions):
            keep = "device"
        receipt = engine.settle(atom, hand if keep == "device" else engine.resolve(hand), keep)
    return session.done(receipt, "settled", "nothing to do")


def _versions(edits: Concurrent, devices: Mapping[str, str]) -> Iterator[Shown]:
    yield Fields(((edits.subject, "cyan"),))
    for one in edits.versions:
        state = "shown" if one.device == edits.shown else "lost" if not edits.shown else ""
        device = f"{one.device} {devices.get(one.device, '')}".rstrip()
        yield Fields(((device, "green"), (one.actor, ""), (state, ""), (beginning(one.content or ""), "")))
    yield ""


def _lines(conflict: Conflict, named: Labels) -> Iterator[Shown]:
    yield Fields(((conflict.file.source or "", "dim"),))
    yield _atom(conflict.file, "file", named)
    yield _atom(conflict.hand, "hand", named)
    yield ""


def _atom(atom: Atom, side: str, named: Labels) -> Fields:
    state = atom.state.name.lower()
    if atom.tombstone is not None and atom.tombstone.reason:
        state = f"{state}: {atom.tombstone.reason}"
    return Fields(
        ((named.id(atom.id), "cyan"), (side, "green"), (state, ""), (beginning(atom.content or ""), ""))
    )
