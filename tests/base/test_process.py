"""Garbage collection is paused during bulk work and always enabled again."""

from __future__ import annotations

import gc
from itertools import islice

import pytest

from engine import Add, Engine
from engine.base.errors import EngineError
from engine.base.process import rare_collection, without_collection


def test_collection_is_restored_after_an_error() -> None:
    """The search for garbage is off in the block and on after it, also if the block raises an error."""
    seen = []
    with pytest.raises(ZeroDivisionError), without_collection():
        seen.append((gc.isenabled(), 1 // 0))
    assert gc.isenabled()
    with without_collection():
        seen.append((gc.isenabled(), 1))
    assert seen == [(False, 1)]


def test_collection_that_was_off_stays_off() -> None:
    """A program that turned the search off finds it off after the block."""
    gc.disable()
    try:
        with without_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_callers_of_bulk_work_never_see_collection_paused() -> None:
    """While a caller has a receipt of a bulk add, and after a failing command, the search is on."""
    engine = Engine.open("memory:")
    receipts = engine.apply_many([*(Add(f"text {number}") for number in range(1500)), Add("")])
    assert all(gc.isenabled() for _ in islice(receipts, 1000))
    with pytest.raises(EngineError):
        next(receipts)
    assert gc.isenabled()


def test_the_threshold_is_restored_when_the_last_of_several_blocks_ends() -> None:
    """Blocks may overlap in any order, as in threads; the setting from before the first one comes back."""
    before = gc.get_threshold()
    first, second = rare_collection(), rare_collection()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold()[0] > before[0]
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] > before[0]
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before


def test_a_rarer_search_is_not_made_more_frequent() -> None:
    """A program that switched the search off, or made it rarer itself, keeps its setting."""
    before = gc.get_threshold()
    try:
        for threshold in (0, 1_000_000):
            gc.set_threshold(threshold)
            with rare_collection():
                assert gc.get_threshold()[0] == threshold
            assert gc.get_threshold()[0] == threshold
    finally:
        gc.set_threshold(*before)
