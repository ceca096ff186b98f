"""Searching gives the same results as a naive implementation of the formula."""

import math
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError
from engine.index import postings_cache
from engine.query.recall.recall_config import K1_MAX, Bm25Config
from engine.query.recall.signals.scoring import TIES_MAX
from engine.text.analyzer import STOP_WORDS, index_terms
from tests.followers.support import World, world_of
from tests.query.recall.searching import Scored, search

VOCABULARY = [f"word{chr(97 + number)}" for number in range(12)] + ["the", "of"]


def plain_search(
    texts: Sequence[str | None],
    terms: list[str],
    limit: int,
    config: Bm25Config | None = None,
) -> list[Scored]:
    """A naive BM25: the best `limit` documents and up to TIES_MAX that tie with the last one."""
    config = config or Bm25Config()
    counts = [
        Counter({t: min(n, 255) for t, n in Counter(index_terms(text or "")).items()}) for text in texts
    ]
    lengths = [sum(n for term, n in count.items() if term not in STOP_WORDS) for count in counts]
    there = sum(one is not None for one in texts)
    average = sum(lengths) / there if sum(lengths) else 1.0
    having = {term: sum(1 for count in counts if count[term]) for term in set(terms)}
    scored = []
    for ordinal, count in enumerate(counts):
        total = 0.0
        for term in sorted(set(terms)):
            if not count[term]:
                continue
            df = having[term]
            weight = math.log(1 + (there - df + 0.5) / (df + 0.5)) * (config.k1 + 1)
            norm = config.k1 * ((1 - config.b) + config.b * (lengths[ordinal] / average))
            total += weight * (count[term] / (norm + count[term]))
        if total:
            scored.append((ordinal, round(total * 1e6) / 1e6))
    scored.sort(key=lambda hit: (-hit[1], hit[0]))
    ties = [hit for hit in scored if hit[1] >= scored[min(limit, len(scored)) - 1][1]]
    return ties[: limit + TIES_MAX]


def texts_of(count: int, seed: int) -> list[str | None]:
    """Documents of up to nine frequent and rare words, some of them destroyed."""
    chosen = random.Random(seed)
    weights = [1 / (number + 1) ** 2 for number in range(len(VOCABULARY))]
    return [
        None
        if chosen.random() < 0.05
        else " ".join(chosen.choices(VOCABULARY, weights, k=chosen.randrange(10)))
        for _ in range(count)
    ]


@settings(max_examples=40, deadline=None)
@given(
    count=st.sampled_from([1, 5, 200, 256, 300, 1025]),
    seed=st.integers(0, 3),
    terms=st.lists(st.sampled_from([*VOCABULARY, "absent"]), max_size=7),
    limit=st.integers(1, 40),
    constants=st.sampled_from([(0.9, 0.4), (0.0, 0.0), (1.2, 0.75), (2.0, 1.0)]),
)
def test_search_equals_the_formula(
    count: int, seed: int, terms: list[str], limit: int, constants: tuple[float, float]
) -> None:
    """Hits, order, scores and ties match the naive implementation."""
    texts = texts_of(count, seed)
    config = Bm25Config(*constants)
    found = search(_world(count, seed).view(), terms, limit, config)
    assert found == plain_search(texts, terms, limit, config)


_WORLDS: dict[tuple[int, int], World] = {}


def _world(count: int, seed: int) -> World:
    if (count, seed) not in _WORLDS:
        _WORLDS[count, seed] = world_of(texts_of(count, seed))
    return _WORLDS[count, seed]


def test_a_wide_search_finds_the_best_of_many_blocks() -> None:
    """The shortcut for large indexes returns the same as a full ranking."""
    texts = texts_of(6000, 9)
    view = world_of(texts).view()
    terms = ["wordb", "worde", "wordh"]
    assert search(view, terms, 3) == plain_search(texts, terms, 3)


@pytest.mark.parametrize("limit", [1, 10, 700])
@pytest.mark.parametrize("better", [0, 20])
def test_ties_beyond_the_limit_are_found_up_to_a_bound(limit: int, better: int) -> None:
    """Documents that tie with the last one are returned, up to the bound."""
    texts = ["sea"] * 2600
    texts[:better] = ["sea sea"] * better
    assert search(world_of(texts).view(), ["sea"], limit) == plain_search(texts, ["sea"], limit)


