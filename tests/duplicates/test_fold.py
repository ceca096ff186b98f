"""Folding ranked ordinals: each is kept or stands under the best kept one it is near to."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.duplicates import fold
from engine.text.simhash import near

FINGERPRINTS = st.lists(
    st.integers(0, 7) | st.sampled_from([1 << 63, (1 << 64) - 1, (1 << 64) - 8]), max_size=30
)


def plainly(ordinals: Sequence[int], fingerprints: Sequence[int]) -> dict[int, list[int]]:
    """The rule word by word."""
    kept: dict[int, list[int]] = {}
    for ordinal in ordinals:
        better = [one for one in kept if near(fingerprints[one], fingerprints[ordinal])]
        if better:
            kept[better[0]].append(ordinal)
        else:
            kept[ordinal] = []
    return kept


@given(FINGERPRINTS, st.data())
def test_folding_is_what_the_rule_says(fingerprints: list[int], data: st.DataObject) -> None:
    """Whatever the ranking, each ordinal is kept unless near a better kept one, then under the best such."""
    ordinals = data.draw(st.permutations(range(len(fingerprints))))[: data.draw(st.integers(0, 30))]
    column = np.array(fingerprints, np.uint64)
    folded = fold(ordinals, column)
    assert list(folded.items()) == list(plainly(ordinals, fingerprints).items())


@given(FINGERPRINTS)
def test_no_ordinal_is_lost(fingerprints: list[int]) -> None:
    """Every ordinal is named exactly once, as kept or under one that is kept."""
    folded = fold(range(len(fingerprints)), np.array(fingerprints, np.uint64))
    assert sorted([*folded, *(one for under in folded.values() for one in under)]) == list(
        range(len(fingerprints))
    )


def test_short_texts_are_never_folded() -> None:
    """Two without a fingerprint are both kept."""
    assert fold([1, 0], np.zeros(2, np.uint64)) == {1: [], 0: []}


def test_what_was_folded_stands_for_nothing() -> None:
    """One that is near only to a folded one is kept."""
    column = np.array([0b1, 0b111, 0b11111], np.uint64)
    assert fold([0, 1, 2], column) == {0: [1], 2: []}


def test_the_kept_are_in_the_order_of_the_ranking() -> None:
    """The best first, whatever their ordinals."""
    column = np.array([1, 1 << 40, 1 << 40 | 1 << 50, 0], np.uint64)
    assert list(fold([2, 3, 0, 1], column).items()) == [(2, [1]), (3, []), (0, [])]
