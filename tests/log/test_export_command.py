"""`engine log export`: the command around the tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.note import Note, Signature, format_note, parse_note
from tests.cli.conftest import Cli
from tests.log.reader import TileReader

CONTENT = "the safe opens with 4711"


@pytest.fixture
def told(cli: Cli) -> Cli:
    """A command line with a store of two events."""
    cli("add", CONTENT)
    return cli


def test_an_export_prints_the_size_and_root_of_the_log(told: Cli, surroundings: Path) -> None:
    """The root is the log root of `root --json`; the files' reader comes to the same; --quiet is silent."""
    result = told("--quiet", "log", "export", "public")
    expected = told("root", "--json").data
    assert (result.code, result.err) == (0, "")
    assert result.out == f"{expected['size']} {expected['log_root']}\n"
    reader = TileReader(surroundings / "public")
    assert (reader.size, reader.mth(0, reader.size).hex()) == (expected["size"], expected["log_root"])


def test_an_export_answers_in_json(told: Cli) -> None:
    """Origin, size, root and the number of files written; none the second time."""
    first, second = (told("log", "export", "public", "--json").data for _ in range(2))
    store = told("status", "--json").data
    assert (first["origin"], first["size"]) == (f"memroot.local/{store['store_id']}", store["events"])
    assert (first["files"], second["files"]) == (3, 0)


def test_an_export_holds_no_content(told: Cli, surroundings: Path) -> None:
    """What an atom says is in none of the files."""
    told("log", "export", "public")
    files = [path for path in (surroundings / "public").rglob("*") if path.is_file()]
    assert len(files) == 3
    assert not [path for path in files if CONTENT.encode() in path.read_bytes()]


def test_an_export_takes_a_checkpoint_from_a_file_or_stdin(told: Cli, surroundings: Path) -> None:
    """The note that is given is the one that is published, at its own size."""
    told("log", "export", "first")
    unsigned = parse_note((surroundings / "first" / "checkpoint").read_bytes())
    signed = format_note(Note(unsigned.checkpoint, (Signature("memroot.test/key", b"1234", b"s"),)))
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
        (["export", "store"], 6),
    ],
)
def test_what_cannot_be_exported_is_refused(
    told: Cli, surroundings: Path, arguments: list[str], code: int
) -> None:
    """Other actions, no folder, options that list, a note that is not there, a folder of something else."""
    before = {path: path.stat().st_size for path in surroundings.rglob("*") if "store" not in str(path)}
    assert told("log", *arguments).code == code
    assert {
        path: path.stat().st_size for path in surroundings.rglob("*") if "store" not in str(path)
    } == before
