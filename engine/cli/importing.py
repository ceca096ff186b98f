"""The command import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.ingesting import PARTIAL_IMPORT, SKIPPED_SHOWN, _store
from engine.cli.output import Failure, Line
from engine.cli.pages import command, new_app, running
from engine.cli.stores import line
from engine.cli.values import counted, plain

if TYPE_CHECKING:
    from engine.knowledge.importing import ImportReport

app = new_app()

FORMATS = ("mcp-memory",)


@command(
    app,
    "engine import mcp-memory ~/memory.jsonl --dry-run",
    "engine import mcp-memory memory.json",
    name="import",
)
def import_(
    ctx: typer.Context,
    form: Annotated[
        str, typer.Argument(metavar="FORMAT", help=f"One of: {', '.join(FORMATS)}.", show_default=False)
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="What was exported.", show_default=False)],
    provenance: Annotated[
        str,
        typer.Option("--provenance", metavar="NAME", help="For new atoms: internal, external or quarantine."),
    ] = "internal",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be done.")] = False,
) -> int:
    """Take in what another memory exported.

    mcp-memory: the file of the MCP memory server, memory.jsonl or memory.json. Again: only what is
    new is written, and what was deleted since comes back. Lines that cannot go in are listed, and the
    exit code is 8. Makes the store if there is none.
    """
    from engine.errors import InvalidInputError
    from engine.exchange.mcp_memory import check_file, import_file

    session = running(ctx)
    if form not in FORMATS:
        raise InvalidInputError(f"there is no format {form!r}", hint=f"choose among: {', '.join(FORMATS)}")
    check_file(Path(file))  # a bad file must not leave an empty store behind
    with _store(session, dry_run=dry_run) as engine, session.meter("read", "things") as move:
        report = import_file(engine, file, provenance=provenance, dry_run=dry_run, progress=move)
    for item in report.skipped[:SKIPPED_SHOWN]:
        session.out.note(f"skipped {item.source}:{item.line}: {item.reason}")
    failure = None
    if report.skipped:
        failure = Failure(
            PARTIAL_IMPORT,
            "partial_import",
            f"{len(report.skipped)} skipped; the rest {'would go' if dry_run else 'went'} in",
            "--json lists them all",
        )
    return session.out.answer(plain(report), _report(report), failure=failure)


def _report(report: ImportReport) -> Iterator[Line]:
    yield line("entities", f"{report.entities:,} read, {report.new_entities:,} new")
    yield line("observed", f"{counted(report.new_observations, 'observation')} new")
    yield line("relations", f"{report.relations:,} read, {report.new_relations:,} new")
    if report.skipped:
        yield line("skipped", f"{len(report.skipped):,}")
