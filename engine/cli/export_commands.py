"""Commands that move a memory: export, backup, verify-backup, and rescue from a damaged store."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from engine.base.errors import InconsistentError, InvalidInputError, VerificationError
from engine.base.json_text import encode
from engine.base.times import shown_time
from engine.cli.checkpoint_commands import contradicted
from engine.cli.cli_output import STDIN, Failure, counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.shared_options import one_of
from engine.cli.shown_parts import Line, line
from engine.exchange import backup as backups
from engine.exchange.other_programs import export_items
from engine.exchange.rescue.rescue_run import Rescued
from engine.exchange.rescue.rescue_run import rescue as rescue_store
from engine.store.named_places import memory_url
from engine.trust.notes.trusted_keys import read_note

JOURNAL = "journal"

_READ_BACK = "{file} was read back: all {size:,} events and the roots are those of the store"
FORMATS = ("basic-memory", JOURNAL, "mcp-memory", "mem0")


@command(
    "engine export notes.jsonl",
    "engine export - | engine import journal - --store sqlite:copy.db",
    "engine export notes/ --format basic-memory",
)
def export(session: Session, file: str, *, form: str = "journal") -> int:
    """Export the memory for another store or another program.

    The format journal contains the whole journal as JSON Lines; `engine import journal` reads it and creates
    a store with the same root. The other formats contain the live atoms; data that a format cannot express is
    counted.

    Args:
        file: The file to create, or - for stdout; for basic-memory, a folder.
        form: `--format FORMAT` One of: basic-memory, journal, mcp-memory, mem0.
    """
    one_of(FORMATS, form, "format")
    if file == STDIN and session.out.json:
        raise InvalidInputError(
            "--json and an export to stdout cannot be combined: both print to stdout",
            hint="name a file instead of -",
        )
    sys.stdout.flush()
    return _journal(session, file) if form == JOURNAL else _items(session, file, form)


def _journal(session: Session, file: str) -> int:
    with session.engine() as engine, session.meter("exported", "events") as move:
        if file == STDIN:
            engine.export(sys.stdout.buffer.write, progress=move)
            session.tell_readable(engine, "the export")
            return 0
        report = backups.export_to(engine.store, file, move)
        session.tell_readable(engine, file)
    session.out.note(_READ_BACK.format(file=file, size=report.size))
    return session.out.answer({"file": file, "format": JOURNAL, **encode(report)}, [report.root])


def _items(session: Session, file: str, form: str) -> int:
    with session.engine() as engine:
        done = export_items(engine.store, form, file)
        session.tell_readable(engine, file)
    for name, count in done.left:
        session.out.note(f"not exported: {count:,} {name}")
    if file == STDIN:
        return 0
    return session.out.answer(
        {"file": file, "format": form, **encode(done)}, [line("written", f"{done.items:,}")]
    )


@command("engine backup notes.backup", "engine backup notes.backup --sealed")
def backup(session: Session, file: str, *, sealed: bool = False) -> int:
    """Write the journal to a file, replacing an earlier backup.

    The file is read back and compared with the store before it replaces the earlier backup. Prints the root.
    Exit code 9: the earlier backup, which is kept, is of a different store or has events that this store has
    lost. `engine import journal FILE` restores a backup.

    Args:
        file: A new file, or an earlier backup of this store.
        sealed: Encrypt the file under the key of the store, which must be sealed.
    """
    if file == STDIN:
        raise InvalidInputError(
            "a backup needs a file, because the next backup is compared with it",
            hint="use `engine export -`",
        )
    with session.engine() as engine, session.meter("written", "events") as move:
        report = engine.backup(file, sealed=sealed, progress=move)
        if not sealed:
            session.tell_readable(engine, file)
    session.out.note(_READ_BACK.format(file=file, size=report.size))
    return session.out.answer({"file": file, **encode(report)}, [report.root])


@command(
    "engine verify-backup notes.backup",
    "engine verify-backup notes.backup --expect $(cat root.txt)",
    name="verify-backup",
)
def verify_backup(
    session: Session,
    file: str,
    *,
    expect: str | None = None,
    checkpoints: tuple[str, ...] = (),
    evidence: str | None = None,
) -> int:
    """Check a backup without a store.

    Recomputes every commitment, checkpoint and root. Exit code 4: a line is damaged; the message names
    it. 9: the backup does not continue a checkpoint.

    Args:
        file: The backup, or - to read it from stdin.
    """
    notes = {name: read_note(name) for name in checkpoints}
    try:
        with session.meter("replayed", "events") as move:
            report = backups.verify_backup(file, expect=expect, notes=list(notes.values()), progress=move)
    except InconsistentError as error:
        return contradicted(session, error, notes, evidence)
    lines = [line("verified", "yes"), line("events", f"{report.size:,}"), line("root", report.root)]
    lines_of_notes = [line("continues", name) for name in notes]
    return session.out.answer(
        {"file": file, **encode(report), "continues": list(notes)}, [*lines, *lines_of_notes]
    )


@command("engine rescue notes -o notes-rescued", "engine rescue sqlite:notes.db -o sqlite:rescued.db --json")
def rescue(
    session: Session, source: str, *, output: str, erase_lost: bool = False, unconfirmed: bool = False
) -> int:
    """Make a new store from the journal that is left in a damaged store.

    Takes the longest valid journal, verifies the new store, and prints what was found and what is lost. The
    damaged store is only read. Exit code 4: events are lost; the new store has the events before them.

    Args:
        source: `STORE` The damaged store.
        output: `-o NEW` The path or URL of the new store.
        erase_lost: Keep the events after lost content; erase the content's atom in the new store.
        unconfirmed: Keep events even if the log's hashes do not confirm their headers.
    """
    if session.memory is not None:
        source = memory_url(source, session.memory)
    with session.meter("rescued", "events") as move:
        report = rescue_store(source, output, move, erase_lost=erase_lost, unconfirmed=unconfirmed)
    data = {"source": source, "target": output, "complete": report.complete, **encode(report)}
    failure = None
    if not report.complete:
        failure = Failure.of(
            VerificationError(
                f"the rescue lost {_loss(report)}",
                hint=f"{output} has everything else; a backup or a copy may have more",
            )
        )
    return session.out.answer(data, _rescue_report(report), failure=failure)


def _rescue_report(found: Rescued) -> Iterator[Line]:
    yield line("backend", found.backend)
    for reading in found.readings:
        yield line("read", f"{reading.way}: {reading.rows:,} rows")
        for problem in reading.problems:
            yield line("problem", problem)
    yield line("found", f"{found.found:,} events")
    yield line("rescued", f"{found.events:,} events")
    yield line("last event", shown_time(found.last_event))
    yield line("covered", f"the first {found.proved:,} events by the log's own hashes")
    for seq in found.lost_contents:
        yield line("no content", f"event {seq}")
    if more := found.contents_lost - len(found.lost_contents):
        yield line("no content", f"{more:,} more events")
    for atom in found.erased:
        yield line("erased", atom)
    if more := found.atoms_erased - len(found.erased):
        yield line("erased", f"{more:,} more atoms")
    yield line("lost", _loss(found) if not found.complete else "nothing that is known")
    if found.reason and not found.lost:
        yield line("left out", found.reason)
    yield line("root", found.root)


def _loss(found: Rescued) -> str:
    if not found.lost:
        return counted(found.contents_lost, "content")
    return f"{found.lost:,} of {found.recorded:,} events: {found.reason}"
