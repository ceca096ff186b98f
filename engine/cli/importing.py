"""The command import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.ingesting import SKIPPED_SHOWN, _store, partial_import
from engine.cli.mirroring import after_writes
from engine.cli.output import Failure, Line
from engine.cli.pages import command, new_app, running
from engine.cli.settings import find_secrets
from engine.cli.stores import line
from engine.cli.values import counted, plain

if TYPE_CHECKING:
    from engine.cli.session import Session
    from engine.knowledge.importing import ImportReport
    from engine.transfer.adapters.run import TakenIn
    from engine.transfer.ingest.documents import Skipped

app = new_app()

JOURNAL = "journal"
MCP_MEMORY = "mcp-memory"
FORMATS = ("basic-memory", "chatgpt", "claude", JOURNAL, MCP_MEMORY, "mem0")


@command(
    app,
    "engine import mcp-memory ~/memory.jsonl --dry-run",
    "engine import mcp-memory memory.json",
    "engine import chatgpt export/conversations.json",
    "engine import journal notes.jsonl --store sqlite:new.db",
    name="import",
)
def import_(
    ctx: typer.Context,
    form: Annotated[
        str, typer.Argument(metavar="FORMAT", help=f"One of: {', '.join(FORMATS)}.", show_default=False)
    ],
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="What was exported; for basic-memory a folder.", show_default=False
        ),
    ],
    provenance: Annotated[
        str | None,
        typer.Option(
            "--provenance",
            metavar="NAME",
            help="For new atoms: internal, external or quarantine. [default: external; mcp-memory: internal]",
        ),
    ] = None,
    bucket: Annotated[
        list[str] | None,
        typer.Option("--bucket", metavar="NAME", help="For new atoms. Repeatable. [default: inbox]"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be done.")] = False,
) -> int:
    """Take in what another memory exported.

    Again: only what is new or changed is written. What cannot go in is listed, and the exit code is 8.
    Makes the store if there is none. docs/moving.md says what becomes of what.

    mcp-memory: the file of the MCP memory server, memory.jsonl or memory.json; what was deleted since
    comes back. journal: what `engine export` or `engine backup` wrote (- reads stdin): the same store
    again, proved by its root, in a new place or where the beginning of it is.
    """
    from engine.base.errors import InvalidInputError

    session = running(ctx)
    if form not in FORMATS:
        raise InvalidInputError(f"there is no format {form!r}", hint=f"choose among: {', '.join(FORMATS)}")
    if bucket and form in {JOURNAL, MCP_MEMORY}:
        raise InvalidInputError(f"--bucket is not for {form}")
    if form == JOURNAL:
        if provenance is not None:
            raise InvalidInputError("--provenance is not for journal: every atom keeps its own")
        return _journal(session, file, dry_run=dry_run)
    if form == MCP_MEMORY:
        return _graph(session, file, provenance or "internal", dry_run=dry_run)
    return _items(session, form, file, provenance or "external", tuple(bucket or ("inbox",)), dry_run=dry_run)


def _journal(session: Session, file: str, *, dry_run: bool) -> int:
    from engine.secrets.filter import summary
    from engine.transfer.backup import import_journal, verify_backup
    from engine.transfer.journal_import import pass_all
    from engine.trust.secrets_scan import journal_check

    with session.meter("replayed", "events") as move:
        if dry_run:
            found = verify_backup(file, progress=move)
            return session.out.answer(
                plain(found), [line("events", f"{found.size:,}"), line("root", found.root)]
            )
        policy, found_secrets = find_secrets()[0], Counter[str]()
        check = pass_all if policy is None else journal_check(policy, found_secrets)
        done = import_journal(file, session.setting.url, move, check=check)
    if found_secrets:
        session.out.note(f"secrets written all the same: {summary(found_secrets)}")
    session.out.note("made a store" if done.created else f"{counted(done.events, 'event')} new")
    return session.out.answer(plain(done), [((done.root, ""),)])


def _graph(session: Session, file: str, provenance: str, *, dry_run: bool) -> int:
    from engine.transfer.adapters.mcp_memory import check_file, import_file

    check_file(Path(file))  # a bad file must not leave an empty store behind
    with _store(session, dry_run=dry_run) as engine, session.meter("read", "things") as move:
        report = import_file(engine.store, file, provenance=provenance, dry_run=dry_run, progress=move)
        mirror = None if dry_run else after_writes(session, engine)
    held = report.entities + report.relations > 0
    failure = _skipped(session, "skipped", report.skipped, held=held, dry_run=dry_run) or mirror
    return session.out.answer(plain(report), _report(report), failure=failure)


def _items(
    session: Session, form: str, file: str, provenance: str, buckets: tuple[str, ...], *, dry_run: bool
) -> int:
    from engine.base import validation as border
    from engine.transfer.adapters import check_file
    from engine.transfer.adapters.run import import_items

    border.provenance(provenance)
    check_file(form, Path(file))  # a bad file must not leave an empty store behind
    with _store(session, dry_run=dry_run) as engine, session.meter("read", "items") as move:
        report = import_items(
            engine.store, form, file, provenance=provenance, buckets=buckets, dry_run=dry_run, progress=move
        )
        mirror = None if dry_run else after_writes(session, engine)
    held = report.items > 0
    _skipped(session, "warning", report.warnings, held=held, dry_run=dry_run)
    failure = _skipped(session, "skipped", report.skipped, held=held, dry_run=dry_run) or mirror
    return session.out.answer(plain(report), _taken(report), failure=failure)


def _skipped(
    session: Session, word: str, items: tuple[Skipped, ...], *, held: bool, dry_run: bool
) -> Failure | None:
    """List the first of what did not go in, or not whole; the failure that it is."""
    for item in items[:SKIPPED_SHOWN]:
        at = "" if item.line is None else f":{item.line}"
        session.out.note(f"{word} {item.source}{at}: {item.reason}")
    if not items:
        return None
    return partial_import(len(items), held=held, dry_run=dry_run)


def _taken(report: TakenIn) -> Iterator[Line]:
    yield line("items", f"{report.items:,} read")
    names = ("added", "revised", "revived", "tombstoned")
    counts = [f"{getattr(report, name):,} {name}" for name in names if getattr(report, name)]
    yield line("atoms", ", ".join(counts) or "nothing to do")
    if report.linked or report.unlinked or report.unresolved:
        yield line(
            "edges", f"{report.linked:,} new, {report.unlinked:,} gone, {report.unresolved:,} lead nowhere"
        )
    for name, count in report.left:
        yield line("not kept", f"{count:,} {name}")
    for word, items in (("warnings", report.warnings), ("skipped", report.skipped)):
        if items:
            yield line(word, f"{len(items):,}")


def _report(report: ImportReport) -> Iterator[Line]:
    yield line("entities", f"{report.entities:,} read, {report.new_entities:,} new")
    yield line("observed", f"{counted(report.new_observations, 'observation')} new")
    yield line("relations", f"{report.relations:,} read, {report.new_relations:,} new")
    if report.skipped:
        yield line("skipped", f"{len(report.skipped):,}")
