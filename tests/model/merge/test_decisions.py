"""The decisions of docs/spec/merge.md, each on the smallest history that shows it."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.model.merge.law import ERASED, LIVE, TOMBSTONED, Body, Kind
from tests.model.merge.store import Store


def family(number: int = 2) -> list[Store]:
    """Return stores that all know atom 0 with the text `old`, written by store 0."""
    stores = [Store(one, number) for one in range(number)]
    stores[0].add(0, Body("old", ("a",)), 1, force=False)
    exchange(stores)
    return stores


def exchange(stores: list[Store]) -> None:
    """Pull everything until nothing is new."""
    pairs = list(permutations(stores, 2))
    while sum(one.pull(two, 1000) for one, two in pairs):
        pass


def test_two_revisions_are_a_conflict_with_one_text() -> None:
    """Two concurrent revisions are listed in both stores, which show the same one of them."""
    stores = family()
    stores[0].revise(0, "left", (), 2)
    stores[1].revise(0, "right", (), 1)
    exchange(stores)
    assert [store.records[0].text for store in stores] == ["right", "right"]
    assert [store.known.conflict(0) for store in stores] == [[(0, 1), (1, 2)]] * 2


def test_settling_travels() -> None:
    """A revision that keeps the shown text settles the conflict in all stores."""
    stores = family()
    stores[0].revise(0, "left", ("a",), 2)
    stores[1].revise(0, "right", ("a",), 2)
    exchange(stores)
    stores[0].revise(0, "right", ("a",), 3)
    exchange(stores)
    assert [store.known.conflict(0) for store in stores] == [[], []]
    assert [store.records[0].text for store in stores] == ["right", "right"]


def test_equal_revisions_and_equal_adds_are_no_conflict() -> None:
    """Equal texts from two stores are not a conflict; each has an ordinal in both."""
    stores = family()
    for store in stores:
        store.revise(0, "new", ("a",), 2)
        store.add(1, Body("same"), store.number, force=False)
    exchange(stores)
    assert not any(store.known.conflict(atom) for store in stores for atom in (0, 1))
    assert [store.ordinals for store in stores] == [5, 5]


def test_an_edit_of_an_erased_text_is_listed_without_its_text() -> None:
    """An erasure wins over a concurrent edit, which stays listed until somebody has seen both."""
    stores = family(3)
    stores[0].erase(0, 2)
    stores[1].revise(0, "edited", (), 2)
    exchange(stores)
    for store in stores:
        assert store.records[0].state == ERASED
        assert store.known.lost(0) == [(1, 2)]
        assert not any(event.payload and event.payload[0] == Body("edited", (), 1) for event in store.journal)
    stores[2].add(0, Body("again"), 3, force=True)
    exchange(stores)
    assert [(store.records[0].text, store.known.lost(0)) for store in stores] == [("again", [])] * 3


def test_a_tombstone_hides_what_it_had_seen() -> None:
    """A tombstone does not hide an atom that was revised or revived elsewhere meanwhile."""
    stores = family()
    stores[0].hide(0, "old", 2)
    stores[1].tag(0, "b", 2, there=True)
    exchange(stores)
    assert [(one.records[0].state, len(one.records[0].tags)) for one in stores] == [(TOMBSTONED, 2)] * 2
    stores[0].revive(0, 3)
    exchange(stores)
    stores[0].hide(0, "old", 4)
    stores[1].revise(0, "new", (), 2)
    exchange(stores)
    assert [(one.records[0].state, one.records[0].text) for one in stores] == [(LIVE, "new")] * 2


@pytest.mark.parametrize("writer", [0, 1])
def test_tags_unite(writer: int) -> None:
    """A removed tag stays if another store stated it anew meanwhile; the other tags unite."""
    stores = family()
    stores[writer].tag(0, "a", 2, there=False)
    stores[writer].tag(0, "b", 2, there=True)
    stores[1 - writer].revise(0, "new", ("a", "c"), 2)
    exchange(stores)
    assert [store.state(0) for store in stores] == [stores[0].known.state(0)] * 2
    assert [name for name, _ in stores[0].records[0].tags] == ["a", "b", "c"]


def test_news_of_an_erasure_that_has_not_arrived() -> None:
    """What arrives without a payload is erased at once, and cannot be added until the erasure is known."""
    stores = family(3)
    stores[0].add(1, Body("secret"), 2, force=False)
    stores[1].pull(stores[0], 1000)
    stores[0].erase(1, 3)
    stores[1].revise(1, "secret and more", (), 3)
    stores[2].pull(stores[0], 1)
    stores[2].pull(stores[1], 1000)
    assert stores[2].records[1].state == ERASED
    stores[2].add(1, Body("secret"), 4, force=True)
    assert stores[2].records[1].state == ERASED
    exchange(stores)
    stores[2].add(1, Body("secret"), 4, force=True)
    exchange(stores)
    assert [store.records[1].text for store in stores] == ["secret"] * 3


def test_foreign_heads_alone_are_no_news() -> None:
    """A store that has only taken in events of others has nothing for others to take in."""
    stores = family(3)
    sizes = [len(store.journal) for store in stores]
    exchange(stores)
    assert [len(store.journal) for store in stores] == sizes
    assert stores[1].journal[-1].kind is Kind.HEAD
