"""Damaged files of LevelDB: no acknowledged event is lost if its bytes are there."""

import os
import random
import shutil
from pathlib import Path

import pytest

from backends import open_backend
from backends.errors import BackendCorrupt
from engine.base.errors import CorruptionError
from engine.commands import Add, Command
from engine.engine import Engine
from tests.exchange.rescue.stores import ATOMS, flipped, made, opened, rescued, text_of
from tests.support.leveldb import needs_leveldb

pytestmark = needs_leveldb


def newest(place: Path, ending: str) -> Path:
    """Return the newest file of a kind in the store's LevelDB."""
    return max((place / "db").glob(f"*{ending}"))


def in_tables(place: Path) -> str:
    """Make a store whose rows are in tables, and return its root."""
    root = made(f"leveldb:{place}")
    with open_backend(f"leveldb:{place}") as backend:
        backend.purge()
    with open_backend(f"leveldb:{place}"):
        pass  # LevelDB moves the rows of the log into a table when it opens
    assert list((place / "db").glob("*.ldb"))
    return root


def assert_refused(place: Path) -> None:
    """Check that the store does not open, and that the error names the command."""
    with pytest.raises(CorruptionError) as raised:
        Engine.open(f"leveldb:{place}", create=False)
    assert "engine rescue" in raised.value.hint


def test_a_store_without_current_is_rescued(place: Path) -> None:
    """If CURRENT is missing, nothing is lost."""
    root = in_tables(place)
    (place / "db" / "CURRENT").unlink()
    assert_refused(place)
    assert rescued(f"leveldb:{place}", place)[0].root == root


def test_a_store_whose_current_names_a_missing_list_is_rescued(place: Path) -> None:
    """If CURRENT reached the disk before the list of files that it names, nothing is lost."""
    root = in_tables(place)
    (place / "db" / "CURRENT").write_text("MANIFEST-000099\n")
    assert_refused(place)
    assert rescued(f"leveldb:{place}", place)[0].root == root


def test_a_store_without_any_list_of_files_is_rescued(place: Path) -> None:
    """If both CURRENT and the list of files are missing, nothing is lost."""
    root = in_tables(place)
    for file in [place / "db" / "CURRENT", *(place / "db").glob("MANIFEST-*")]:
        file.unlink()
    assert_refused(place)
    assert rescued(f"leveldb:{place}", place)[0].root == root


def test_a_truncated_table_loses_only_what_is_cut_off(place: Path) -> None:
    """The rows before the cut in a truncated table are read, although LevelDB refuses the whole table."""
    in_tables(place)
    table = max((place / "db").glob("*.ldb"), key=lambda file: file.stat().st_size)
    os.truncate(table, table.read_bytes().index(text_of(30).encode()))
    found, _ = rescued(f"leveldb:{place}", place)
    assert (found.events, found.found, found.recorded) == (31, ATOMS + 1, ATOMS + 1)
    assert found.reason == "the content of event 31 is missing"


def test_a_zeroed_list_of_blocks_in_a_table_loses_nothing(place: Path) -> None:
    """Without the index at the end of a table, its blocks are found one after the other."""
    root = in_tables(place)
    table = max((place / "db").glob("*.ldb"), key=lambda file: file.stat().st_size)
    raw = table.read_bytes()
    table.write_bytes(raw[:-60] + bytes(60))
    assert rescued(f"leveldb:{place}", place)[0].root == root


def test_a_flipped_bit_in_the_log_loses_one_content(place: Path) -> None:
    """LevelDB would drop all batches after the flipped bit; the rescue finds them."""
    made(f"leveldb:{place}")
    log = newest(place, ".log")
    raw = log.read_bytes()
    at = raw.index(text_of(5).encode())
    log.write_bytes(flipped(raw, at))
    assert_refused(place)
    found, _ = rescued(f"leveldb:{place}", place, erase_lost=True)
    assert (found.events, found.lost_contents) == (ATOMS + 1, (6,))


def test_a_batch_that_was_never_acknowledged_is_not_kept_in_part(place: Path) -> None:
    """Of a torn commit at the end of the log, no event is kept, even if some of its rows are whole."""
    with opened(f"leveldb:{place}") as engine:
        engine.add("acknowledged")
        engine.root()
        log = newest(place, ".log")
        size = log.stat().st_size
        for _ in engine.apply_many(_adds(30, "never acknowledged")):
            pass
        raw = log.read_bytes()
    torn = place.parent / "torn"
    shutil.copytree(place, torn, ignore=shutil.ignore_patterns("LOCK"))
    newest(torn, ".log").write_bytes(raw[: size + 3000])
    found, _ = rescued(f"leveldb:{torn}", torn)
    assert found.events == 2


def _adds(count: int, text: str) -> list[Command]:
    return [Add(f"{text}: {number}") for number in range(count)]


@pytest.mark.parametrize("block", [512, 4096])
def test_after_a_power_loss_every_acknowledged_event_is_rescued(place: Path, block: int) -> None:
    """Blocks of the log that were not synced may be missing in any combination; no acknowledged event is."""
    chosen = random.Random(block)
    with opened(f"leveldb:{place}") as engine:
        for number in range(10):
            engine.apply(_adds(8, f"acknowledged in commit {number}"))
        log = newest(place, ".log")
        synced = log.stat().st_size
        engine.root()  # the rows of the followers are written, but not synced
        raw = log.read_bytes()
        state = place.parent / "state"
        shutil.copytree(place, state, ignore=shutil.ignore_patterns("LOCK"))
    assert len(raw) - synced > 4096
    refused = 0
    for _ in range(4):
        kept = bytearray(raw)
        for at in range(synced // block * block, len(raw), block):
            if chosen.random() < 0.3:
                start = max(at, synced)
                kept[start : at + block] = bytes(len(kept[start : at + block]))
        newest(state, ".log").write_bytes(kept)
        refused += _is_refused(state)
        found, new = rescued(f"leveldb:{state}", state)
        assert found.events == 10 * 8 + 1
        shutil.rmtree(new.partition(":")[2])
    assert refused


def _is_refused(state: Path) -> bool:
    copy = state.parent / "copy"
    shutil.copytree(state, copy)
    try:
        open_backend(f"leveldb:{copy}", create=False).close()
    except BackendCorrupt:
        return True
    finally:
        shutil.rmtree(copy)
    return False
