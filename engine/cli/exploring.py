"""The four verbs of exploration: explore_recall, explore_peek, explore_expand, explore_neighbors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from engine.base.errors import InvalidInputError
from engine.cli.options import (
    AsOf,
    FromSources,
    InBuckets,
    OfKinds,
    Since,
    Superseded,
    Until,
    WithoutTags,
    WithTags,
    filters_of,
)
from engine.cli.pages import command, new_app, running

if TYPE_CHECKING:
    from engine.cli.session import Session
    from engine.query.explore.answers import Answer
    from engine.query.explore.explorer import Explorer

app = new_app()

Query = Annotated[str | None, typer.Option("--query", metavar="TEXT", help="What you want to know.")]
AskedId = Annotated[
    str | None, typer.Option("--id", metavar="ID", help="An atom's id, or its first digits: 4 or more.")
]
Given = Annotated[
    str | None, typer.Argument(metavar="VALUE", help="The same without its option.", show_default=False)
]
Budget = Annotated[
    int | None,
    typer.Option("--budget", min=1, metavar="N", help="Tokens that the answer may cost at most."),
]
Spent = Annotated[
    int, typer.Option("--spent", min=0, metavar="N", help="Tokens spent before, for the running total.")
]
Offset = Annotated[
    int, typer.Option("--offset", min=0, metavar="N", help="Begin there: `next` of an answer.")
]


@command(
    app,
    "engine explore_recall --query 'when is the kettle descaled?' --limit 5",
    "engine explore_recall kettle --tag kitchen --budget 100",
    name="explore_recall",
)
def explore_recall(
    ctx: typer.Context,
    given: Given = None,
    query: Query = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="At most 50.")] = 5,
    known: Annotated[
        list[str] | None, typer.Option("--known", metavar="ID", help="Needs no hint. Repeatable.")
    ] = None,
    budget: Budget = None,
    spent: Spent = 0,
    tag: WithTags = None,
    without_tag: WithoutTags = None,
    bucket: InBuckets = None,
    source: FromSources = None,
    kind: OfKinds = None,
    since: Since = None,
    until: Until = None,
    superseded: Superseded = False,
    as_of: AsOf = None,
) -> int:
    """Ask a question; get hints, about 100 tokens for five.

    A hint says how well an atom answers, in per cent, what its whole text costs, its id and its title.
    """
    session = running(ctx)
    asked = _one(given, query, "--query", "a question")
    filters = filters_of(tag, without_tag, bucket, source, kind, None, since, until, superseded=superseded)
    with _explorer(session, spent, as_of) as explorer:
        answer = explorer.explore_recall(asked, limit, filters=filters, known=known or (), budget=budget)
    return _show(session, answer, len(answer.hints))


@command(app, "engine explore_peek --id 1f0c --query 'when is the kettle descaled?'", name="explore_peek")
def explore_peek(
    ctx: typer.Context,
    given: Given = None,
    atom: AskedId = None,
    query: Query = None,
    budget: Budget = None,
    spent: Spent = 0,
    as_of: AsOf = None,
) -> int:
    """See 200 characters of an atom, where it matters.

    With --query, where its words are; without, the beginning.
    """
    session = running(ctx)
    named = _one(given, atom, "--id", "an atom's id")
    with _explorer(session, spent, as_of) as explorer:
        answer = explorer.explore_peek(named, query, budget=budget)
    return _show(session, answer)


@command(
    app, "engine explore_expand --id 1f0c", "engine explore_expand 1f0c --budget 500", name="explore_expand"
)
def explore_expand(
    ctx: typer.Context,
    given: Given = None,
    atom: AskedId = None,
    offset: Offset = 0,
    budget: Budget = None,
    spent: Spent = 0,
    as_of: AsOf = None,
) -> int:
    """See a whole atom.

    Its text, and its source, tags, versions and how many edges it has.
    """
    session = running(ctx)
    named = _one(given, atom, "--id", "an atom's id")
    with _explorer(session, spent, as_of) as explorer:
        answer = explorer.explore_expand(named, budget=budget, offset=offset)
    return _show(session, answer)


@command(
    app,
    "engine explore_neighbors --node daemon --direction both",
    "engine explore_neighbors '#kitchen' --limit 10",
    name="explore_neighbors",
)
def explore_neighbors(
    ctx: typer.Context,
    given: Given = None,
    node: Annotated[
        str | None,
        typer.Option("--node", metavar="NODE", help="An id, the name of an entity, a #tag, or a word."),
    ] = None,
    direction: Annotated[str, typer.Option("--direction", metavar="WAY", help="out, in or both.")] = "both",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="At most 100.")] = 20,
    offset: Offset = 0,
    budget: Budget = None,
    spent: Spent = 0,
    as_of: AsOf = None,
) -> int:
    """See what an atom, an entity or a tag is connected to.

    As triples: subject → predicate → object. Beside edges these are tags and the next atoms of a source.
    """
    session = running(ctx)
    named = _one(given, node, "--node", "a node")
    with _explorer(session, spent, as_of) as explorer:
        answer = explorer.explore_neighbors(named, direction, limit=limit, offset=offset, budget=budget)
    return _show(session, answer, len(answer.triples))


def _one(given: str | None, option: str | None, name: str, what: str) -> str:
    """What was given, as an argument or by its option.

    Raises:
        InvalidInputError: neither, or both.
    """
    if (given is None) == (option is None):
        raise InvalidInputError(f"give {what} once, by {name} or without it")
    return str(option if given is None else given)


@contextmanager
def _explorer(session: Session, spent: int, as_of: str | None) -> Iterator[Explorer]:
    form = "json" if session.out.json else "text"
    with session.reading(as_of) as memory:
        yield memory.explorer(form=form, spent=spent)


def _show(session: Session, answer: Answer, count: int = 1) -> int:
    from engine.query.explore.form import plain
    from engine.query.explore.rendering import text_of

    session.out.note(
        f"{answer.cost_tokens:,} tokens, {answer.total_tokens:,} in all; "
        f"at event {answer.seq}, root {answer.root}"
    )
    text = text_of(answer).removesuffix("\n")
    return session.out.answer(plain(answer), [text] if text else [], count=count)
