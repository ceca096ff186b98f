"""The tokens that answers cost a model. Four characters of the text that a client passes on are one token."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.engine import Engine
from tests.mcp.support import Memory, read_tokens
from tests.support.shared_data import needs

pytestmark = pytest.mark.slow

HINTS, PEEK, NEIGHBORS, EMPTY = 110, 65, 110, 25
"""The most that an answer of each kind may cost without a budget."""

QUESTIONS = 12


@pytest.fixture(params=["locomo-dev/conv-26", "hotpotqa-sample"])
def filled(request: pytest.FixtureRequest) -> Iterator[tuple[Memory, list[str]]]:
    """Return a memory with the texts of a shared set, and questions about them."""
    folder = needs(f"data/{request.param}")
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["query"] for line in lines]
    with Engine.open("memory:") as engine:
        engine.ingest([Path(folder) / "corpus.jsonl"])
        yield Memory(engine), questions[:: len(questions) // QUESTIONS][:QUESTIONS]


def test_answers_cost_what_is_promised(filled: tuple[Memory, list[str]]) -> None:
    """Five hints, a peek, a page of connections and an empty answer stay within their tokens."""
    memory, questions = filled
    hints = memory.answers(*(("explore_recall", {"query": one, "limit": 5}) for one in questions))
    ids = [answer.text.partition("] ")[2].split(" ")[0] for answer in hints]
    peeks = memory.answers(
        *(("explore_peek", {"id": atom, "query": one}) for atom, one in zip(ids, questions, strict=True))
    )
    pages = memory.answers(*(("explore_neighbors", {"node": atom}) for atom in ids))
    for answers, most in ((hints, HINTS), (peeks, PEEK), (pages, NEIGHBORS)):
        for answer in answers:
            assert not answer.is_error, answer.text
            assert answer.structured is None
            assert read_tokens(answer.text) <= most, answer.text
    assert all(len(re.findall("%[],]|% ", one.text)) >= 5 for one in hints)
    assert read_tokens(memory.said("explore_recall", query="qwxyz")) <= EMPTY


def test_one_call_costs_less_than_hints_and_a_text(filled: tuple[Memory, list[str]]) -> None:
    """A recall with a small budget costs less than hints and the text of the best hint."""
    memory, questions = filled
    for one in questions:
        hints = memory.said("explore_recall", query=one)
        atom = hints.partition("] ")[2].split(" ")[0]
        both = read_tokens(hints) + read_tokens(memory.said("explore_expand", id=atom))
        assert read_tokens(memory.said("recall", query=one, budget=100)) < both


def test_a_hub_is_listed_in_pages_of_the_promised_size() -> None:
    """A page for an entity with hundreds of relations costs no more than a page for one with few."""
    with Engine.open("memory:") as engine:
        for number in range(200):
            engine.relate("the central daemon", "listens on", f"the socket number {number}")
        memory = Memory(engine)
        page = memory.said("explore_neighbors", node="the central daemon")
        assert read_tokens(page) <= NEIGHBORS
        assert page.count("→ listens_on") >= 4
