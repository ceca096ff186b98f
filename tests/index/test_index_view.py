"""Tests of the heads, facts and rows of terms in a view of the index."""

from __future__ import annotations

import random
from collections.abc import Iterator
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import Reader, Row
from engine.index import postings_cache
from engine.index.index_view import IndexView, Postings
from engine.query.recall.signals.scoring import Lists, WeightedTerm
from engine.text.analyzer import STOP_WORDS
from tests.followers.support import World, Written, body, history, plain_document, world_of
from tests.spec.spec_facts import NO_DOCUMENT, Document

pytestmark = pytest.mark.slow

WORDS = ("the", "sea", "ship", "ADR-016", "mast", "猫が", "not", "of")
TITLES = (None, None, None, "The sea", "Sea (ship)", "Mast and mast", "of the")


def texts_of(count: int, seed: int = 1) -> list[Written]:
    """Return short documents with labels, titles, sources and sequences, some of them destroyed."""
    chosen = random.Random(seed)
    return [
        None
        if chosen.random() < 0.05
        else body(
            chosen.choice(("", "", "Sea: ", "**sh*ip:** "))
            + " ".join(chosen.choices(WORDS, k=chosen.randrange(9))),
            chosen.choice(TITLES),
            chosen.choice((None, "a.md", "b.md")),
            chosen.choice((None, 0, number)),
        )
        for number in range(count)
    ]


def listed(postings: list[Postings]) -> list[tuple[int, int]]:
    """Return the (ordinal, tf) pairs of all postings."""
    found = []
    for start, offsets, tfs in postings:
        found += [(start + offset, tf) for offset, tf in zip(offsets.tolist(), tfs.tolist(), strict=True)]
    return found


@pytest.mark.parametrize("count", [0, 3, 256, 700])
@pytest.mark.parametrize("term", ["sea", "the", "mast", "adr", "猫が", "absent"])
def test_heads_are_those_of_titles_and_labels(count: int, term: str) -> None:
    """The terms of a head are those of the title, or of the label of a text without a title."""
    texts = texts_of(count)
    heads = [plain_document(text).heading for text in texts]
    expected = [(ordinal, head.count(term)) for ordinal, head in enumerate(heads) if term in head]
    assert listed(world_of(texts).view().heads(term)) == expected


@pytest.mark.parametrize("term", ["", "x" * 65, "\x00", "\x01", "\x00\x01", "\x01sea"])
def test_rows_of_another_kind_cannot_be_read_as_postings(term: str) -> None:
    """No term that a caller passes can read a row of another kind."""
    view = world_of([body("sea", "sea", "a", 1)] * 300).view()
    assert view.postings(term) == view.heads(term) == []


@pytest.mark.parametrize("count", [0, 5, 256, 1024, 1500])
def test_facts_are_those_that_the_spec_defines(count: int) -> None:
    """Facts are four read-only columns by ordinal, from both the segments and the tail."""
    texts = texts_of(count)
    facts = world_of(texts).view().facts
    assert list(zip(*(column.tolist() for column in facts), strict=True)) == [
        plain_document(text).facts for text in texts
    ]
    assert {(column.dtype, column.flags.writeable) for column in facts} == {(np.dtype(np.uint64), False)}


class Counting(Reader):
    """A reader that records the key of each row that is read in `asked`."""

    def __init__(self, rows: Reader) -> None:
        self.rows = rows
        self.asked: list[bytes] = []

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, and record the key."""
        self.asked.append(key)
        return self.rows.get(key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Yield the rows of the wrapped reader."""
        return self.rows.scan(start, end, reverse=reverse)


def test_facts_are_read_once() -> None:
    """Facts are cached between two writes; after a write only those of new segments are read."""
    world = World(history(texts_of(1100)))
    world.follow(0, 600)
    rows = Counting(world.rows)
    first = world.follower.view(rows).facts
    asked = [key for key in rows.asked if key.endswith(b"\x00\x01")]
    assert len(asked) == 2
    assert world.follower.view(rows).facts is first
    world.follow(600, 800)
    second = world.follower.view(rows).facts
    assert second.sources[:600].tolist() == first.sources.tolist()
    assert [key for key in rows.asked if key.endswith(b"\x00\x01")][2:] == [
        b"i/seg/\x00\x00\x00\x02\x00/\x00\x01"
    ]
    world.follow(800, 1100)
    third = world.follower.view(rows).facts
    assert [plain_document(text).facts[3] for text in texts_of(1100)] == third.fingerprints.tolist()


