"""Existing files: each run compares them with the log and writes missing ones again."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import RefusedError
from engine.trust.tiles import export
from tests.trust.tiles.reader import TileReader
from tests.trust.tiles.tiles import STORE_ID, files_of, note_at, put_out, synthetic

pytestmark = pytest.mark.slow

COVERED = sorted(
    f"tile/{name}"
    for name in (
        "0/000",
        "0/001",
        "0/002.p/88",
        "1/000.p/2",
        "entries/000",
        "entries/001",
        "entries/002.p/88",
    )
)
"""The files of a log of 600 events."""


def flipped(data: bytes) -> bytes:
    """Return the bytes with one bit of the middle byte flipped."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "flipped": flipped,
    "truncated": lambda data: data[:-1],
    "emptied": lambda data: b"",
    "longer": lambda data: data + b"x",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("size", [600, 601, 1_000])
@pytest.mark.parametrize("name", COVERED)
def test_a_file_with_other_bytes_is_refused_by_name(
    name: str, size: int, damage: str, tmp_path: Path
) -> None:
    """A changed tile of any kind or size is refused by name, and no other file changes."""
    put_out(synthetic(600), tmp_path)
    (tmp_path / name).write_bytes(DAMAGES[damage]((tmp_path / name).read_bytes()))
    (tmp_path / ("tile/0/000" if name != "tile/0/000" else "tile/0/001")).unlink()
    before = files_of(tmp_path)
    with pytest.raises(RefusedError, match=re.escape(name)):
        put_out(synthetic(size), tmp_path)
    assert files_of(tmp_path) == before


def test_a_partial_tile_of_any_earlier_checkpoint_is_compared(tmp_path: Path) -> None:
    """A partial tile is compared even if it is older than the published checkpoint."""
    for size in (100, 200, 600):
        put_out(synthetic(size), tmp_path)
    path = tmp_path / "tile/entries/000.p/100"
    path.write_bytes(flipped(path.read_bytes()))
    with pytest.raises(RefusedError, match=r"000\.p/100"):
        put_out(synthetic(700), tmp_path)


@pytest.mark.parametrize("given", [None, note_at(600)])
@pytest.mark.parametrize("size", [600, 700])
@pytest.mark.parametrize("name", COVERED)
def test_a_missing_file_is_written_again(name: str, size: int, given: bytes | None, tmp_path: Path) -> None:
    """Every file that a checkpoint covers exists after a run, also if the checkpoint is not new."""
    put_out(synthetic(600), tmp_path)
    (tmp_path / name).unlink()
    put_out(synthetic(size), tmp_path, given)
    reader = TileReader(tmp_path)
    assert reader.names() <= set(files_of(tmp_path))
    assert reader.mth(0, reader.size) == reader.root


def test_all_tiles_are_written_again_if_they_are_gone(tmp_path: Path) -> None:
    """If all tiles are missing, they are written again, as by a single export."""
    put_out(synthetic(600), tmp_path / "one")
    put_out(synthetic(600), tmp_path / "other")
    shutil.rmtree(tmp_path / "one" / "tile")
    done = put_out(synthetic(600), tmp_path / "one")
    assert (done.files, done.new) == (len(COVERED), 0)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")


@settings(max_examples=40, deadline=None)  # it writes up to 20 files and syncs each
@given(
    first=st.integers(1, 700),
    more=st.integers(0, 300),
    removed=st.sets(st.integers(0, 9)),
    wrong=st.integers(0, 15),
)
def test_what_is_published_is_whole_or_refused(
    first: int, more: int, removed: set[int], wrong: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Removed files are restored, and a changed file stops the run before it writes."""
    folder = tmp_path_factory.mktemp("log")
    put_out(synthetic(first), folder)
    names = sorted(set(files_of(folder)) - {"checkpoint"})
    for at in removed & set(range(len(names))):
        (folder / names[at]).unlink()
    damaged = set(names[wrong : wrong + 1]) - {names[at] for at in removed if at < len(names)}
    for name in damaged:
        (folder / name).write_bytes(flipped((folder / name).read_bytes()))
    before = files_of(folder)
    if damaged:
        with pytest.raises(RefusedError):
            put_out(synthetic(first + more), folder)
        assert files_of(folder) == before
        return
    put_out(synthetic(first + more), folder)
    whole = tmp_path_factory.mktemp("whole")
    put_out(synthetic(first + more), whole)
    assert files_of(whole).items() <= files_of(folder).items()


def test_a_file_by_no_name_of_a_tile_is_left_alone(tmp_path: Path) -> None:
    """Files that do not have the name of a tile are ignored."""
    put_out(synthetic(300), tmp_path)
    names = ["tile/0/000.gz", "tile/0/001.p/044", "tile/0/001.p/0", "tile/0/001.p/x", "tile/notes"]
    for name in names:
        (tmp_path / name).write_bytes(b"mine")
    put_out(synthetic(600), tmp_path)
    assert {(tmp_path / name).read_bytes() for name in names} == {b"mine"}


def test_files_that_come_back_are_sure_to_survive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders of restored files are synced even if the checkpoint does not change."""
    put_out(synthetic(300), tmp_path)
    shutil.rmtree(tmp_path / "tile" / "entries")
    synced: list[Path] = []
    monkeypatch.setattr("engine.base.outside_files.fsync_path", synced.append)
    put_out(synthetic(300), tmp_path)
    expected = {tmp_path / "tile" / name for name in (".", "entries", "entries/001.p")}
    assert expected <= set(synced)


def test_a_run_says_how_many_events_are_new(tmp_path: Path) -> None:
    """A run reports the number of events that the previous checkpoint did not cover."""
    assert [put_out(synthetic(size), tmp_path).new for size in (300, 301, 301, 600)] == [300, 1, 0, 299]


def test_progress_ends_with_all_events_and_never_goes_back(tmp_path: Path) -> None:
    """The progress never decreases and ends with all events, for written and compared files."""
    for size in (600, 600, 900):
        told: list[int] = []
        totals: set[int] = set()

        def hear(done: int, total: int, told: list[int] = told, totals: set[int] = totals) -> None:
            told.append(done)
            totals.add(total)

        export(synthetic(size), STORE_ID, tmp_path, progress=hear)
        assert told == sorted(told)
        assert (told[-1], totals) == (size, {size})
