"""The four tools of an exploration, called with the SDK's client."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from engine.text.token_estimate import estimate_tokens
from tests.mcp.support import Memory, cost_of

pytestmark = pytest.mark.slow

HINT = re.compile(r"\[\d+%(?P<size> ~\d+)?(?P<origin> \w+)?\] (?P<id>[0-9a-f-]{8,36}) (?P<text>.+)")

LONG = "The garden shed holds rakes, a ladder, two spades and the seeds for the next spring. " * 9


def test_recall_gives_hints_whose_ids_the_other_verbs_take(memory: Memory, kettle: str) -> None:
    """The id in a hint is a prefix of an atom's id and leads to its text."""
    hint = HINT.fullmatch(memory.said("explore_recall", query="when is the kettle descaled?").splitlines()[0])
    assert hint is not None
    assert kettle.startswith(hint["id"])
    assert "Mondays" in memory.said("explore_peek", id=hint["id"], query="kettle")
    assert "Mondays" in memory.said("explore_expand", id=hint["id"])


def test_a_hint_to_a_short_atom_is_its_whole_text(memory: Memory, kettle: str) -> None:
    """A short text takes the place of the title, and the hint states no cost of reading the text."""
    memory.found("remember", content=LONG, title="Kettle shed")
    lines = memory.said("explore_recall", query="kettle").splitlines()[:-1]
    hints = [found for line in lines if (found := HINT.fullmatch(line))]
    texts = {hint["id"]: (hint["size"], hint["text"]) for hint in hints}
    assert texts[kettle[:8]] == (None, "The kettle is descaled on Mondays with half a cup of vinegar.")
    assert [size is not None for size, text in texts.values() if text.startswith("Kettle shed")] == [True]


def test_texts_in_hints_never_take_more_than_their_share(memory: Memory) -> None:
    """With many short atoms, an answer of five hints stays within 110 tokens."""
    for number in range(8):
        memory.found("remember", content=f"Kettle {number} " + "stands on a shelf in the kitchen " * 3)
    text = memory.said("explore_recall", query="kettle shelf kitchen")
    hints = [HINT.fullmatch(line) for line in text.splitlines()[:5]]
    assert all(hints)
    assert 0 < sum(hint["size"] is None for hint in hints if hint) < 5
    assert len(text) / 4 <= 110


@pytest.mark.parametrize("word", ["interchangeableness", "茶", "a-b", "🫖"])
def test_hints_of_any_language_keep_to_their_share(memory: Memory, word: str) -> None:
    """Five hints are not too long, even if the texts have long words or costly characters."""
    for number in range(8):
        memory.found("remember", content=f"kettle {number} " + f"{word} " * 12)
    text = memory.said("explore_recall", query="kettle")
    assert len(text.splitlines()) == 6
    assert len(text) / 4 <= 110


def test_expand_goes_on_where_the_budget_ended(memory: Memory) -> None:
    """Following the offset gives the whole text in parts that fit the budget."""
    text = " ".join(f"sentence {number} of a long text." for number in range(400))
    atom = memory.found("remember", content=text)["id"]
    parts: list[str] = []
    offset = 0
    while True:
        answer = memory.said("explore_expand", id=atom, offset=offset, budget=700)
        assert cost_of(answer) <= 700
        parts.append(answer.splitlines()[1].removeprefix("  "))
        more = re.search(r"more: offset (\d+)", answer.splitlines()[-1])
        if more is None:
            break
        offset = int(more[1])
    assert len(parts) > 3
    assert " ".join(parts) == text


def test_expand_states_time_provenance_and_tags(memory: Memory, kettle: str) -> None:
    """The last line has the tags, the provenance, the time in ISO 8601 and the number of edges."""
    last = memory.said("explore_expand", id=kettle).splitlines()[-1]
    assert re.fullmatch(
        r"\[#chores #Kitchen; internal \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ version 1 edges 0; \d+ tokens\]", last
    )


def test_neighbors_are_edges_with_direction_and_relation(memory: Memory) -> None:
    """A relation is found from both of its entities, with an arrow for its direction."""
    memory.found("relate", subject="daemon", predicate="listens on", object="unix socket")
    assert re.search(
        "\n  → listens_on [0-9a-f]{8} unix socket\n", memory.said("explore_neighbors", node="daemon")
    )
    assert re.search(
        "\n  ← listens_on [0-9a-f]{8} daemon\n", memory.said("explore_neighbors", node="Unix_Socket")
    )
    assert "no connections" in memory.said("explore_neighbors", node="daemon", direction="in")


