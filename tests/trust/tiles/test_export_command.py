"""The command `engine log export`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofs.note import Note, Signature, format_note, parse_note
from tests.support.command_line import Cli
from tests.support.places import copy_store
from tests.trust.tiles.reader import TileReader

SIGNATURE = Signature("memroot.test/key", b"1234", b"s")
CONTENT = "the safe opens with 4711"


@pytest.fixture
def told(cli: Cli) -> Cli:
    """Return a command line with a store of two events."""
    cli("add", CONTENT)
    return cli


def test_an_export_prints_the_size_and_root_of_the_log(told: Cli, surroundings: Path) -> None:
    """The output has the log root of `root --json`, which a reader of the files computes, too.

    With --quiet nothing else is printed.
    """
    result = told("--quiet", "log", "export", "public")
    expected = told("root", "--json").data
    assert (result.code, result.err) == (0, "")
    assert result.out == f"{expected['size']} {expected['log_root']}\n"
    reader = TileReader(surroundings / "public")
    assert (reader.size, reader.mth(0, reader.size).hex()) == (expected["size"], expected["log_root"])


def test_an_export_answers_in_json(told: Cli) -> None:
    """The JSON has origin, size, root and the number of files written, which is 0 the second time."""
    first, second = (told("log", "export", "public", "--json").data for _ in range(2))
    store = told("status", "--json").data
    assert (first["origin"], first["size"]) == (f"memroot.local/{store['store_id']}", store["events"])
    assert first["log_root"] == told("root", "--json").data["log_root"]
    assert "root" not in first
    assert [(one["new"], one["files"]) for one in (first, second)] == [(2, 3), (0, 0)]


def test_a_second_export_says_how_many_events_are_new(told: Cli) -> None:
    """A second export prints the number of new events, not of all events."""
    told("log", "export", "public")
    told("add", "Later.")
    assert "1 new event, 3 files written" in told("log", "export", "public").err
    assert "0 new events, 0 files written" in told("log", "export", "public").err


def test_a_wrong_tile_is_exit_code_7_and_named(told: Cli, surroundings: Path) -> None:
    """A wrong tile exits with 7, and the message names the file."""
    told("log", "export", "public")
    tile = surroundings / "public" / "tile" / "0" / "000.p" / "2"
    tile.write_bytes(bytes(64))
    told("add", "Later.")
    result = told("log", "export", "public")
    assert result.code == 7
    assert "000.p/2" in result.err
    assert tile.read_bytes() == bytes(64)


def test_a_store_put_back_to_an_older_copy_is_exit_code_9(told: Cli, surroundings: Path) -> None:
    """A rollback exits with 9 and writes both sides, with signatures, beside the folder but not into it."""
    copy_store(surroundings / "store", surroundings / "old")
    told("add", "Later.")
    told("log", "export", "public")
    published = surroundings / "public" / "checkpoint"
    signed = format_note(Note(parse_note(published.read_bytes()).checkpoint, (SIGNATURE,)))
    published.write_bytes(signed)
    before = sorted((surroundings / "public").rglob("*"))
    result = told("--store", "old", "log", "export", "public/", "--json")
    assert result.code == 9
    data = json.loads(result.out)["data"]
    assert (data["problem"], data["evidence"]) == (
        "rollback: the log has 2 events, but the known checkpoint covers 3",
        "public.evidence-1.json",
    )
    kept = json.loads((surroundings / "public.evidence-1.json").read_text())
    assert kept["known"].encode() == signed
    assert [text.split("\n")[1] for text in kept["found"]] == ["2"]
    assert sorted((surroundings / "public").rglob("*")) == before


def test_an_export_holds_no_content(told: Cli, surroundings: Path) -> None:
    """No file contains the content of an atom."""
    told("log", "export", "public")
    files = [path for path in (surroundings / "public").rglob("*") if path.is_file()]
    assert len(files) == 3
    assert not [path for path in files if CONTENT.encode() in path.read_bytes()]


def test_an_export_takes_a_checkpoint_from_a_file_or_stdin(told: Cli, surroundings: Path) -> None:
    """A given note is published as it is, with the tiles of its size."""
    told("log", "export", "first")
    unsigned = parse_note((surroundings / "first" / "checkpoint").read_bytes())
    signed = format_note(Note(unsigned.checkpoint, (SIGNATURE,)))
    (surroundings / "note").write_bytes(signed)
    told("add", "Later.")
    for folder, given, stdin in (("second", "note", b""), ("third", "-", signed)):
        result = told("log", "export", folder, "--checkpoint", given, stdin=stdin)
        assert result.code == 0, result.err
        assert (surroundings / folder / "checkpoint").read_bytes() == signed


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["publish", "public"], 2),
        (["export"], 2),
        (["export", ""], 2),
        (["export", "public", "--from", "0"], 2),
        (["export", "public", "--jsonl"], 2),
        (["--checkpoint", "note"], 2),
        (["export", "public", "--checkpoint", "nowhere"], 3),
        (["export", "busy"], 6),
    ],
)
def test_what_cannot_be_exported_is_refused(
    told: Cli, surroundings: Path, arguments: list[str], code: int
) -> None:
    """Unknown actions, a missing folder or note, wrong options and a folder with other files are refused."""
    (surroundings / "busy").mkdir()
    (surroundings / "busy" / "mine.txt").write_text("mine")
    before = {path: path.stat().st_size for path in surroundings.rglob("*") if "store" not in str(path)}
    assert told("log", *arguments).code == code
    assert {
        path: path.stat().st_size for path in surroundings.rglob("*") if "store" not in str(path)
    } == before
