"""The command ingest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.cli.command import argument, command, option
from engine.cli.filling import counts, filled, left_out, numbers_left_out
from engine.cli.mirroring import after_writes
from engine.cli.options import BUCKETS, dry_run
from engine.cli.output import Line, line
from engine.cli.session import Session
from engine.cli.values import plain
from engine.transfer.ingest.run import IngestReport
from engine.transfer.ingest.walk import find_files


@command(
    "engine ingest notes/",
    "engine ingest notes/ --prune --dry-run",
    "engine ingest talk.jsonl --tag talk",
)
@argument("paths", "PATH", "Files and folders.", many=True)
@option("--name", metavar="NAME", help="The first part of every source. [default: the folder's name]")
@option(
    "--root",
    metavar="DIR",
    help="A folder that holds every PATH; sources are relative to it, after its name.",
)
@option("tags", "--tag", "-t", metavar="TAG", multiple=True, help="A tag for every atom. Repeatable.")
@BUCKETS
@option(
    "--provenance",
    metavar="NAME",
    default="internal",
    help="The provenance of new atoms: internal, external or quarantine.",
)
@option("--prune", help="Also tombstone atoms of files that are gone.")
@option("sure", "--yes", help="Prune even if none of the files there now was ingested before.")
@option("--force", help="Also ingest content that was erased.")
@dry_run()
def ingest(
    session: Session,
    paths: tuple[str, ...],
    name: str | None,
    root: str | None,
    buckets: tuple[str, ...],
    dry_run: bool,
    **options: Any,
) -> int:
    """Read files or folders into the store.

    Markdown, plain text and JSON Lines. Again: only what changed is written. What cannot be read is
    skipped and listed, and the exit code is 8. Makes the store if there is none. Where the settings
    name a mirror, it is brought up to date.
    """
    find_files(paths, name=name, root=root)  # a missing path must not leave an empty store behind
    with filled(session, dry_run=dry_run) as engine:
        with session.meter("read", "files") as move:
            report = engine.ingest(
                paths,
                name=name,
                root=root,
                buckets=buckets or ("inbox",),
                dry_run=dry_run,
                progress=lambda at: move(at.files, at.total),
                **options,
            )
        mirror = None if dry_run else after_writes(session, engine)
    failure = left_out(
        session, report.skipped, report.warnings, held=report.pieces > 0, dry_run=dry_run, mirror=mirror
    )
    return session.out.answer(plain(report), _report(report), failure=failure)


def _report(report: IngestReport) -> Iterator[Line]:
    yield line("files", f"{report.files:,} with {report.pieces:,} pieces")
    yield line("atoms", counts(report, ("added", "revised", "retagged", "revived", "tombstoned")))
    yield line(
        "links", f"{report.linked:,} new, {report.unlinked:,} gone, {report.unresolved_links:,} lead nowhere"
    )
    yield from numbers_left_out(report)
