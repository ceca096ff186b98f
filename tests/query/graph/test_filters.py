"""Filters by category, which go by tags, or by the text of atoms without a category tag."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Engine, Filters, Follow, Link
from engine.base.errors import InvalidInputError
from engine.commands import Command
from engine.followers.tags import LIVE, members
from engine.query.filters import allowed, category_sets
from engine.text.language.categories import Category, categories_of
from tests.query.recall.support import WORDS_ONLY, id_of, memory

CAUSE = "The boiler stopped because a valve broke."
FEELING = "I am so happy about the boiler."
NOTHING = "The boiler is blue."
BOILERS: list[Command] = [
    Add(CAUSE, id=id_of(1)),
    Add(FEELING, id=id_of(2)),
    Add(NOTHING, id=id_of(3), tags=["Causal"]),
    Add(f"{CAUSE} Again.", id=id_of(4), tags=["emotional", "valve"]),
    Add(f"{NOTHING} Really.", id=id_of(5), tags=["valve"]),
]
TEXTS = [CAUSE, FEELING, NOTHING, "Anna met Peter at the boiler in Paris yesterday."]


def found(engine: Engine, *categories: str) -> list[str]:
    """The ids that find returns for categories."""
    return [one.id for one in engine.find(limit=100, filters=Filters(categories=categories))]


def test_a_tag_of_a_category_decides() -> None:
    """An atom with a category tag belongs to that category only, whatever its text."""
    with memory(BOILERS, WORDS_ONLY) as engine:
        assert found(engine, "causal") == [id_of(1), id_of(3)]
        assert found(engine, "emotional") == [id_of(2), id_of(4)]


def test_one_of_several_categories_is_enough() -> None:
    """An atom passes if it is in one of several categories."""
    with memory(BOILERS, WORDS_ONLY) as engine:
        assert found(engine, "emotional", "#Causal") == [id_of(number) for number in (1, 2, 3, 4)]
        assert found(engine, "industry") == []


def test_every_query_filters_by_category_alike() -> None:
    """Recall, bright nodes and walks return the same atoms as find."""
    wanted = Filters(categories=("causal",))
    with memory(BOILERS, WORDS_ONLY) as engine:
        engine.apply([Link(id_of(5), "references", id_of(number)) for number in (1, 2, 3, 4)])
        hits = engine.recall("boiler", filters=wanted).hits
        nodes = engine.bright_nodes("boiler", filters=wanted)
        walked = engine.find(from_=id_of(5), follow=Follow(), filters=wanted, limit=9)
    for answer in (hits, nodes, walked):
        assert sorted(one.id for one in answer) == [id_of(1), id_of(3)]


def test_a_new_tag_changes_the_category() -> None:
    """Tags that were added or removed later count."""
    with memory(BOILERS, WORDS_ONLY) as engine:
        engine.tag(id_of(1), "narrative")
        engine.untag(id_of(3), "causal")
        assert found(engine, "causal") == []
        assert found(engine, "narrative") == [id_of(1)]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(TEXTS), st.sets(st.sampled_from(["causal", "Emotional", "location", "pump"]))
        ),
        min_size=1,
        max_size=7,
    ),
    st.sets(st.sampled_from(list(Category)), min_size=1),
)
def test_categories_are_those_of_a_plain_look(
    atoms: list[tuple[str, set[str]]], wanted: set[Category]
) -> None:
    """Find agrees with a naive implementation; `allowed` includes atoms without category tags."""
    made = [Add(f"{text} {n}", tags=sorted(tags), id=id_of(n)) for n, (text, tags) in enumerate(atoms)]
    expected, otherwise = [], []
    for number, (text, tags) in enumerate(atoms):
        own = {Category(tag.lower()) for tag in tags if tag != "pump"}
        if wanted & (own or set(categories_of(text))):
            expected.append(number)
        if own and not own & wanted:
            otherwise.append(number)
    filters = Filters(categories=tuple(sorted(wanted)))
    with memory(made, WORDS_ONLY) as engine:
        assert found(engine, *filters.categories) == [id_of(number) for number in expected]
        with engine.store.view(engine.store.tags) as rows:
            through = set(allowed(rows, filters))
            in_wanted, in_any = category_sets(rows, filters.categories)
            assert through == set(members(rows, LIVE) - (in_any - in_wanted))
    assert set(expected) <= through
    assert through.isdisjoint(otherwise)


@pytest.mark.parametrize("wrong", ["happy", "", "caus", "#", "causal,emotional"])
def test_an_unknown_category_is_refused_and_all_are_named(wrong: str) -> None:
    """An unknown category raises an error that lists the eight, or a tag error."""
    with memory(BOILERS) as engine, pytest.raises(InvalidInputError) as error:
        found(engine, wrong)
    named = all(category.value in str(error.value) for category in Category)
    assert named or "tag" in str(error.value)


@pytest.mark.parametrize("wrong", ["causal", 5, (None,), (5,)])
def test_categories_of_a_wrong_kind_are_refused(wrong: Any) -> None:
    """Categories that are not a list of strings raise an error."""
    with memory(BOILERS) as engine, pytest.raises(InvalidInputError):
        engine.find(limit=5, filters=Filters(categories=wrong))
