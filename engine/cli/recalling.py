"""The command recall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from engine.base.errors import InvalidInputError
from engine.cli.options import (
    AsOf,
    FromSources,
    InBuckets,
    InCategories,
    OfKinds,
    OfProvenances,
    Question,
    Since,
    Superseded,
    Until,
    WithoutTags,
    WithTags,
    filters_of,
)
from engine.cli.output import Line
from engine.cli.pages import command, new_app, running
from engine.cli.values import moment, plain

if TYPE_CHECKING:
    from engine.query.recall.answer import Hit, Recall

app = new_app()


@command(
    app,
    "engine recall 'when is the kettle descaled?'",
    "engine recall kettle --tag kitchen --since 2026-01-01 --limit 3 --explain",
    "engine recall 'what do we know about the kettle?' --budget 1000 --inflate",
)
def recall(
    ctx: typer.Context,
    query: Question,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, metavar="N", help="At most so many; 10 without --budget."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=16, metavar="N", help="Whole texts, of at most so many tokens."),
    ] = None,
    inflate: Annotated[
        bool, typer.Option("--inflate", help="With what stands around them: as `engine context`.")
    ] = False,
    tag: WithTags = None,
    without_tag: WithoutTags = None,
    bucket: InBuckets = None,
    source: FromSources = None,
    kind: OfKinds = None,
    provenance: OfProvenances = None,
    since: Since = None,
    until: Until = None,
    category: InCategories = None,
    superseded: Superseded = False,
    as_of: AsOf = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="What each signal added, and what was nearly a hit.")
    ] = False,
) -> int:
    """Ask a question; get the atoms that answer it best.

    Found by their words and by what they are connected to, the best first. Nothing found is no error.
    """
    session = running(ctx)
    filters = filters_of(
        tag, without_tag, bucket, source, kind, provenance, since, until, category, superseded=superseded
    )
    asked, then = " ".join(query), moment(as_of)
    with session.engine() as engine:
        if inflate:
            from engine.cli.context import DEFAULT_BUDGET, show_context

            if limit is not None or explain:
                raise InvalidInputError(
                    "--inflate goes by tokens: --limit and --explain say nothing about it",
                    hint="give --budget N, or leave --inflate out",
                )
            tokens = DEFAULT_BUDGET if budget is None else budget
            return show_context(session, engine.context(asked, budget=tokens, filters=filters, as_of=then))
        answer = engine.recall(
            asked, limit=limit, budget=budget, filters=filters, explain=explain, as_of=then
        )
    session.out.note(_about(answer))
    return session.out.answer(plain(answer), _lines(answer), count=len(answer.hits))


def _about(answer: Recall) -> str:
    parts = [
        f"{len(answer.hits)} of {answer.candidates:,} atoms",
        f"searched for the terms: {' '.join(answer.terms)}",
        f"answered by {answer.level}" + (f": {', '.join(answer.entities)}" if answer.entities else ""),
    ]
    if answer.bridges:
        parts.append("walked " + " ".join(f"#{bridge.tag}" for bridge in answer.bridges))
    if answer.budget is not None:
        parts.append(f"{answer.tokens:,} of {answer.budget:,} tokens")
    return "; ".join(parts)


def _lines(answer: Recall) -> Iterator[Line]:
    for rank, hit in enumerate(answer.hits, 1):
        yield from _hit(rank, hit)
    for one in answer.dropped:
        yield (
            ("left out ", "dim"),
            (one.id, "cyan"),
            (f"  {one.score:.2f}", "green"),
            (f"  {one.reason}", "dim"),
        )


def _hit(rank: int, hit: Hit) -> Iterator[Line]:
    heading = hit.title or hit.source or "untitled"
    yield ((f"{rank}. ", "dim"), (heading, "bold"), (f"  {hit.score:.2f}", "green"), (_role(hit), "dim"))
    text = hit.snippet if hit.content is None else hit.content
    for line in text.splitlines() if hit.content is not None else [" ".join(text.split())]:
        yield (("   ", ""), (line, ""))
    tags = "".join(f" #{tag}" for tag in hit.tags)
    yield ((f"   {hit.id}", "cyan"), (f"  {hit.source}" if hit.source else "", "dim"), (tags, "magenta"))
    if hit.duplicates:
        yield ((f"   stands for {', '.join(hit.duplicates)}", "dim"),)
    if hit.signals:
        yield ((f"   {'  '.join(f'{signal} {value:+.2f}' for signal, value in hit.signals.items())}", "dim"),)


def _role(hit: Hit) -> str:
    if not hit.path:
        return f"  {hit.role}" if hit.role == "walker" else ""
    return f"  {hit.role} by {' '.join(hit.path)}"