def test_facts_of_a_growing_index_are_those_of_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts that are added to cached ones equal facts that are read anew, and earlier views keep theirs."""
    monkeypatch.setattr(postings_cache, "ROOM_LEAST", 100)
    texts = texts_of(1500)
    world = World(history(texts))
    seen = []
    for start in range(0, 1500, 60):
        world.follow(start, start + 60)
        seen.append(world.view().facts)
    expected = [plain_document(text).facts for text in texts]
    for number, facts in enumerate(seen, 1):
        assert list(zip(*(column.tolist() for column in facts), strict=True)) == expected[: 60 * number]


def test_views_of_two_snapshots_have_their_own_facts() -> None:
    """A view of a snapshot has the facts of that snapshot, even after a later view was used."""
    texts = texts_of(700)
    world = World(history(texts))
    world.follow(0, 300)
    with world.rows.snapshot() as snapshot:
        before = world.follower.view(snapshot)
        world.follow(300, 700)
        assert len(world.view().facts.titles) == 700
        assert before.facts.titles.tolist() == [plain_document(text).facts[2] for text in texts[:300]]


def plain_values(
    documents: list[Document], term: str, k1: float, b: float, head: float
) -> tuple[int, list[float]]:
    """Return df and the impact on each document, computed with lists."""
    lengths = [sum(word not in STOP_WORDS for word in document.text) for document in documents]
    there = sum(document is not NO_DOCUMENT for document in documents)
    average = sum(lengths) / there if sum(lengths) else 1.0
    values = []
    for document, length in zip(documents, lengths, strict=True):
        weight = document.text.count(term) + (head * document.heading.count(term) if head else 0)
        norm = k1 * ((1 - b) + b * (length / average))
        values.append(weight / (norm + weight) if term in document.text else 0.0)
    return sum(term in document.text for document in documents), values


def values_of(view: IndexView, term: str, k1: float, b: float, head: float) -> tuple[int, list[float]]:
    """Return df and the gain of each document, from a view."""
    (rows,) = view.find([term], heads=head > 0)
    lists = Lists(view, view.norms(k1, b), [WeightedTerm(term, 1.0, rows)] if rows.df else [], head)
    return rows.df, lists.at(np.arange(view.documents)).scores.tolist()


_DOCUMENTS = {count: [plain_document(text) for text in texts_of(count)] for count in (1, 250, 700)}
_WORLDS = {count: world_of(texts_of(count)) for count in _DOCUMENTS}


@settings(max_examples=60, deadline=None)
@given(
    count=st.sampled_from([1, 250, 700]),
    term=st.sampled_from(["sea", "ship", "the", "mast", "adr-016", "absent"]),
    constants=st.sampled_from([(0.9, 0.4), (0.0, 0.0), (2.0, 1.0)]),
    head=st.sampled_from([0.0, 0.5, 1.0, 3.7]),
)
def test_gains_equal_the_formula(count: int, term: str, constants: tuple[float, float], head: float) -> None:
    """A gain is tf / (norm + tf) with the weighted head in tf, and df counts texts only."""
    expected = plain_values(_DOCUMENTS[count], term, *constants, head)
    assert values_of(_WORLDS[count].view(), term, *constants, head) == expected


@pytest.mark.parametrize("count", [1, 250, 700])
def test_the_spread_is_the_deviation_of_the_lengths(count: int) -> None:
    """The spread is the standard deviation of all lengths, in segments and in the tail, by their average."""
    there = [one for one in _DOCUMENTS[count] if one is not NO_DOCUMENT]
    lengths = [sum(word not in STOP_WORDS for word in one.text) for one in there]
    assert _WORLDS[count].view().spread == pytest.approx(pstdev(lengths) / fmean(lengths))


def test_rows_are_read_once() -> None:
    """Rows of terms are cached; after a write, only those of new segments are read."""
    world = World(history(texts_of(1100)))
    world.follow(0, 600)
    rows = Counting(world.rows)
    first = world.follower.view(rows).postings("sea")
    packs = [key for key in rows.asked if key.startswith(b"i/seg/")]
    assert len(packs) == 2
    assert listed(world.follower.view(rows).postings("sea")) == listed(first)
    assert [key for key in rows.asked if key.startswith(b"i/seg/")] == packs
    world.follow(600, 800)
    world.follower.view(rows).postings("sea")
    (new,) = [key for key in rows.asked if key.startswith(b"i/seg/")][2:]
    assert new.startswith(b"i/seg/\x00\x00\x00\x02\x00/")


@given(st.lists(st.integers(-5, 1000), max_size=40), st.sampled_from(["sea", "the", "mast", "absent"]))
def test_scores_are_found_at_any_ordinals(ordinals: list[int], term: str) -> None:
    """Ordinals in any order and repeated have the score of their document, and unknown ones have 0."""
    view = _WORLDS[700].view()
    _, every = values_of(view, term, 0.9, 0.4, 0.5)
    (rows,) = view.find([term], heads=True)
    found = Lists(view, view.norms(0.9, 0.4), [WeightedTerm(term, 1.0, rows)] if rows.df else [], 0.5)
    scores = found.at(np.array(ordinals, np.int64)).scores.tolist()
    assert scores == [every[ordinal] if 0 <= ordinal < 700 else 0.0 for ordinal in ordinals]
