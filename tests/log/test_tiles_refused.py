"""Folders that the log is not written into."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import (
    ConflictError,
    EngineError,
)
from engine.exchange.tiles import export
from engine.journal import read_identity
from proofs.events import CheckpointBody, CheckpointDetail, EventKind
from proofs.note import origin_of
from tests.engine.support import copied_rows, forge
from tests.log.tiles import STORE_ID, files_of, put_out, real_store, synthetic


def test_a_file_too_large_to_be_a_checkpoint_is_not_read(tmp_path: Path) -> None:
    """It is refused by its size."""
    huge_checkpoint(tmp_path)
    with pytest.raises(ConflictError, match="4294967296 bytes"):
        put_out(synthetic(3), tmp_path)


def another_log(folder: Path) -> None:
    """The log of another store."""
    export(synthetic(3), bytes(16), folder)


def longer_log(folder: Path) -> None:
    """This log, later."""
    put_out(synthetic(601), folder)


def other_history(folder: Path) -> None:
    """A log of this store's that went another way."""
    lines = f"{origin_of(STORE_ID)}\n2\n{b64encode(bytes(32)).decode()}\n"
    (folder / "checkpoint").write_text(lines, encoding="utf-8")


def half_of_another(folder: Path) -> None:
    """What an export of another log that was killed has left."""
    another_log(folder)
    (folder / "checkpoint").rename(folder / ".checkpoint")


def something_else(folder: Path) -> None:
    """A folder with files of somebody's."""
    (folder / "thesis.txt").write_text("mine", encoding="utf-8")


def no_checkpoint(folder: Path) -> None:
    """A file of that name which is something else."""
    (folder / "checkpoint").write_text("reached the cave\n", encoding="utf-8")


def huge_checkpoint(folder: Path) -> None:
    """A file of that name that nobody would read whole."""
    with (folder / "checkpoint").open("wb") as file:
        file.truncate(1 << 32)


def checkpoint_folder(folder: Path) -> None:
    """A folder of that name."""
    (folder / "checkpoint").mkdir()


def wrong_tile(folder: Path) -> None:
    """A tile that says something else, ahead of the checkpoint."""
    put_out(synthetic(300), folder)
    (folder / "tile" / "entries" / "001").write_bytes(b"x")


def linked_tiles(folder: Path) -> None:
    """A link in the place of the folder of a level."""
    put_out(synthetic(100), folder)
    (folder.parent / "elsewhere").mkdir(exist_ok=True)
    (folder / "tile" / "1").symlink_to(folder.parent / "elsewhere", target_is_directory=True)


def linked_tile(folder: Path) -> None:
    """A link in the place of a tile."""
    put_out(synthetic(300), folder)
    (folder / "tile" / "0" / "001").symlink_to(folder.parent / "elsewhere")


@pytest.mark.parametrize(
    "prepare",
    [
        another_log,
        longer_log,
        other_history,
        half_of_another,
        something_else,
        no_checkpoint,
        checkpoint_folder,
        wrong_tile,
        linked_tiles,
        linked_tile,
    ],
)
def test_a_folder_that_holds_something_else_is_refused(
    prepare: Callable[[Path], None], tmp_path: Path
) -> None:
    """What is there stays as it is, the checkpoint too, and nothing is written outside the folder."""
    folder = tmp_path / "log"
    folder.mkdir()
    prepare(folder)
    before = files_of(folder)
    with pytest.raises(ConflictError):
        put_out(synthetic(600), folder)
    assert before.items() <= files_of(folder).items()
    assert [path for path in tmp_path.iterdir() if path != folder and any(path.iterdir())] == []


def test_a_leftover_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    """A link by the name of an unfinished file is replaced, and what it leads to stays."""
    (tmp_path / "log").mkdir()
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "log" / ".unfinished").symlink_to(tmp_path / "mine")
    put_out(synthetic(3), tmp_path / "log")
    assert (tmp_path / "mine").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["file", "file/below", "nul\0byte"])
def test_a_place_that_cannot_be_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    """A file, a path below one, and a name with a NUL raise errors of ours."""
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(EngineError):
        put_out(synthetic(3), tmp_path / name)
    assert files_of(tmp_path) == {"file": b"mine"}


def test_a_log_that_went_another_way_is_told_from_its_copy(tmp_path: Path) -> None:
    """A copy put back to an earlier state and written to is not mixed with what was published."""
    store = real_store()
    store_id, ours, theirs = read_identity(store).store_id, copied_rows(store), copied_rows(store)
    for copy, root in ((ours, bytes(32)), (theirs, bytes([1]) * 32)):
        forge(copy, EventKind.CHECKPOINT, CheckpointDetail(root), CheckpointBody((root,) * 4))
    export(ours, store_id, tmp_path)
    with pytest.raises(ConflictError, match="another history"):
        export(theirs, store_id, tmp_path)
