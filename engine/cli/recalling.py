"""Commands that answer a question: recall, context."""

from __future__ import annotations

from collections.abc import Iterator

from engine.base.errors import InvalidInputError
from engine.cli.command import command, option
from engine.cli.options import AS_OF, QUESTION, at_least, filter_options, limit
from engine.cli.output import Line
from engine.cli.session import Session
from engine.cli.values import counted, plain
from engine.front.times import Moment
from engine.query.context.windows import Context
from engine.query.filters import Filters
from engine.query.recall.answer import Hit, Recall

DEFAULT_BUDGET = 2000


@command(
    "engine recall 'when is the kettle descaled?'",
    "engine recall kettle --tag kitchen --since 2026-01-01 --limit 3 --explain",
    "engine recall 'what do we know about the kettle?' --budget 1000 --inflate",
)
@QUESTION
@limit(None, "At most N hits; 10 without --budget.")
@option("--budget", metavar="N", type=at_least(16), help="Return whole texts, of at most N tokens together.")
@option("--inflate", help="Include the text around the hits, as `engine context` does.")
@filter_options()
@AS_OF
@option("--explain", help="Show what each signal added, and what was nearly a hit.")
def recall(
    session: Session,
    query: tuple[str, ...],
    limit: int | None,
    budget: int | None,
    inflate: bool,
    filters: Filters,
    as_of: Moment | None,
    explain: bool,
) -> int:
    """Ask a question; get the atoms that answer it best.

    Found by their words and by what they are connected to, the best first. Nothing found is no error.
    """
    if inflate:
        if limit is not None or explain:
            raise InvalidInputError(
                "--inflate cannot be combined with --limit or --explain",
                hint="give --budget N, or leave --inflate out",
            )
        return _context(session, query, DEFAULT_BUDGET if budget is None else budget, filters, as_of)
    with session.engine() as engine:
        answer = engine.recall(
            " ".join(query), limit=limit, budget=budget, filters=filters, explain=explain, as_of=as_of
        )
    session.out.note(_about(answer))
    return session.out.answer(plain(answer), _lines(answer), count=len(answer.hits))


@command(
    "engine context 'when is the kettle descaled?'",
    "engine context kettle --budget 500 --tag kitchen --without-tag private",
)
@QUESTION
@option(
    "--budget",
    metavar="N",
    type=at_least(16),
    default=DEFAULT_BUDGET,
    help="At most N tokens in all.",
)
@filter_options()
@AS_OF
def context(
    session: Session, query: tuple[str, ...], budget: int, filters: Filters, as_of: Moment | None
) -> int:
    """Ask a question; get what answers it as a text for a prompt.

    Atoms that stand side by side in their source come as one window, with some of what is around them. The
    options that say what an atom must be hold for those, too. Nothing found is no error.
    """
    return _context(session, query, budget, filters, as_of)


def _context(
    session: Session, query: tuple[str, ...], budget: int, filters: Filters, as_of: Moment | None
) -> int:
    with session.engine() as engine:
        answer: Context = engine.context(" ".join(query), budget=budget, filters=filters, as_of=as_of)
    windows = len(answer.windows)
    atoms = counted(sum(len(window.ids) for window in answer.windows), "atom")
    tokens = f"{answer.tokens:,} of {answer.budget:,} tokens"
    session.out.note(f"{tokens}: {atoms} in {counted(windows, 'window')}")
    # Every line of the text has its line end; the last one is printed with the text.
    text = [answer.text.removesuffix("\n")] if answer.text else []
    return session.out.answer(plain(answer), text, count=windows)


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
