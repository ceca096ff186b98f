"""Ingest of real files: a garden of notes, conversations and passages."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from engine.files.ingest.documents import Document, JsonLine, Skipped, SourceFile
from engine.files.ingest.file_reading import read_file
from engine.files.ingest.folder_walk import find_files
from tests.support.shared_data import needs

pytestmark = pytest.mark.slow

_SAMPLE = 10
"""The interval between the notes that are read."""


def _found(path: Path) -> list[SourceFile]:
    return [item for item in find_files([path]) if isinstance(item, SourceFile)]


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sample of the garden, unpacked."""
    folder = tmp_path_factory.mktemp("garden")
    with tarfile.open(needs("data/garden.tar.gz")) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        archive.extractall(folder, members=members[::_SAMPLE], filter="data")
    return folder / "garden"


def test_the_garden_goes_in_whole(garden: Path) -> None:
    """Each note gives the same document twice, and no line of a body is lost."""
    lost = []
    for found in _found(garden):
        items = list(read_file(found))
        assert items == list(read_file(found))
        text = found.path.read_text()
        (document,) = [item for item in items if isinstance(item, Document)]
        joined = "".join("".join(piece.content for piece in document.pieces).split())
        if not text.startswith("---") and joined != "".join(text.split()):
            lost.append(found.source)
    assert lost == []


def test_the_garden_has_tags_and_links(garden: Path) -> None:
    """The garden contains many tags and links."""
    pieces = [
        piece
        for found in _found(garden)
        for item in read_file(found)
        if isinstance(item, Document)
        for piece in item.pieces
    ]
    assert sum(len(piece.links) for piece in pieces) > 1000
    assert sum(len(piece.tags) for piece in pieces) > 50


@pytest.mark.parametrize(("folder", "least"), [("locomo-dev", 2760), ("hotpotqa-sample", 994)])
def test_shared_json_lines_are_read_fully(folder: str, least: int) -> None:
    """All lines of all corpora are read with their ids."""
    files = [found for found in _found(needs(f"data/{folder}")) if found.path.name == "corpus.jsonl"]
    items = [item for found in files for item in read_file(found)]
    pieces = [item.piece for item in items if isinstance(item, JsonLine)]
    assert [item for item in items if isinstance(item, Skipped)] == []
    assert (len(pieces), all(piece.id for piece in pieces)) == (least, True)


def test_a_conversation_is_a_source_for_each_session() -> None:
    """Each session of a conversation is a source, and each turn keeps its time and position."""
    path = needs("data/locomo-dev/conv-26/corpus.jsonl")
    items = [item for found in _found(path) for item in read_file(found) if isinstance(item, JsonLine)]
    assert items[0].source == "conv-26#1"
    assert (items[0].piece.sequence, items[0].piece.created) == (0, 1_683_554_160_000_000)
