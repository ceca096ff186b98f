"""Two commands: `secrets` finds secrets in the store, and `erase` destroys content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import click

from engine.base.errors import InvalidInputError, NotFoundError, RefusedError, VerificationError
from engine.base.json_text import encode
from engine.base.outside_files import read_file
from engine.base.validation import atom_id
from engine.cli.cli_output import Failure, counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.shared_options import FilterOptions, one_of
from engine.cli.shown_labels import Labels, labels
from engine.cli.shown_parts import Line, Table, line
from engine.commands.secrets.builtin_detectors import DETECTORS
from engine.commands.secrets.policy import SecretsPolicy
from engine.erase.destroy import ATOMS_MAX
from engine.erase.erasure import Erasable, Erasure
from engine.ledger.queries import short_id
from engine.memory.memory_settings import find_secrets
from engine.trust.secrets_scan import scan

if TYPE_CHECKING:
    from engine.engine import Engine

FOUND = 1
_LIST_BYTES_MAX = 1 << 26
"""The maximum size of a list of atoms; with an id of 36 characters a line, over a million."""
PLANNED_SHOWN = 20
"""The maximum number of atoms that a dry run names without --full."""


@command(
    "engine erase 1f0c --dry-run",
    "engine erase 1f0c --reason GDPR --yes",
    "engine erase --mentions Priya --dry-run --full",
    "engine erase --list ids.txt --reason GDPR --yes",
)
def erase(
    session: Session,
    atoms: tuple[str, ...] = (),
    *,
    reason: str = "",
    listed: str | None = None,
    mentions: tuple[str, ...] = (),
    forget: bool = False,
    no_probe: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    **narrow: Unpack[FilterOptions],
) -> int:
    """Permanently destroy the content and the edges of atoms.

    Erases the atoms that are named or in a list, and all atoms that pass filters, also hidden ones and those
    of which only an earlier version passes. The history remains verifiable: it shows each event, but not the
    content. Searches the store's files and query results for the content before and after; exit code 4 means
    that it is still found. Lists copies that erasing cannot reach. Without a terminal, --yes is required.

    Args:
        reason: `TEXT` The reason for erasing, required except with --dry-run. It is stored: do not quote the
            content.
        listed: `--list FILE` A file whose lines begin with ids, as `engine find --form short` prints them; -
            is stdin.
        forget: Keep no hash of the content, so that it can be added again without a warning.
        no_probe: Do not search for the content before and after erasing.
        dry_run: Show what would be destroyed; change nothing.
        yes: Do not ask for confirmation.
    """
    with session.engine() as engine:
        ids = list(_chosen(engine, atoms, listed, mentions, narrow))
        wanted = engine.erasable(ids)
        if dry_run:
            named = labels(session, engine, wanted.ids)
            lines = _planned(wanted, named, full=session.full)
            return session.out.answer({**encode(wanted), "dry_run": True}, lines)
        if not reason.strip():
            raise InvalidInputError("--reason is missing", hint="say why, without quoting the content")
        if not yes:
            _ask(session, wanted)

        def show_stage(stage: str) -> None:
            session.out.note(f"erasing: {stage}")

        receipt = engine.erase(ids, reason, remember=not forget, probe=not no_probe, progress=show_stage)
        failure = session.update_mirror(engine)
    if receipt.probe is not None and receipt.probe.verdict == "failed":
        error = VerificationError(
            "the content was erased, but is still found: " + "; ".join(receipt.probe.reasons),
            hint="this is a bug; run `engine verify-root`, and report the result together with this message",
        )
        failure = Failure.of(error)
    return session.out.answer(
        {**encode(receipt), "changed": bool(receipt.events)}, _done(receipt), failure=failure
    )


def _chosen(
    engine: Engine,
    atoms: tuple[str, ...],
    listed: str | None,
    mentions: tuple[str, ...],
    narrow: FilterOptions,
) -> Iterator[str]:
    """Yield the ids of the atoms to erase.

    Raises:
        InvalidInputError: Nothing says which atoms to erase.
        NotFoundError: No atom passes the filters.
    """
    yield from map(engine.resolve, atoms)
    if listed is not None:
        text = read_file(listed, _LIST_BYTES_MAX).decode(errors="replace")
        yield from (engine.resolve(one.split()[0]) for one in text.splitlines() if one.strip())
    filters: Any = {name: value for name, value in narrow.items() if value}
    if mentions or filters:
        found = engine.find(limit=ATOMS_MAX, form="short", mentions=mentions, hidden=True, **filters)
        if not found:
            raise NotFoundError("no atom passes the filters, so nothing was erased")
        yield from (one.id for one in found)
    elif not atoms and listed is None:
        raise InvalidInputError(
            "nothing says which atoms to erase", hint="give ids, --list or a filter such as --mentions"
        )


def _ask(session: Session, wanted: Erasable) -> None:
    """Ask for confirmation at the terminal.

    Raises:
        RefusedError: there is no terminal, or the answer is no.
    """
    if not session.out.can_ask:
        raise RefusedError(
            "erasing cannot be undone and needs confirmation", hint="check with --dry-run, then add --yes"
        )
    session.out.note(
        f"{wanted.payloads} payloads and {wanted.edges} edges of {_named(wanted.ids)} will be destroyed"
    )
    if not click.confirm("Erase?", err=True):
        raise RefusedError("nothing was erased")


def _named(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else counted(len(ids), "atom")


def _planned(wanted: Erasable, named: Labels, *, full: bool) -> Iterator[Line]:
    yield line("would erase", _named(wanted.ids))
    shown = wanted.ids if full else wanted.ids[:PLANNED_SHOWN]
    for one in shown:
        hidden = named.hidden(one)
        yield line("", f"{named.id(one)} {named.name(one)}" + (f", {hidden}" if hidden else ""))
    if len(shown) < len(wanted.ids):
        yield line("", f"and {len(wanted.ids) - len(shown):,} more; --full lists all of them")
    yield line("payloads", f"{wanted.payloads:,} of {wanted.payload_bytes:,} bytes")
    yield line("edges", f"{wanted.edges:,}")
    yield line("contents", f"{wanted.contents:,}")
    for other in wanted.also_in:
        yield line("also in", other)


def _done(receipt: Erasure) -> Iterator[Line]:
    if not receipt.events and not receipt.purged:
        yield line("erased", f"{_named(receipt.ids)}, already erased")
        return
    yield line("erased", _named(receipt.ids))
    if receipt.events:
        yield line("event", str(receipt.events[-1].seq))
    yield line("payloads", f"{receipt.payloads:,} of {receipt.payload_bytes:,} bytes")
    yield line("edges", f"{receipt.edges:,}")
    yield line("hashes kept", f"{receipt.contents:,}")
    yield line("segments", f"{receipt.segments:,} rewritten")
    yield line("files", "rewritten" if receipt.purged else "not rewritten")
    probe = receipt.probe
    if probe is not None:
        reasons = f": {'; '.join(probe.reasons)}" if probe.reasons else ""
        yield line("probe", f"{probe.verdict}{reasons}")
        yield line("before", f"{', '.join((*probe.before.files, *probe.before.answers)) or 'nowhere'}")
        yield line("after", f"{', '.join((*probe.after.files, *probe.after.answers)) or 'nowhere'}")
        for other in probe.also_in:
            yield line("also in", other)
    for what in receipt.out_of_reach:
        yield line("not reached", what)


@command("engine secrets scan", "engine secrets scan --json --kind aws-key")
def secrets(session: Session, action: str, *, kinds: tuple[str, ...] = ()) -> int:
    """Search the store for passwords, keys and other secrets.

    Reads every payload, also those of tombstoned atoms and of earlier versions. Shows only the first
    characters of each secret. Exit code 1: secrets were found. The setting `secrets = "redact"` keeps secrets
    out of future writes.

    Args:
        action: scan.
        kinds: `--kind KIND` Only secrets of this kind. Repeatable.
    """
    one_of(["scan"], action, "action")
    policy = find_secrets()[0] or SecretsPolicy()
    all_kinds = {detector.kind for detector in (*DETECTORS, *policy.detectors)}
    for one in kinds:
        one_of(sorted(all_kinds), one, "kind")
    policy = policy.with_kinds(kinds)
    with (
        session.backend(session.setting.url) as backend,
        backend.snapshot() as rows,
        session.meter("read", "events") as move,
    ):
        leaks = list(scan(rows, policy, move))
        short = {
            atom: atom if session.full else short_id(rows, atom_id(atom))
            for leak in leaks
            for atom in leak.atoms
        }
    failure = None
    if leaks:
        atoms = {atom for leak in leaks for atom in leak.atoms}
        failure = Failure(
            FOUND,
            "found",
            f"{counted(len(leaks), 'secret')} in the payloads of {counted(len(atoms), 'atom')}",
            "revoke the leaked secrets; `engine erase ID` destroys an atom's payloads",
        )
    heads = ("seq", "event", "atoms", "field", "kind", "preview")
    lines = [
        (
            str(leak.seq),
            leak.event,
            " ".join(map(short.__getitem__, leak.atoms)),
            leak.field,
            leak.kind,
            leak.preview,
        )
        for leak in leaks
    ]
    return session.out.answer(
        [encode(leak) for leak in leaks], [Table(heads, lines)] if lines else [], failure=failure
    )
