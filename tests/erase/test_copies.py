"""Copying to an older copy of a store destroys what was erased in the original."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends import open_backend
from engine.commands import Add, Link, Tag
from engine.engine import Engine
from engine.store.maintenance import copy
from tests.support.engines import engine_on
from tests.support.leveldb import needs_leveldb
from tests.support.workloads import id_of

WRITTEN = "The combination of the safe in the cellar is seventeen left, four right, and ninety left again."


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("leveldb", marks=needs_leveldb)])
def test_an_earlier_copy_brought_forward_holds_nothing_of_it(tmp_path: Path, kind: str) -> None:
    """Payloads, rows and files of the copy match the original, and the copy verifies with the same root."""
    place = tmp_path / "copy"
    url = f"{kind}:{place}"
    original = engine_on()
    original.apply([Add(WRITTEN, id=id_of(1), tags=["cellar"]), Add("Tea is green.", id=id_of(2))])
    original.apply([Link(id_of(1), "references", id_of(2), data=b"\x01")])
    with open_backend(url, create=True) as target:
        copy(original.store.backend, target)
    assert any(b"seventeen left" in file.read_bytes() for file in files(tmp_path))
    original.apply([Tag(id_of(1), ["safe"])])
    original.erase(id_of(1), "no longer ours", probe=False)
    original.apply([Add("Coffee is brown.", id=id_of(3))])
    with open_backend(url, create=False) as target:
        root = copy(original.store.backend, target).root
    assert root == original.root().root
    with Engine.open(url) as copied:
        assert copied.verify(expect=root).ok
    assert [file for file in files(tmp_path) if b"seventeen left" in file.read_bytes()] == []


def files(folder: Path) -> list[Path]:
    """Return all files below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]
