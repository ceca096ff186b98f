"""What `ingest` and `import` share: the store they fill, and how they report what did not go in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from backends import store_exists
from engine.base.error_translation import translated
from engine.cli.output import Failure, Line, line
from engine.cli.session import Session
from engine.engine import Engine
from engine.front.settings import find_secrets
from engine.transfer.ingest.documents import Skipped

PARTIAL_IMPORT = 8
SKIPPED_SHOWN = 20


@contextmanager
def filled(session: Session, *, dry_run: bool) -> Iterator[Engine]:
    """The store; where there is none a dry run counts against an empty one, and makes none."""
    with translated():
        missing = dry_run and not store_exists(session.setting.url)
    if missing:
        with Engine.open("memory:", secrets=find_secrets()[0]) as engine:
            yield engine
    else:
        with session.engine(create=not dry_run) as engine:
            yield engine


def left_out(
    session: Session,
    skipped: Sequence[Skipped],
    warnings: Sequence[Skipped] = (),
    *,
    held: bool,
    dry_run: bool,
    mirror: Failure | None = None,
) -> Failure | None:
    """List the first of what did not go in, or not whole; what the command fails with.

    Args:
        session: The run.
        skipped: What did not go in.
        warnings: What went in otherwise than it was meant.
        held: Whether anything else went in.
        dry_run: Whether nothing was to go in.
        mirror: What is wrong with the mirror, if anything; noted where the command fails with more than that.
    """
    for word, items in (("warning", warnings), ("skipped", skipped)):
        for item in items[:SKIPPED_SHOWN]:
            at = "" if item.line is None else f":{item.line}"
            session.out.note(f"{word} {item.source}{at}: {item.reason}")
    if not skipped:
        return mirror
    if mirror is not None:
        session.out.note(mirror.message)
    rest = f"{'the rest' if held else 'nothing'} {'would go' if dry_run else 'went'} in"
    return Failure(
        PARTIAL_IMPORT,
        "partial_import",
        f"{len(skipped)} skipped; {rest}",
        "--json lists them all",
    )


def counts(report: Any, names: Sequence[str]) -> str:
    """Those numbers of a report that are not 0: `3 added, 1 revised`."""
    found = [f"{getattr(report, name):,} {name}" for name in names if getattr(report, name)]
    return ", ".join(found) or "nothing to do"


def numbers_left_out(report: Any) -> Iterator[Line]:
    """How many warnings there are, and how much was skipped."""
    for word in ("warnings", "skipped"):
        if items := getattr(report, word, ()):
            yield line(word, f"{len(items):,}")
