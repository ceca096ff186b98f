"""Policies with a language model, and the parsing of its replies."""

from __future__ import annotations

import pytest

from engine.base.errors import EngineError, InvalidInputError
from engine.query.explore.explore_actions import Action, Verb
from engine.query.explore.explore_policy import ACTIONS, LanguagePolicy, Policy, Prompting
from engine.query.explore.gather import Gather
from engine.query.explore.loop import explore
from engine.query.explore.state import Result, Stop
from engine.query.prompt_text import tokens_of
from tests.query.explore.doing import DAEMON, QUERY
from tests.query.recall.support import id_of, memory


class Model:
    """A model that replies with its lines in turn, and records the prompts."""

    def __init__(self, *replies: object) -> None:
        self._replies = iter(replies)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        """The next reply."""
        self.prompts.append(prompt)
        return next(self._replies, "ANSWER")  # type: ignore[return-value]


def test_the_actions_of_a_model_are_carried_out() -> None:
    """Replies are carried out as actions, and the next prompt shows the results."""
    model = Model(f"PEEK({id_of(2)})\n", "ANSWER")
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY, policy=LanguagePolicy(model))
    assert [step.action for step in found.steps[1:]] == [Action(Verb.PEEK, id_of(2))]
    assert found.stopped is Stop.ANSWERED
    assert "  The daemon speaks JSON-RPC." not in model.prompts[0]
    assert "  The daemon speaks JSON-RPC." in model.prompts[1]


def test_a_reply_that_cannot_be_read_is_refused_and_said_so() -> None:
    """After an invalid reply, the next prompt says what was wrong and lists what is allowed."""
    model = Model("I would like to PEEK(1f0c2a3b).", f"EXPAND({id_of(2)})")
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY, policy=LanguagePolicy(model))
    assert [step.result for step in found.steps[1:]] == [Result.REFUSED, Result.DONE]
    assert found.steps[1].action is None
    short = [id_of(number) for number in (3, 2, 1)]
    repair = model.prompts[1].split("Your last reply was refused: ")[1]
    assert repair.removesuffix(ACTIONS) == (
        "'I would like to PEEK(1f0c2a3b).' is not an action\n"
        "Allowed now:\n"
        f"- PEEK(id) or EXPAND(id): {', '.join(short)}\n"
        f"- NEIGHBORS(node): daemon, {', '.join(short)}\n"
        '- RECALL("new query"): a query that no step has\n'
        "- ANSWER\n\n"
    )
    assert "Your last reply" not in model.prompts[0] + model.prompts[2]


def test_what_was_done_is_no_longer_allowed() -> None:
    """After a repeated action, the list of allowed actions leaves out all actions that were taken."""
    peek, whole = f"PEEK({id_of(1)})", f"EXPAND({id_of(2)})"
    model = Model(peek, "NEIGHBORS(daemon)", whole, peek, f"PEEK({id_of(2)})")
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY, policy=LanguagePolicy(model))
    assert [step.result for step in found.steps[-2:]] == [Result.REFUSED] * 2
    for prompt, why in zip(model.prompts[4:6], ("this action was done", "this atom was read"), strict=True):
        repair = prompt.split("Your last reply was refused: ")[1]
        assert repair.startswith(why)
        readable = next(line for line in repair.splitlines() if line.startswith("- PEEK"))
        assert id_of(3) in readable
        assert not any(id_of(number) in readable for number in (1, 2))
        assert f"- EXPAND(id): {id_of(1)}\n" in repair
        nodes = next(line for line in repair.splitlines() if line.startswith("- NEIGHBORS"))
        assert "daemon, " not in nodes


def test_after_a_failed_action_the_prompt_says_why() -> None:
    """An action with an unknown id is followed by a prompt with the error and the known ids."""
    model = Model("PEEK(deadbeef)")
    with memory(DAEMON) as engine:
        explore(engine.view, QUERY, policy=LanguagePolicy(model))
    assert "Your last reply failed: no atom" in model.prompts[1]
    assert f"- PEEK(id) or EXPAND(id): {id_of(3)}" in model.prompts[1]


def test_a_model_that_never_replies_with_an_action_is_asked_four_times() -> None:
    """An exploration ends after four invalid replies in a row, and keeps what it has."""
    model = Model(f"EXPAND({id_of(2)})", *["no action"] * 20)
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY, policy=LanguagePolicy(model))
    assert len(model.prompts) == 5
    assert found.stopped is Stop.REFUSED
    assert [one.id for one in found.context] == [id_of(2)]


def test_what_prompts_cost_is_counted_apart() -> None:
    """The tokens of prompts are counted separately, and are 0 for other policies."""
    model = Model(f"PEEK({id_of(2)})", "nonsense")
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY, policy=LanguagePolicy(model))
        assert explore(engine.view, QUERY).prompt_tokens == 0
    assert len(model.prompts) == 3
    assert found.prompt_tokens == sum(map(tokens_of, model.prompts))
    assert found.tokens == sum(step.cost for step in found.steps)


def test_errors_of_a_model_go_through() -> None:
    """An exception of the model propagates to the caller."""

    def silent(prompt: str) -> str:
        raise TimeoutError(len(prompt))

    with memory(DAEMON) as engine, pytest.raises(TimeoutError):
        explore(engine.view, QUERY, policy=LanguagePolicy(silent))


def test_what_cannot_be_asked_is_no_model() -> None:
    """A model that is not callable raises an EngineError."""
    with pytest.raises(InvalidInputError, match="ask must be a function"):
        LanguagePolicy("gpt")  # type: ignore[arg-type]


def test_which_policies_ask_a_model() -> None:
    """All policies are a Policy; only those with prompts are Prompting."""
    assert isinstance(Gather(), Policy)
    assert not isinstance(Gather(), Prompting)
    assert isinstance(LanguagePolicy(Model()), Prompting)


def test_a_model_gets_no_further_than_the_verbs() -> None:
    """No reply of a model writes to the memory."""
    model = Model('ADD("x")', f"EXPAND({id_of(1)})", "ERASE(all)", f"TOMBSTONE({id_of(1)})")
    with memory(DAEMON) as engine:
        before = engine.root()
        try:
            explore(engine.view, QUERY, policy=LanguagePolicy(model))
        except EngineError:
            pytest.fail("a refused decision is a step, not an error")
        assert engine.root() == before
