"""The commands ingest and import, which read files into a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from backends import store_exists
from engine.base import validation
from engine.base.errors import InvalidInputError, translated
from engine.base.json_text import encode
from engine.capture.clients import CLIENTS
from engine.capture.session_import import BUCKET, import_sessions
from engine.cli.cli_output import Failure, counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.shared_options import FolderOptions, ingest_options, one_of
from engine.cli.shown_parts import Line, line
from engine.commands.secrets.filter import summary
from engine.commands.secrets.policy import SecretsPolicy
from engine.engine import Engine
from engine.exchange import other_programs
from engine.exchange.backup import import_journal, verify_backup
from engine.exchange.journal_import import accept_all
from engine.exchange.other_programs import mcp_memory
from engine.exchange.other_programs.item_atoms import ImportReport, import_items
from engine.exchange.other_programs.mcp_memory import GraphImportReport
from engine.files.ingest.documents import PassedOver, Skipped
from engine.files.ingest.folder_walk import find_files
from engine.files.ingest.import_run import IngestReport
from engine.memory.memory_settings import find_mirror, find_secrets, find_secrets_for_agents
from engine.trust.secrets_scan import journal_check

PARTIAL_IMPORT = 8
SKIPPED_SHOWN = 20
UNRESOLVED_SHOWN = 10
JOURNAL = "journal"
MCP_MEMORY = "mcp-memory"
FORMATS = ("chatgpt", "claude", JOURNAL, MCP_MEMORY, "mem0")
"""The formats of files. The clients whose sessions can be imported are in `engine.capture.clients`."""


@command(
    "engine ingest notes/",
    "engine ingest notes/ --prune --dry-run",
    "engine ingest notes/ --exclude 'drafts/' --exclude '*.bak.md'",
    "engine ingest talk.jsonl --tag talk",
)
def ingest(
    session: Session,
    paths: tuple[str, ...],
    *,
    root: str | None = None,
    prune: bool = False,
    sure: bool = False,
    force: bool = False,
    dry_run: bool = False,
    **wanted: Unpack[FolderOptions],
) -> int:
    """Read files or folders into the store.

    Reads Markdown, plain text and JSON Lines, and with the extra `files` also HTML, PDF and DOCX. Ingesting
    again writes only what changed. Files and lines that cannot be read are skipped and listed, and the exit
    code is 8. Creates the store if it does not exist. With --full, lists everything that was passed over,
    skipped or not resolved.

    Args:
        paths: `PATH` Files and folders.
        root: `DIR` The folder that contains every PATH; sources are relative to it.
        prune: Also tombstone the atoms of files that no longer exist or are excluded.
        sure: `--yes` Allow --prune even if none of the ingested files exists now.
        force: Also ingest content that was erased.
    """
    # Check the arguments first: a missing path must not leave an empty store behind.
    find_files(paths, name=wanted["name"], root=root, exclude=wanted["exclude"])
    with _filled(session, dry_run=dry_run) as engine, session.meter("read", "files") as move:
        report = engine.ingest(
            paths,
            root=root,
            prune=prune,
            sure=sure,
            force=force,
            dry_run=dry_run,
            progress=lambda at: move(at.files, at.total, at.activity),
            **ingest_options(wanted),
        )
    full = session.full
    lines = files_lines(report, dry_run=dry_run, full=full)
    return _answer(session, report, lines, held=report.pieces, dry_run=dry_run, full=full)


@command(
    "engine import mcp-memory ~/memory.jsonl --dry-run",
    "engine import mcp-memory memory.json",
    "engine import chatgpt export/conversations.json",
    "engine import journal notes.jsonl --store sqlite:new.db",
    "engine import claude-code --dry-run",
    name="import",
)
def import_(
    session: Session,
    form: str,
    file: str | None = None,
    *,
    provenance: str | None = None,
    buckets: tuple[str, ...] = (),
    dry_run: bool = False,
) -> int:
    """Import an export of another memory system, or the sessions of an agent.

    Importing again writes only what is new or changed. Items that cannot be imported are listed, and the exit
    code is 8. Creates the store if it does not exist. The folder of basic-memory consists of Markdown notes,
    which `engine ingest` reads.

    mcp-memory: the file of the MCP memory server, memory.jsonl or memory.json; the import restores items
    that were deleted since the last import. journal: the output of `engine export` or `engine backup` (- for
    stdin); creates a store with the same root, or appends the missing events to an older copy of the
    store, and verifies the root.

    A client: the sessions that it keeps on this machine, or those in the folder or file FILE. Each session is
    read from the place where the last import ended. The output of tools is cut. Passwords and keys are
    redacted unless the settings say otherwise.

    Args:
        form: `FORMAT` One of: chatgpt, claude, journal, mcp-memory, mem0. Or a client: aider,
            claude-code, codex, cursor, gemini-cli, opencode.
        file: The exported file.
        provenance: The provenance of new atoms: internal, external or quarantine. [default: external;
            mcp-memory: internal; sessions: internal for your words, quarantine for the output of tools]
        buckets: `--bucket` A bucket for new atoms. Repeatable. [default: inbox; sessions: sessions]
    """
    one_of((*FORMATS, *CLIENTS), form, "format or client")
    if form in CLIENTS:
        client = CLIENTS[form]
        found = list(client.find(client.place(file)))
        read_sessions = partial(
            import_sessions,
            client=client,
            transcripts=found,
            provenance=provenance,
            buckets=buckets or (BUCKET,),
        )
        said = line("sessions", f"{len(found):,} found")
        policy = find_secrets_for_agents(None)
        return _imported(session, "turns", read_sessions, said, dry_run=dry_run, secrets=policy)
    if file is None:
        raise InvalidInputError(f"the format {form} needs a FILE", hint=f"example: engine import {form} FILE")
    if buckets and form in {JOURNAL, MCP_MEMORY}:
        raise InvalidInputError(f"--bucket cannot be used with {form}")
    if form == JOURNAL:
        if provenance is not None:
            raise InvalidInputError(
                "--provenance cannot be used with journal, because every atom keeps its provenance"
            )
        return _journal(session, file, dry_run=dry_run)
    # Check the file first: an invalid file must not leave an empty store behind.
    if form == MCP_MEMORY:
        mcp_memory.check_file(Path(file))
        read_graph = partial(mcp_memory.import_file, path=file, provenance=provenance or "internal")
        return _imported(session, "things", read_graph, dry_run=dry_run)
    origin = validation.provenance(provenance or "external")
    other_programs.check_file(form, Path(file))
    read = partial(import_items, form=form, path=file, provenance=origin, buckets=buckets or ("inbox",))
    return _imported(session, "items", read, dry_run=dry_run)


def _journal(session: Session, file: str, *, dry_run: bool) -> int:
    with session.meter("replayed", "events") as move:
        if dry_run:
            report = verify_backup(file, progress=move)
            return session.out.answer(
                encode(report), [line("events", f"{report.size:,}"), line("root", report.root)]
            )
        policy, found_secrets = find_secrets()[0], Counter[str]()
        check = accept_all if policy is None else journal_check(policy, found_secrets)
        done = import_journal(file, session.setting.url, move, check=check)
    if found_secrets:
        session.out.note(f"secrets found and written: {summary(found_secrets)}")
    session.out.note("created a store" if done.created else f"{counted(done.events, 'event')} new")
    if done.events and find_mirror(session.store, session.memory) is not None:
        with session.engine() as engine:
            session.mirror_writes(engine, 0)
    return session.out.answer(encode(done), [done.root])


def _imported(
    session: Session,
    unit: str,
    read: Callable[..., ImportReport | GraphImportReport],
    *first: Line,
    dry_run: bool,
    secrets: SecretsPolicy | str | None = None,
) -> int:
    """Import by a function of a store, and print the report after the lines `first`."""
    with _filled(session, dry_run=dry_run, secrets=secrets) as engine, session.meter("read", unit) as move:
        report = read(engine.store, dry_run=dry_run, progress=move)
    if isinstance(report, GraphImportReport):
        held, shown = report.entities + report.relations, _things(report)
    else:
        held, shown = report.items, _taken(report)
    return _answer(session, report, [*first, *shown], held=held, dry_run=dry_run)


@contextmanager
def _filled(
    session: Session, *, dry_run: bool, secrets: SecretsPolicy | str | None = None
) -> Iterator[Engine]:
    """Open the store. If it does not exist, a dry run uses an empty store in memory."""
    with translated():
        missing = dry_run and not store_exists(session.setting.url)
    if missing:
        with Engine.open("memory:", secrets=secrets or find_secrets()[0]) as engine:
            yield engine
    else:
        with session.engine(create=not dry_run, secrets=secrets) as engine:
            yield engine


def _answer(
    session: Session,
    report: IngestReport | GraphImportReport | ImportReport,
    lines: Iterable[Line],
    *,
    held: int,
    dry_run: bool,
    full: bool = False,
) -> int:
    """Print the report, and list the first skipped items and warnings.

    Args:
        session: The current run.
        report: The counts, the skipped items and the warnings.
        lines: The report as text, without the number of skipped items.
        held: The number of items that were imported. In a dry run, the number that would be imported.
        dry_run: True if nothing was to be written.
        full: List all skipped items and warnings in the result; otherwise, print notes on the first 20 of
            each.
    """
    warnings = () if isinstance(report, GraphImportReport) else report.warnings
    totals: list[Line] = []
    for word, noted, items in (("warnings", "warning", warnings), ("skipped", "skipped", report.skipped)):
        texts = said(items)
        for one in () if full else texts[:SKIPPED_SHOWN]:
            session.out.note(f"{noted} {one}")
        if items:
            is_ingest = isinstance(report, IngestReport)
            totals.append(line(word, named_kinds(items) if is_ingest else f"{len(items):,}"))
            totals += [line("", one) for one in texts] if full else []
    failure = None
    if report.skipped:
        rest = f"{'the rest' if held else 'nothing'} {'would be' if dry_run else 'was'} imported"
        message = f"{len(report.skipped)} skipped; {rest}"
        failure = Failure(
            PARTIAL_IMPORT,
            "partial_import",
            message,
            "--full lists all of them" if isinstance(report, IngestReport) else "--json lists all of them",
        )
    return session.out.answer(encode(report), [*lines, *totals], failure=failure)


def files_lines(report: IngestReport, *, dry_run: bool = False, full: bool = False) -> Iterator[Line]:
    """Yield the lines of an ingest's report, except the lines of skipped items and warnings."""
    yield line("files", f"{report.files:,} with {report.pieces:,} pieces")
    yield line("atoms", _counts(report, ("added", "revised", "retagged", "revived", "tombstoned")))
    yield line(
        "links", f"{report.linked:,} new, {report.unlinked:,} removed, {report.unresolved_links:,} unresolved"
    )
    if report.conflicts or report.open_conflicts:
        hint = "" if dry_run else "; `engine conflicts` lists them"
        yield line("conflicts", f"{report.conflicts:,} new, {report.open_conflicts:,} open{hint}")
    shown = report.unresolved if full else report.unresolved[:UNRESOLVED_SHOWN]
    yield from (line("unresolved", f"{one.source}: {one.target}") for one in shown)
    if len(shown) < len(report.unresolved):
        yield line(
            "unresolved", f"and {len(report.unresolved) - len(shown):,} more; --full lists all of them"
        )
    if report.excluded:
        keep = "file keeps its" if len(report.excluded) == 1 else "files keep their"
        yield line("excluded", f"{len(report.excluded):,} {keep} atoms; --prune tombstones them")
    if report.passed_over:
        yield line("passed over", named_kinds(report.passed_over))
        if full:
            yield from (
                line("", f"{one.source}{'/' * one.is_folder}: {one.kind}") for one in report.passed_over
            )


