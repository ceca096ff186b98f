"""Tests of the fingerprints of texts, and of finding those that are near."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.text import simhash
from engine.text.simhash import (
    DISTINCT_MIN,
    MULTIPLIER,
    distance,
    fingerprint,
    near,
    near_pairs,
    phrase_hash,
    term_hash,
)
from tests.spec import spec_facts as naive
from tests.text import many
from tests.text.many import fingerprints

TERMS = ("sea", "ship", "mast", "not", "the", "storm", "猫", "🚀", "é")
TEXTS = st.lists(st.sampled_from(TERMS), max_size=30)
NUMBERS = st.integers(0, (1 << 64) - 1)


def test_terms_have_the_hashes_they_always_had() -> None:
    """The hash of a term never changes."""
    assert f"{term_hash('daemon'):x}" == "db411ea319f3b7d3"
    assert term_hash("daemon") == term_hash("daemon")


def test_the_cache_of_terms_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of term hashes stays within its limit and does not change the hashes."""
    monkeypatch.setattr(simhash, "CACHED_TERMS_MAX", 10)
    cache = simhash._TermHashes()
    terms = [f"term{number % 25}" for number in range(100)]
    assert [cache[term] for term in terms] == [naive.number("term", term) for term in terms]
    assert len(cache) <= 10


@given(st.lists(st.sampled_from(TERMS), min_size=1, max_size=6), st.sampled_from(TERMS))
def test_the_hash_of_a_phrase_is_computed_term_by_term(terms: list[str], term: str) -> None:
    """The hash of a phrase is computed from that of the phrase without its last term, and that term."""
    expected = (phrase_hash(terms) * MULTIPLIER + term_hash(term)) % (1 << 64)
    assert phrase_hash([*terms, term]) == expected
    assert phrase_hash([term]) == term_hash(term)


def test_the_order_of_a_phrase_counts() -> None:
    """The hash of a phrase depends on the order of its terms, and is 0 for no terms."""
    assert phrase_hash(["sea", "ship"]) != phrase_hash(["ship", "sea"])
    assert phrase_hash([]) == 0


