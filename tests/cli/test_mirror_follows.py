"""Commands that write much, or erase, update the mirror that the settings name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import Cli


@pytest.fixture
def mirrored(bare: Cli, surroundings: Path) -> Path:
    """Return a folder whose settings name a store and its mirror."""
    (surroundings / ".engine.toml").write_text('store = "memory"\nmirror = "shown"\n')
    return surroundings


def shown(folder: Path) -> str:
    """Return the text of all pages of the mirror."""
    return "\n".join(page.read_text(encoding="utf-8") for page in sorted((folder / "shown").rglob("*.md")))


def test_it_comes_along_with_an_import(bare: Cli, mirrored: Path) -> None:
    """`import` updates the mirror."""
    item = {"id": "1", "memory": "Ms Okafor services the boiler."}
    (mirrored / "mem0.json").write_text(json.dumps({"results": [item]}))
    assert bare("import", "mem0", "mem0.json").code == 0
    assert "Ms Okafor services the boiler." in shown(mirrored)


def test_it_comes_along_with_a_dream(bare: Cli, mirrored: Path) -> None:
    """`dream` updates the mirror even if it adds nothing itself."""
    bare("add", "The kettle is descaled on Mondays.")
    assert bare("dream").code == 0
    assert "The kettle is descaled on Mondays." in shown(mirrored)


def test_what_is_erased_goes_from_it(bare: Cli, mirrored: Path) -> None:
    """After `erase`, no page has the erased text."""
    atom = bare("add", "The combination is seventeen left.").out.strip()
    bare("dream")
    assert "seventeen left" in shown(mirrored)
    assert bare("erase", atom, "--reason", "not ours", "--yes").code == 0
    assert "seventeen left" not in shown(mirrored)
