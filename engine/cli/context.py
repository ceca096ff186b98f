"""The command that makes a text for a prompt: context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

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
from engine.cli.pages import command, new_app, running
from engine.cli.values import counted, moment, plain

if TYPE_CHECKING:
    from engine.cli.session import Session
    from engine.query.context.inflate import Context

app = new_app()

DEFAULT_BUDGET = 2000

Budget = Annotated[
    int, typer.Option("--budget", min=16, metavar="N", help="At most so many tokens, all counted.")
]


@command(
    app,
    "engine context 'when is the kettle descaled?'",
    "engine context kettle --budget 500 --tag kitchen --without-tag private",
)
def context(
    ctx: typer.Context,
    query: Question,
    budget: Budget = DEFAULT_BUDGET,
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
) -> int:
    """Ask a question; get what answers it as a text for a prompt.

    Atoms that stand side by side in their source come as one window, with some of what is around them. The
    options that say what an atom must be hold for those, too. Nothing found is no error.
    """
    session = running(ctx)
    filters = filters_of(
        tag, without_tag, bucket, source, kind, provenance, since, until, category, superseded=superseded
    )
    with session.engine() as engine:
        answer = engine.context(" ".join(query), budget=budget, filters=filters, as_of=moment(as_of))
    return show_context(session, answer)


def show_context(session: Session, answer: Context) -> int:
    """Print a context, and on stderr what it costs; returns the exit code."""
    windows = len(answer.windows)
    atoms = sum(len(window.ids) for window in answer.windows)
    session.out.note(
        f"{answer.tokens:,} of {answer.budget:,} tokens: {counted(atoms, 'atom')} "
        f"in {counted(windows, 'window')}"
    )
    # Every line of the text has its line end; the last one is printed with the text.
    text = [answer.text.removesuffix("\n")] if answer.text else []
    return session.out.answer(plain(answer), text, count=windows)
