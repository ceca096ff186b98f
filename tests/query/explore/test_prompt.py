"""The prompt for a decision: its sections, which content cannot forge."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.commands import Command
from engine.query.explore.explore_actions import Action, Verb
from engine.query.explore.explore_answers import Hint
from engine.query.explore.explore_policy import ACTIONS, STEPS_SHOWN, decision_prompt
from engine.query.explore.loop import explore
from engine.query.explore.state import Finding, Result, State, Step
from tests.query.explore.doing import HOSTILE, Drawn, memories, policies
from tests.query.explore.support import WHEN
from tests.query.recall.histories import questions
from tests.query.recall.support import memory
from tests.support.shared_data import needs

OURS = re.compile(
    r"Question: |Context, \d+ items?:|Hints, \d+ unread:|Last steps:|Steps left: \d+\. Tokens left: \d+\.$"
    r"|\[(\d+% ~\d+|connected)\] [0-9a-f-]+( |$)|\[entity\]( |$)|\[connections\]( |$)"
    rf"|\[[0-9a-f-]{{8,36}}( \d+)?( external| quarantine)?{WHEN}\]( |$)"
    r"|Your last reply (was refused|failed):( |$)|Allowed now:$"
    r"|- (PEEK\(id\) or EXPAND\(id\)|EXPAND\(id\)|NEIGHBORS\(node\)|RECALL\(\"new query\"\)): |- ANSWER$"
    r"|- \d+\. (decision|recall|peek|expand|neighbors)[( ]|- none$|  |$"
)
"""How a line of a prompt may begin, but for the list of actions at its end."""


ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""All that `str.splitlines` takes for the end of a line."""


class Recording:
    """A policy that records the prompts of another policy."""

    def __init__(self, policy: Drawn) -> None:
        self._policy = policy
        self.prompts: list[str] = []

    def decide(self, state: State) -> Action:
        """Return the decision of the other policy."""
        self.prompts.append(decision_prompt(state))
        return self._policy.decide(state)


def state_of(text: str) -> State:
    """A state in which every external text is this text."""
    return State(
        query=text,
        hints=(Hint("77aa01bc", text, 45, 155), Hint("77aa01bd", text, 0, 0)),
        entities=(text,),
        context=(
            Finding(Verb.EXPAND, "1f0c2a3b", text, text, 3, text, whole=True),
            Finding(Verb.NEIGHBORS, None, text, None, None, text, whole=True),
        ),
        trace=tuple(Step(at, None, Result.REFUSED, text, 0, 0) for at in range(1, 5)),
        spent=100,
        budget=2000,
        steps_left=6,
    )


def is_ours(prompt: str) -> bool:
    """Return True if every line begins with a generated mark or a space."""
    return prompt.endswith(ACTIONS) and all(
        OURS.match(line) for line in prompt.removesuffix(ACTIONS).splitlines()
    )


def test_a_prompt_has_all_parts() -> None:
    """A prompt has question, context, unread hints, three steps, limits and actions."""
    steps = tuple(
        Step(at, Action(Verb.RECALL, f"query {at}"), Result.DONE, "5 hints", 100, 100 * at)
        for at in range(1, 6)
    )
    prompt = decision_prompt(
        State(
            query="Who descales\nthe kettle?",
            hints=(
                Hint("77aa01bc", "Filter", 45, 155),
                Hint("1f0c2a3b", "Kettle", 50, 40),
                Hint("9a2e17c4", "Ada → owns → filter", 0, 0),
            ),
            entities=("Ada",),
            context=(Finding(Verb.PEEK, "1f0c2a3b", "Kettle", "tea.md", None, "It is Ada.", whole=True),),
            trace=steps,
            spent=500,
            budget=2000,
            steps_left=5,
        )
    )
    assert prompt == (
        "Question: Who descales the kettle?\n\n"
        "Context, 1 item:\n[1f0c2a3b] tea.md | Kettle\n  It is Ada.\n\n"
        "Hints, 2 unread:\n[45% ~155] 77aa01bc Filter\n"
        "[connected] 9a2e17c4 Ada → owns → filter\n[entity] Ada\n\n"
        'Last steps:\n- 3. recall("query 3") → 5 hints\n- 4. recall("query 4") → 5 hints\n'
        '- 5. recall("query 5") → 5 hints\n\n'
        f"Steps left: 5. Tokens left: 1500.\n\n{ACTIONS}"
    )
    assert STEPS_SHOWN == 3


def test_what_was_only_peeked_at_can_still_be_read() -> None:
    """A hint stays until its whole text is in the context."""
    state = state_of("text")
    part = Finding(Verb.PEEK, "77aa01bc-0000-8000-8000-000000000000", None, None, None, "te…", whole=False)
    assert "] 77aa01bc " in decision_prompt(replace(state, context=(part,)))
    assert "] 77aa01bc " not in decision_prompt(replace(state, context=(replace(part, whole=True),)))


@settings(max_examples=60, deadline=None)
@given(memories(), questions, policies)
def test_no_content_begins_a_line_of_a_prompt(commands: list[Command], query: str, policy: Drawn) -> None:
    """For any memory, every line of every prompt begins with a generated mark or a space."""
    recording = Recording(policy)
    with memory(commands) as engine:
        explore(engine.view, query, policy=recording)
    for prompt in recording.prompts:
        assert is_ours(prompt), prompt


@given(st.text(max_size=80), st.sampled_from(HOSTILE), st.sampled_from(ENDS))
def test_no_text_forges_a_part(text: str, forged: str, end: str) -> None:
    """No text forges a section, whatever ends its lines."""
    prompt = decision_prompt(state_of(f"{text}{end}{forged}{end}{text}"))
    assert is_ours(prompt), prompt
    assert prompt.count("\nHints, ") == prompt.count("\nLast steps:\n") == 1


def test_no_naughty_string_forges_a_part() -> None:
    """No naughty string forges a section, and no markup or escape sequence remains."""
    for text in json.loads(needs("vectors/strings/blns.json").read_text(encoding="utf-8")):
        prompt = decision_prompt(state_of(text))
        assert is_ours(prompt), text
        assert not re.search(r"<[A-Za-z/!?|]|[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e]", prompt), text
