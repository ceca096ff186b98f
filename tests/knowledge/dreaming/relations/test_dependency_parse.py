"""What a parse of the sentences adds. The tests need the dependency group `pipeline`."""

from __future__ import annotations

import importlib.util
import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from engine.base.errors import InvalidInputError
from engine.knowledge.dreaming.relations import dependency_parse as pipelines
from engine.knowledge.dreaming.relations.dependency_parse import find_pipeline
from tests.knowledge.dreaming.pipeline import PACKAGE, PARSED, needs_pipeline
from tests.knowledge.dreaming.relations.support import stated
from tests.knowledge.dreaming.support import dreamt
from tests.support.engines import engine_on

FAR = "The scheduler that Grace moved to the new cluster last week now quietly uses Redis."
"""The subject is far from its verb."""


@needs_pipeline
def test_a_parse_finds_a_subject_far_from_its_verb() -> None:
    """A pipeline adds a relation that patterns miss."""
    relation = ("scheduler", "uses", "Redis")
    assert relation not in stated(FAR)
    assert relation in stated(FAR, config=PARSED)


@needs_pipeline
@pytest.mark.parametrize(
    "text",
    [
        "The scheduler that Grace moved to the new cluster never uses Redis.",
        "Anna hopes that the scheduler that Grace moved uses Redis.",
        "Does the scheduler that Grace moved use Redis?",
    ],
)
def test_a_parse_states_nothing_in_doubt(text: str) -> None:
    """What is denied, hoped or asked is no relation for the parse either."""
    assert stated(text, config=PARSED) == set()


@needs_pipeline
def test_the_origin_names_the_pipeline() -> None:
    """Only the events that the parse caused name the pipeline and its version."""
    with engine_on() as engine:
        engine.add(FAR)
        engine.add("Rob is married to Jade.")
        report = engine.dream(config=PARSED)
        origins = {item.subject: str(item.detail["origin"]) for item in dreamt(engine)}
    assert report.pipeline == f"{PACKAGE} 3.8.0"
    parsed = [origin for subject, origin in origins.items() if " uses " in subject]
    plain = [origin for subject, origin in origins.items() if " married_to " in subject]
    assert [origin.endswith(f"; {PACKAGE} 3.8.0") for origin in parsed] == [True]
    assert [PACKAGE in origin for origin in plain] == [False]


@needs_pipeline
def test_cycles_do_not_matter_to_a_parse() -> None:
    """Cycles of one atom add the same relations as one cycle."""
    texts = [FAR, "Rob is married to Jade.", "The parser, which was written by Grace Okafor, uses Redis."]
    roots = []
    for budget in (None, 1):
        with engine_on() as engine:
            for text in texts:
                engine.add(text)
            while engine.dream(budget=budget, config=PARSED).left:
                pass
            roots.append({(item.subject, str(item.detail)) for item in dreamt(engine)})
    assert roots[0] == roots[1]


def _registered(folder: Path, monkeypatch: pytest.MonkeyPatch, **languages: str) -> None:
    """Install pipelines that have only a description."""
    entries = []
    for package, language in languages.items():
        (folder / package).mkdir()
        (folder / package / "__init__.py").touch()
        meta = {"lang": language, "version": "1.0", "pipeline": ["tagger", "parser", "lemmatizer", "ner"]}
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
