"""The log as static files: the specification's reader reads them, and they belong to one log."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.base.errors import CorruptionError, InvalidInputError, RefusedError
from engine.ledger.journal import encode_log, read_identity, read_log
from engine.ledger.layout import JOURNAL, LOG, subtree_key
from engine.trust.proving.log_witnesses import LogPaths
from engine.trust.tiles import Tile, export
from proofs.log import Frontier, check_inclusion, leaf_hash
from proofs.note import Note, format_note, origin_of, parse_note
from tests.support.engines import put_rows
from tests.trust.tiles.reader import TileReader
from tests.trust.tiles.support import header_of, leaves
from tests.trust.tiles.tiles import SIGNED, files_of, note_at, put_out, real_store, synthetic

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 512, 600, 65_536, 70_000])
def test_a_reader_of_the_specification_gets_the_root_and_paths_from_the_tiles_alone(
    size: int, tmp_path: Path
) -> None:
    """The folder has exactly the tiles of this size, which give the root and a valid path for an entry."""
    done = put_out(synthetic(size), tmp_path / "log")
    reader = TileReader(tmp_path / "log")
    assert (reader.origin, reader.size, reader.root.hex()) == (done.origin, size, done.log_root)
    assert set(files_of(tmp_path / "log")) == reader.names() | {"checkpoint"}
    assert reader.mth(0, size) == reader.root
    for index in {0, size // 2, size - 1}:
        entry = reader.entries(index // 256)[index % 256]
        assert entry == header_of(index)
        assert leaf_hash(entry) == reader.hash(0, index)
        check_inclusion(index, size, leaf_hash(entry), reader.path(index), reader.root)


def test_the_tiles_of_the_specifications_example(tmp_path: Path) -> None:
    """70,000 events have 273 full tiles and one of 112 at level 0, then one full, one of 17, and one of 1."""
    put_out(synthetic(70_000), tmp_path)
    hashes = {name: len(data) // 32 for name, data in files_of(tmp_path).items() if name.startswith("tile/")}
    for level, full, rest in (("0", 273, 112), ("1", 1, 17), ("2", 0, 1)):
        mine = {name: width for name, width in hashes.items() if name.startswith(f"tile/{level}/")}
        assert sorted(mine.values()) == sorted([256] * full + [rest])
        assert mine[f"tile/{level}/{full:03}.p/{rest}"] == rest


@pytest.mark.parametrize(
    ("number", "width", "name"),
    [
        (0, 256, "tile/1/000"),
        (7, 1, "tile/1/007.p/1"),
        (999, 256, "tile/1/999"),
        (1000, 256, "tile/1/x001/000"),
        (1_234_067, 256, "tile/1/x001/x234/067"),
        (1_234_067, 255, "tile/1/x001/x234/067.p/255"),
    ],
)
def test_tiles_are_numbered_in_groups_of_three_digits(number: int, width: int, name: str) -> None:
    """All groups but the last begin with an x, and a partial tile's width is the name in its own folder."""
    assert Tile("1", number, width).name == name
    assert TileReader.number(number) in name


