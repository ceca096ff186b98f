"""Commands that carry a memory elsewhere: export, backup, verify-backup."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from engine.base.errors import InconsistentError, InvalidInputError
from engine.cli.options import Evidence
from engine.cli.pages import command, new_app, running
from engine.cli.stores import line
from engine.cli.values import STDIN, plain

if TYPE_CHECKING:
    from engine.cli.session import Session

app = new_app()

JOURNAL = "journal"
FORMATS = ("basic-memory", JOURNAL, "mcp-memory", "mem0")


@command(
    app,
    "engine export notes.jsonl",
    "engine export - | engine import journal - --store sqlite:copy.db",
    "engine export notes/ --format basic-memory",
)
def export(
    ctx: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Where to: a new file; - is stdout; for basic-memory a folder.",
            show_default=False,
        ),
    ],
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help=f"One of: {', '.join(FORMATS)}.")
    ] = JOURNAL,
) -> int:
    """Write the memory for another place or another program.

    journal: all of it, as JSON Lines, from which `engine import journal` makes the store again, with the
    same root. The others: what is live, as far as the other memory has a place for it; the rest is counted.
    """
    session = running(ctx)
    if form not in FORMATS:
        raise InvalidInputError(f"there is no format {form!r}", hint=f"choose among: {', '.join(FORMATS)}")
    if file == STDIN and session.out.json:
        raise InvalidInputError("--json prints to stdout, and so does the export", hint="name a file")
    sys.stdout.flush()
    return _journal(session, file) if form == JOURNAL else _items(session, file, form)


def _journal(session: Session, file: str) -> int:
    from engine.transfer.backup import export_to

    with session.engine() as engine, session.meter("exported", "events") as move:
        if file == STDIN:
            engine.export(sys.stdout.buffer.write, progress=move)
            return 0
        found = export_to(engine.store, file, move)
    return session.out.answer({"file": file, "format": JOURNAL, **plain(found)}, [((found.root, ""),)])


def _items(session: Session, file: str, form: str) -> int:
    from engine.transfer.adapters import export_items

    with session.engine() as engine:
        done = export_items(engine.store, form, file)
    for name, count in done.left:
        session.out.note(f"not in it: {count:,} {name}")
    if file == STDIN:
        return 0
    return session.out.answer(
        {"file": file, "format": form, **plain(done)}, [line("written", f"{done.items:,}")]
    )


@command(app, "engine backup notes.backup")
def backup(
    ctx: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A new file, or an earlier backup of this store.", show_default=False
        ),
    ],
) -> int:
    """Write the journal to a file, in the place of an earlier backup.

    Prints the root. Others may go on writing. Exit code 9: the backup there is not of this store, or has
    events that this store has lost; it stays. `engine import journal FILE` makes the store again.
    """
    if file == STDIN:
        raise InvalidInputError(
            "a backup is a file, for the next one to compare with", hint="`engine export -`"
        )
    session = running(ctx)
    with session.engine() as engine, session.meter("written", "events") as move:
        found = engine.backup(file, progress=move)
    return session.out.answer({"file": file, **plain(found)}, [((found.root, ""),)])


@command(
    app,
    "engine verify-backup notes.backup",
    "engine verify-backup notes.backup --expect $(cat root.txt)",
    name="verify-backup",
)
def verify_backup(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The backup; - reads stdin.", show_default=False)
    ],
    expect: Annotated[
        str | None, typer.Option("--expect", metavar="HEX", help="The root it must have, 64 hex digits.")
    ] = None,
    checkpoints: Annotated[
        list[str] | None,
        typer.Option("--checkpoint", metavar="FILE", help="A checkpoint it must continue. Repeatable."),
    ] = None,
    evidence: Evidence = None,
) -> int:
    """Check a backup without any store.

    Works out every commitment, checkpoint and root again. Exit code 4: a line is damaged; it is named.
    9: it does not continue a checkpoint.
    """
    from engine.cli.contradiction import contradicted
    from engine.transfer.backup import verify_backup as verify
    from engine.trust.notes.trust import read_note

    session = running(ctx)
    notes = {name: read_note(name) for name in checkpoints or ()}
    try:
        with session.meter("replayed", "events") as move:
            found = verify(file, expect=expect, notes=list(notes.values()), progress=move)
    except InconsistentError as error:
        return contradicted(session, error, notes, evidence)
    lines = [line("verified", "yes"), line("events", f"{found.size:,}"), line("root", found.root)]
    kept = [line("continues", name) for name in notes]
    return session.out.answer({"file": file, **plain(found), "continues": list(notes)}, [*lines, *kept])