def test_ties_at_the_cut_are_bounded() -> None:
    """Of very many equal documents the first are returned, up to the bound."""
    view = world_of(["sea"] * (TIES_MAX + 200)).view()
    found = search(view, ["sea"], 10)
    assert [ordinal for ordinal, _ in found] == list(range(TIES_MAX + 10))


def test_repeated_terms_count_once() -> None:
    """Repeating a word in a query does not raise its weight."""
    view = world_of(["sea ship", "ship"]).view()
    assert search(view, ["sea", "sea", "ship"], 5) == search(view, ["ship", "sea"], 5)


@pytest.mark.parametrize("terms", [[], ["absent"], [""], ["x" * 100], ["\x00"]])
def test_terms_that_nobody_says_find_nothing(terms: list[str]) -> None:
    """A query without terms, with an unknown term or with an invalid term has no hits."""
    assert search(world_of(["sea"] * 300).view(), terms, 5) == []


def test_an_empty_index_finds_nothing() -> None:
    """An index without documents, or with empty documents only, has no hits."""
    assert search(world_of([]).view(), ["sea"], 5) == []
    assert search(world_of([None, "!"]).view(), ["sea"], 5) == []


def test_documents_of_stop_words_only_can_be_found() -> None:
    """A query of stop words finds documents of stop words, even if every length is 0."""
    found = search(world_of(["to be or not to be", "and"]).view(), ["be", "to"], 5)
    assert [ordinal for ordinal, _ in found] == [0]


@pytest.mark.parametrize(
    ("k1", "b"), [(-0.1, 0.4), (math.inf, 0.4), (math.nan, 0.4), (K1_MAX + 1, 0.4), (0.9, 1.1), (0.9, -0.1)]
)
def test_constants_out_of_range_are_refused(k1: float, b: float) -> None:
    """Constants that would make scores negative or infinite raise an error."""
    with pytest.raises(InvalidInputError, match="BM25 needs"):
        Bm25Config(k1, b)


def test_a_full_cache_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers do not depend on the size of the cache."""
    world = world_of(texts_of(600, 2))
    expected = search(world.view(), VOCABULARY, 10)
    monkeypatch.setattr(postings_cache, "CACHE_BYTES_MAX", 1000)
    world.follower = world.fresh()
    assert search(world.view(), VOCABULARY, 10) == expected
    assert search(world.view(), VOCABULARY, 10) == expected


def test_the_cache_keeps_within_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows in the cache stay within its bound, and answers are the same."""
    world = world_of(texts_of(1100, 2))
    expected = [search(world.view(), [term], 10) for term in VOCABULARY]
    monkeypatch.setattr(postings_cache, "CACHE_BYTES_MAX", 20_000)
    world.follower = world.fresh()
    held = []
    for number in range(60):
        at = number * 5 % len(VOCABULARY)
        assert search(world.view(), [VOCABULARY[at]], 10) == expected[at]
        cache = world.follower._cache
        entries = [*cache._used.values(), *cache._older.values()]
        held.append((sum(len(row) for entry in entries for row in entry.rows if row), cache.size))
    assert all(rows <= counted <= 20_000 for rows, counted in held)
    assert max(counted for _, counted in held) > 10_000


def test_constants_are_told_apart() -> None:
    """Searches with other constants in between do not change an answer."""
    view = world_of(texts_of(300, 6)).view()
    once = search(view, ["wordb", "wordc"], 10)
    other = search(view, ["wordb", "wordc"], 10, Bm25Config(2.0, 1.0))
    assert other != once
    assert search(view, ["wordb", "wordc"], 10) == once


def test_a_view_stays_as_it_was() -> None:
    """A view over a snapshot does not see later writes."""
    texts = texts_of(700, 4)
    world = World(world_of(texts).entries)
    world.follow(0, 300)
    with world.rows.snapshot() as snapshot:
        view = world.follower.view(snapshot)
        world.follow(300, 700)
        world.follower.view(world.rows)
        terms = ["worda", "wordc"]
        assert search(view, terms, 5) == plain_search(texts[:300], terms, 5)


def test_a_search_after_a_write_sees_it() -> None:
    """A new document changes the scores of all, although the segments are the same."""
    texts = texts_of(300, 5)
    world = World(world_of(texts).entries)
    world.follow(0, 299)
    search(world.view(), ["worda"], 5)
    world.follow(299, 300)
    assert search(world.view(), ["worda"], 5) == plain_search(texts, ["worda"], 5)
