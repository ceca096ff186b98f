"""Which pipeline for English is taken."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import pytest

from engine.base.errors import InvalidInputError
from engine.knowledge.dreaming import pipeline as pipelines
from engine.knowledge.dreaming.pipeline import find_pipeline


def _registered(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Register pipelines that have only a name and a version."""
    dist = SimpleNamespace(version="1.0")
    entries = [SimpleNamespace(name=one, module=one, value=one, dist=dist) for one in packages]
    monkeypatch.setattr(pipelines, "entry_points", lambda group: entries)


def test_only_a_pipeline_for_english_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pipelines of other languages are left out; of several, the first in alphabetical order is taken."""
    pytest.importorskip("spacy")
    monkeypatch.delenv("ENGINE_PIPELINE")
    _registered(monkeypatch, "de_aa", "en_zz", "en_bb")
    found = find_pipeline("auto")
    assert found is not None
    assert found.label == "en_bb 1.0"
    with pytest.raises(InvalidInputError, match="de_aa"):
        find_pipeline("de_aa")


def test_the_variable_chooses_the_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """ENGINE_PIPELINE replaces `auto`, but not a pipeline that the caller names."""
    pytest.importorskip("spacy")
    _registered(monkeypatch, "en_bb", "en_zz")
    assert find_pipeline("auto") is None
    monkeypatch.setenv("ENGINE_PIPELINE", "en_zz")
    found = [find_pipeline(one) for one in ("auto", "en_bb")]
    assert [one and one.package for one in found] == ["en_zz", "en_bb"]


def test_without_spacy_there_is_no_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline cannot be used without spaCy, and the error names the extra."""
    _registered(monkeypatch, "en_bb")
    monkeypatch.delenv("ENGINE_PIPELINE")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert find_pipeline("auto") is None
    with pytest.raises(InvalidInputError) as refused:
        find_pipeline("en_bb")
    assert "memroot[nlp]" in str(refused.value.hint)
