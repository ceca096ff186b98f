"""The command ingest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.mirroring import after_writes
from engine.cli.output import Failure, Line
from engine.cli.pages import command, new_app, running
from engine.cli.session import Session
from engine.cli.settings import find_secrets
from engine.cli.stores import line
from engine.cli.values import plain

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.transfer.ingest.run import IngestReport

app = new_app()

PARTIAL_IMPORT = 8
SKIPPED_SHOWN = 20


@command(
    app,
    "engine ingest notes/",
    "engine ingest notes/ --prune --dry-run",
    "engine ingest talk.jsonl --tag talk",
)
def ingest(
    ctx: typer.Context,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Files and folders.", show_default=False)
    ],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="What sources begin with. [default: the folder's name]"),
    ] = None,
    root: Annotated[
        str | None,
        typer.Option(
            "--root", metavar="DIR", help="A folder that holds all: sources are paths in it, after its name."
        ),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="For every atom. Repeatable.")
    ] = None,
    bucket: Annotated[
        list[str] | None,
        typer.Option("--bucket", metavar="NAME", help="For new atoms. Repeatable. [default: inbox]"),
    ] = None,
    provenance: Annotated[
        str,
        typer.Option("--provenance", metavar="NAME", help="For new atoms: internal, external or quarantine."),
    ] = "internal",
    prune: Annotated[
        bool, typer.Option("--prune", help="Also tombstone atoms of files that are gone.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Prune also where none of the files there now is known.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Take in also what was erased.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be done.")] = False,
) -> int:
    """Read files or folders into the store.

    Markdown, plain text and JSON Lines. Again: only what changed is written. What cannot be read is
    skipped and listed, and the exit code is 8. Makes the store if there is none. Where the settings
    name a mirror, it is brought up to date.
    """
    from engine.transfer.ingest.run import IngestProgress
    from engine.transfer.ingest.walk import find_files

    session = running(ctx)
    find_files(paths, name=name, root=root)  # a missing path must not leave an empty store behind
    with _store(session, dry_run=dry_run) as engine:
        with session.meter("read", "files") as move:

            def moved(at: IngestProgress) -> None:
                move(at.files, at.total)

            report = engine.ingest(
                paths,
                name=name,
                root=root,
                tags=tag or (),
                buckets=bucket or ("inbox",),
                provenance=provenance,
                prune=prune,
                sure=yes,
                force=force,
                dry_run=dry_run,
                progress=moved,
            )
        failure = None if dry_run else after_writes(session, engine)
    for word, items in (("warning", report.warnings), ("skipped", report.skipped)):
        for item in items[:SKIPPED_SHOWN]:
            at = f":{item.line}" if item.line is not None else ""
            session.out.note(f"{word} {item.source}{at}: {item.reason}")
    if report.skipped:
        if failure is not None:
            session.out.note(failure.message)
        failure = partial_import(len(report.skipped), held=report.pieces > 0, dry_run=dry_run)
    return session.out.answer(plain(report), _report(report), failure=failure)


def partial_import(skipped: int, *, held: bool, dry_run: bool) -> Failure:
    """The failure that something was skipped; `held` says whether anything was not."""
    rest = f"{'the rest' if held else 'nothing'} {'would go' if dry_run else 'went'} in"
    return Failure(PARTIAL_IMPORT, "partial_import", f"{skipped} skipped; {rest}", "--json lists them all")


@contextmanager
def _store(session: Session, *, dry_run: bool) -> Iterator[Engine]:
    """The store; where there is none a dry run counts against an empty one, and makes none."""
    from backends import store_exists
    from engine.base.error_translation import translated
    from engine.engine import Engine

    with translated():
        missing = dry_run and not store_exists(session.setting.url)
    empty = partial(Engine.open, "memory:", secrets=find_secrets()[0])
    with empty() if missing else session.engine(create=not dry_run) as engine:
        yield engine


def _report(report: IngestReport) -> Iterator[Line]:
    yield line("files", f"{report.files:,} with {report.pieces:,} pieces")
    atoms = ("added", "revised", "retagged", "revived", "tombstoned")
    counts = [f"{getattr(report, name):,} {name}" for name in atoms if getattr(report, name)]
    yield line("atoms", ", ".join(counts) or "nothing to do")
    yield line(
        "links", f"{report.linked:,} new, {report.unlinked:,} gone, {report.unresolved_links:,} lead nowhere"
    )
    for word, items in (("warnings", report.warnings), ("skipped", report.skipped)):
        if items:
            yield line(word, f"{len(items):,}")
