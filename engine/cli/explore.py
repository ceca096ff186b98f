"""The command explore: a question looked into step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli.options import (
    AsOf,
    FromSources,
    InBuckets,
    OfKinds,
    Question,
    Since,
    Superseded,
    Until,
    WithoutTags,
    WithTags,
    filters_of,
)
from engine.cli.pages import command, new_app, running
from engine.cli.values import counted, moment

if TYPE_CHECKING:
    from engine.cli.output import Output, Shown
    from engine.query.explore.policy import Policy
    from engine.query.explore.result import Exploration
    from engine.query.explore.state import Step

app = new_app()


@command(
    app,
    "engine explore 'How does the daemon handle authentication?'",
    "engine explore 'who descales the kettle?' --budget 500 --steps 5",
    "engine explore 'who descales the kettle?' --decide ./decide.sh",
)
def explore(
    ctx: typer.Context,
    query: Question,
    budget: Annotated[
        int, typer.Option("--budget", min=200, metavar="N", help="Tokens that all steps may cost at most.")
    ] = 2000,
    steps: Annotated[int, typer.Option("--steps", min=1, metavar="N", help="At most so many: 1 to 10.")] = 10,
    decide: Annotated[
        str | None,
        typer.Option(
            "--decide",
            metavar="COMMAND",
            help="A program that decides, in 120 s each: a prompt on stdin, an action on stdout.",
        ),
    ] = None,
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
    """Ask a question; have it looked into step by step, under a budget.

    Shows the steps as they happen, what was gathered, and what it cost beside ten whole atoms. Without
    --decide no language model is needed, and the same store gives the same steps.
    """
    session = running(ctx)
    out = session.out
    filters = filters_of(tag, without_tag, bucket, source, kind, None, since, until, superseded=superseded)
    policy = _policy(decide)
    then = moment(as_of)

    def happened(step: Step) -> None:
        for item in _step(step):
            out.show(item)

    with session.engine() as engine:
        found = engine.explore(
            " ".join(query),
            policy=policy,
            budget=budget,
            steps=steps,
            filters=filters,
            on_step=happened,
            as_of=then,
        )
    return _show(out, found)


def _policy(decide: str | None) -> Policy | None:
    if decide is None:
        return None
    from engine.query.explore.policy import LanguagePolicy
    from engine.query.explore.program import Program

    return LanguagePolicy(Program(decide))


def _step(step: Step) -> Iterator[Shown]:
    from engine.query.explore.answers import Hints, Neighbors
    from engine.query.explore.rendering import text_of

    number, _, rest = str(step).partition(". ")
    yield ((f"[Step {number}] ", "bold"), (rest, ""), (f"  {step.cost} tokens", "dim"))
    if isinstance(step.answer, (Hints, Neighbors)):
        yield from (((f"  {line}", ""),) for line in text_of(step.answer).splitlines())


def _show(out: Output, found: Exploration) -> int:
    lines: list[Shown] = [
        (("=== Context ===", "bold"),),
        *(((line, ""),) for line in found.text.splitlines()),
        (("=== Exploration Trace ===", "bold"),),
        *(((line, ""),) for line in found.trace()),
        ((_tokens(found), ""),),
    ]
    out.note(f"{found.answer_tokens:,} tokens of context; at event {found.seq}, root {found.root}")
    return out.answer(data_of(found), lines)


def _tokens(found: Exploration) -> str:
    full = counted(found.full_atoms, "full atom")
    return (
        f"Tokens: {found.tokens:,} exploration vs {found.full_tokens:,} for {full} "
        f"({found.saving}% savings); stopped: {found.stopped}"
    )


def data_of(found: Exploration) -> dict[str, Any]:
    """An exploration in the types of JSON."""
    from dataclasses import asdict

    from engine.query.explore.form import plain

    return {
        "query": found.query,
        "context": [asdict(finding) for finding in found.context],
        "text": found.text,
        "steps": [
            {
                "step": step.number,
                "action": None if step.action is None else str(step.action),
                "result": step.result,
                "outcome": step.outcome,
                "answer": None if step.answer is None else plain(step.answer),
                "cost_tokens": step.cost,
                "total_tokens": step.total,
            }
            for step in found.steps
        ],
        "trace": list(found.trace()),
        "stopped": found.stopped,
        "answer_tokens": found.answer_tokens,
        "prompt_tokens": found.prompt_tokens,
        "tokens": found.tokens,
        "full_tokens": found.full_tokens,
        "full_atoms": found.full_atoms,
        "saving_percent": found.saving,
        "seq": found.seq,
        "root": found.root,
    }
