"""Load each pipeline once for all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from engine.knowledge.dreaming.relations.dependency_parse import Parser

if TYPE_CHECKING:
    from spacy.language import Language

_LOADED: Final[dict[str, Language]] = {}


@pytest.fixture(autouse=True)
def _load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a loaded pipeline for the next tests: loading takes longer than parsing a few sentences."""
    load = Parser._nlp

    def loaded(parser: Parser) -> Language:
        if parser.pipeline.label not in _LOADED:
            _LOADED[parser.pipeline.label] = load(parser)
        return _LOADED[parser.pipeline.label]

    monkeypatch.setattr(Parser, "_nlp", loaded)
