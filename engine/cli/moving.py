"""Commands that write a memory to files: export, backup, verify-backup."""

from __future__ import annotations

import sys

from engine.base.errors import InconsistentError, InvalidInputError
from engine.cli.command import argument, command, option
from engine.cli.contradiction import contradicted
from engine.cli.options import CHECKPOINTS, EVIDENCE, EXPECT, one_of
from engine.cli.output import STDIN, plain
from engine.cli.session import Session
from engine.cli.shapes import line
from engine.exchange import backup as backups
from engine.exchange.other_programs import export_items
from engine.trust.notes.trust import read_note

JOURNAL = "journal"

_READ_BACK = "{file} was read back: all {size:,} events and the roots are those of the store"
FORMATS = ("basic-memory", JOURNAL, "mcp-memory", "mem0")


@command(
    "engine export notes.jsonl",
    "engine export - | engine import journal - --store sqlite:copy.db",
    "engine export notes/ --format basic-memory",
)
@argument("file", "FILE", "The file to create, or - for stdout; for basic-memory, a folder.")
@option("form", "--format", metavar="FORMAT", default=JOURNAL, help=f"One of: {', '.join(FORMATS)}.")
def export(session: Session, file: str, form: str) -> int:
    """Export the memory for another store or another program.

    The format journal contains the whole journal as JSON Lines; `engine import journal` reads it and creates
    a store with the same root. The other formats contain the live atoms; data that a format cannot express is
    counted.
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
            return 0
        found = backups.export_to(engine.store, file, move)
    session.out.note(_READ_BACK.format(file=file, size=found.size))
    return session.out.answer({"file": file, "format": JOURNAL, **plain(found)}, [found.root])


def _items(session: Session, file: str, form: str) -> int:
    with session.engine() as engine:
        done = export_items(engine.store, form, file)
    for name, count in done.left:
        session.out.note(f"not exported: {count:,} {name}")
    if file == STDIN:
        return 0
    return session.out.answer(
        {"file": file, "format": form, **plain(done)}, [line("written", f"{done.items:,}")]
    )


@command("engine backup notes.backup")
@argument("file", "FILE", "A new file, or an earlier backup of this store.")
def backup(session: Session, file: str) -> int:
    """Write the journal to a file, replacing an earlier backup.

    The file is read back and compared with the store before it replaces the earlier backup. Prints the root.
    Other processes may write to the store meanwhile. Exit code 9: the existing backup is of a different
    store, or contains events that this store has lost; the existing backup is kept.
    `engine import journal FILE` restores a backup.
    """
    if file == STDIN:
        raise InvalidInputError(
            "a backup needs a file, because the next backup is compared with it",
            hint="use `engine export -`",
        )
    with session.engine() as engine, session.meter("written", "events") as move:
        found = engine.backup(file, progress=move)
    session.out.note(_READ_BACK.format(file=file, size=found.size))
    return session.out.answer({"file": file, **plain(found)}, [found.root])


@command(
    "engine verify-backup notes.backup",
    "engine verify-backup notes.backup --expect $(cat root.txt)",
    name="verify-backup",
)
@argument("file", "FILE", "The backup, or - to read it from stdin.")
@EXPECT
@CHECKPOINTS
@EVIDENCE
def verify_backup(
    session: Session, file: str, expect: str | None, checkpoints: tuple[str, ...], evidence: str | None
) -> int:
    """Check a backup without a store.

    Recomputes every commitment, checkpoint and root. Exit code 4: a line is damaged; the message names
    it. 9: the backup does not continue a checkpoint.
    """
    notes = {name: read_note(name) for name in checkpoints}
    try:
        with session.meter("replayed", "events") as move:
            found = backups.verify_backup(file, expect=expect, notes=list(notes.values()), progress=move)
    except InconsistentError as error:
        return contradicted(session, error, notes, evidence)
    lines = [line("verified", "yes"), line("events", f"{found.size:,}"), line("root", found.root)]
    kept = [line("continues", name) for name in notes]
    return session.out.answer({"file": file, **plain(found), "continues": list(notes)}, [*lines, *kept])
