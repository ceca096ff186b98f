"""The command mirror, and a function that updates the mirror named in the settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.base.errors import (
    InvalidInputError,
    VerificationError,
)
from engine.base.json_text import encode
from engine.cli.cli_output import Failure, counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.shown_parts import Line, Shown, line
from engine.engine import Engine
from engine.files.mirror.mirror_report import MirrorCheck, MirrorReport, PullReport, Verdict
from engine.memory.memory_settings import find_mirror
from engine.query.history.diff import changed_lines

CHECK = "check"
PULL = "pull"
FOUND_SHOWN = 20
PARTIAL_PULL = 8


@command(
    "engine mirror ~/memory",
    "engine mirror vault/memory --style obsidian",
    "engine mirror check ~/memory",
    "engine mirror pull ~/memory --dry-run",
)
def mirror(
    session: Session,
    action: str | None = None,
    folder: str | None = None,
    *,
    style: str | None = None,
    dry_run: bool = False,
) -> int:
    """Write the memory to Markdown files, and apply the edits made in these files.

    Writes every live atom to DIR/@bucket/#tag/, ordered by source. Files that do not belong to the mirror are
    kept, and edited pages are kept in DIR.edited. `pull` revises the atoms whose texts were edited, and
    updates the mirror. Exit code 4 of `check`: a page was edited or is missing, or the mirror is stale or
    forged. Exit code 8 of `pull`: a change to a page was refused.

    Args:
        action: `check|pull` check: compare DIR with the memory. pull: store the texts that were edited in
            DIR.
        folder: `DIR` A new or empty folder, or a mirror of this store. [default: from the settings]
        style: plain or obsidian. [default: the current style, or plain]
    """
    acts = action in {CHECK, PULL}
    if not acts and folder is not None:
        raise InvalidInputError(
            f"unknown action {action!r}: give a folder to write, or `check` or `pull` and a folder"
        )
    if acts and style is not None:
        raise InvalidInputError(f"--style cannot be used with {action}")
    if action == CHECK and dry_run:
        raise InvalidInputError("--dry-run cannot be used with check")
    where = _folder(session, folder if acts else action)
    if action == CHECK:
        return _check(session, where)
    if action == PULL:
        return _pull(session, where, dry_run=dry_run)
    with session.engine() as engine:
        session.keep_apart(where)
        report = _made(session, engine, where, style, dry_run=dry_run)
        session.tell_readable(engine, where)
    return session.out.answer(encode(report), _report(report, where))


def _folder(session: Session, given: str | None) -> str:
    if given is not None:
        return given
    named = find_mirror(session.store, session.memory)
    if named is None:
        raise InvalidInputError(
            "no mirror folder was given: `engine mirror DIR`",
            hint='or set mirror = "DIR" in .engine.toml',
        )
    return str(named)


def _made(session: Session, engine: Engine, folder: str, style: str | None, *, dry_run: bool) -> MirrorReport:
    with session.meter("mirrored", "atoms") as move:
        report = engine.mirror(folder, style=style, dry_run=dry_run, progress=move)
    for page, now in report.set_aside[:FOUND_SHOWN]:
        session.out.note(
            f"{page} was edited: "
            + (f"the edited page is now {now}" if now else "the edited page would be kept")
            + "; `engine mirror pull` applies the edits"
        )
    return report


def _report(report: MirrorReport, where: str) -> Iterator[Line]:
    done = f"{report.written:,} written, {report.removed:,} removed" if report.changed else "nothing to do"
    yield line("mirror", f"{where} ({report.style})")
    yield line("atoms", f"{report.atoms:,}")
    yield line("pages", f"{report.pages:,}: {done}")
    yield line("root", report.root)
    if report.set_aside:
        yield line("set aside", counted(len(report.set_aside), "edited page"))
    yield from (line("not ours", path) for path in report.foreign[:FOUND_SHOWN])
    if len(report.foreign) > FOUND_SHOWN:
        yield line("not ours", f"and {len(report.foreign) - FOUND_SHOWN:,} more")


def _pull(session: Session, where: str, *, dry_run: bool) -> int:
    with session.engine() as engine, session.meter("mirrored", "atoms") as move:
        session.keep_apart(where)
        report = engine.mirror_pull(where, dry_run=dry_run, progress=move)
        if Path(where) == find_mirror(session.store, session.memory):
            session.mirrored = engine.size
    failure = None
    if report.refused:
        failure = Failure(
            PARTIAL_PULL,
            "partial_pull",
            f"{counted(len(report.refused), 'change')} cannot be applied",
            "only the texts under the headings can be edited; other changes are made with commands",
        )
    data = {**encode(report), "revised": report.revised, "conflicts": report.conflicts}
    return session.out.answer(data, _pulled(report, where, dry_run=dry_run), failure=failure)


def _pulled(report: PullReport, where: str, *, dry_run: bool) -> Iterator[Shown]:
    yield line("mirror", where)
    yield line("revised", counted(report.revised, "atom"))
    if report.conflicts:
        hint = "" if dry_run else "; `engine conflicts` lists them"
        yield line("conflicts", f"{report.conflicts:,} new{hint}")
    if dry_run:
        for edit in report.edits:
            yield line(edit.outcome, f"{edit.atom} in {edit.page}")
            yield from (line("", one) for one in changed_lines(edit.before, edit.after))
    for change in report.refused:
        yield line(
            "refused", f"{change.page}: {change.reason}" + (f" ({change.atom})" if change.atom else "")
        )
    for folder in dict.fromkeys(change.kept for change in report.refused if change.kept):
        yield line("kept", folder)


def _check(session: Session, folder: str) -> int:
    with session.engine() as engine, session.meter("compared", "atoms") as move:
        report = engine.check_mirror(folder, progress=move)
    failure = None
    if not report.ok:
        verdicts = [finding.verdict for finding in report.findings if finding.verdict != Verdict.FOREIGN]
        counts = ", ".join(f"{verdicts.count(one):,} {one}" for one in dict.fromkeys(verdicts))
        error = VerificationError(
            f"the mirror differs from the store: {counts}",
            hint="`engine mirror pull` applies edits; `engine mirror` keeps edited pages in NAME.edited",
        )
        failure = Failure.of(error)
    data = {**encode(report), "ok": report.ok}
    return session.out.answer(data, _found(report, folder), failure=failure)


def _found(found: MirrorCheck, where: str) -> Iterator[Line]:
    yield line("mirror", f"{where} ({found.style})")
    yield line("ok", "yes" if found.ok else "NO")
    yield line("pages", f"{found.pages:,}")
    yield line("root", found.root)
    for finding in found.findings:
        yield line(finding.verdict, f"{finding.path}: {finding.detail}" if finding.path else finding.detail)
