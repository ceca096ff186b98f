"""Contexts of a memory, as text for a prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Add, Context, Engine, Filters
from engine.base.errors import EngineError, InvalidInputError
from engine.base.validation import PROVENANCES
from engine.query.prompt_text import hit_text, tokens_of
from engine.text.analyzer import analyze_query
from tests.query.context.support import budgets, contents
from tests.support.engines import engine_on

TALK = (
    "Ada: Good morning, how was the weekend?",
    "Ben: We took the old kettle apart.",
    "Ada: And does it boil again?",
    "Ben: It needed a new fuse, three amperes.",
    "Ada: Cats are asleep on the sofa.",
    "Ben: Let us talk about the garden instead.",
)


def talk() -> Engine:
    """A memory with one conversation."""
    engine = engine_on()
    engine.apply([Add(turn, source="talk", sequence=number) for number, turn in enumerate(TALK)])
    return engine


def shown(engine: Engine, context: Context) -> list[list[str]]:
    """The contents of the windows."""
    return [[engine.get(one).content for one in window.ids] for window in context.windows]


def test_an_answer_stands_in_its_surroundings() -> None:
    """A hit comes with the turns around it, under one heading, in order."""
    engine = talk()
    context = engine.context("three amperes fuse", budget=300)
    (turns,) = shown(engine, context)
    begin = TALK.index(turns[0])
    assert turns == list(TALK[begin : begin + len(turns)])
    assert {TALK[2], TALK[3], TALK[4]} <= set(turns)
    best = engine.recall("three amperes fuse", limit=1).hits[0]
    assert context.text.startswith(f"[{best.id[:8]} {begin}-{begin + len(turns) - 1}] talk\n")
    assert (context.query, context.budget, context.size) == ("three amperes fuse", 300, engine.size)
    assert context.windows[0].score == best.score


def test_a_small_budget_shows_the_best_hit_alone() -> None:
    """A small budget shows only the best hit."""
    engine = talk()
    best = engine.recall("three amperes fuse", limit=1).hits[0]
    budget = tokens_of(hit_text(best.title, best.source, best.sequence, best.id, TALK[3]))
    assert shown(engine, engine.context("three amperes fuse", budget=budget)) == [[TALK[3]]]


def test_nothing_found_is_an_empty_context() -> None:
    """A question without hits has no windows and costs nothing."""
    context = talk().context("xylophone")
    assert (context.windows, context.text, context.tokens, context.radius) == ((), "", 0, 0)


def test_a_past_context_knows_nothing_newer() -> None:
    """A context as of an earlier moment has the neighbours of that moment."""
    engine = talk()
    before = engine.context("three amperes fuse", budget=300)
    moment = engine.size - 1
    engine.tombstone(engine.recall("old kettle", limit=1).hits[0].id)
    engine.add("A fuse came later.", source="talk", sequence=3)
    assert engine.context("three amperes fuse", budget=300) != before
    assert engine.context("three amperes fuse", budget=300, as_of=moment) == before


@pytest.mark.parametrize(
    "filters", [Filters(without_tags=("private",)), Filters(buckets=("inbox",)), Filters(kinds=("note",))]
)
def test_no_neighbour_passes_a_filter_that_it_should_not(filters: Filters) -> None:
    """An atom that the filters exclude is not shown, however near it is."""
    engine = engine_on()
    hidden = "Ben: The safe opens with 4711."
    engine.apply(
        [
            Add(TALK[3], source="talk", sequence=1),
            Add(hidden, source="talk", sequence=2, tags=("private",), buckets=("diary",), kind="secret"),
            Add(TALK[4], source="talk", sequence=3),
        ]
    )
    assert hidden in engine.context("three amperes fuse").text
    context = engine.context("three amperes fuse", filters=filters)
    assert "4711" not in context.text
    assert [TALK[3]] in shown(engine, context)


@pytest.mark.parametrize("given", [{"budget": 15}, {"budget": "much"}, {"filters": None}, {"query": "  "}])
def test_a_wrong_argument_is_refused(given: dict[str, object]) -> None:
    """A budget that is too small, invalid filters and a blank question raise an EngineError."""
    with pytest.raises(InvalidInputError):
        talk().context(**({"query": "kettle"} | given))  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(contents, st.sampled_from(("", "a", "b")), st.integers(0, 5)), max_size=8),
    st.sampled_from(("kettle", "tea Monday", "x ADR-016 …")),
    budgets,
)
def test_any_store_and_budget(atoms: list[tuple[str, str, int]], query: str, budget: int) -> None:
    """A context keeps its budget, repeats no atom, is deterministic, and only has live atoms of the tag."""
    engine = engine_on()
    for number, (content, source, sequence) in enumerate(atoms):
        tags = ("even",) if number % 2 == 0 else ()
        try:
            engine.add(content, source=source or None, sequence=sequence, tags=tags)
        except EngineError:
            continue  # a text that no atom may hold
    assert analyze_query(query)
    context = engine.context(query, budget=budget, filters=Filters(tags=("even",)))
    ids = [one for window in context.windows for one in window.ids]
    assert context.tokens == tokens_of(context.text) <= budget
    assert len(ids) == len(set(ids))
    assert all(engine.get(one).tags == ("even",) for one in ids)
    assert engine.context(query, budget=budget, filters=Filters(tags=("even",))) == context


def test_the_heading_shows_a_provenance_that_is_not_internal() -> None:
    """A window has the mark of the text in it that deserves the least confidence, within the budget."""
    engine = engine_on()
    marks = ["internal", "external", "internal", "quarantine"]
    engine.apply(
        [
            Add(turn, source="talk", sequence=number, provenance=mark)
            for number, (turn, mark) in enumerate(zip(TALK, marks, strict=False))
        ]
    )
    context = engine.context("weekend kettle boil fuse", budget=300)
    [window] = context.windows
    assert " 0-3 quarantine] talk\n" in context.text
    assert window.provenance == "quarantine"
    for budget in range(16, 60, 4):
        small = engine.context("weekend kettle boil fuse", budget=budget)
        assert small.tokens == tokens_of(small.text) <= budget
        for one in small.windows:
            worst = max((engine.get(atom).provenance for atom in one.ids), key=PROVENANCES.index)
            shown_mark = one.text.split("]")[0].split(" ")[-1]
            assert (shown_mark == worst) == (worst != "internal")