def test_neighbors_of_one_relation(memory: Memory) -> None:
    """`types` leaves out other relations, and an unknown relation is an error."""
    memory.found("relate", subject="daemon", predicate="listens on", object="unix socket")
    memory.found("relate", subject="daemon", predicate="uses", object="json")
    found = memory.said("explore_neighbors", node="daemon", types="uses, listens_on")
    assert ("→ uses" in found, "→ listens_on" in found) == (True, True)
    found = memory.said("explore_neighbors", node="daemon", types="uses")
    assert ("→ uses" in found, "→ listens_on" in found) == (True, False)
    assert memory.call("explore_neighbors", node="daemon", types="eats").error["code"] == "not_found"


def test_neighbors_are_paged(memory: Memory) -> None:
    """Following the offset gives every connection exactly once."""
    for number in range(30):
        memory.found("relate", subject="daemon", predicate="uses", object=f"part number {number}")
    found: list[str] = []
    offset = 0
    while True:
        answer = memory.said("explore_neighbors", node="daemon", offset=offset)
        assert cost_of(answer) <= 110
        found += re.findall(r"part number \d+", answer)
        more = re.search(r"more: offset (\d+)", answer.splitlines()[-1])
        if more is None:
            break
        offset = int(more[1])
    assert len(found) == len(set(found)) == 30


def test_filters_apply_to_every_verb(memory: Memory, kettle: str) -> None:
    """An atom that fails the filter is not a hint or a neighbour, and cannot be peeked at or expanded."""
    assert kettle[:8] not in memory.said("explore_recall", query="kettle vinegar", filter="-tag:chores")
    for tool in ("explore_peek", "explore_expand"):
        assert memory.call(tool, id=kettle, filter="tag:chores").is_error is False
        error = memory.call(tool, id=kettle, filter="-tag:chores").error
        assert (error["code"], "does not pass the filter" in error["message"]) == ("not_found", True)
    assert kettle[:8] in memory.said("explore_neighbors", node="#kitchen")
    assert kettle[:8] not in memory.said("explore_neighbors", node="#kitchen", filter="-tag:chores")


def test_every_answer_ends_with_its_cost(memory: Memory, kettle: str) -> None:
    """The cost on the last line is that of the whole text, with at least one token for four characters."""
    calls: dict[str, dict[str, Any]] = {
        "explore_recall": {"query": "kettle"},
        "explore_peek": {"id": kettle},
        "explore_expand": {"id": kettle},
        "explore_neighbors": {"node": kettle},
        "recall": {"query": "kettle"},
        "recent": {},
        "find": {},
        "explore": {"query": "kettle"},
    }
    for tool, given in calls.items():
        text = memory.said(tool, **given)
        tokens = max(estimate_tokens(text), math.ceil(len(text) / 4))
        assert tokens <= cost_of(text) <= tokens + 8


@pytest.mark.parametrize("budget", [40, 60, 130, 600])
def test_no_answer_costs_more_than_its_budget(memory: Memory, kettle: str, budget: int) -> None:
    """Each verb stays within its budget, or reports that it is too small."""
    for tool, given in (
        ("explore_recall", {"query": "kettle vinegar daemon"}),
        ("explore_peek", {"id": kettle}),
        ("explore_expand", {"id": kettle}),
        ("explore_neighbors", {"node": kettle}),
    ):
        answer = memory.call(tool, **given, budget=budget)
        if answer.is_error:
            assert answer.error["code"] in {"invalid", "limit"}
        else:
            assert cost_of(answer.text) <= budget


def test_the_default_budget_never_refuses_a_call(memory: Memory) -> None:
    """An atom with a title of costly characters is peeked at, although the title alone exceeds 65 tokens."""
    atom = memory.found("remember", content="茶 " * 300, title="🫖" * 60)["id"]
    assert "茶" in memory.said("explore_peek", id=atom)
    assert memory.call("explore_peek", id=atom, budget=20).error["code"] == "invalid"


def test_the_past_is_asked_by_as_of(memory: Memory, kettle: str) -> None:
    """An atom that was forgotten later is found only with `as_of`; the answer states seq and root."""
    then = memory.engine.root()
    moment = f"as_of:{then.size - 1}"
    memory.found("forget", id=kettle, reason="it broke")
    for tool, given in (
        ("explore_recall", {"query": "kettle"}),
        ("explore_expand", {"id": kettle}),
        ("recall", {"query": "kettle"}),
    ):
        found = memory.said(tool, **given, filter=moment)
        assert kettle[:8] in found
        assert f"as of {then.size - 1} root {then.root[:16]}; " in found.splitlines()[-1]
    assert memory.call("explore_expand", id=kettle).error["code"] == "not_found"
    assert kettle[:8] not in memory.said("explore_recall", query="kettle descaled")
