"""The tools that only read, called with the SDK's client."""

from __future__ import annotations

from base64 import b64decode
from typing import Any
from uuid import UUID

import pytest

from engine.base.json_text import dumped
from engine.text.tokens import estimate_tokens
from proofs import Root, verify
from tests.mcp.support import Memory


def test_recall_gives_hints_whose_ids_the_other_verbs_take(memory: Memory, kettle: str) -> None:
    """The id in a hint is a prefix of an atom's id and leads to its text."""
    hint = memory.found("explore_recall", query="when is the kettle descaled?")["hints"][0]
    assert kettle.startswith(hint["id"])
    assert hint["title"] == "tea › Kettle"
    assert "Mondays" in memory.found("explore_peek", id=hint["id"], query="kettle")["text"]
    expanded = memory.found("explore_expand", id=hint["id"])
    assert (expanded["id"], expanded["next"]) == (kettle, None)


def test_expand_goes_on_where_the_budget_ended(memory: Memory) -> None:
    """Following `next` gives the whole text in parts that fit the budget."""
    text = " ".join(f"sentence {number} of a long text." for number in range(400))
    atom = memory.found("remember", text=text)["id"]
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part = memory.found("explore_expand", id=atom, offset=offset, budget_tokens=700)
        assert part["cost_tokens"] <= 700
        parts.append(part["text"])
        offset = part["next"]
    assert len(parts) > 3
    assert "".join(parts) == text


def test_neighbors_are_triples_of_names(memory: Memory) -> None:
    """A relation is found from both of its entities."""
    memory.found("relate", subject="daemon", predicate="listens on", object="unix socket")
    for node in ("daemon", "Unix_Socket"):
        [triple] = memory.found("explore_neighbors", node=node)["triples"]
        assert (triple["subject"], triple["predicate"], triple["object"]) == (
            "daemon",
            "listens_on",
            "unix socket",
        )
    assert memory.found("explore_neighbors", node="daemon", direction="in")["triples"] == []


def test_every_answer_says_what_it_costs_and_of_which_memory(memory: Memory, kettle: str) -> None:
    """The cost is that of the text, the total continues from `spent`, and seq and root are current."""
    calls: dict[str, dict[str, Any]] = {
        "explore_recall": {"query": "kettle", "spent": 1000},
        "explore_peek": {"id": kettle, "spent": 1000},
        "explore_expand": {"id": kettle, "spent": 1000},
        "explore_neighbors": {"node": kettle, "spent": 1000},
        "history": {"id": kettle},
        "prove": {"claims": [f"atom {kettle}"]},
        "status": {},
        "remember": {"text": "Something new."},
        "tag": {"id": kettle, "add": ["new"]},
    }
    for tool, given in calls.items():
        answer = memory.call(tool, **given)
        assert not answer.is_error, answer.text
        assert answer.text == dumped(answer.fields)
        cost = answer.fields["cost_tokens"]
        assert estimate_tokens(answer.text) <= cost <= estimate_tokens(answer.text) + 10
        assert answer.fields["total_tokens"] == given.get("spent", 0) + cost
        now = memory.engine.root()
        assert (answer.fields["seq"], answer.fields["root"]) == (now.size - 1, now.root)


@pytest.mark.parametrize("budget", [60, 130, 200, 600])
def test_no_answer_costs_more_than_its_budget(memory: Memory, kettle: str, budget: int) -> None:
    """Each verb stays within its budget, or reports that it is too small."""
    for tool, given in (
        ("explore_recall", {"query": "kettle vinegar daemon"}),
        ("explore_peek", {"id": kettle}),
        ("explore_expand", {"id": kettle}),
        ("explore_neighbors", {"node": kettle}),
    ):
        answer = memory.call(tool, **given, budget_tokens=budget)
        if answer.is_error:
            assert answer.error["code"] in {"invalid", "limit"}
        else:
            assert answer.fields["cost_tokens"] <= budget


def test_the_past_is_asked_by_as_of(memory: Memory, kettle: str) -> None:
    """An atom that was forgotten later is found with `as_of`, and not now."""
    before = memory.found("status")["seq"]
    memory.found("forget", id=kettle, reason="it broke")
    then = memory.found("explore_recall", query="kettle", as_of=before)
    assert then["seq"] == before
    assert kettle.startswith(then["hints"][0]["id"])
    assert memory.found("explore_expand", id=kettle, as_of=before)["id"] == kettle
    assert memory.call("explore_expand", id=kettle).error["code"] == "not_found"
    assert all(
        not kettle.startswith(hint["id"])
        for hint in memory.found("explore_recall", query="kettle descaled")["hints"]
    )


def test_history_pages_through_all_events(memory: Memory, kettle: str) -> None:
    """Following `next` gives every event exactly once, in order."""
    for number in range(7):
        memory.found("tag", id=kettle, add=[f"tag{number}"])
    seqs: list[int] = []
    offset: int | None = 0
    while offset is not None:
        page = memory.found("history", id=kettle[:8], limit=3, offset=offset)
        assert page["total"] == 8
        seqs += [event["seq"] for event in page["events"]]
        offset = page["next"]
    assert len(seqs) == 8
    assert seqs == sorted(seqs)


def test_history_shortens_long_texts(memory: Memory) -> None:
    """A page with versions of a text of 60,000 characters costs few tokens."""
    atom = memory.found("remember", text="word " * 12_000)["id"]
    memory.found("revise", id=atom, text="other " * 10_000, tags=[f"tag{number}" for number in range(60)])
    assert memory.found("history", id=atom)["cost_tokens"] < 2000


def test_a_proof_is_handed_out_that_a_stranger_can_check(memory: Memory, kettle: str) -> None:
    """The base64 is a valid proof for the root and store id in the same answer."""
    answer = memory.found("prove", claims=["no-term unicorn", f"atom {kettle[:8]}"])
    basis = answer["basis"]
    assert basis["root"] == answer["root"]
    root = Root(UUID(basis["store"]).bytes, bytes.fromhex(basis["root"]))
    claims = [line["claim"] for line in answer["shown"]]
    assert claims[0] == "no-term unicorn"
    made = memory.engine.prove([claim.split() for claim in claims])
    assert verify(b64decode(answer["proof"]), root, made.claims) == made.shown


def test_a_large_proof_is_not_handed_out(memory: Memory) -> None:
    """For a large proof, the answer states its size and what it shows."""
    atom = memory.found("remember", text="many words " * 3000)["id"]
    refused = memory.call("prove", claims=[f"atom {atom}"])
    assert refused.error["code"] == "refused"
    answer = memory.found("prove", claims=[f"atom {atom} sealed"])
    assert answer["shown"][0]["claim"].endswith("sealed")
    small = memory.found("prove", claims=[f"atom {atom} sealed"], budget_tokens=answer["cost_tokens"] - 50)
    assert small["proof"] is None
    assert small["bytes"] == answer["bytes"]


def test_a_claim_that_does_not_hold_is_refused_with_what_does(memory: Memory, kettle: str) -> None:
    """The hint names a claim that holds instead."""
    error = memory.call("prove", claims=[f"atom {kettle} tombstoned"]).error
    assert error["code"] == "refused"
    assert "live" in error["hint"]


def test_status_counts(memory: Memory, kettle: str) -> None:
    """The numbers of atoms and events and the store id are those of the engine."""
    found, status = memory.found("status"), memory.engine.status()
    assert (found["live_atoms"], found["events"], found["store"]) == (3, status.events, status.store_id)
    assert found["events"] == found["seq"] + 1
