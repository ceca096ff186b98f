"""Commands on the journal and its root: history, log, root, checkpoint."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import AsOf, Id
from engine.cli.output import Table, dumped
from engine.cli.pages import command, new_app, running
from engine.cli.values import moment, plain, shown_time

if TYPE_CHECKING:
    from engine.model import HistoryItem

app = new_app()

LAST = 20
"""Events that `log` lists when nothing else is asked for."""


@command(app, "engine history 1f0c")
def history(ctx: typer.Context, atom: Id) -> int:
    """List every event on an atom, the oldest first."""
    session = running(ctx)
    with session.engine() as engine:
        found = engine.history(engine.resolve(atom))
    return session.out.answer(plain(found), [_table(found)])


@command(app, "engine log", "engine log --from 0 --limit 100", "engine log --from 0 --jsonl")
def log(
    ctx: typer.Context,
    start: Annotated[
        int | None, typer.Option("--from", min=0, metavar="SEQ", help="Begin at this event.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, metavar="N", help="At most so many events. [default: 20]"),
    ] = None,
    jsonl: Annotated[
        bool,
        typer.Option("--jsonl", help="Print an event on each line as JSON as it is read, without limit."),
    ] = False,
) -> int:
    """List the events of the journal, the oldest first.

    Without --from, the last ones.
    """
    session = running(ctx)
    with session.engine() as engine:
        many = limit or LAST
        first = max(engine.size - many, 0) if start is None else start
        events = engine.log(first, None if jsonl and limit is None else first + many)
        if jsonl:
            for item in events:
                session.out.json_line(plain(item))
            return 0
        found = list(events)
    return session.out.answer(plain(found), [_table(found)])


@command(app, "engine root", "engine root --as-of 2026-11-01", "engine root --json")
def root(ctx: typer.Context, as_of: AsOf = None) -> int:
    """Print the overall root: 64 hex digits.

    It commits to everything in the store. `engine verify-root --expect HEX` checks it.
    """
    session = running(ctx)
    with session.engine() as engine:
        found = engine.root(as_of=moment(as_of))
    return session.out.answer(plain(found), [((found.root, ""),)])


@command(app, "engine checkpoint")
def checkpoint(ctx: typer.Context) -> int:
    """Record the overall root in the journal.

    Prints the event's number and the root of all events before it. Nothing new since the last
    checkpoint: that one is printed.
    """
    session = running(ctx)
    with session.engine() as engine:
        receipt = engine.checkpoint()
        seq = receipt.events[0].seq if receipt.events else engine.size - 1
        item = next(engine.log(seq, seq + 1))
    session.out.note("recorded" if receipt.changed else "nothing to do: the last event is a checkpoint")
    data = {"seq": seq, "size": seq, "root": item.detail["root"], "changed": receipt.changed}
    return session.out.answer(data, [((f"{seq} {item.detail['root']}", ""),)])


def _table(items: Iterable[HistoryItem]) -> Table:
    rows = (
        (
            str(item.seq),
            shown_time(item.time),
            item.kind.name.lower(),
            item.actor,
            item.subject,
            _detail(item),
        )
        for item in items
    )
    return Table(("event", "time", "what", "by", "on", "detail"), rows)


def _detail(item: HistoryItem) -> str:
    shown = {
        name: value for name, value in item.detail.items() if name not in {"ordinal", "replaced"} and value
    }
    text = dumped(plain(shown)) if shown else ""
    return text if len(text) <= 120 else text[:119] + "…"
