"""The result of each step, and each way in which an exploration ends."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from engine import Add, Filters
from engine.base.errors import InvalidInputError
from engine.commands import Command, Relate
from engine.query.explore.explore_actions import Action, Verb
from engine.query.explore.loop import BUDGET_MIN, STEPS_MAX, explore
from engine.query.explore.state import Result, State, Stop
from tests.query.explore.doing import DAEMON, QUERY, Scripted, explored
from tests.query.recall.support import fillers, id_of, memory

laws = settings(max_examples=60, deadline=None)
budgets = st.one_of(st.integers(BUDGET_MIN, 600), st.just(2000))


def test_an_exploration_is_traced_in_words() -> None:
    """The trace has one line per step, with the action and its outcome."""
    found = explored(
        f"PEEK({id_of(1)})", 'NEIGHBORS("daemon")', f"EXPAND({id_of(3)})", 'RECALL("file permissions")'
    )
    assert found.trace() == (
        f'1. recall("{QUERY}") → 3 hints',
        f"2. peek({id_of(1)}) → 198 chars",
        '3. neighbors("daemon") → 3 connections',
        f"4. expand({id_of(3)}) → 38 chars",
        '5. recall("file permissions") → 0 hints',
    )
    assert found.stopped is Stop.ANSWERED


def test_an_expand_takes_the_place_of_a_peek() -> None:
    """An expand replaces the peek of the same atom in the context."""
    found = explored(f"PEEK({id_of(1)})", f"PEEK({id_of(2)})", f"EXPAND({id_of(1)})")
    assert [(one.id, one.verb, one.whole) for one in found.context] == [
        (id_of(1), Verb.EXPAND, True),
        (id_of(2), Verb.PEEK, True),
    ]
    assert found.text.count("Unix socket") == 1


def test_connections_are_findings_and_lead_to_hints() -> None:
    """Triples are in the context, and their other ends are hints without a score."""
    policy = Scripted('NEIGHBORS("daemon")')
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY, policy=policy)
    assert "daemon → uses → json_rpc" in found.text
    assert "daemon → listens_on → unix socket" in found.text
    first, last = policy.states
    assert first.entities == ("daemon",)
    fresh = last.hints[len(first.hints) :]
    assert {hint.score for hint in fresh} == {0}
    assert any("json_rpc" in hint.title for hint in fresh)


def test_what_only_leads_on_is_no_finding() -> None:
    """A neighbour in a source is a hint but not a finding."""
    found = explored(f"NEIGHBORS({id_of(2)})")
    assert found.steps[1].outcome == "1 connection"
    assert found.context == ()


def test_a_connection_is_in_the_context_once() -> None:
    """A connection that is found from both ends is in the context once."""
    found = explored('NEIGHBORS("daemon")', 'NEIGHBORS("unix socket")')
    assert found.text.count("daemon → listens_on → unix socket") == 1


def test_a_second_recall_pays_for_new_hints_only() -> None:
    """A second recall leaves out known hints."""
    commands = [Add(f"kettle number {at} of many", id=id_of(at)) for at in range(1, 9)]
    with memory(commands) as engine:
        policy = Scripted('RECALL("the many kettles")')
        found = explore(engine.view, "kettle", policy=policy)
    assert found.trace()[1] == '2. recall("the many kettles") → 3 hints'
    assert len(policy.states[-1].hints) == 8


def test_an_error_of_a_verb_is_a_step_and_not_the_end() -> None:
    """An unknown id or name costs nothing, is in the trace, and does not end the exploration."""
    found = explored("PEEK(deadbeef)", "NEIGHBORS(nobody)", 'RECALL("...")', f"PEEK({id_of(2)})")
    assert [step.result for step in found.steps] == [
        Result.DONE,
        Result.FAILED,
        Result.FAILED,
        Result.FAILED,
        Result.DONE,
    ]
    assert "deadbeef" in found.trace()[1]
    assert "nobody" in found.trace()[2]
    assert [step.cost for step in found.steps[1:4]] == [0, 0, 0]


@pytest.mark.parametrize(
    "again",
    [
        (f"EXPAND({id_of(2)})", f"PEEK({id_of(2)})"),
        ("NEIGHBORS(daemon)", 'NEIGHBORS("Daemon")'),
        ('RECALL("json rpc")', 'RECALL("json  rpc")'),
    ],
)
def test_what_was_done_is_refused_whatever_it_is_called(again: tuple[str, str]) -> None:
    """Repeating an atom, node or query under another name is refused, counted and free."""
    found = explored(*again)
    assert found.steps[2].result is Result.REFUSED
    assert found.steps[2].cost == 0
    assert "before" in found.steps[2].outcome


def test_what_failed_is_refused_when_it_is_repeated() -> None:
    """A policy that always asks for the same unknown atom is stopped after four refusals."""
    found = explored(*["EXPAND(deadbeef)"] * 9)
    assert [step.result for step in found.steps[1:]] == [Result.FAILED, *[Result.REFUSED] * 4]
    assert found.steps[2].outcome == "refused: this action failed before"
    assert found.stopped is Stop.REFUSED


# How it ends


def test_four_refused_decisions_in_a_row_end_it() -> None:
    """The fourth refused decision in a row ends the exploration; a step that is done resets the count."""
    found = explored("nonsense", "nonsense", "nonsense", f"PEEK({id_of(2)})", *["nonsense"] * 4, "ANSWER")
    assert found.stopped is Stop.REFUSED
    assert [step.result for step in found.steps[1:]] == [
        *[Result.REFUSED] * 3,
        Result.DONE,
        *[Result.REFUSED] * 4,
    ]


def test_steps_run_out() -> None:
    """Without steps left the policy is not called."""
    policy = Scripted(f"PEEK({id_of(2)})", f"PEEK({id_of(3)})")
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY, policy=policy, steps=2)
    assert (found.stopped, len(policy.states), policy.states[0].steps_left) == (Stop.STEPS, 1, 1)


def test_the_budget_runs_out() -> None:
    """A long text is cut to the remaining budget, and the exploration ends."""
    found = explored(f"EXPAND({id_of(1)})", f"PEEK({id_of(2)})", budget=BUDGET_MIN)
    assert found.stopped is Stop.BUDGET
    assert found.steps[-1].outcome.endswith("chars, cut")
    assert not found.context[-1].whole
    assert found.tokens <= BUDGET_MIN


def test_one_step_never_takes_all_that_is_left() -> None:
    """A text of over 500 tokens is cut at half of the remaining budget."""
    commands = [Add("kettle " + "boils " * 5000, id=id_of(1)), Add("kettle", id=id_of(2))]
    found = explored(f"EXPAND({id_of(1)})", f"PEEK({id_of(2)})", commands=commands)
    assert [step.result for step in found.steps] == [Result.DONE] * 3
    assert 900 <= found.steps[1].cost <= 1000


def test_of_a_hub_only_the_first_connections_are_shown() -> None:
    """A page of connections costs at most 200 tokens."""
    names = [f"thing number {number} of the many" for number in range(40)]
    commands: list[Command] = [Add("kettle", id=id_of(1)), *(Relate("hub", "has", name) for name in names)]
    found = explored("NEIGHBORS(hub)", commands=commands)
    assert 150 < found.steps[1].cost <= 200


def test_it_ends_where_nothing_new_comes() -> None:
    """Two consecutive steps without anything new end the exploration."""
    found = explored('RECALL("samovar")', "ANSWER", commands=fillers(3))
    assert (found.stopped, len(found.steps)) == (Stop.NOTHING_NEW, 2)
    assert (found.context, found.text, found.answer_tokens, found.saving) == ((), "", 0, 0)


# What it says of itself


def test_full_tokens_are_those_of_ten_whole_atoms() -> None:
    """`full_tokens` is the cost of ten whole atoms, and a higher cost is a negative saving."""
    with memory([Add(f"kettle {at} " + "boils " * 30, id=id_of(at)) for at in range(1, 20)]) as engine:
        found = explore(engine.view, "kettle", policy=Scripted())
        hits = engine.recall("kettle", limit=10, budget=1_000_000).hits
    assert found.full_tokens == sum(hit.tokens for hit in hits) > 0
    assert found.saving == round(100 * (1 - found.tokens / found.full_tokens)) > 50
    with memory([Add("kettle")]) as engine:
        assert explore(engine.view, "kettle", policy=Scripted("NEIGHBORS(nothing)")).saving < 0


def test_it_says_of_which_memory_it_is_true() -> None:
    """Seq and root belong to the memory that was read."""
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY)
        assert (found.seq, found.root) == (engine.size - 1, engine.root().root)


def test_filters_hold_for_every_recall() -> None:
    """All hints pass the filters, in every recall."""
    policy = Scripted('RECALL("daemon socket")')
    with memory(DAEMON) as engine:
        explore(engine.view, QUERY, policy=policy, filters=Filters(sources=("talk/*",)))
    assert {hint.id for hint in policy.states[-1].hints} <= {
        id_of(2),
        id_of(3),
    }


def test_the_past_can_be_explored() -> None:
    """A past state of a memory can be explored."""
    with memory(DAEMON[:2]) as engine:
        last = engine.size - 1
        before = explore(engine.view, QUERY)
        engine.apply(DAEMON[2:])
        with engine.as_of(last) as past:
            assert explore(past.view, QUERY) == before


# What is no exploration


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": object()}, "policy must be a Policy"),
        ({"policy": Scripted}, "policy must be a Policy"),
        ({"policy": type("Wrong", (), {"decide": lambda self, state: "ANSWER"})()}, "must be a Action"),
        ({"budget": BUDGET_MIN - 1}, "budget"),
        ({"budget": "2000"}, "budget"),
        ({"steps": 0}, "steps"),
        ({"steps": STEPS_MAX + 1}, "steps"),
        ({"filters": {}}, "filters"),
    ],
)
def test_arguments_out_of_range_are_refused(options: dict[str, object], message: str) -> None:
    """Bounds and types of arguments and decisions are checked."""
    with memory(DAEMON) as engine, pytest.raises(InvalidInputError, match=message):
        explore(engine.view, QUERY, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["", "  \n", "...", 7, "x" * (65 << 10)])
def test_questions_that_cannot_be_asked_are_refused(query: str) -> None:
    """A question that is blank, too long or without words raises an error."""
    with memory(DAEMON) as engine, pytest.raises(InvalidInputError):
        explore(engine.view, query)


def test_long_questions_over_many_lines_are_explored() -> None:
    """The whole of a long question is searched, and its beginning is shown on one line."""
    with memory(DAEMON) as engine:
        found = explore(engine.view, "How does\nthe daemon\x1b[2J handle authentication? " + "please " * 2000)
    assert len(found.trace()[0]) < 1200
    assert "\x1b" not in found.trace()[0]
    assert found.context


def test_errors_of_a_policy_are_its_own() -> None:
    """Other exceptions of a policy propagate."""

    class Broken:
        def decide(self, state: State) -> Action:
            raise ZeroDivisionError(len(state.hints))

    with memory(DAEMON) as engine, pytest.raises(ZeroDivisionError):
        explore(engine.view, QUERY, policy=Broken())
