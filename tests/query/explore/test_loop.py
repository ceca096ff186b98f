"""Properties of the loop for every memory, question and policy."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add
from engine.base.errors import EngineError
from engine.commands import Command
from engine.query.explore.explore_actions import Verb
from engine.query.explore.explore_answers import Expanded, Peek
from engine.query.explore.loop import BUDGET_MIN, STEPS_MAX, explore
from engine.query.explore.state import Exploration, Result, Step
from engine.query.prompt_text import tokens_of
from tests.query.explore.doing import HOSTILE, Drawn, memories, policies
from tests.query.recall.histories import questions
from tests.query.recall.support import id_of, memory
from tests.support.shared_data import needs

pytestmark = pytest.mark.slow

laws = settings(max_examples=60, deadline=None)
budgets = st.one_of(st.integers(BUDGET_MIN, 600), st.just(2000))


def found_in(commands: list[Command], query: str, policy: Drawn | None, budget: int = 2000) -> Exploration:
    """The result of exploring a new memory with these commands."""
    with memory(commands) as engine:
        return explore(engine.view, query, policy=policy, budget=budget)


@laws
@given(memories(), questions, st.one_of(st.none(), policies), budgets)
def test_costs_add_up_and_stay_within_the_budget(
    commands: list[Command], query: str, policy: Drawn | None, budget: int
) -> None:
    """The total is the sum of the steps' costs, and at most the budget."""
    found = found_in(commands, query, policy, budget)
    assert found.tokens == sum(step.cost for step in found.steps) <= budget
    running = 0
    for step in found.steps:
        running += step.cost
        assert step.total == running
        assert step.cost == (step.answer.cost_tokens if step.answer else 0)
        assert (step.answer is not None) == (step.result is Result.DONE)
    assert found.answer_tokens == tokens_of(found.text)


@laws
@given(memories(), questions, st.one_of(st.none(), policies), st.integers(1, STEPS_MAX))
def test_there_are_never_more_steps_than_asked_for(
    commands: list[Command], query: str, policy: Drawn | None, steps: int
) -> None:
    """Steps are numbered from 1 to at most the limit, refused and failed ones included."""
    with memory(commands) as engine:
        told: list[Step] = []
        found = explore(engine.view, query, policy=policy, steps=steps, on_step=told.append)
    assert 1 <= len(found.steps) <= steps
    assert [step.number for step in found.steps] == list(range(1, len(found.steps) + 1))
    assert tuple(told) == found.steps
    assert found.steps[0].action is not None
    assert found.steps[0].action.verb is Verb.RECALL


@laws
@given(memories(), questions, st.one_of(st.none(), policies))
def test_no_step_is_done_twice(commands: list[Command], query: str, policy: Drawn | None) -> None:
    """No atom is read twice, none is peeked at after an expand, and no query is repeated."""
    found = found_in(commands, query, policy)
    done = [step for step in found.steps if step.result is Result.DONE]
    expanded: set[str] = set()
    seen: Counter[tuple[Verb, str]] = Counter()
    for step in done:
        assert step.action is not None
        match step.answer:
            case Peek(id=short):
                assert short not in {one[:8] for one in expanded}
                seen[Verb.PEEK, short] += 1
            case Expanded(id=whole):
                expanded.add(whole)
                seen[Verb.EXPAND, whole] += 1
            case _:
                seen[step.action.verb, step.action.argument] += 1
    assert max(seen.values()) == 1


@laws
@given(memories(), questions, st.one_of(st.none(), policies), budgets)
def test_equal_memories_are_explored_equally(
    commands: list[Command], query: str, policy: Drawn | None, budget: int
) -> None:
    """Equal memories, questions and policies give equal explorations."""
    assert found_in(commands, query, policy, budget) == found_in(commands, query, policy, budget)


@laws
@given(memories(), questions, st.one_of(st.none(), policies))
def test_no_finding_is_in_the_context_twice(
    commands: list[Command], query: str, policy: Drawn | None
) -> None:
    """Each atom, and the connections of each node, are in the context once."""
    found = found_in(commands, query, policy)
    names = [(one.verb is Verb.NEIGHBORS, one.id or one.title) for one in found.context]
    assert len(names) == len(set(names))


@laws
@given(memories(), questions, st.one_of(st.none(), policies))
def test_no_content_begins_a_line_of_the_context(
    commands: list[Command], query: str, policy: Drawn | None
) -> None:
    """Every line of the context begins with a generated heading or a space."""
    found = found_in(commands, query, policy)
    for line in found.text.splitlines():
        assert not line.startswith(HOSTILE)
        assert not line or line[0] in " ["
        assert "<s" not in line
        assert "</" not in line


def test_naughty_strings_stay_where_they_are() -> None:
    """No naughty string begins a line of the context or of the trace."""
    strings = [
        text for text in json.loads(needs("vectors/strings/blns.json").read_text("utf-8")) if text.strip()
    ]
    kept = 0
    for start in range(0, len(strings), 5):
        commands = [
            Add(f"kettle\n{text}", id=id_of(start + at + 1))
            for at, text in enumerate(strings[start : start + 5])
        ]
        try:
            with memory(commands) as engine:
                found = explore(engine.view, "kettle")
        except EngineError:
            continue  # a string that no atom may hold
        kept += 1
        lines = [*found.text.splitlines(), *found.trace()]
        assert all(not line or line[0] in " [" or line[:1].isdigit() for line in lines)
        assert all(line.isprintable() or "\u3000" in line or "\xa0" in line for line in found.trace())
    assert kept > 20
