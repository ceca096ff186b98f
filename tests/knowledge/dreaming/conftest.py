"""Load each pipeline once for all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from engine.knowledge.dreaming.pipeline import Recognizer

if TYPE_CHECKING:
    from spacy.language import Language

_LOADED: Final[dict[str, Language]] = {}


@pytest.fixture(autouse=True)
def _load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a loaded pipeline for the next tests: loading takes longer than reading a few sentences."""
    load = Recognizer._nlp

    def loaded(recognizer: Recognizer) -> Language:
        if recognizer.pipeline.label not in _LOADED:
            _LOADED[recognizer.pipeline.label] = load(recognizer)
        return _LOADED[recognizer.pipeline.label]

    monkeypatch.setattr(Recognizer, "_nlp", loaded)
