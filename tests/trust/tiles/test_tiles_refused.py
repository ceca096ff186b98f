"""Folders that an export refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.base.errors import ConflictError, EngineError
from tests.trust.tiles.tiles import files_of, note_at, put_out, synthetic


def test_a_file_too_large_to_be_a_checkpoint_is_not_read(tmp_path: Path) -> None:
    """A file that is too large for a checkpoint is refused without reading it."""
    huge_checkpoint(tmp_path)
    with pytest.raises(ConflictError, match="4294967296 bytes"):
        put_out(synthetic(3), tmp_path)


def something_else(folder: Path) -> None:
    """Create a folder with files of another kind."""
    (folder / "thesis.txt").write_text("mine", encoding="utf-8")


def no_checkpoint(folder: Path) -> None:
    """Create a file with the name of the checkpoint but other content."""
    (folder / "checkpoint").write_text("reached the cave\n", encoding="utf-8")


def huge_checkpoint(folder: Path) -> None:
    """Create a file with the name of the checkpoint that is too large to read."""
    with (folder / "checkpoint").open("wb") as file:
        file.truncate(1 << 32)


def checkpoint_folder(folder: Path) -> None:
    """Create a folder with the name of the checkpoint."""
    (folder / "checkpoint").mkdir()


def linked_tiles(folder: Path) -> None:
    """Create a link in place of the folder of a level."""
    put_out(synthetic(100), folder)
    (folder.parent / "elsewhere").mkdir(exist_ok=True)
    (folder / "tile" / "1").symlink_to(folder.parent / "elsewhere", target_is_directory=True)


def linked_tile(folder: Path) -> None:
    """Create a link in place of a tile."""
    put_out(synthetic(300), folder)
    (folder / "tile" / "0" / "001").symlink_to(folder.parent / "elsewhere")


@pytest.mark.parametrize(
    "prepare",
    [
        something_else,
        no_checkpoint,
        checkpoint_folder,
        linked_tiles,
        linked_tile,
    ],
)
def test_a_folder_that_holds_something_else_is_refused(
    prepare: Callable[[Path], None], tmp_path: Path
) -> None:
    """A refused folder stays as it is, and nothing is written outside it."""
    folder = tmp_path / "log"
    folder.mkdir()
    prepare(folder)
    before = files_of(folder)
    with pytest.raises(ConflictError):
        put_out(synthetic(600), folder)
    assert before.items() <= files_of(folder).items()
    assert [path for path in tmp_path.iterdir() if path != folder and any(path.iterdir())] == []


def test_a_leftover_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    """A link with the name of the temporary file is replaced, and its target stays as it is."""
    (tmp_path / "log").mkdir()
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "log" / ".unfinished").symlink_to(tmp_path / "mine")
    put_out(synthetic(3), tmp_path / "log")
    assert (tmp_path / "mine").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["file", "file/below", "nul\0byte"])
def test_a_place_that_cannot_be_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    """A file, a path below a file, and a name with a NUL raise an EngineError."""
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(EngineError):
        put_out(synthetic(3), tmp_path / name)
    assert files_of(tmp_path) == {"file": b"mine"}


def test_a_folder_that_is_ahead_of_a_given_checkpoint_is_refused(tmp_path: Path) -> None:
    """A checkpoint older than the published one is refused."""
    put_out(synthetic(600), tmp_path)
    before = files_of(tmp_path)
    with pytest.raises(ConflictError, match="already contains 600 events of this log, more than the 300"):
        put_out(synthetic(600), tmp_path, note_at(300))
    assert files_of(tmp_path) == before
