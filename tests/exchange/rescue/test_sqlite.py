"""Damaged files of SQLite: what the rest of the file holds is found without SQLite."""

import os
import shutil
from pathlib import Path

from tests.exchange.rescue.stores import ATOMS, flipped, made, opened, rescued, text_of

PAGE = 4096


def pages_of(place: Path, kind: int) -> list[int]:
    """Return the numbers, from 0, of the pages of one kind: 2 is an inner page of the tree, 10 a leaf."""
    raw = place.read_bytes()
    return [number for number in range(1, len(raw) // PAGE) if raw[number * PAGE] == kind]


def overwrite(place: Path, at: int, raw: bytes) -> None:
    """Overwrite bytes of a file."""
    with place.open("r+b") as file:
        file.seek(at)
        file.write(raw)


def test_a_store_with_a_damaged_inner_page_is_rescued_whole(place: Path) -> None:
    """SQLite reaches no row below a damaged inner page; the leaves are read one by one."""
    root = made(f"sqlite:{place}", 300)
    for page in pages_of(place, kind=2):
        overwrite(place, page * PAGE + 2, b"\xff" * 40)
    found, _ = rescued(f"sqlite:{place}", place)
    assert found.root == root
    assert found.readings[0].problems


def test_a_store_with_a_damaged_first_page_is_rescued_whole(place: Path) -> None:
    """The rows are found even if the list of tables is missing."""
    root = made(f"sqlite:{place}", 100)
    overwrite(place, 0, bytes(PAGE))
    assert rescued(f"sqlite:{place}", place)[0].root == root


def test_a_zeroed_leaf_loses_the_events_on_it_and_after_it(place: Path) -> None:
    """The events before the rows on a lost page are kept."""
    made(f"sqlite:{place}", 300)
    raw = place.read_bytes()
    page = next(
        page
        for page in pages_of(place, kind=10)
        if text_of(250).encode() in raw[page * PAGE : page * PAGE + PAGE]
    )
    overwrite(place, page * PAGE, bytes(PAGE))
    found, _ = rescued(f"sqlite:{place}", place)
    assert 150 < found.events <= 251
    assert found.found == found.recorded == 301


def test_a_flipped_bit_in_the_wal_loses_nothing(place: Path) -> None:
    """SQLite silently drops all transactions after the flipped bit; the rescue finds them in the WAL."""
    crashed = place.parent / "crashed"
    with opened(f"sqlite:{place}") as engine:
        for number in range(ATOMS):
            engine.add(text_of(number))
        for end in ("", "-wal"):
            shutil.copy(f"{place}{end}", f"{crashed}{end}")
    wal = Path(f"{crashed}-wal")
    raw = wal.read_bytes()
    wal.write_bytes(flipped(raw, raw.index(text_of(20).encode())))
    found, _ = rescued(f"sqlite:{crashed}", crashed)
    assert (found.events, found.lost) == (ATOMS + 1, 0)
    assert any("pages in the WAL" in problem for problem in found.readings[0].problems)


def test_a_torn_wal_loses_only_what_is_cut_off(place: Path) -> None:
    """The transactions before the cut are kept."""
    crashed = place.parent / "crashed"
    with opened(f"sqlite:{place}") as engine:
        for number in range(ATOMS):
            engine.add(text_of(number))
            if number == 20:
                cut = Path(f"{place}-wal").stat().st_size
        for end in ("", "-wal"):
            shutil.copy(f"{place}{end}", f"{crashed}{end}")
    os.truncate(f"{crashed}-wal", cut + 100)
    found, _ = rescued(f"sqlite:{crashed}", crashed)
    assert found.events == 22


def test_large_contents_are_read_from_overflow_pages(place: Path) -> None:
    """A content larger than a page is put together from all its pages."""
    with opened(f"sqlite:{place}") as engine:
        engine.add("a long text " * 3000)
        root = engine.root().root
    overwrite(place, 0, bytes(100))
    assert rescued(f"sqlite:{place}", place)[0].root == root
