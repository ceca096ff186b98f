"""Commands on what changed: diff, revert, why, supersede."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.base.errors import InvalidInputError
from engine.cli.options import AsOf, Id, Reason
from engine.cli.output import Line, Shown
from engine.cli.pages import command, new_app, running, was_given
from engine.cli.values import counted, parse_time, plain, shown_time

if TYPE_CHECKING:
    from engine.query.history.diff import AtomChange, Diff
    from engine.query.history.revert import Undone
    from engine.query.history.why import Origin
    from engine.store.past import AsOf as Then

app = new_app()

Moment = Annotated[
    str, typer.Argument(metavar="A", help="SEQ, TIME, or the file of a checkpoint.", show_default=False)
]
Later = Annotated[
    str | None, typer.Argument(metavar="B", help="The same, later. [default: the head]", show_default=False)
]


@command(app, "engine diff 41", "engine diff 2026-11-01 2026-11-20 --markdown", "engine diff kept.checkpoint")
def diff(
    ctx: typer.Context,
    before: Moment,
    after: Later = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown.")] = False,
) -> int:
    """Show what changed between two moments.

    Net, atom by atom and edge by edge: what was changed back is left out. What the memory said as of A, event
    A included, beside what it says as of B.
    """
    session = running(ctx)
    first, last = _moment(before), None if after is None else _moment(after)
    with session.engine() as engine:
        found = engine.diff(first, last)
    lines = _in_markdown(found) if markdown else _in_text(found)
    return session.out.answer(_data(found), lines, count=len(found.atoms) + len(found.edges))


def _moment(given: str) -> Then | str:
    """A seq, a time, or the text of a checkpoint note."""
    from pathlib import Path

    from engine.trust.notes.files import read_file
    from proofs.note import NOTE_BYTES_MAX

    if not given.isdigit() and Path(given).is_file():
        return read_file(given, NOTE_BYTES_MAX).decode(errors="replace")
    if given.isascii() and given.isdigit():
        return int(given[:20])
    try:
        return parse_time(given, "the moment")
    except InvalidInputError as error:
        raise InvalidInputError(f"{error}, and no file of a checkpoint either", hint=error.hint) from None


_MARKS = {"added": "+", "revived": "+", "tombstoned": "-", "erased": "-", "changed": "~"}
_STYLES = {"+": "green", "-": "red", "~": "yellow"}


def _in_text(found: Diff) -> Iterator[Line]:
    for atom in found.atoms:
        mark = _MARKS[atom.change]
        yield ((f"{mark} ", _STYLES[mark]), (atom.id, "cyan"), (f"  {_about(atom)}", ""))
        for line in _details(atom):
            yield (("    ", ""), (line, _STYLES.get(line[:1], "")))
    for edge in found.edges:
        mark = "-" if edge.change in {"removed", "erased"} else _MARKS[edge.change]
        yield (
            (f"{mark} ", _STYLES[mark]),
            (f"{edge.src} {edge.type} {edge.dst}", "cyan"),
            (_why(edge.reason), ""),
        )
    yield ((_summary(found), "dim"),)


def _in_markdown(found: Diff) -> Iterator[str]:
    yield f"# Changes from event {found.before} to event {found.after}\n"
    for atom in found.atoms:
        yield f"## {atom.change}: {_plain(atom.title or atom.id)}\n\n`{atom.id}`{_plain(_why(atom.reason))}\n"
        details = _details(atom)
        if details:
            longest = max((len(run) for line in details for run in _ticks(line)), default=0)
            fence = "`" * max(3, longest + 1)
            yield "\n".join([f"{fence}diff", *details, fence, ""])
    if found.edges:
        yield "## Edges\n"
        yield "\n".join(
            f"- {one.change}: `{one.src} {one.type} {one.dst}`{_plain(_why(one.reason))}"
            for one in found.edges
        )
        yield ""
    yield _summary(found)


def _ticks(line: str) -> list[str]:
    import re

    return re.findall("`+", line)


def _plain(text: str) -> str:
    """Text on one line that Markdown takes for nothing else."""
    import re

    return re.sub(r"([\\`*_{}\[\]<>#|!])", r"\\\1", " ".join(text.split()))


def _about(atom: AtomChange) -> str:
    return f"{atom.change}  {atom.title or ''}".rstrip() + _why(atom.reason)


def _why(reason: str) -> str:
    return f": {reason}" if reason else ""


def _details(atom: AtomChange) -> list[str]:
    fields = [f"~ {name}: {_value(was)} → {_value(now)}" for name, (was, now) in atom.fields.items()]
    return [*fields, *atom.lines()]


def _value(value: Any) -> str:
    if isinstance(value, tuple):
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


def _data(found: Diff) -> dict[str, Any]:
    data: dict[str, Any] = plain(found)
    for shown, atom in zip(data["atoms"], found.atoms, strict=True):
        shown["lines"] = atom.lines()
    return data


@command(
    app,
    "engine revert 41..45",
    "engine revert --actor dreamer --since 120 --dry-run",
)
def revert(
    ctx: typer.Context,
    events: Annotated[
        str | None,
        typer.Argument(metavar="SEQ..SEQ", help="The first and last event, or one.", show_default=False),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="NAME", help="Who takes back, for the journal. [default: user]"),
    ] = None,
    since: Annotated[
        int | None, typer.Option("--since", min=0, metavar="SEQ", help="From this event to the head.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would become of each.")] = False,
) -> int:
    """Take events back, by events that do the contrary.

    Afterwards all is as if they had not happened, but for what was changed again since: that is left, and
    named. Nothing is lost; a revert can be reverted. What is erased stays erased. Here --actor says whose
    events are meant, and --by who takes them back.
    """
    from engine.cli.session import DEFAULT_ACTOR

    session = running(ctx)
    first, last = _range(events, since)
    whose = session.actor if was_given(ctx, "actor") else None
    session.actor = by or DEFAULT_ACTOR
    with session.engine() as engine:
        done = engine.revert(first, last, actor=whose, dry_run=dry_run)
    if whose is not None and not done:
        session.out.note(f"none of these events is by {whose}")
    undone = sum(one.outcome == "undone" for one in done)
    left = sum(bool(one.left) for one in done)
    verb = "would be taken back" if dry_run else "taken back"
    rest = f"; left: {left}" if left else ""
    session.out.note(f"{verb}: {undone} of {counted(len(done), 'subject')}{rest}")
    return session.out.answer(plain(done), [_undone(one) for one in done])


def _range(events: str | None, since: int | None) -> tuple[int, int | None]:
    if (events is None) == (since is None):
        raise InvalidInputError("say which events: SEQ..SEQ, one SEQ, or --since SEQ")
    if since is not None:
        return since, None
    start, dots, end = str(events).partition("..")
    if not start.isdigit() or (dots and not end.isdigit()) or len(start) > 18 or len(end) > 18:
        raise InvalidInputError(f"{str(events)[:40]!r} is no SEQ..SEQ", hint="as in 41..45")
    first, last = int(start), int(end if dots else start)
    if first > last:
        raise InvalidInputError(f"event {first} is after event {last}; give the earlier one first")
    return first, last + 1


def _undone(one: Undone) -> Shown:
    seqs = ", ".join(map(str, one.seqs))
    by = f" by {', '.join(map(str, one.events))}" if one.events else ""
    left = "; ".join(one.left)
    said = (
        f"left: {left}" if one.outcome == "left" else f"{one.outcome}{by}{f'; left: {left}' if left else ''}"
    )
    return ((f"{seqs} ", "cyan"), (f"{one.subject}  ", ""), (said, "dim"))


@command(app, "engine why 1f0c")
def why(ctx: typer.Context, atom: Id, as_of: AsOf = None) -> int:
    """Show where an atom comes from, and who changed it.

    Follows `derived_from` and `supersedes`, and the atoms that relations name as their source.
    """
    session = running(ctx)
    with session.reading(as_of) as memory:
        found = memory.why(memory.resolve(atom))
    return session.out.answer(plain(found), [line for one in found for line in _origin(one)])


def _origin(one: Origin) -> Iterator[Line]:
    indent = "  " * one.hops
    by = f"{one.by} " if one.by else ""
    state = "" if one.state.name == "LIVE" else f"  {one.state.name.lower()}"
    yield ((f"{indent}{by}", "dim"), (one.id, "cyan"), (f"  {one.title or ''}{state}".rstrip(), ""))
    if one.state.name != "ERASED":  # of which nothing is left to say
        place = f"{one.source} {one.sequence}" if one.sequence is not None else one.source
        key = f", key {one.key}" if one.key else ""
        trust = f", trust {one.trust}" if one.trust is not None else ""
        yield ((f"{indent}  from {place or 'no source'}{key}; {one.kind}, {one.provenance}{trust}", ""),)
    for newer in one.superseded_by:
        why = f": {newer.reason}" if newer.reason else ""
        by = f"superseded by {newer.id}, {shown_time(newer.at)} by {newer.actor}{why}"
        yield ((f"{indent}  {by}", "yellow"),)
    for cause in one.causes:
        yield ((f"{indent}  {cause.seq} {shown_time(cause.time)} {cause.what} by {cause.actor}", "dim"),)


@command(app, "engine supersede 1f0c 9a2e --reason 'descaled on Fridays since June'")
def supersede(
    ctx: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The atom that is wrong.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The atom that is right.", show_default=False)],
    reason: Reason = "",
) -> int:
    """Let one atom take the place of another, which is kept.

    It is no longer recalled, nor is what says almost the same as OLD. `--superseded` asks for both; the tag
    `superseded` says which it is. `engine revert` takes it back.
    """
    from engine.commands import Supersede

    session = running(ctx)
    with session.engine() as engine:
        given = engine.resolve(old), engine.resolve(new)
        receipt = engine.apply([Supersede(*given, reason)])[0]
        alike = [one.id for group in engine.duplicates(of=given[0]) for one in (group.keep, *group.others)]
    session.out.note("superseded" if receipt.changed else "nothing to do: it is superseded by that one")
    for one in alike:
        if one not in given:
            session.out.note(f"{one} says almost the same as the old one, and is not recalled either")
    return session.out.answer({**plain(receipt), "changed": receipt.changed}, [((receipt.subject, ""),)])
