"""The command mirror, and the mirror that the settings ask for after writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from engine.base.errors import EngineError, InvalidInputError, RefusedError, VerificationError
from engine.cli.command import argument, command, option
from engine.cli.options import dry_run
from engine.cli.output import Failure, plain
from engine.cli.session import Session
from engine.cli.shapes import Line, counted, line
from engine.engine import Engine
from engine.front.settings import find_mirror
from engine.transfer.mirror.report import MirrorCheck, MirrorReport, Verdict

CHECK = "check"
FOUND_SHOWN = 20


@command(
    "engine mirror ~/memory",
    "engine mirror vault/memory --style obsidian",
    "engine mirror check ~/memory",
)
@argument("action", "check", "Only check the folder.", required=False)
@argument(
    "folder",
    "DIR",
    "A new or empty folder, or this store's mirror. [default: as in the settings]",
    required=False,
)
@option("--style", metavar="NAME", help="plain or obsidian. [default: as it is, else plain]")
@dry_run()
def mirror(session: Session, action: str | None, folder: str | None, style: str | None, dry_run: bool) -> int:
    """Write the memory to a folder of Markdown files, or check one.

    Every live atom stands in DIR/@bucket/#tag/, by source. Only a mirror of this store is ever
    replaced; what else is in it stays, and pages that somebody edited are set aside. `check` exits
    with 4 if a page is edited or missing, or the mirror stale or forged.
    """
    checks = action == CHECK
    if not checks and folder is not None:
        raise InvalidInputError(f"`engine mirror` makes or checks a mirror, it does not {action!r}")
    if checks and (style is not None or dry_run):
        raise InvalidInputError("--style and --dry-run go with making a mirror")
    where = _folder(session, folder if checks else action)
    if checks:
        return _check(session, where)
    with session.engine() as engine:
        _keep_apart(session, where)
        report = _made(session, engine, where, style, dry_run=dry_run)
    return session.out.answer(plain(report), _report(report, where))


def after_writes(session: Session, engine: Engine) -> Failure | None:
    """Bring the mirror up to date that the settings name; what is wrong with it, if anything.

    The writes are in the store by then, so a mirror that cannot be written fails the command and
    undoes nothing.
    """
    folder = find_mirror(session.store, session.memory)
    if folder is None:
        return None
    try:
        _keep_apart(session, str(folder))
        _made(session, engine, str(folder), None, dry_run=False)
    except EngineError as error:
        return replace(Failure.of(error), message=f"all is in the store, but not in its mirror: {error}")
    return None


def _folder(session: Session, given: str | None) -> str:
    if given is not None:
        return given
    named = find_mirror(session.store, session.memory)
    if named is None:
        raise InvalidInputError(
            "say where the mirror is: `engine mirror DIR`",
            hint='or name it beside the store in .engine.toml: mirror = "DIR"',
        )
    return str(named)


def _keep_apart(session: Session, folder: str) -> None:
    """Refuse a folder that the store at hand is in."""
    store = session.place()
    if store is not None:
        place = Path(os.path.abspath(folder))  # noqa: PTH100  as the mirror itself reads it
        if place == store or place in store.parents:
            raise RefusedError(f"the store {store} is in {folder}", hint="choose a folder beside it")


def _made(session: Session, engine: Engine, folder: str, style: str | None, *, dry_run: bool) -> MirrorReport:
    with session.meter("mirrored", "atoms") as move:
        report = engine.mirror(folder, style=style, dry_run=dry_run, progress=move)
    for page, now in report.set_aside[:FOUND_SHOWN]:
        session.out.note(f"somebody edited {page}: " + (f"it is {now} now" if now else "it would be kept"))
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


def _check(session: Session, folder: str) -> int:
    with session.engine() as engine, session.meter("compared", "atoms") as move:
        found = engine.check_mirror(folder, progress=move)
    failure = None
    if not found.ok:
        verdicts = [finding.verdict for finding in found.findings if finding.verdict != Verdict.FOREIGN]
        counts = ", ".join(f"{verdicts.count(one):,} {one}" for one in dict.fromkeys(verdicts))
        error = VerificationError(
            f"the mirror is not what the store says: {counts}",
            hint="`engine mirror` brings it up to date; what somebody edited is kept",
        )
        failure = Failure.of(error)
    data = {**plain(found), "ok": found.ok}
    return session.out.answer(data, _found(found, folder), failure=failure)


def _found(found: MirrorCheck, where: str) -> Iterator[Line]:
    yield line("mirror", f"{where} ({found.style})")
    yield line("ok", "yes" if found.ok else "NO")
    yield line("pages", f"{found.pages:,}")
    yield line("root", found.root)
    for finding in found.findings:
        yield line(finding.verdict, f"{finding.path}: {finding.detail}" if finding.path else finding.detail)
