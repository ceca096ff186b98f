"""Loads the pipeline before the first test, whose time would else be that of loading."""

import pytest

from engine.language.question import analyze_question


@pytest.fixture(autouse=True, scope="session")
def _loaded() -> None:
    analyze_question("What was first?")
