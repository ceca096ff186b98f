"""The command dream, which adds tags, entities and relations to the memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.base.errors import InvalidInputError
from engine.cli.command import command, option
from engine.cli.mirroring import after_writes
from engine.cli.options import at_least, dry_run
from engine.cli.output import plain
from engine.cli.session import Session
from engine.cli.shapes import Line, counted, line
from engine.knowledge.dreaming.cycle import DreamReport
from engine.knowledge.dreaming.watch import CYCLE_ATOMS, QUIET_SECONDS, until_signalled, watch
from engine.query.duplicates import DuplicateGroup
from engine.store.store import Store

NAMES_SHOWN = 20


@command(
    "engine dream",
    "engine dream --dry-run",
    "engine dream --budget 5000 --seconds 30",
    "engine dream --watch --quiet-for 60",
)
@option("--budget", metavar="N", type=at_least(1), help="Process at most N atoms.")
@option("--seconds", metavar="S", type=float, help="Start no new step after S seconds.")
@dry_run("Show what would be done; change nothing.")
@option("watching", "--watch", help="Keep running, and start a cycle whenever the store is idle.")
@option(
    "--quiet-for",
    metavar="S",
    type=float,
    help="With --watch, the store is idle after S seconds without events. [default: 30]",
)
def dream(
    session: Session,
    budget: int | None,
    seconds: float | None,
    dry_run: bool,
    watching: bool,
    quiet_for: float | None,
) -> int:
    """Tag untagged atoms, learn names, and add relations between atoms.

    Adds tags, entities and edges as the actor `dreamer`. Removes nothing, and does not restore
    anything that somebody removed. Continues where the last cycle ended. Lists near-duplicates without
    merging them.
    """
    if quiet_for is not None and not watching:
        raise InvalidInputError("--quiet-for has no effect without --watch", hint="add --watch")
    if watching and dry_run:
        raise InvalidInputError("--watch cannot be combined with --dry-run")
    if watching:
        return _watch(session, budget, seconds, quiet_for)
    with session.engine() as engine, session.meter("dreamt", "steps") as move:
        report = engine.dream(budget=budget, seconds=seconds, dry_run=dry_run, progress=move)
        failure = None if dry_run else after_writes(session, engine)
    return session.out.answer(_data(report), _shown(report), failure=failure)


def _watch(session: Session, budget: int | None, seconds: float | None, quiet_for: float | None) -> int:
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

    def report_cycle(report: DreamReport) -> None:
        nonlocal dreamt
        dreamt = True
        totals["cycles"] += 1
        for name, number in _counts(report).items():
            totals[name] += number
        session.out.note(
            f"processed {counted(report.looked_at, 'atom')}: {counted(report.tags, 'tag')}, "
            f"{counted(len(report.entities), 'new name')}, {counted(report.mentions, 'mention')}; "
            f"{counted(report.left, 'atom')} left"
        )

    session.out.note(f"watching: a cycle starts after {quiet:g} s without events; press Ctrl-C to stop")
    with until_signalled() as stop:
        watch(opened, report_cycle, stop=stop, quiet=quiet, budget=budget or CYCLE_ATOMS, seconds=seconds)
    return session.out.answer(totals, [line(name, f"{number:,}") for name, number in totals.items()])


_COUNTS = ("read", "looked_at", "tagged", "tags", "entities", "mentions", "relations")


def _counts(report: DreamReport) -> dict[str, int]:
    found = {name: getattr(report, name) for name in _COUNTS}
    return {**found, "entities": len(report.entities)}


def _data(report: DreamReport) -> dict[str, object]:
    groups = [{**plain(group), "merge": _merge(group)} for group in report.duplicates]
    return {**plain(report), "duplicates": groups, "done": report.done}


def _shown(report: DreamReport) -> Iterator[Line]:
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
    """Yield the shell commands with which a user can merge a group of near-duplicates."""
    return "; ".join(f"engine merge {group.keep.id} {other.id}" for other in group.others)
