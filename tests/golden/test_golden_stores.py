"""Stores that earlier versions wrote can be opened, verified and rebuilt to the same root."""

from __future__ import annotations

import json
import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.base.errors import CorruptionError
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


HEADER_2 = (
    "8a02001b0005af3107a400000066656e67696e65582012cdf81423c39b60a9dbe21698766571b47800fc186fcd60f9c7"
    "02899456367cf65011111111111111111111111111111111696d656d726f6f742d3158206743f908d894a5017175ad4c"
    "60218950cd71cb89aaed2f4898bcde80dbc01a2a"
)
PAYLOAD_2 = (
    "000000000000000000000000000000000000000000000000000000000000000081582022222222222222222222222222"
    "22222222222222222222222222222222222222"
)
LOG_2 = (
    "821b0005af3107a400005828000000000000000197bc270912236257e484a3c74b3404dfe01a916153599b4d462893602f864e84"
)
FORMAT_2 = {
    b"j/" + bytes(8): bytes.fromhex(HEADER_2),
    b"p/" + bytes(8): bytes.fromhex(PAYLOAD_2),
    b"meta/log": bytes.fromhex(LOG_2),
}
"""The journal of a store of format 2, with nothing but its genesis."""


def test_a_store_of_format_2_is_refused_with_a_way_to_keep_its_texts() -> None:
    """The error says which format the store has, and how to take its texts over."""
    backend = MemoryBackend()
    batch = Batch()
    for key, value in FORMAT_2.items():
        batch.put(key, value)
    backend.write(batch)
    with pytest.raises(CorruptionError, match="its format is 2, and this version reads format 3") as refused:
        Engine(backend)
    assert "engine export FILE --format mem0" in refused.value.hint
    assert "engine import mem0 FILE" in refused.value.hint


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