def test_a_hash_of_zero_counts_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A phrase or text with terms never has the hash 0."""
    for module in (simhash, many):
        monkeypatch.setattr(module, "term_hash", lambda term: 0)
    assert phrase_hash(["sea", "ship"]) == 1
    assert fingerprint(TERMS) == 1
    assert fingerprints([TERMS, ["sea"]]).tolist() == [1, 0]


@settings(max_examples=200)
@given(st.lists(TEXTS, max_size=8))
@example([])
@example([[]])
@example([[], ["sea"], list(TERMS), []])
def test_the_batch_function_equals_the_single_one(texts: list[list[str]]) -> None:
    """The batch function, the single function and the naive rule give the same fingerprints."""
    found = fingerprints(texts)
    assert found.dtype == np.uint64
    assert found.tolist() == [fingerprint(text) for text in texts] == [naive.simhash(text) for text in texts]


@pytest.mark.parametrize("block", [1, 3, simhash._BLOCK])
@pytest.mark.parametrize("chunk", [1, 64, simhash._CHUNK])
def test_long_texts_are_counted_in_pieces(monkeypatch: pytest.MonkeyPatch, block: int, chunk: int) -> None:
    """Dividing a text or a batch for counting does not affect the fingerprints."""
    monkeypatch.setattr(simhash, "_BLOCK", block)
    monkeypatch.setattr(simhash, "_CHUNK", chunk)
    texts = [
        [f"t{number * step % 97}" for number in range(size)]
        for step, size in enumerate((4, 126, 127, 900), 2)
    ]
    texts[2:2] = [["sea"] * 300, [*(["sea"] * 600), "ship", "mast", "storm"], []]
    assert fingerprints(texts).tolist() == [fingerprint(text) for text in texts]


@pytest.mark.parametrize("size", range(6))
def test_texts_of_few_different_terms_have_no_fingerprint(size: int) -> None:
    """A text with fewer than four distinct terms has no fingerprint, however long it is."""
    terms = list(TERMS[:size]) * 5
    assert (fingerprint(terms) == 0) == (size < DISTINCT_MIN) == (size < 4)
    assert near(fingerprint(terms), fingerprint(terms)) == (size >= 4)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("the ship is at sea", "the ship is not at sea"),
        ("the ship follows the storm", "the storm follows the ship"),
    ],
)
def test_negation_and_order_count(text: str, other: str) -> None:
    """Adding a `not`, or swapping subject and object, gives a text that is not near."""
    assert not near(fingerprint(text.split()), fingerprint(other.split()))


def test_one_word_of_many_does_not_count() -> None:
    """Long texts that differ in one word are near-duplicates."""
    words = [f"word{number * number % 701}" for number in range(1000)]
    other = [*words[:500], "else", *words[501:]]
    assert fingerprint(words) != 0
    assert near(fingerprint(words), fingerprint(other))


@given(NUMBERS, st.sets(st.integers(0, 63), max_size=6))
def test_near_is_fewer_than_three_bits(number: int, flipped: set[int]) -> None:
    """Fingerprints are near if they differ in fewer than three bits and neither is 0."""
    other = number ^ sum(1 << bit for bit in flipped)
    assert distance(number, other) == len(flipped)
    assert near(number, other) == (len(flipped) < 3 and number != 0 and other != 0)


def plain_pairs(numbers: list[int]) -> list[tuple[int, int]]:
    """Return the near pairs by comparing all pairs of positions."""
    return [pair for pair in combinations(range(len(numbers)), 2) if near(numbers[pair[0]], numbers[pair[1]])]


def clustered(base: list[int], flips: list[tuple[int, int, int]]) -> list[int]:
    """Return numbers that differ in up to two bits from some number in `base`."""
    return [base[at % len(base)] ^ (1 << one) ^ (1 << other) for at, one, other in flips]


@settings(max_examples=300)
@given(
    base=st.lists(NUMBERS | st.sampled_from([0, 1, 3, (1 << 64) - 1]), min_size=1, max_size=4),
    flips=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 63), st.integers(0, 63)), max_size=40),
    crowd=st.sampled_from([1, 2, 1024]),
)
def test_near_pairs_are_those_of_comparing_all(
    base: list[int], flips: list[tuple[int, int, int]], crowd: int
) -> None:
    """Each near pair is found once and in order, whether few or many numbers share a band."""
    numbers = clustered(base, flips) + base
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(simhash, "_RUN_MAX", crowd)
        assert near_pairs(np.array(numbers, np.uint64)) == plain_pairs(numbers)


@pytest.mark.parametrize(
    "bits", [(0, 20), (20, 21), (21, 41), (41, 42), (42, 63), (0, 63), (5, 30), (30, 50)]
)
def test_near_pairs_differ_in_bits_of_any_band(bits: tuple[int, int]) -> None:
    """The two bits that differ may be in one band, in two bands, or at the ends."""
    number = 0x5A5A5A5A5A5A5A5A
    other = number ^ (1 << bits[0]) ^ (1 << bits[1])
    assert near_pairs(np.array([number, 7, other], np.uint64)) == [(0, 2)]


def test_a_shared_band_does_not_need_quadratic_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    """If very many numbers share their bands, the number of comparisons is not quadratic."""
    compared = 0
    plain = simhash._equals

    def counting(
        keys: NDArray[np.uint64], places: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        nonlocal compared
        for one, other in plain(keys, places):
            compared += len(one)
            yield one, other

    monkeypatch.setattr(simhash, "_equals", counting)
    numbers = (
        np.arange(1, 20_001, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        >> np.uint64(22)
        << np.uint64(22)
    )
    numbers = np.concatenate([numbers, numbers[:5]])
    found = near_pairs(numbers)
    assert {(at, 20_000 + at) for at in range(5)} <= set(found)
    assert compared < 100_000


def test_an_empty_list_has_no_near_pairs() -> None:
    """An empty list, and texts without a fingerprint, have no near pairs."""
    assert near_pairs(np.zeros(0, np.uint64)) == []
    assert near_pairs(np.zeros(3, np.uint64)) == []
