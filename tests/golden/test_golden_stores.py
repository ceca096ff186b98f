"""Stores that earlier versions wrote can be opened, verified and rebuilt to the same root."""

from __future__ import annotations

import json
import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from engine.commands import Add
from engine.engine import Engine
from tests.golden.make import BACKENDS, FOLDER

pytestmark = [pytest.mark.twins, pytest.mark.slow]

ARCHIVES = sorted(FOLDER.glob("*.tar.xz"))


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, dict[str, Any]]:
    """Unpack an archive; return the URL of the store, and its number of events and root."""
    archive: Path = request.param
    name, _, scheme = archive.name.removesuffix(".tar.xz").rpartition("-")
    if scheme == "leveldb" and find_spec("plyvel") is None:
        pytest.skip("plyvel is not installed")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    facts = json.loads((FOLDER / f"{name}.json").read_text())
    return f"{scheme}:{tmp_path / BACKENDS[scheme]}", facts[scheme]


def test_there_is_a_golden_store_of_each_backend() -> None:
    """The current format has an archive for every backend that stores files."""
    assert {path.name.split("-")[2].split(".")[0] for path in ARCHIVES} == set(BACKENDS)


def test_a_golden_store_opens_with_its_root(golden: tuple[str, dict[str, Any]]) -> None:
    """A golden store has the events and the root that it was made with."""
    url, facts = golden
    with Engine.open(url, create=False) as engine:
        root = engine.root()
        assert {"events": root.size, "root": root.root} == facts


def test_a_golden_store_verifies(golden: tuple[str, dict[str, Any]]) -> None:
    """A replay of the journal of a golden store gives its rows, roots and checkpoints."""
    url, _ = golden
    with Engine.open(url, create=False) as engine:
        assert engine.verify().ok


def test_a_golden_store_is_rebuilt_to_its_root(golden: tuple[str, dict[str, Any]]) -> None:
    """Rebuilding everything from the journal of a golden store gives the same root."""
    url, facts = golden
    with Engine.open(url, create=False) as engine:
        engine.rebuild()
        assert engine.root().root == facts["root"]


def test_a_golden_store_can_be_searched_and_continued(golden: tuple[str, dict[str, Any]]) -> None:
    """A golden store answers questions and takes new texts."""
    url, _ = golden
    with Engine.open(url, create=False) as engine:
        assert engine.recall("note 141: lamp, kettle", limit=3).hits[0].snippet.startswith("Note 141")
        engine.apply([Add("A text of a later version.")])
        assert engine.verify().ok
