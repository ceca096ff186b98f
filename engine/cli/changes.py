"""Commands that show and undo changes: diff, revert, why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.base.errors import InvalidInputError
from engine.base.time_text import Moment, parse_moment, shown_time
from engine.cli.command import argument, command, option
from engine.cli.labels import Labels, ids_in, labels
from engine.cli.numbers import at_least
from engine.cli.options import AS_OF, ID, dry_run
from engine.cli.output import plain
from engine.cli.session import DEFAULT_ACTOR, Session
from engine.cli.shapes import Line, Shown, counted
from engine.query.history.diff import AtomChange, Diff, EdgeChange
from engine.query.history.revert import Undone
from engine.query.history.why import Origin
from engine.trust.notes.files import read_file
from proofs.note import NOTE_BYTES_MAX


@command("engine diff 41", "engine diff 2026-11-01 2026-11-20 --markdown", "engine diff kept.checkpoint")
@argument("before", "A", "The earlier moment: a SEQ, a TIME, or a checkpoint file.")
@argument(
    "after", "B", "The later moment: a SEQ, a TIME, or a checkpoint file. [default: now]", required=False
)
@option("--markdown", help="Print the changes as Markdown.")
def diff(session: Session, before: str, after: str | None, markdown: bool) -> int:
    """Show what changed between two moments.

    Lists the net change of each atom and each edge; a change that was undone is not listed. Compares the
    state of the memory at A with its state at B. If A is a SEQ, the state at A includes the effect of event
    A.
    """
    first, last = _moment(before), None if after is None else _moment(after)
    with session.engine() as engine:
        found = engine.diff(first, last)
        ends = (end for edge in found.edges for end in (edge.src, edge.dst))
        named = labels(session, engine, [*(atom.id for atom in found.atoms), *ends])
    data = plain(found)
    for shown, atom in zip(data["atoms"], found.atoms, strict=True):
        shown["lines"] = atom.lines()
    lines = _in_markdown(found, named) if markdown else _in_text(found, named)
    return session.out.answer(data, lines, count=len(found.atoms) + len(found.edges))


def _moment(given: str) -> Moment | str:
    """Return the moment that an argument names: a seq, a time, or the text of a checkpoint file."""
    if not given.isdigit() and Path(given).is_file():
        return read_file(given, NOTE_BYTES_MAX).decode(errors="replace")
    try:
        return parse_moment(given, "the moment")
    except InvalidInputError as error:
        raise InvalidInputError(f"{error}, nor the path of a checkpoint file", hint=error.hint) from None


_MARKS = {"added": "+", "revived": "+", "tombstoned": "-", "erased": "-", "changed": "~"}
_STYLES = {"+": "green", "-": "red", "~": "yellow"}


def _in_text(found: Diff, named: Labels) -> Iterator[Line]:
    for atom in found.atoms:
        mark = _MARKS[atom.change]
        yield ((f"{mark} ", _STYLES[mark]), (named.id(atom.id), "cyan"), (f"  {_about(atom, named)}", ""))
        for line in _details(atom):
            yield (("    ", ""), (line, _STYLES.get(line[:1], "")))
    for edge in found.edges:
        mark = "-" if edge.change in {"removed", "erased"} else _MARKS[edge.change]
        yield (
            (f"{mark} ", _STYLES[mark]),
            (_edge(edge, named), "cyan"),
            (_why(edge.reason), ""),
        )
    yield ((_summary(found), "dim"),)


def _edge(edge: EdgeChange, named: Labels) -> str:
    ends = [f"{named.id(end)} {named.name(end)}".rstrip() for end in (edge.src, edge.dst)]
    return f" {edge.type} ".join(ends)


def _in_markdown(found: Diff, named: Labels) -> Iterator[str]:
    yield f"# Changes from event {found.before} to event {found.after}\n"
    for atom in found.atoms:
        short = named.id(atom.id)
        name = _plain(atom.title or named.name(atom.id) or short)
        yield f"## {atom.change}: {name}\n\n`{short}`{_plain(_why(atom.reason))}\n"
        details = _details(atom)
        if details:
            longest = max((len(run) for line in details for run in re.findall("`+", line)), default=0)
            fence = "`" * max(3, longest + 1)
            yield "\n".join([f"{fence}diff", *details, fence, ""])
    if found.edges:
        yield "## Edges\n"
        yield "\n".join(
            f"- {one.change}: `{named.id(one.src)} {one.type} {named.id(one.dst)}`{_plain(_why(one.reason))}"
            for one in found.edges
        )
        yield ""
    yield _summary(found)


def _plain(text: str) -> str:
    """Return the text on one line, with Markdown syntax escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|!])", r"\\\1", " ".join(text.split()))


def _about(atom: AtomChange, named: Labels) -> str:
    return f"{atom.change}  {named.name(atom.id)}".rstrip() + _why(atom.reason)


def _why(reason: str) -> str:
    return f": {reason}" if reason else ""


