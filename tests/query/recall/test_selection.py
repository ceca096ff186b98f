"""The fields of hits, the candidates that were dropped, and the folding of near-duplicates."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Filters, Hit, RecallConfig, Revise, Tombstone
from engine.commands import Command
from tests.index.copies.support import CHAIN, KETTLE, TRAIN, copy_of
from tests.query.recall.support import WORDS_ONLY, ask, fillers, id_of, keys, memory, named
from tests.query.recall.test_recall import questions, webs

pytestmark = pytest.mark.slow

MICRO = 1e-6
WORDS = ("Anna", "Boris", "Clara", "Dora", "Emil", "Frida", "Georg", "Hanna", "Ida", "Jonas")


@settings(max_examples=60, deadline=None)
@given(webs(), questions, st.sampled_from((None, 20, 60, 400)))
def test_the_signals_of_a_hit_add_up_to_its_score(
    web: list[Command], question: str, budget: int | None
) -> None:
    """The rounded parts of a score differ from it by at most half a millionth each."""
    for hit in ask(web, question, limit=12, budget=budget, explain=True).hits:
        assert hit.signals
        assert sum(hit.signals.values()) == pytest.approx(hit.score, abs=(len(hit.signals) + 1) * MICRO)


@settings(max_examples=40, deadline=None)
@given(webs(), questions, st.sampled_from((None, 20, 60, 400)), st.integers(1, 12))
def test_explaining_changes_no_answer(
    web: list[Command], question: str, budget: int | None, limit: int
) -> None:
    """Explaining only adds the signals and the dropped candidates."""
    with memory(web) as engine:
        plain = engine.recall(question, limit=limit, budget=budget)
        told = engine.recall(question, limit=limit, budget=budget, explain=True)
    assert plain.dropped == ()
    assert all(hit.signals is None for hit in plain.hits)
    silent = tuple(replace(hit, signals=None) for hit in told.hits)
    assert plain == replace(told, hits=silent, dropped=())


@settings(max_examples=40, deadline=None)
@given(webs(), questions, st.sampled_from((None, 20, 60, 400)), st.integers(1, 4))
def test_what_was_dropped_is_no_hit(
    web: list[Command], question: str, budget: int | None, limit: int
) -> None:
    """A dropped candidate is not a hit, is listed once, and has a score and a valid reason."""
    found = ask(web, question, limit=limit, budget=budget, explain=True)
    hits, dropped = [hit.id for hit in found.hits], [one.id for one in found.dropped]
    assert len({*hits, *dropped}) == len(hits) + len(dropped)
    for one in found.dropped:
        assert one.score > 0
        assert one.reason in {"over the budget", "beyond the limit", "too many walkers"} or (
            one.reason.removeprefix("duplicate of ") in {*hits, *dropped}
        )


def test_what_is_beyond_the_limit_is_told() -> None:
    """The candidates after the limit are listed, at most twenty, the best first."""
    found = ask([Add(f"kettle {'sheet ' * at}") for at in range(1, 40)], "kettle", limit=3, explain=True)
    assert {dropped.reason for dropped in found.dropped} == {"beyond the limit"}
    scores = [hit.score for hit in found.hits] + [one.score for one in found.dropped]
    assert scores == sorted(scores, reverse=True)
    assert len(found.dropped) == 20


def test_what_the_budget_has_no_room_for_is_told() -> None:
    """A hit that is too long is listed as dropped, and shorter ones after it are hits."""
    atoms = [
        named("first", "kettle, kettle, kettle"),
        named("long", f"kettle, kettle {'sheet ' * 90}"),
        named("short", "the kettle of other days, at a time when nobody came"),
    ]
    found = ask(atoms, "kettle", WORDS_ONLY, budget=60, explain=True)
    assert keys(found.hits) == ["first", "short"]
    assert [dropped.reason for dropped in found.dropped] == ["over the budget"]


def test_what_is_in_no_such_category_is_told() -> None:
    """A candidate in none of the wanted categories is listed as dropped."""
    atoms = [named("no", "kettle, kettle", 1), named("tagged", "kettle", 2, tags=["technical"])]
    found = ask(atoms, "kettle", filters=Filters(categories=("technical",)), explain=True)
    assert keys(found.hits) == ["tagged"]
    assert [(one.id, one.reason) for one in found.dropped] == [(id_of(1), "no such category")]


COPIES = [named(f"copy {at}", copy_of(KETTLE, at), at + 1) for at in range(3)]


def test_near_duplicates_are_folded_into_the_best() -> None:
    """The best of several near-duplicates is a hit and lists the others, the best first."""
    found = ask([*COPIES, named("other", f"the kettle {'sheet ' * 90}")], "kettle", explain=True)
    assert keys(found.hits) == ["copy 0", "other"]
    assert found.hits[0].duplicates == (id_of(2), id_of(3))
    assert found.hits[1].duplicates == ()
    assert [one.reason for one in found.dropped] == [f"duplicate of {id_of(1)}"] * 2


def test_near_duplicates_are_shown_where_that_is_wanted() -> None:
    """With `collapse=False` each near-duplicate is a hit."""
    found = ask(COPIES, "kettle", RecallConfig(collapse=False), explain=True)
    assert keys(found.hits) == ["copy 0", "copy 1", "copy 2"]
    assert [hit.duplicates for hit in found.hits] == [()] * 3
    assert found.dropped == ()


def test_the_best_of_near_duplicates_is_the_one_that_is_kept() -> None:
    """The score decides which near-duplicate is the hit, not the order of recording."""
    atoms = [*COPIES, named("trusted", copy_of(KETTLE, 3), 9, trust=100)]
    (hit,) = ask(atoms, "kettle").hits
    assert (hit.key, len(hit.duplicates)) == ("trusted", 3)


def test_what_is_near_a_near_duplicate_is_not_folded_unless_it_is_near_the_hit() -> None:
    """Nearness does not go from one to the next: the ends of a chain are two hits."""
    trust = (100, 0, 50)
    chain = [named(str(at), text, at + 1, trust=trust[at]) for at, text in enumerate(CHAIN)]
    first, second = ask(chain, "kettle").hits
    assert (first.key, first.duplicates) == ("0", (id_of(2),))
    assert (second.key, second.duplicates) == ("2", ())


def test_hidden_copies_are_not_named() -> None:
    """Tombstoned copies and old versions are not listed as duplicates."""
    gone: list[Command] = [Tombstone(id_of(2)), Revise(id_of(3), content=TRAIN)]
    (hit,) = ask([*COPIES, *gone], "kettle").hits
    assert (hit.key, hit.duplicates) == ("copy 0", ())


@pytest.mark.parametrize(("limit", "budget"), [(10, None), (5, 1000)])
def test_copies_take_no_place_of_other_hits(limit: int, budget: int | None) -> None:
    """Copies of the best hit do not reduce the number of hits."""
    copies = [Add(copy_of(KETTLE, at)) for at in range(60)]
    others = [Add(f"the kettle that {word} liked so much was sold at the fair in the end") for word in WORDS]
    found = ask([*copies, *others], "kettle of the month", limit=limit, budget=budget)
    assert len(found.hits) == limit


def test_a_copy_is_not_folded_into_what_is_left_out() -> None:
    """A copy in a wanted category is a hit if the better one is in none."""
    atoms = [
        named("better", KETTLE, 1, trust=100),
        named("tagged", copy_of(KETTLE, 1), 2, tags=["technical"]),
    ]
    found = ask(atoms, "kettle", filters=Filters(categories=("technical",)))
    assert keys(found.hits) == ["tagged"]


@pytest.mark.parametrize("budget", [None, 1000])
def test_a_category_is_found_behind_many_hits_without_it(budget: int | None) -> None:
    """An atom of a wanted category is found behind many others."""
    atoms = [Add(f"kettle kettle {'sheet ' * (at % 7)}on{at}") for at in range(120)]
    atoms.append(named("tagged", "a kettle of the longer kind that nobody liked much", tags=["technical"]))
    found = ask(atoms, "kettle", filters=Filters(categories=("technical",)), limit=1, budget=budget)
    assert keys(found.hits) == ["tagged"]


def test_a_large_limit_takes_memory_in_proportion() -> None:
    """Folding some thousand hits does not allocate memory for all pairs."""
    atoms = [Add(f"the kettle of sheet{at} and of page{at * 7}") for at in range(3000)]
    with memory(atoms) as engine:
        engine.recall("kettle")
        tracemalloc.start()
        found = engine.recall("kettle", limit=3000)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(found.hits) == 3000
    assert peak < 3000 * 20_000


def test_equal_hits_come_in_the_order_of_their_ids() -> None:
    """Ties are ordered by id, even if more atoms tie than are candidates."""
    count = 150
    atoms = [
        Add(f"kettle {chr(97 + at % 26)}{chr(97 + at // 26)}x", id=id_of(count - at)) for at in range(count)
    ]
    hits: tuple[Hit, ...] = ask(atoms, "kettle", limit=20).hits
    assert len({hit.score for hit in hits}) == 1
    assert [hit.id for hit in hits] == [id_of(at + 1) for at in range(20)]


def test_fillers_are_no_hits() -> None:
    """An atom without the question's words and without relations is not a hit."""
    assert ask(fillers(30), "kettle", explain=True).hits == ()
