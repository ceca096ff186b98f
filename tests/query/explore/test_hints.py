"""Hints: order, scores, short ids, distinct titles and costs."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Engine, Filters, Relate, Tombstone
from engine.base.errors import InvalidInputError
from engine.commands import Command
from engine.query.explore.verb_answers import TITLE_CHARS
from engine.query.prompt_text import tokens_of
from tests.query.explore.support import hint_ids, memories
from tests.query.recall.histories import questions
from tests.query.recall.support import id_of, memory
from tests.support.shared_data import needs

pytestmark = pytest.mark.slow


@given(memories, questions, st.integers(1, 12))
@settings(max_examples=60)
def test_hints_are_the_hits_of_recall(commands: list[Command], question: str, limit: int) -> None:
    """Hints have the atoms and order of recall, falling scores, and the tokens of the whole texts."""
    with memory(commands) as engine:
        hits = engine.recall(question, limit=limit).hits
        hints = engine.explorer().explore_recall(question, limit).hints
        assert [engine.resolve(hint.id) for hint in hints] == [hit.id for hit in hits]
        assert [hint.tokens for hint in hints] == [tokens_of(engine.get(hit.id).content) for hit in hits]
        scores = [hint.score for hint in hints]
        assert all(type(score) is int and 0 <= score <= 100 for score in scores)
        assert scores == sorted(scores, reverse=True)
        assert all(len(hint.title) <= TITLE_CHARS + 2 and len(hint.title.splitlines()) <= 1 for hint in hints)


@given(memories, questions, st.lists(st.integers(0, 9), max_size=4), st.integers(4, 32))
@settings(max_examples=60)
def test_known_atoms_are_left_out_and_no_others(
    commands: list[Command], question: str, which: list[int], digits: int
) -> None:
    """Only known atoms are left out of the longer list."""
    with memory(commands) as engine:
        known = [id_of(number + 1).replace("-", "")[-digits:] for number in which]
        known = [id_of(number + 1) for number in which] if digits < 32 else known
        longer = engine.recall(question, limit=5 + len(known)).hits
        hints = engine.explorer().explore_recall(question, 5, known=known).hints
        wanted = [hit.id for hit in longer if hit.id not in {id_of(number + 1) for number in which}][:5]
        assert [engine.resolve(hint.id) for hint in hints] == wanted


def test_known_atoms_may_be_named_by_their_first_digits() -> None:
    """Known ids may have 4 or more digits; other ids, and more than 1,000 ids, raise an error."""
    with memory(
        [Add(f"kettle {n}", id=f"{n}afe0000-0000-8000-8000-000000000001") for n in range(1, 5)]
    ) as engine:
        explorer = engine.explorer()
        assert hint_ids(explorer.explore_recall("kettle", known=["1afe", "2afe"])) == [
            "3afe0000",
            "4afe0000",
        ]
        bad: tuple[Any, ...] = (["1af"], ["zzzz"], [""], [5], "1afe", [id_of(n) for n in range(1001)])
        for known in bad:
            with pytest.raises(InvalidInputError):
                explorer.explore_recall("kettle", known=known)


def test_ids_are_as_long_as_it_takes() -> None:
    """Short ids have 8 digits, or as many as distinguish them, hidden atoms included."""
    twins = ["cafe0000-0000-8000-8000-000000000001", "cafe0000-0000-8000-8000-000000000002"]
    near = ["beef0000-1000-8000-8000-000000000000", "beef0000-2000-8000-8000-000000000000"]
    edges = ["00000000-0000-8000-8000-000000000001", "ffffffff-ffff-8fff-bfff-ffffffffffff"]
    with memory([Add(f"kettle {one}", id=one) for one in [*twins, *near, *edges]]) as engine:
        engine.apply([Tombstone(near[1])])
        found = hint_ids(engine.explorer().explore_recall("kettle"))
        assert sorted(found) == [
            "00000000",
            "beef00001",
            *twins,
            "ffffffff",
        ]
        for one in found:
            assert engine.explorer().explore_peek(one).id == one
            assert engine.explorer().explore_expand(one).id.replace("-", "").startswith(one.replace("-", ""))


@pytest.mark.parametrize("title", ["Kettle", "A very long title that goes on and on and on until part"])
def test_titles_that_look_alike_are_told_apart(title: str) -> None:
    """A title that several hints share is followed by a part of the text."""
    texts = ("red kettle is old", "blue kettle is new", "green kettle is lost")
    made = [Add(text, title=f"{title} {n}" if "long" in title else title) for n, text in enumerate(texts)]
    with memory(made) as engine:
        titles = [hint.title for hint in engine.explorer().explore_recall("kettle").hints]
        assert len(set(titles)) == 3
        assert all(shown.startswith(title[:8].rstrip()[:6]) for shown in titles)
        assert all(len(shown) <= TITLE_CHARS + 2 for shown in titles)


def test_entities_that_a_question_names_are_named() -> None:
    """Entities are listed in the order of the question, longest names first."""
    related = [
        Relate("Unix Socket", "serves", "daemon"),
        Relate("unix", "is", "old"),
        Relate("Yahoo!", "is", "Dr. Who"),
        Relate("C++", "is", "old"),
    ]
    with memory([Add("the daemon uses a unix socket", id=id_of(1)), *related]) as engine:

        def named(question: str) -> tuple[str, ...]:
            found = engine.explorer().explore_recall(question)
            assert hint_ids(found) in ([], [id_of(1).replace("-", "")[:8]])
            return found.entities

        assert named("How does the DAEMON, use its unix_socket?") == ("daemon", "Unix Socket")
        assert named("unix: socket or unix?") in (("Unix Socket", "unix"), ("unix",))
        assert named("is it Yahoo! or 'Dr. Who'? the C++ daemon") == ("Yahoo!", "Dr. Who", "C++", "daemon")
        assert named("nothing of that") == ()
        for name in named("daemon unix socket Yahoo! C++"):
            engine.explorer().explore_neighbors(name)


def test_entities_are_hints_only_where_their_kind_is_asked_for() -> None:
    """Entities are only hits if `kinds` asks for them."""
    commands: list[Command] = [
        Relate("kettle", "makes", "tea"),
        Add("kettle", kind="entity", source="s", sequence=1),
        Add("the kettle boils", source="s", sequence=2, id=id_of(1)),
        Add("kettle", kind="entity", source="s", sequence=3, key="another"),
    ]
    with memory(commands) as engine:
        only = [id_of(1)]
        assert [hit.id for hit in engine.recall("kettle tea").hits] == only
        assert [one.id for one in engine.bright_nodes("kettle tea")] == only
        assert "\n  kettle\n" not in engine.context("kettle tea").text
        assert len(engine.explorer().explore_recall("kettle tea").hints) == 1
        kinds = Filters(kinds=("entity",))
        assert {engine.get(hit.id).kind for hit in engine.recall("kettle tea", filters=kinds).hits} == {
            "entity"
        }
        assert len(engine.explorer().explore_recall("kettle tea", filters=kinds).hints) == 4


def _cost_of_five(atoms: list[Add], asked: list[str]) -> list[int]:
    with Engine.open("memory:") as engine:
        list(engine.apply_many(atoms))
        explorer = engine.explorer()
        found = [explorer.explore_recall(question) for question in asked]
    return [answer.cost_tokens for answer in found if len(answer.hints) == 5]


def _lines(path: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in needs(path).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("where", ["locomo-dev/conv-26", "hotpotqa-sample"])
def test_five_hints_cost_about_a_hundred_tokens(where: str) -> None:
    """On real questions five hints have a median of at most 125 tokens, and at most 160."""
    atoms = [
        Add(one["text"], title=one.get("title"), source=one.get("source"), key=str(one["id"]))
        for one in _lines(f"data/{where}/corpus.jsonl")
    ]
    costs = _cost_of_five(atoms, [one["query"] for one in _lines(f"data/{where}/queries.jsonl")][:100])
    assert len(costs) > 50
    assert median(costs) <= 125
    assert max(costs) <= 160


@given(memories, questions, st.integers(1, 8), st.integers(1, 200))
@settings(max_examples=40)
def test_texts_in_hints_are_whole_and_within_their_tokens(
    commands: list[Command], question: str, limit: int, texts: int
) -> None:
    """With `texts`, the hints are for the same atoms, and whole texts keep everything except white space."""
    with memory(commands) as engine:
        titles = engine.explorer().explore_recall(question, limit)
        found = engine.explorer().explore_recall(question, limit, texts=[texts])
        assert [hint.id for hint in found.hints] == [hint.id for hint in titles.hints]
        for hint, title in zip(found.hints, titles.hints, strict=True):
            if hint.whole:
                assert hint.title == " ".join(engine.get(engine.resolve(hint.id)).content.split())
            else:
                assert hint == title
        assert found.cost_tokens <= texts or not any(hint.whole for hint in found.hints)


def test_the_best_short_atoms_are_shown_whole() -> None:
    """Texts take the place of titles in the order of the hints, and a long text does not stop the others."""
    long = "The kettle is described at length. " * 20
    with memory(
        [
            Add("Kettle: descale it on Monday.", id=id_of(1)),
            Add(long, id=id_of(2), title="Kettle"),
            Add("A kettle boils.", id=id_of(3)),
        ]
    ) as engine:
        hints = engine.explorer().explore_recall("kettle", texts=[120]).hints
        assert sorted((hint.tokens > 100, hint.whole) for hint in hints) == [
            (False, True),
            (False, True),
            (True, False),
        ]
