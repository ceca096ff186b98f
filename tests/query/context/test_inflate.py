"""Properties of inflation for any hits, sources and budgets."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError
from engine.query.context.passages import Passage, Position
from engine.query.context.windows import (
    GAP_MAX,
    MISSES_MAX,
    Context,
    NeighbourLookup,
    hits_wanted,
    inflate,
    query_rarity,
    radius_of,
)
from engine.query.prompt_text import BUDGET_MIN, ID_DIGITS, body, heading, tokens_of
from tests.query.context.support import (
    HOSTILE,
    SOURCES,
    Scene,
    budgets,
    cost,
    id_of,
    passage,
    radii,
    scenes,
    with_room,
)
from tests.support.shared_data import needs


def around(near: Iterable[Passage]) -> NeighbourLookup:
    """A lookup of these atoms by their positions."""
    by_place = {one.position: one for one in near if one.position is not None}
    return by_place.get


nothing = around([])


def places_of(scene: Scene, context: Context) -> list[list[Position | None]]:
    """The positions of the atoms of each window."""
    passages = scene.passages
    return [[passages[one].position for one in window.ids] for window in context.windows]


@given(scenes(), budgets, radii)
def test_the_budget_is_kept_to_the_token(scene: Scene, budget: int, radius: int) -> None:
    """The text is the concatenated windows, and its tokens are at most the budget."""
    context = scene.inflated(budget, radius)
    assert context.text == "".join(window.text for window in context.windows)
    assert context.tokens == tokens_of(context.text) <= budget
    assert all(window.tokens == tokens_of(window.text) for window in context.windows)
    assert bool(context.windows) == bool(scene.hits)


@given(scenes(), budgets, radii)
def test_every_hit_with_room_is_in_one_window_whole(scene: Scene, budget: int, radius: int) -> None:
    """Hits that fit are shown whole, the best first, before any neighbour."""
    context = scene.inflated(budget, radius)
    for one in with_room(scene.hits, budget):
        (window,) = [window for window in context.windows if one in window.hits]
        assert body(scene.passages[one].content) in window.text


@given(scenes(), budgets, radii)
def test_no_atom_is_shown_twice_or_unasked(scene: Scene, budget: int, radius: int) -> None:
    """Each id is in at most one window, and only given atoms are shown."""
    context = scene.inflated(budget, radius)
    ids = [one for window in context.windows for one in window.ids]
    assert len(ids) == len(set(ids))
    assert set(ids) <= set(scene.passages)


@given(scenes(), budgets, radii)
def test_a_window_is_atoms_side_by_side(scene: Scene, budget: int, radius: int) -> None:
    """The atoms of a window are consecutive in their source, in order."""
    for window, places in zip(
        scene.inflated(budget, radius).windows, places_of(scene, scene.inflated(budget, radius)), strict=True
    ):
        for before, after in pairwise(places):
            assert before is not None
            assert after == before.offset(1)
        passages = [scene.passages[one] for one in window.ids]
        assert {one.source for one in passages} == {window.source}
        assert (window.first, window.last) == (passages[0].sequence, passages[-1].sequence)
        assert window.title == passages[0].title


@given(scenes(), budgets, radii)
def test_windows_are_in_the_order_of_reading(scene: Scene, budget: int, radius: int) -> None:
    """Sources are ordered by their best hit; windows of one source do not overlap."""
    context = scene.inflated(budget, radius)
    rank = {one.id: number for number, one in enumerate(scene.hits)}
    best = [min(rank[one] for one in window.hits) for window in context.windows]
    groups: dict[object, list[int]] = {}
    ends: dict[object, list[int]] = {}
    for number, places in enumerate(places_of(scene, context)):
        source = places[0].source if places[0] else number
        groups.setdefault(source, []).append(number)
        ends.setdefault(source, []).extend(position.number for position in places if position)
    turns = [min(best[number] for number in numbers) for numbers in groups.values()]
    assert turns == sorted(turns)
    assert [number for numbers in groups.values() for number in numbers] == list(range(len(best)))
    assert all(numbers == sorted(set(numbers)) for numbers in ends.values())


@given(scenes(), budgets, radii, st.integers(1, 4))
def test_hits_that_share_the_budget_keep_to_it(scene: Scene, budget: int, radius: int, leads: int) -> None:
    """The first hits are all shown if the share of each suffices for a heading and a cut text."""
    context = scene.inflated(budget, radius, leads)
    assert context.tokens <= budget
    if budget >= leads * BUDGET_MIN:
        shown = {one for window in context.windows for one in window.hits}
        assert {one.id for one in scene.hits[:leads]} <= shown


@given(scenes(), budgets, budgets, radii, radii, st.integers(1, 4))
def test_more_budget_never_loses_a_hit(
    scene: Scene, one: int, other: int, near: int, far: int, leads: int
) -> None:
    """A hit that is shown is also shown with any larger budget and any radius."""
    small, large = sorted((one, other))
    before, after = (
        {found for window in scene.inflated(budget, radius, leads).windows for found in window.hits}
        for budget, radius in ((small, near), (large, far))
    )
    assert before <= after


@given(scenes(), budgets, radii)
def test_neighbours_are_near_and_under_the_hit_s_title(scene: Scene, budget: int, radius: int) -> None:
    """A neighbour is within the radius of a hit with its title, or in a gap."""
    for window in scene.inflated(budget, radius).windows:
        hits = [scene.passages[one] for one in window.hits]
        for one in (scene.passages[one] for one in window.ids if one not in window.hits):
            assert one.position is not None
            near = [
                hit
                for hit in hits
                if hit.position is not None
                and abs(hit.position.number - one.position.number) <= max(radius, GAP_MAX)
                and hit.title == one.title
            ]
            assert near


@given(scenes(), budgets, radii)
def test_headings_are_those_of_the_windows(scene: Scene, budget: int, radius: int) -> None:
    """Each window has one heading with the right fields, for any content."""
    context = scene.inflated(budget, radius)
    begins = [line for line in context.text.splitlines() if line and not line.startswith(" ")]
    headings = [line for line in begins if not line.startswith("|")]
    assert len(headings) == len(context.windows)
    for line, window in zip(headings, context.windows, strict=True):
        assert window.text.startswith(line)
        digits = line[1:].partition("]")[0].partition(" ")[0]
        best = min(window.hits, key=[one.id for one in scene.hits].index)
        assert digits == best[:ID_DIGITS]
        assert window.score == scene.passages[best].score


def test_hits_side_by_side_are_one_window() -> None:
    """Two adjacent hits share a heading with the id of the better one and both sequences."""
    context = inflate(
        "tea", [passage(2, "two", position=2), passage(1, "one", position=1)], nothing, budget=60, radius=0
    )
    assert context.text == f"[{id_of(2)[:8]} 10-20] notes/tea.md\n  one\n  two\n"
    (window,) = context.windows
    assert (window.ids, window.hits) == ((id_of(1), id_of(2)), (id_of(1), id_of(2)))


@pytest.mark.parametrize("order", [(1, 4, 8), (8, 4, 1)])
def test_a_gap_of_two_is_filled_and_one_of_three_is_not(order: tuple[int, ...]) -> None:
    """Gaps of one or two atoms are filled even with radius 0, others are not."""
    near = [passage(number, position=number) for number in (2, 3, 5, 6, 7)]
    hits = [passage(number, position=number) for number in order]
    context = inflate("tea", hits, around(near), budget=400, radius=0)
    assert [window.ids for window in context.windows] == [tuple(map(id_of, (1, 2, 3, 4))), (id_of(8),)]


def test_a_title_that_changes_is_told() -> None:
    """Within a window, a line with a bar shows a new title."""
    hits = [
        passage(1, "one", "Kettle", position=1),
        passage(2, "two", "Filter", position=2),
        passage(3, "three", position=3),
    ]
    context = inflate("tea", hits, nothing, budget=400, radius=0)
    assert (
        context.text == f"[{id_of(1)[:8]} 10-30] notes/tea.md | Kettle\n  one\n| Filter\n  two\n|\n  three\n"
    )


def test_another_title_is_no_neighbour() -> None:
    """Neighbours and gaps end at an atom with another title."""
    near = [passage(2, title="Filter", position=2), passage(4, position=4)]
    context = inflate(
        "tea", [passage(1, position=1), passage(3, position=3)], around(near), budget=400, radius=2
    )
    assert [window.ids for window in context.windows] == [(id_of(1),), (id_of(3), id_of(4))]


def test_a_hidden_atom_is_a_wall() -> None:
    """Atoms beyond an atom that may not be shown are not neighbours."""
    near = [passage(1, position=1), passage(4, position=4)]
    context = inflate("tea", [passage(2, position=2)], around(near), budget=400, radius=4)
    assert [window.ids for window in context.windows] == [(id_of(1), id_of(2))]


def test_neighbours_come_ring_by_ring() -> None:
    """Neighbours come by distance, then by the rank of the hit, the following atom first."""
    # Without sequences all headings cost the same, and every neighbour as much as any other.
    near = [replace(passage(number, position=number), sequence=None) for number in (1, 2, 4, 5, 11, 13)]
    hits = [replace(passage(number, position=number), sequence=None) for number in (3, 12)]
    contexts = [
        inflate("tea", hits, around(near), budget=budget, radius=4)
        for budget in range(sum(map(cost, hits)), 100)
    ]
    assert all(context.tokens <= context.budget for context in contexts)
    grown = [tuple(one for window in context.windows for one in window.ids) for context in contexts]
    new = [set(after) - set(before) for before, after in pairwise(dict.fromkeys(grown))]
    assert [sorted(ids) for ids in new if ids] == [[id_of(number)] for number in (4, 2, 13, 11, 5, 1)]


def test_atoms_without_room_are_not_asked_for_without_end() -> None:
    """After eight neighbours that did not fit, no more are looked up."""
    hits = [passage(number, position=10 * number) for number in range(20)]
    asked: list[Position] = []

    def beside(position: Position) -> Passage:
        asked.append(position)
        return passage(100, "tea " * 100, position=position.number)

    context = inflate("tea", hits, beside, budget=sum(map(cost, hits)) + 9, radius=4)
    assert len(context.windows) == 20
    assert len(asked) == MISSES_MAX


def test_an_atom_without_a_source_has_its_turn_by_its_rank() -> None:
    """It is a window of its own, ordered by its rank."""
    hits = [passage(1, position=4), passage(2), passage(3, position=9), passage(4)]
    windows = inflate("tea", hits, nothing, budget=400, radius=4).windows
    assert [window.ids for window in windows] == [(id_of(number),) for number in (1, 3, 2, 4)]


def test_a_best_hit_without_room_is_cut() -> None:
    """The best hit is cut after a word and marked, and a long heading is replaced by the id."""
    long = Passage(id_of(1), "tea " * 1000, "Kettle " * 20, SOURCES[0], 1, Position(SOURCES[0], 1))
    for budget in range(16, 100):
        (window,) = inflate("tea", [long], nothing, budget=budget, radius=4).windows
        assert window.tokens <= budget
        assert window.text.endswith("…\n")
        assert "\n  tea tea" in window.text or budget < 18
        whole = heading(long.title, SOURCES[0], 1, 1, long.id)
        assert window.text.startswith(f"{whole}\n") == (2 * tokens_of(whole) <= budget)


def test_the_smallest_budget_shows_something() -> None:
    """16 tokens show a heading and a beginning for any id, title and text."""
    worst = Passage(
        "1a2b3c4d-5e6f", "\u65e5" * 100, "\u65e5" * 100, "\u65e5" * 100, 2**62, Position("\u65e5" * 100, 1)
    )
    context = inflate("tea", [worst], nothing, budget=16, radius=0)
    assert context.text == "[1a2b3c4d]\n  \u65e5…\n"
    assert context.tokens <= 16


def test_the_last_hit_is_cut_if_half_of_it_fits() -> None:
    """A hit is cut to the remaining budget if at least half of it fits."""
    first, second, third = (passage(number, "tea " * 30, position=3 * number) for number in (1, 2, 3))
    for budget in range(cost(first), 2 * cost(first)):
        context = inflate("tea", [first, second, third], nothing, budget=budget, radius=0)
        half = 2 * (budget - cost(first)) >= min(cost(second), budget / 2)
        assert [window.ids for window in context.windows] == [(first.id,), (second.id,)][: 1 + half]
        assert body(first.content) in context.text
        assert context.text.endswith("…\n") == half


def test_a_hit_without_room_ends_the_hits() -> None:
    """No hit after it is laid out, but one can still be shown as a neighbour."""
    long = passage(2, "tea " * 60, position=9)
    hits = [passage(1, "tea " * 100, position=1), long, passage(3, position=2), passage(4, position=5)]
    budget = cost(hits[0]) + cost(hits[3]) + 5
    (window,) = inflate("tea", hits, nothing, budget=budget, radius=1).windows
    assert (window.hits, window.ids) == ((id_of(1),), (id_of(1), id_of(3)))


def test_the_last_hit_gets_what_joining_saved() -> None:
    """The last hit is whole if joining other hits saves enough tokens."""
    hits = [passage(number, "tea " * 10, position=number) for number in range(1, 6)]
    budget = sum(map(cost, hits)) - 5
    (window,) = inflate("tea", hits, nothing, budget=budget, radius=4).windows
    assert len(window.hits) == 5
    assert "…" not in window.text


def test_what_need_not_be_cut_is_whole() -> None:
    """A hit of more than half of the budget is whole if there is room for it and the others."""
    hits = [
        passage(1, "tea", position=1),
        passage(2, "tea " * 100, position=3),
        passage(3, "tea", position=5),
    ]
    context = inflate("tea", hits, nothing, budget=sum(map(cost, hits)), radius=0)
    assert [body(one.content) in context.text for one in hits] == [True] * 3


def test_a_hit_that_need_not_be_cut_keeps_its_rank() -> None:
    """Its neighbours come before those of worse hits."""
    hits = [passage(1), passage(2, "tea " * 100, position=3), passage(3, position=12)]
    hits = [replace(one, sequence=None) for one in hits]
    near = [replace(passage(number, position=number), sequence=None) for number in (4, 13)]
    context = inflate("tea", hits, around(near), budget=sum(map(cost, hits)) + 2, radius=1)
    assert [one for window in context.windows for one in window.ids] == list(map(id_of, (1, 2, 4, 3)))


def test_a_cut_hit_is_not_shown_again() -> None:
    """Filling a gap does not add a second text of a cut hit."""
    hits = [
        *(passage(number, "tea", position=number) for number in (1, 3, 5, 7)),
        passage(8, "tea " * 20, position=8),
    ]
    near = [passage(number, "x", position=number) for number in (2, 4, 6)]
    context = inflate("tea", hits, around(near), budget=sum(map(cost, hits)) - 4, radius=4)
    assert [window.ids for window in context.windows] == [tuple(map(id_of, range(1, 8))), (id_of(8),)]


def test_a_gap_may_have_the_titles_of_both_ends() -> None:
    """A gap is filled if each atom has the title of one of the two hits."""
    hits = [passage(1, "one", "Kettle", position=1), passage(4, "four", "Filter", position=4)]
    near = [passage(2, "two", "Kettle", position=2), passage(3, "three", "Filter", position=3)]
    context = inflate("tea", hits, around(near), budget=400, radius=0)
    assert [window.ids for window in context.windows] == [tuple(map(id_of, (1, 2, 3, 4)))]


@pytest.mark.parametrize("hidden", [2, 3])
def test_a_gap_with_a_hidden_atom_is_not_filled(hidden: int) -> None:
    """A gap with an atom that may not be shown stays empty."""
    near = [passage(number, position=number) for number in (2, 3) if number != hidden]
    context = inflate(
        "tea", [passage(1, position=1), passage(4, position=4)], around(near), budget=400, radius=0
    )
    assert [window.ids for window in context.windows] == [(id_of(1),), (id_of(4),)]


def test_a_long_hit_leaves_room_for_others() -> None:
    """All hits but the best are cut to half of the budget."""
    hits = [
        passage(1, "tea", position=1),
        passage(2, "tea " * 1000, position=5),
        passage(3, "tea", position=9),
    ]
    context = inflate("tea", hits, nothing, budget=200, radius=0)
    assert [window.ids for window in context.windows] == [(id_of(number),) for number in (1, 2, 3)]
    assert 80 <= context.windows[1].tokens <= 100


def test_nothing_found_is_an_empty_text() -> None:
    """Without hits there are no windows."""
    context = inflate("tea", [], around([passage(1, position=1)]), budget=100, radius=4, size=7)
    assert (context.windows, context.text, context.tokens, context.size) == ((), "", 0, 7)


@pytest.mark.parametrize("budget", [15, 0, -1, True, 16.0])
def test_a_budget_for_nothing_is_refused(budget: int) -> None:
    """A budget below 16 tokens, or not a whole number, raises an error that says so."""
    with pytest.raises(InvalidInputError, match="budget"):
        inflate("tea", [], nothing, budget=budget, radius=0)


@given(st.integers(16, 10**7), st.integers(16, 10**7))
def test_more_budget_asks_for_more_hits(one: int, other: int) -> None:
    """The number of requested hits grows with the budget, from 5 to 500."""
    small, large = sorted((one, other))
    assert 5 <= hits_wanted(small) <= hits_wanted(large) <= 500


@given(st.integers(16, 10**7), st.integers(16, 10**7), st.floats(0, 1), st.floats(0, 1))
def test_the_radius_grows_with_budget_and_rarity(one: int, other: int, rare: float, rarer: float) -> None:
    """The radius is 0 to 4 and does not fall with the budget or the rarity."""
    small, large = sorted((one, other))
    low, high = sorted((rare, rarer))
    assert 0 <= radius_of(small, low) <= radius_of(large, low) <= radius_of(large, high) <= 4


def test_the_radius_in_figures() -> None:
    """With a rarity of 1 the radius is 1 at 250 tokens and grows by one at each doubling."""
    assert [radius_of(budget, 1.0) for budget in (249, 250, 500, 1000, 2000, 4000)] == [0, 1, 2, 3, 4, 4]
    assert [radius_of(budget, 0.5) for budget in (250, 500, 2000, 8000)] == [0, 1, 2, 3]
    assert radius_of(10**6, 0.0) == 0


@given(st.integers(1, 10**6), st.lists(st.integers(0, 10**6), max_size=6))
def test_rarity_is_a_share(documents: int, frequencies: list[int]) -> None:
    """The rarity is 0 to 1: 1 if each word is in one document, 0 if none occurs."""
    known = [min(frequency, documents) for frequency in frequencies]
    assert 0 <= query_rarity(documents, known) <= 1
    assert query_rarity(documents, [1, 1, 1, documents]) == 1
    assert query_rarity(documents, [0, 0]) == 0


def test_naughty_strings_are_inflated() -> None:
    """The Big List of Naughty Strings in one source gives one heading and shows all strings."""
    path = needs("vectors/strings/blns.json")
    naughty = [text for text in json.loads(path.read_text(encoding="utf-8")) if text.strip()]
    hits = [passage(number, text, text, position=number) for number, text in enumerate([*naughty, *HOSTILE])]
    context = inflate("tea", hits, nothing, budget=10**6, radius=0)
    (window,) = context.windows
    assert len(window.hits) == len(hits)
    assert [line for line in context.text.splitlines() if line[:1] not in {"", " ", "|"}] == [
        context.text.splitlines()[0]
    ]