def _taken(report: ImportReport) -> Iterator[Line]:
    yield line("items", f"{report.items:,} read")
    yield line("atoms", _counts(report, ("added", "revised", "revived", "tombstoned")))
    if report.linked or report.unlinked:
        yield line("edges", f"{report.linked:,} new, {report.unlinked:,} removed")
    for name, count in report.left:
        yield line("not kept", f"{name}: {count:,}")


def _things(report: GraphImportReport) -> Iterator[Line]:
    yield line("entities", f"{report.entities:,} read, {report.new_entities:,} new")
    yield line("observed", f"{counted(report.new_observations, 'observation')} new")
    yield line("relations", f"{report.relations:,} read, {report.new_relations:,} new")


def said(items: Iterable[Skipped]) -> list[str]:
    """Return one sentence for each item, with the item's place and the reason."""
    return [f"{item.source}{'' if item.line is None else f':{item.line}'}: {item.reason}" for item in items]


def named_kinds(items: Iterable[PassedOver | Skipped]) -> str:
    """Return the number of items of each kind, such as `12 .png, 3 .canvas`, the most frequent kind first."""
    counts = Counter(item.kind for item in items)
    return ", ".join(f"{number:,} {kind}" for kind, number in sorted(counts.items(), key=_most_first))


def _most_first(counted: tuple[str, int]) -> tuple[int, str]:
    return -counted[1], counted[0]


def _counts(report: Any, names: Sequence[str]) -> str:
    """Return the counts of a report that are not 0, such as `3 added, 1 revised`."""
    counts = [f"{getattr(report, name):,} {name}" for name in names if getattr(report, name)]
    return ", ".join(counts) or "nothing to do"
