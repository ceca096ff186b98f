"""Which pipeline for English is taken."""

from __future__ import annotations

import importlib.util
import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from engine.base.errors import InvalidInputError
from engine.knowledge.dreaming import pipeline as pipelines
from engine.knowledge.dreaming.pipeline import find_pipeline


def _registered(folder: Path, monkeypatch: pytest.MonkeyPatch, **languages: str) -> None:
    """Install pipelines that have only a description."""
    entries = []
    for package, language in languages.items():
        (folder / package).mkdir()
        (folder / package / "__init__.py").touch()
        meta = {"lang": language, "version": "1.0", "pipeline": ["tagger", "ner"]}
        (folder / package / "meta.json").write_text(json.dumps(meta))
        entries.append(EntryPoint(package, package, pipelines.GROUP))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(pipelines, "entry_points", lambda group: entries)


def test_only_a_pipeline_for_english_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pipelines of other languages are left out; of several, the first in alphabetical order is taken."""
    pytest.importorskip("spacy")
    monkeypatch.delenv("ENGINE_PIPELINE")
    _registered(tmp_path, monkeypatch, aa_german="de", zz_english="en", bb_english="en")
    found = find_pipeline("auto")
    assert found is not None
    assert found.label == "bb_english 1.0"
    with pytest.raises(InvalidInputError, match="aa_german"):
        find_pipeline("aa_german")


def test_the_variable_chooses_the_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ENGINE_PIPELINE replaces `auto`, but not a pipeline that the caller names."""
    pytest.importorskip("spacy")
    _registered(tmp_path, monkeypatch, bb_english="en", zz_english="en")
    assert find_pipeline("auto") is None
    monkeypatch.setenv("ENGINE_PIPELINE", "zz_english")
    found = [find_pipeline(one) for one in ("auto", "bb_english")]
    assert [one and one.package for one in found] == ["zz_english", "bb_english"]


def test_without_spacy_there_is_no_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline cannot be used without spaCy, and the error names the extra."""
    _registered(tmp_path, monkeypatch, bb_english="en")
    monkeypatch.delenv("ENGINE_PIPELINE")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert find_pipeline("auto") is None
    with pytest.raises(InvalidInputError) as refused:
        find_pipeline("bb_english")
    assert "memroot[nlp]" in str(refused.value.hint)