def test_the_entries_of_a_store_are_its_headers_and_hold_no_content(tmp_path: Path) -> None:
    """The entries are the headers in order, and no file contains the text of an atom."""
    store = real_store()
    export(store, read_identity(store).store_id, tmp_path)
    reader = TileReader(tmp_path)
    found = [entry for index in range(-(-reader.size // 256)) for entry in reader.entries(index)]
    assert found == [header for _, header in store.scan_prefix(JOURNAL)]
    log = read_log(store)
    assert (reader.mth(0, reader.size), reader.size) == (log.frontier.root(), log.size)
    assert not [name for name, data in files_of(tmp_path).items() if b"storm" in data or b"ship" in data]


@pytest.mark.parametrize("followed", [0, 100, 599])
def test_a_follower_that_lags_changes_no_tile(followed: int, tmp_path: Path) -> None:
    """Rows that the follower lacks are computed from headers."""
    put_out(synthetic(600), tmp_path / "one")
    put_out(synthetic(600, followed), tmp_path / "other")
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")


def test_a_given_checkpoint_is_published_byte_for_byte(tmp_path: Path) -> None:
    """A given checkpoint is published with its signatures and the tiles of its size, not of the head."""
    done = put_out(synthetic(600), tmp_path, note_at(300))
    assert done.size == 300
    assert (tmp_path / "checkpoint").read_bytes() == note_at(300)
    assert set(files_of(tmp_path)) == TileReader(tmp_path).names() | {"checkpoint"}


def test_signatures_may_be_added_to_a_published_checkpoint(tmp_path: Path) -> None:
    """A checkpoint with signatures replaces the same one without, and no tile is written."""
    put_out(synthetic(300), tmp_path)
    assert put_out(synthetic(300), tmp_path, note_at(300)).files == 1
    assert parse_note((tmp_path / "checkpoint").read_bytes()).signatures == SIGNED


def test_an_unsigned_checkpoint_never_replaces_a_signed_one(tmp_path: Path) -> None:
    """At the same size a signed checkpoint stays, and at a larger size an unsigned one is refused."""
    put_out(synthetic(300), tmp_path, note_at(300))
    before = files_of(tmp_path)
    assert put_out(synthetic(300), tmp_path).files == 0
    with pytest.raises(RefusedError):
        put_out(synthetic(600), tmp_path)
    unsigned = format_note(Note(parse_note(note_at(300)).checkpoint))
    with pytest.raises(RefusedError):
        put_out(synthetic(300), tmp_path, unsigned)
    assert files_of(tmp_path) == before
    assert put_out(synthetic(600), tmp_path, note_at(600)).size == 600


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"no checkpoint\n",
        b"\xff" * 40,
        note_at(300)[:-1],
        note_at(300, origin=origin_of(bytes(16))),
        note_at(300, origin="example.com/log").replace(b"/log", "/\u202elog".encode()),
        note_at(300, root=bytes(32)),
        note_at(300, at=299),
        note_at(601),
    ],
)
def test_a_checkpoint_that_is_not_this_logs_is_refused(given: bytes, tmp_path: Path) -> None:
    """A checkpoint that is malformed, of another log, root or size, or beyond the end writes nothing."""
    with pytest.raises(InvalidInputError):
        put_out(synthetic(600), tmp_path / "log", given)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["row", "second row", "header", "state"])
def test_a_damaged_log_is_not_published(damage: str, tmp_path: Path) -> None:
    """Rows that do not match the log's root are found before any file is written."""
    store = synthetic(65_700 if damage == "second row" else 700)
    other = Frontier()
    other.extend(leaves(701))
    changes = {
        "row": {subtree_key(1, 1): bytes(32)},
        "second row": {subtree_key(2, 0): bytes(32)},
        "header": {JOURNAL + (690).to_bytes(8, "big"): b"another"},
        "state": {LOG: encode_log(0, other.to_bytes())},
    }[damage]
    put_rows(store, dict(changes))
    with pytest.raises(CorruptionError):
        put_out(store, tmp_path / "log")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["a header in a complete subtree", "a row below a complete one"])
def test_damage_that_the_root_does_not_show_stops_at_its_tile(damage: str, tmp_path: Path) -> None:
    """A damaged row that a follower's row hides from the root is found before its tile is written."""
    store = synthetic(65_700)
    key = JOURNAL + (300).to_bytes(8, "big") if damage.startswith("a header") else subtree_key(1, 3)
    put_rows(store, {key: bytes(32)})
    with pytest.raises(CorruptionError):
        put_out(store, tmp_path)
    assert not (tmp_path / "checkpoint").exists()
    put_out(synthetic(65_700), tmp_path / "good")
    good = files_of(tmp_path / "good")
    written = {name: data for name, data in files_of(tmp_path).items() if name.startswith("tile/")}
    assert written.items() <= good.items()


def test_paths_from_tiles_are_those_of_the_store(tmp_path: Path) -> None:
    """A proof made from the published tiles equals the store's proof."""
    put_out(synthetic(600), tmp_path)
    reader, paths = TileReader(tmp_path), LogPaths(synthetic(600), 600)
    assert all(reader.path(index) == paths.inclusion(index, 600) for index in range(0, 600, 37))
