"""Only regular files outside the store are written, and problems are found in advance."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.base.errors import EngineError, InvalidInputError, NotFoundError, RefusedError
from engine.base.outside_files import PUBLIC, check_writable, replace_file


def make(place: Path, kind: str) -> Path:
    """Create something other than a regular file at `place`."""
    if kind == "folder":
        place.mkdir()
    elif kind == "FIFO":
        os.mkfifo(place)
    elif kind == "link":
        (place.parent / "target").write_text("mine")
        place.symlink_to("target")
    elif kind == "loose link":
        place.symlink_to("nowhere")
    else:
        return Path("/dev/full")
    return place


@pytest.mark.parametrize("kind", ["folder", "FIFO", "link", "loose link", "device"])
def test_only_a_regular_file_is_replaced(tmp_path: Path, kind: str) -> None:
    """Anything but a regular file stays as it is, and so does the target of a link."""
    place = make(tmp_path / "n", kind)
    before = place.lstat()
    with pytest.raises(RefusedError, match="not a regular file"):
        check_writable(place, None)
    with pytest.raises(RefusedError, match="not a regular file"):
        replace_file(place, b"new", PUBLIC)
    assert (place.lstat().st_ino, place.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == {
        "link": ["n", "target"],
        "device": [],
    }.get(kind, ["n"])


def test_a_file_that_is_there_or_not_may_be_written(tmp_path: Path) -> None:
    """The check of an existing or missing file leaves nothing behind and changes nothing."""
    (tmp_path / "there").write_text("mine")
    for name in ("there", "new"):
        check_writable(tmp_path / name, tmp_path / "store")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("there", "mine")]
    replace_file(tmp_path / "there", b"yours", PUBLIC)
    assert (tmp_path / "there").read_text() == "yours"


def test_a_folder_that_cannot_be_written_to_is_found_out(tmp_path: Path) -> None:
    """A missing folder, a folder that takes no files, and a name that is too long are refused."""
    with pytest.raises(NotFoundError, match="there is no folder"):
        check_writable(tmp_path / "none" / "n", None)
    with pytest.raises(EngineError, match="cannot be written"):
        check_writable(Path("/proc/self/n"), None)
    with pytest.raises(EngineError, match="cannot be written"):
        check_writable(tmp_path / ("n" * 250), None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "/", ".", "a\0b"])
def test_what_is_no_file_s_path_is_not_written(name: str) -> None:
    """A text that is not the path of a file is refused as an argument."""
    with pytest.raises(InvalidInputError):
        check_writable(Path(name), None)


def test_nothing_is_written_into_a_store(tmp_path: Path) -> None:
    """Writing into a LevelDB folder, over a SQLite store, or over a name of its files is refused."""
    (tmp_path / "store" / "db").mkdir(parents=True)
    (tmp_path / "store" / "lock").touch()
    for name in ("store/n", "store/lock", "store/db/CURRENT"):
        with pytest.raises(RefusedError, match="inside the store"):
            check_writable(tmp_path / name, None)
    (tmp_path / "link").symlink_to("store")
    with pytest.raises(RefusedError, match="inside the store"):
        check_writable(tmp_path / "link" / "n", None)
    for name in ("notes.db", "notes.db-wal"):
        with pytest.raises(RefusedError, match="inside the store"):
            check_writable(tmp_path / name, tmp_path / "notes.db")
