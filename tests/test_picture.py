"""Tests that the animated picture in the README shows the actual output of the program."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "picture.svg"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script examples/picture.py as a module."""
    spec = importlib.util.spec_from_file_location("picture", ROOT / "examples" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_what_its_script_draws(script: ModuleType) -> None:
    """The commands of the script succeed, and drawing what they print gives the picture byte for byte."""
    drawn = script.draw(script.record())
    assert drawn == PICTURE.read_text(encoding="utf-8"), "run `python examples/picture.py docs/picture.svg`"


def test_the_picture_is_small_and_shown_in_the_readme() -> None:
    """The picture is well-formed XML of at most 200 kB, and README shows it."""
    assert PICTURE.stat().st_size <= 200_000
    assert ET.parse(PICTURE).getroot().tag == f"{SVG}svg"  # noqa: S314  it is a file of ours
    assert "docs/picture.svg" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_picture_stands_still_for_readers_who_want_that() -> None:
    """The picture has no script, and without its animation every line is shown and no cover is."""
    text = PICTURE.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "@media (prefers-reduced-motion:reduce){text,.cover{animation:none!important}}" in text
    assert ".cover{opacity:0}" in text
