"""Commands that verify, rebuild and copy stores: verify-root, rebuild, copy."""

from __future__ import annotations

import os
from collections.abc import Iterator

from backends import locate
from engine.base.error_translation import translated
from engine.base.errors import CorruptionError, InconsistentError, InvalidInputError, VerificationError
from engine.cli.command import argument, command, option
from engine.cli.contradiction import compared, contradicted
from engine.cli.options import CHECKPOINTS, EVIDENCE, EXPECT
from engine.cli.output import Failure, plain
from engine.cli.session import Session
from engine.cli.shapes import Line, line
from engine.store import maintenance
from engine.trust.audit.compare import NO_CURSOR, Difference
from engine.trust.audit.verify import Report, verify
from engine.trust.notes.trust import read_note


@command(
    "engine verify-root",
    "engine verify-root --expect $(cat root.txt)",
    "engine verify-root --checkpoint notes.checkpoint",
    "engine verify-root --since old.checkpoint new.checkpoint",
    name="verify-root",
)
@EXPECT
@CHECKPOINTS
@option(
    "--since",
    metavar="OLD NEW",
    nargs=2,
    help="Check that NEW continues OLD, and that the store continues both.",
)
@EVIDENCE
def verify_root(
    session: Session,
    expect: str | None,
    checkpoints: tuple[str, ...],
    since: tuple[str, str] | None,
    evidence: str | None,
) -> int:
    """Check that the store matches its journal exactly.

    Replays the whole journal and compares every row, every checkpoint and every root. Changes nothing.
    Exit code 4: there is a difference; the message names the first difference. 9: the store does not
    continue a checkpoint; the checkpoints are checked first.
    """
    if expect is not None and (len(expect) != 64 or set(expect.lower()) - set("0123456789abcdef")):
        raise InvalidInputError(f"--expect {expect!r} is not 64 hex digits")
    damage = None
    kept = [*(since or ()), *checkpoints]
    if kept:
        notes = {file: read_note(file) for file in kept}
        try:
            pair = None if since is None else (notes[since[0]], notes[since[1]])
            compared(session, list(notes.values()), pair, asked=True)
        except InconsistentError as error:
            return contradicted(session, error, notes, evidence)
        except CorruptionError as error:
            damage = error  # verification reports the damaged event
    with session.backend(session.setting.url) as backend, session.meter("replayed", "events") as move:
        report = verify(backend, expect=expect, progress=move)
    failure = None
    if not report.ok:
        message, hint = _verdict(report.differences[0])
        failure = Failure.of(VerificationError(message, hint=hint))
    elif damage is not None:
        raise damage
    data = {**plain(report), "continues": [] if damage else kept}
    lines = [] if damage else [line("continues", file) for file in kept]
    return session.out.answer(data, [*_report(report), *lines], failure=failure)


@command("engine rebuild")
def rebuild(session: Session) -> int:
    """Rebuild all derived data of the store from the journal.

    Derived data is everything except the journal. Prints the root, which does not change.
    """
    with session.backend(session.setting.url) as backend, session.meter("rebuilt", "events") as move:
        found = maintenance.rebuild(backend, move)
    return session.out.answer(plain(found), [found.root])


@command("engine copy notes sqlite:notes.db")
@argument("source", "SRC", "The store to copy.")
@argument("target", "DST", "The path or URL of the new store.")
def copy(session: Session, source: str, target: str) -> int:
    """Copy a store to another place or backend, with the same root.

    Opens the copy again and checks every event in it. Checks that both stores have the same root, and prints
    the root. Continues an interrupted copy.
    """
    with translated():
        places = [(os.path.realpath(found.path), found.memory) for found in map(locate, (source, target))]
    if places[0] == places[1]:
        raise InvalidInputError(f"{source} and {target} are the same store; copy to another place")
    with (
        session.backend(source) as original,
        session.backend(target, create=True) as new,
        session.meter("copied", "events") as move,
    ):
        found = maintenance.copy(original, new, move)
    with session.backend(target) as new, session.meter("read back", "events") as move:
        maintenance.check_copy(new, found, move)
    session.out.note(
        f"{target} was opened again: all {found.size:,} events and the roots are those of {source}"
    )
    return session.out.answer({"source": source, "target": target, **plain(found)}, [found.root])


def _verdict(first: Difference) -> tuple[str, str]:
    """Return the failure for the first difference, with advice."""
    if first.family == "root":
        return (
            f"the store matches its journal, but {first.problem}",
            "HEX may be the root of a different store or an earlier state: use `engine root --as-of SEQ`",
        )
    message = f"the store does not match its journal; first difference: {_where(first)}: {first.problem}"
    if first.family in {"journal", "payload"}:
        return (
            message,
            "the journal itself is damaged: restore a copy with a known root, or use `engine rescue`",
        )
    if first.problem == NO_CURSOR:
        return (
            message,
            "an interrupted rebuild leaves such rows: read the store or run `engine rebuild`, then verify",
        )
    return (
        message,
        "keep a copy of the store as evidence; then run `engine rebuild` to rebuild it from the journal",
    )


def _report(report: Report) -> Iterator[Line]:
    yield line("verified", "yes" if report.ok else "NO")
    yield line("events", f"{report.size:,}")
    yield line("checkpoints", f"{report.checkpoints:,} correct" if report.checkpoints else "none recorded")
    for one in report.unchecked:
        problem = f"tags and index cannot be checked (erasure at event {one.erased}); the rest is correct"
        yield line("checkpoint", f"event {one.seq}: {problem}")
    yield line("rows", f"{report.rows:,} compared")
    if report.root:
        yield line("root", report.root)
    for difference in report.differences:
        yield line("difference", f"{_where(difference)}: {difference.problem}")


def _where(difference: Difference) -> str:
    event = "" if difference.seq is None else f" event {difference.seq}"
    return difference.family + event + (f" key {difference.key}" if difference.key else "")
