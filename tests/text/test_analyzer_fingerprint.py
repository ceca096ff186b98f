"""The fingerprint with which a process opens a store is that of its own analyzer."""

import unicodedata
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from engine.text import analyzer, analyzer_fingerprint
from engine.text.analyzer_fingerprint import FINGERPRINT, current_fingerprint, fingerprint


@pytest.fixture(autouse=True)
def uncached() -> Iterator[None]:
    """Every test computes the fingerprints anew, and leaves none behind."""

    def clear() -> None:
        current_fingerprint.cache_clear()
        fingerprint.cache_clear()
        analyzer._CACHE.clear()

    clear()
    yield
    clear()


def test_the_recorded_fingerprint_is_the_computed_one() -> None:
    """All probes together give the fingerprint that is recorded."""
    assert fingerprint() == FINGERPRINT == current_fingerprint()


def test_this_version_of_python_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the versions of Python that are tested, the fingerprint needs no probe of non-ASCII text."""
    monkeypatch.setattr(analyzer, "_patterns", None)
    assert current_fingerprint() == FINGERPRINT


def test_another_stemmer_has_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the stemmer gives other terms than the recorded ones, the recorded fingerprint is not used."""
    monkeypatch.setattr(analyzer, "_STEM", lambda word: word)
    assert current_fingerprint() == fingerprint() != FINGERPRINT


def test_another_python_is_tried_with_all_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an unknown version of Unicode, a change that only non-ASCII text shows is noticed."""
    known = SimpleNamespace(unidata_version="99.0.0", normalize=unicodedata.normalize)
    monkeypatch.setattr(analyzer_fingerprint, "unicodedata", known)
    monkeypatch.setattr(analyzer, "_HAN", ())
    assert current_fingerprint() != FINGERPRINT
