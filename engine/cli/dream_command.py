"""The command dream, which adds tags, entities and relations to the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from engine.base.errors import InvalidInputError
from engine.base.json_text import encode
from engine.cli.cli_output import counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import Positive, command
from engine.cli.shown_labels import Labels, labels
from engine.cli.shown_parts import Line, line
from engine.index.copies.duplicates import DuplicateGroup
from engine.knowledge.dreaming.cycle import (
    CYCLE_ATOMS,
    DUPLICATES_MAX,
    QUIET_SECONDS,
    DreamReport,
    until_signalled,
    watch,
)
from engine.store.store import Store
from engine.text.simhash import NEAR_BITS

EXAMPLES = 5
"""The largest number of examples on one line of the report."""


@command(
    "engine dream",
    "engine dream --dry-run",
    "engine dream --budget 5000 --seconds 30",
    "engine dream --watch --quiet-for 60",
)
def dream(
    session: Session,
    *,
    budget: Positive | None = None,
    seconds: float | None = None,
    dry_run: bool = False,
    watching: bool = False,
    quiet_for: float | None = None,
) -> int:
    """Tag untagged atoms, learn names, and add relations between atoms.

    Adds tags, entities and edges as the actor `dreamer`. Removes nothing, and does not restore anything that
    somebody removed. Continues where the last cycle ended. With --full, prints the commands that would merge
    near-duplicates.

    Args:
        budget: Process at most N atoms.
        seconds: `S` Start no new step after S seconds.
        watching: `--watch` Keep running, and start a cycle whenever the store is idle.
        quiet_for: `S` With --watch, the store is idle after S seconds without events. [default: 30]
    """
    if quiet_for is not None and not watching:
        raise InvalidInputError("--quiet-for has no effect without --watch", hint="add --watch")
    if watching and dry_run:
        raise InvalidInputError("--watch cannot be combined with --dry-run")
    if watching:
        return _watch(session, budget, seconds, quiet_for)
    with session.engine() as engine, session.meter("dreamt", "steps") as move:
        since = engine.size
        report = engine.dream(budget=budget, seconds=seconds, dry_run=dry_run, progress=move)
        named = labels(session, engine, [group.keep.id for group in report.duplicates])
    return session.out.answer(_data(report), _shown(report, named, since, full=session.full))


def _watch(session: Session, budget: int | None, seconds: float | None, quiet_for: float | None) -> int:
    quiet = QUIET_SECONDS if quiet_for is None else quiet_for
    totals = dict.fromkeys(("cycles", *_COUNTS), 0)

    @contextmanager
    def opened() -> Iterator[Store]:
        with session.engine() as engine:
            yield engine.store

    def report_cycle(report: DreamReport) -> None:
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
    counts = {name: getattr(report, name) for name in _COUNTS}
    return {**counts, "entities": len(report.entities)}


def _data(report: DreamReport) -> dict[str, object]:
    groups = [{**encode(group), "merge": _merge(group)} for group in report.duplicates]
    return {**encode(report), "duplicates": groups, "done": report.done}


def _shown(report: DreamReport, named: Labels, since: int, *, full: bool) -> Iterator[Line]:
    """Yield the report in at most ten lines. With `full`, add all names and a command for each merge."""
    would = " (would be)" if report.dry_run else ""
    most = None if full else EXAMPLES
    yield line("looked at", counted(report.looked_at, "atom"))
    tags = _examples([f"#{tag}" for tag in report.common], most)
    yield line(
        "tagged", f"{counted(report.tagged, 'atom')}, {counted(report.tags, 'tag')} added{would}{tags}"
    )
    names = _examples(report.entities, most)
    yield line("entities", f"{len(report.entities):,} new of {report.known:,} known{names}")
    yield line("mentions", f"{report.mentions:,} added{would}")
    yield line("relations", f"{report.relations:,} added{would}")
    if report.duplicates:
        yield line("near-twins", _twins(report.duplicates, named))
    yield line("left", f"{counted(report.left, 'atom')} for the next cycle" if report.left else "nothing")
    yield from (line("next", what) for what in _next(report, since))
    if full:
        for group in report.duplicates:
            yield line("merge", _merge(group))


def _examples(names: Sequence[str], most: int | None) -> str:
    """Return a colon and the first names, followed by `…` if names are left out."""
    if not names:
        return ""
    more = ", …" if most is not None and len(names) > most else ""
    return f": {', '.join(names[:most])}{more}"


def _twins(groups: Sequence[DuplicateGroup], named: Labels) -> str:
    """Return the number of groups of near-duplicates, and the name of an atom of each of the first groups."""
    atoms = sum(1 + len(group.others) for group in groups)
    more = "at least " if len(groups) == DUPLICATES_MAX else ""
    names = [named.name(group.keep.id) for group in groups]
    return f"{more}{counted(len(groups), 'group')} of {counted(atoms, 'atom')}{_examples(names, 2)}"


def _next(report: DreamReport, since: int) -> Iterator[str]:
    """Yield the advice for the user after a cycle, on at most two lines."""
    if report.dry_run:
        yield "`engine dream` does this"
    elif report.left:
        yield "`engine dream` continues"
    elif report.changes:
        undo = f"`engine revert --actor dreamer --since {since}` undoes this"
        yield f"`engine tags` and `engine explore_neighbors NAME` show the result; {undo}"
    if report.duplicates:
        yield "`engine duplicates` lists near-twins, and `engine merge` merges two"


def _merge(group: DuplicateGroup) -> str:
    """Return the shell commands with which a user can merge a group.

    `engine merge` merges an atom that is not near the atom to keep only with --force.
    """
    forced = {other.id: "" if other.distance < NEAR_BITS else " --force" for other in group.others}
    return "; ".join(f"engine merge {group.keep.id} {other}{force}" for other, force in forced.items())
