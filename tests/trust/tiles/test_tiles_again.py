"""Repeated exports: what they add, what stays, and how they finish a killed run."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from backends.files import fsync_path
from engine.base.errors import BusyError
from tests.trust.tiles.reader import TileReader
from tests.trust.tiles.tiles import files_of, put_out, synthetic

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("first", "second"), [(1, 2), (255, 256), (200, 300), (256, 512), (300, 1_000)])
def test_a_second_run_adds_what_is_new_and_touches_nothing_else(
    first: int, second: int, tmp_path: Path
) -> None:
    """Existing tiles stay the same files, and new ones are those of a single export."""
    grown, whole = tmp_path / "grown", tmp_path / "whole"
    put_out(synthetic(first), grown)
    before = {path: path.stat().st_ino for path in grown.rglob("*") if path.name != "checkpoint"}
    put_out(synthetic(second), grown)
    put_out(synthetic(second), whole)
    assert {path: path.stat().st_ino for path in before} == before
    assert files_of(whole).items() <= files_of(grown).items()
    assert TileReader(grown).mth(0, second) == TileReader(grown).root


def test_where_nothing_is_new_nothing_is_written(tmp_path: Path) -> None:
    """Exporting again at the same size leaves every file as it is."""
    put_out(synthetic(300), tmp_path)

    def shape() -> dict[Path, tuple[int, int]]:
        found = {path: path.stat() for path in tmp_path.rglob("*")}
        return {path: (stat.st_ino, stat.st_mtime_ns) for path, stat in found.items()}

    before = shape()
    assert put_out(synthetic(300), tmp_path).files == 0
    assert shape() == before


class Killed(BaseException):
    """An exception that the project's code does not catch."""


@pytest.mark.parametrize("first", [0, 200, 256])
def test_an_export_killed_anywhere_is_finished_by_the_next(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export that is killed at its k-th sync, for every k, is finished by the next with the same files."""
    whole = tmp_path / "whole"
    for size in {first, 600} - {0}:
        put_out(synthetic(size), whole)
    for at in range(1, 100):
        folder, count = tmp_path / str(at), 0
        if first:
            put_out(synthetic(first), folder)

        def sync(path: Path, at: int = at) -> None:
            nonlocal count
            count += 1
            if count == at:
                raise Killed
            fsync_path(path)

        monkeypatch.setattr("engine.base.outside_files.fsync_path", sync)
        try:
            put_out(synthetic(600), folder)
        except Killed:
            if (folder / "checkpoint").exists():
                reader = TileReader(folder)
                assert reader.mth(0, reader.size) == reader.root
        else:
            assert at > 5
            return
        finally:
            monkeypatch.undo()
        put_out(synthetic(600), folder)
        assert files_of(folder) == files_of(whole), at
    raise AssertionError("there was no end to the syncs")


def test_a_file_half_written_is_never_seen_under_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file under a final name is complete if an export is killed within its k-th file, for every k."""
    put_out(synthetic(300), tmp_path / "whole")
    whole, real = files_of(tmp_path / "whole"), Path.write_bytes
    for at in range(1, len(whole) + 1):
        folder, count = tmp_path / str(at), 0

        def half(path: Path, data: bytes, at: int = at) -> int:
            nonlocal count
            count += 1
            if count < at:
                return real(path, data)
            real(path, data[: len(data) // 2])
            raise Killed

        monkeypatch.setattr(Path, "write_bytes", half)
        with pytest.raises(Killed):
            put_out(synthetic(300), folder)
        monkeypatch.undo()
        kept = {name: data for name, data in files_of(folder).items() if not name.startswith(".")}
        assert kept.items() <= whole.items()
        put_out(synthetic(300), folder)
        assert files_of(folder) == whole


def test_a_leftover_of_a_killed_run_is_removed(tmp_path: Path) -> None:
    """A run removes the leftover of a killed one, even if it writes nothing itself."""
    put_out(synthetic(3), tmp_path)
    (tmp_path / ".unfinished").write_bytes(b"half")
    assert put_out(synthetic(3), tmp_path).files == 0
    assert not (tmp_path / ".unfinished").exists()


def test_two_exports_at_once_do_not_mix(tmp_path: Path) -> None:
    """A second process gets an error while the first one writes to the folder."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        with pytest.raises(BusyError):
            put_out(synthetic(3), tmp_path)
    finally:
        os.close(descriptor)
    assert put_out(synthetic(3), tmp_path).size == 3
