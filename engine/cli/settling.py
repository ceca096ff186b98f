"""Commands on conflicts between files and changes by hand: conflicts and settle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.cli.command import argument, command, option
from engine.cli.labels import Labels, labels
from engine.cli.output import plain
from engine.cli.session import Session
from engine.cli.shapes import Fields, Shown
from engine.query.snippets import beginning

if TYPE_CHECKING:
    from engine.base.model import Atom
    from engine.query.conflicts import Conflict


@command("engine conflicts", "engine conflicts --json")
def conflicts(session: Session) -> int:
    """List texts of files that conflict with changes by hand.

    A conflict arises if a text in a file changes after its atom was revised or hidden by hand. `engine
    ingest` keeps both versions, and `engine settle` settles the conflict. If the text is no
    longer in the file, and `engine ingest` hid the atom for this reason, the reason is shown.
    """
    with session.engine() as engine:
        found = engine.conflicts()
        named = labels(session, engine, (atom.id for one in found for atom in (one.file, one.hand)))
    session.out.listed(len(found), "conflict")
    return session.out.answer(plain(found), (item for one in found for item in _lines(one, named)))


@command(
    "engine settle 1f0c 9a2e --keep file",
    "engine settle 1f0c 9a2e --keep hand",
    "engine settle 1f0c 9a2e --keep both",
)
@argument("file", "FILE_ID", "The atom with the text of the file.")
@argument("hand", "HAND_ID", "The atom that was changed by hand.")
@option("--keep", metavar="WHICH", default="", show_default=False, help="What to keep: file, hand or both.")
def settle(session: Session, file: str, hand: str, keep: str) -> int:
    """Settle a conflict between a file and a change by hand.

    If both atoms are live, the atom that is not kept is merged into the other. `engine unmerge` undoes the
    merge, but the conflict stays settled. `engine conflicts` lists the ids.
    """
    with session.engine() as engine:
        receipt = engine.settle(engine.resolve(file), engine.resolve(hand), keep)
    return session.done(receipt, "settled", "nothing to do")


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
