"""The command import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from engine.base import validation as border
from engine.base.errors import InvalidInputError
from engine.cli.command import argument, command, option
from engine.cli.filling import counts, filled, left_out, numbers_left_out
from engine.cli.mirroring import after_writes
from engine.cli.options import BUCKETS, dry_run
from engine.cli.output import Line, line
from engine.cli.session import Session
from engine.cli.values import counted, plain
from engine.front.settings import find_secrets
from engine.secrets.filter import summary
from engine.transfer import adapters
from engine.transfer.adapters import mcp_memory
from engine.transfer.adapters.graph_import import ImportReport
from engine.transfer.adapters.run import TakenIn, import_items
from engine.transfer.backup import import_journal, verify_backup
from engine.transfer.journal_import import pass_all
from engine.trust.secrets_scan import journal_check

JOURNAL = "journal"
MCP_MEMORY = "mcp-memory"
FORMATS = ("basic-memory", "chatgpt", "claude", JOURNAL, MCP_MEMORY, "mem0")


@command(
    "engine import mcp-memory ~/memory.jsonl --dry-run",
    "engine import mcp-memory memory.json",
    "engine import chatgpt export/conversations.json",
    "engine import journal notes.jsonl --store sqlite:new.db",
    name="import",
)
@argument("form", "FORMAT", f"One of: {', '.join(FORMATS)}.")
@argument("file", "FILE", "What was exported; for basic-memory a folder.")
@option(
    "--provenance",
    metavar="NAME",
    help="The provenance of new atoms: internal, external or quarantine. "
    "[default: external; mcp-memory: internal]",
)
@BUCKETS
@dry_run()
def import_(
    session: Session, form: str, file: str, provenance: str | None, buckets: tuple[str, ...], dry_run: bool
) -> int:
    """Import what another memory system exported.

    Again: only what is new or changed is written. What cannot go in is listed, and the exit code is 8.
    Makes the store if there is none. docs/moving.md says what becomes of what.

    mcp-memory: the file of the MCP memory server, memory.jsonl or memory.json; what was deleted since
    comes back. journal: what `engine export` or `engine backup` wrote (- reads stdin): the same store
    again, proved by its root, in a new place or where the beginning of it is.
    """
    if form not in FORMATS:
        raise InvalidInputError(f"there is no format {form!r}", hint=f"choose among: {', '.join(FORMATS)}")
    if buckets and form in {JOURNAL, MCP_MEMORY}:
        raise InvalidInputError(f"--bucket is not for {form}")
    if form == JOURNAL:
        if provenance is not None:
            raise InvalidInputError("--provenance is not for journal: every atom keeps its own")
        return _journal(session, file, dry_run=dry_run)
    if form == MCP_MEMORY:
        return _graph(session, file, provenance or "internal", dry_run=dry_run)
    return _items(session, form, file, provenance or "external", buckets or ("inbox",), dry_run=dry_run)


def _journal(session: Session, file: str, *, dry_run: bool) -> int:
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
    return session.out.answer(plain(done), [done.root])


def _graph(session: Session, file: str, provenance: str, *, dry_run: bool) -> int:
    mcp_memory.check_file(Path(file))  # a bad file must not leave an empty store behind
    with filled(session, dry_run=dry_run) as engine, session.meter("read", "things") as move:
        report = mcp_memory.import_file(
            engine.store, file, provenance=provenance, dry_run=dry_run, progress=move
        )
        mirror = None if dry_run else after_writes(session, engine)
    failure = left_out(
        session, report.skipped, held=report.entities + report.relations > 0, dry_run=dry_run, mirror=mirror
    )
    return session.out.answer(plain(report), _graph_report(report), failure=failure)


def _items(
    session: Session, form: str, file: str, provenance: str, buckets: tuple[str, ...], *, dry_run: bool
) -> int:
    border.provenance(provenance)
    adapters.check_file(form, Path(file))  # a bad file must not leave an empty store behind
    with filled(session, dry_run=dry_run) as engine, session.meter("read", "items") as move:
        report = import_items(
            engine.store, form, file, provenance=provenance, buckets=buckets, dry_run=dry_run, progress=move
        )
        mirror = None if dry_run else after_writes(session, engine)
    failure = left_out(
        session, report.skipped, report.warnings, held=report.items > 0, dry_run=dry_run, mirror=mirror
    )
    return session.out.answer(plain(report), _items_report(report), failure=failure)


def _items_report(report: TakenIn) -> Iterator[Line]:
    yield line("items", f"{report.items:,} read")
    yield line("atoms", counts(report, ("added", "revised", "revived", "tombstoned")))
    if report.linked or report.unlinked or report.unresolved:
        yield line(
            "edges", f"{report.linked:,} new, {report.unlinked:,} gone, {report.unresolved:,} lead nowhere"
        )
    for name, count in report.left:
        yield line("not kept", f"{count:,} {name}")
    yield from numbers_left_out(report)


def _graph_report(report: ImportReport) -> Iterator[Line]:
    yield line("entities", f"{report.entities:,} read, {report.new_entities:,} new")
    yield line("observed", f"{counted(report.new_observations, 'observation')} new")
    yield line("relations", f"{report.relations:,} read, {report.new_relations:,} new")
    yield from numbers_left_out(report)