def _details(atom: AtomChange) -> list[str]:
    fields = [
        f"~ {name}: {_value(plain(was, name))} → {_value(plain(now, name))}"
        for name, (was, now) in atom.fields.items()
    ]
    return [*fields, *atom.lines()]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _summary(found: Diff) -> str:
    parts = [
        counted(found.events, "event"),
        counted(len(found.atoms), "atom"),
        counted(len(found.edges), "edge"),
    ]
    if found.predicates:
        parts.append(f"predicates registered: {', '.join(found.predicates)}")
    if found.checkpoints:
        parts.append(f"checkpoints at {', '.join(map(str, found.checkpoints))}")
    return "; ".join(parts)


@command("engine revert 41..45", "engine revert --actor dreamer --since 120 --dry-run")
@argument("events", "SEQ..SEQ", "A range of events, or a single event.", required=False)
@option("--by", metavar="NAME", help="The actor recorded for the revert. [default: user]")
@option("--since", metavar="SEQ", type=at_least(0), help="Undo this event and all later events.")
@dry_run("Show what would be undone; change nothing.")
def revert(session: Session, events: str | None, by: str | None, since: int | None, dry_run: bool) -> int:
    """Undo events by appending events that do the opposite.

    Afterwards, the memory is as if the undone events had not happened. If a later event changed the same item
    again, that item is not reverted but listed. The history is kept, so a revert can be reverted. Erased
    content stays erased. --actor selects events by their actor; --by sets the actor of the revert.
    """
    first, last = _range(events, since)
    whose = session.actor if "actor" in session.given else None
    session.actor = by or DEFAULT_ACTOR
    with session.engine() as engine:
        done = engine.revert(first, last, actor=whose, dry_run=dry_run)
        named = labels(session, engine, ids_in(one.subject for one in done))
    if whose is not None and not done:
        session.out.note(f"no event in this range was written by {whose}")
    undone = sum(one.outcome == "undone" for one in done)
    left = sum(bool(one.left) for one in done)
    verb = "would be undone" if dry_run else "taken back"
    rest = f"; not undone: {left}" if left else ""
    session.out.note(f"{verb}: {undone} of {counted(len(done), 'subject')}{rest}")
    return session.out.answer(plain(done), [_undone(one, named) for one in done])


def _range(events: str | None, since: int | None) -> tuple[int, int | None]:
    if (events is None) == (since is None):
        raise InvalidInputError("no events were given: give SEQ..SEQ, one SEQ, or --since SEQ")
    if since is not None:
        return since, None
    start, dots, end = str(events).partition("..")
    if not start.isdigit() or (dots and not end.isdigit()) or len(start) > 18 or len(end) > 18:
        raise InvalidInputError(f"{str(events)[:40]!r} is not a range of events", hint="example: 41..45")
    first, last = int(start), int(end if dots else start)
    if first > last:
        raise InvalidInputError(f"event {first} is after event {last}; give the earlier one first")
    return first, last + 1


def _undone(one: Undone, named: Labels) -> Shown:
    seqs = ", ".join(map(str, one.seqs))
    by = f" by {', '.join(map(str, one.events))}" if one.events else ""
    said = [] if one.outcome == "left" else [one.outcome + by]
    said += [f"not undone: {'; '.join(one.left)}"] if one.left else []
    return ((f"{seqs} ", "cyan"), (f"{named.subject(one.subject)}  ", ""), ("; ".join(said), "dim"))


@command("engine why 1f0c")
@ID
@AS_OF
def why(session: Session, atom: str, as_of: Moment | None) -> int:
    """Show where an atom comes from and who changed it.

    Follows `derived_from` and `supersedes` edges, and the sources of relations.
    """
    with session.reading(as_of) as memory:
        found = memory.why(memory.resolve(atom))
        newer = (after.id for one in found for after in one.superseded_by)
        named = labels(session, memory, [*(one.id for one in found), *newer])
    return session.out.answer(plain(found), [line for one in found for line in _origin(one, named)])


def _origin(one: Origin, named: Labels) -> Iterator[Line]:
    indent = "  " * one.hops
    by = f"{one.by} " if one.by else ""
    state = "" if one.state.name == "LIVE" else f"  {one.state.name.lower()}"
    yield (
        (f"{indent}{by}", "dim"),
        (named.id(one.id), "cyan"),
        (f"  {named.name(one.id)}{state}".rstrip(), ""),
    )
    if one.state.name != "ERASED":  # an erased atom no longer has a source, kind or key
        place = f"{one.source} {one.sequence}" if one.sequence is not None else one.source
        key = f", key {one.key}" if one.key else ""
        trust = f", trust {one.trust}" if one.trust is not None else ""
        yield ((f"{indent}  from {place or 'no source'}{key}; {one.kind}, {one.provenance}{trust}", ""),)
    for newer in one.superseded_by:
        why = f": {newer.reason}" if newer.reason else ""
        by = f"superseded by {named.id(newer.id)}, {shown_time(newer.at)} by {newer.actor}{why}"
        yield ((f"{indent}  {by}", "yellow"),)
    for cause in one.causes:
        yield ((f"{indent}  {cause.seq} {shown_time(cause.time)} {cause.what} by {cause.actor}", "dim"),)
