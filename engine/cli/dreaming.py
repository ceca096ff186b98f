"""The command dream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from engine.base.errors import InvalidInputError
from engine.cli.mirroring import after_writes
from engine.cli.output import Shown
from engine.cli.pages import command, new_app, running
from engine.cli.stores import line
from engine.cli.values import counted, plain

if TYPE_CHECKING:
    from engine.cli.session import Session
    from engine.knowledge.dreaming.report import DreamReport
    from engine.query.duplicates import DuplicateGroup
    from engine.store.store import Store

app = new_app()

NAMES_SHOWN = 20


@command(
    app,
    "engine dream",
    "engine dream --dry-run",
    "engine dream --budget 5000 --seconds 30",
    "engine dream --watch --quiet-for 60",
)
def dream(
    ctx: typer.Context,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, metavar="N", help="Look at so many atoms at most.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="S", help="Begin nothing more after so long.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    watching: Annotated[
        bool, typer.Option("--watch", help="Go on in idle time, a cycle at a time, until stopped.")
    ] = False,
    quiet_for: Annotated[
        float | None,
        typer.Option(
            "--quiet-for", metavar="S", help="With --watch: idle is so long without events. [default: 30]"
        ),
    ] = None,
) -> int:
    """Tag what nobody tagged, learn names, relate what belongs together.

    Adds tags, entities and edges, all by the actor dreamer, and takes nothing away; what somebody
    took off stays off. Goes on where the last cycle ended, and a second run adds nothing. Lists
    near-duplicates, and merges none.
    """
    session = running(ctx)
    if quiet_for is not None and not watching:
        raise InvalidInputError("--quiet-for is about idle time", hint="add --watch")
    if watching and dry_run:
        raise InvalidInputError("--watch goes on from what was done; a dry run does nothing")
    if watching:
        return _watch(session, budget, seconds, quiet_for)
    with session.engine() as engine, session.meter("dreamt", "steps") as move:
        report = engine.dream(budget=budget, seconds=seconds, dry_run=dry_run, progress=move)
        failure = None if dry_run else after_writes(session, engine)
    return session.out.answer(_data(report), _shown(report), failure=failure)


def _watch(session: Session, budget: int | None, seconds: float | None, quiet_for: float | None) -> int:
    from engine.knowledge.dreaming.watch import CYCLE_ATOMS, QUIET_SECONDS, until_signalled, watch

    quiet = QUIET_SECONDS if quiet_for is None else quiet_for
    totals = dict.fromkeys(("cycles", *_COUNTS), 0)

    dreamt = False

    @contextmanager
    def opened() -> Iterator[Store]:
        nonlocal dreamt
        with session.engine() as engine:
            yield engine.store
            if dreamt and (failure := after_writes(session, engine)) is not None:
                session.out.note(f"{failure.message}; {failure.hint}")
            dreamt = False

    def told(report: DreamReport) -> None:
        nonlocal dreamt
        dreamt = True
        totals["cycles"] += 1
        for name, number in _counts(report).items():
            totals[name] += number
        session.out.note(
            f"looked at {counted(report.looked_at, 'atom')}: {counted(report.tags, 'tag')}, "
            f"{counted(len(report.entities), 'new name')}, {counted(report.mentions, 'mention')}; "
            f"{counted(report.left, 'atom')} left"
        )

    session.out.note(f"watching; a cycle after {quiet:g} s without events, end with Ctrl-C")
    with until_signalled() as ended:
        watch(opened, told, ended=ended, quiet=quiet, budget=budget or CYCLE_ATOMS, seconds=seconds)
    return session.out.answer(totals, [line(name, f"{number:,}") for name, number in totals.items()])


_COUNTS = ("read", "looked_at", "tagged", "tags", "entities", "mentions", "relations")


def _counts(report: DreamReport) -> dict[str, int]:
    found = {name: getattr(report, name) for name in _COUNTS}
    return {**found, "entities": len(report.entities)}


def _data(report: DreamReport) -> dict[str, object]:
    groups = [{**plain(group), "merge": _merge(group)} for group in report.duplicates]
    return {**plain(report), "duplicates": groups, "done": report.done}


def _shown(report: DreamReport) -> Iterator[Shown]:
    would = " (would be)" if report.dry_run else ""
    yield line("looked at", counted(report.looked_at, "atom"))
    yield line("tagged", f"{counted(report.tagged, 'atom')}, {counted(report.tags, 'tag')} added{would}")
    names = f": {', '.join(report.entities[:NAMES_SHOWN])}" if report.entities else ""
    more = ", ..." if len(report.entities) > NAMES_SHOWN else ""
    yield line("entities", f"{len(report.entities):,} new of {report.known:,} known{names}{more}")
    yield line("mentions", f"{report.mentions:,} added{would}")
    yield line("relations", f"{report.relations:,} added{would}")
    yield line("left", f"{counted(report.left, 'atom')} for the next cycle" if report.left else "nothing")
    for group in report.duplicates:
        yield line("near-twins", _merge(group))


def _merge(group: DuplicateGroup) -> str:
    """The command lines that would merge a group; people decide."""
    return "; ".join(f"engine merge {group.keep.id} {other.id}" for other in group.others)
