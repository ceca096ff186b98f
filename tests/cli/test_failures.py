"""Every failure has an exit code, a message on stderr and, with --json, an envelope on stdout."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from backends import open_backend
from backends.base import Batch
from engine.cli.command_tree import COMMANDS
from engine.engine import Engine
from engine.ledger.layout import ATOM
from tests.cli.test_commands import Pair, arguments
from tests.support.command_line import Cli, Result
from tests.support.leveldb import needs_leveldb

pytestmark = pytest.mark.slow

MAKES_A_STORE = {"init", "add", "ingest", "import", "relate", "sync"}
VERIFIES_A_FILE = {"verify-backup", "verify-checkpoint", "verify-proof"}
NEEDS_NO_STORE = (
    MAKES_A_STORE
    | VERIFIES_A_FILE
    | {"copy", "doctor", "help", "hooks", "mcp", "memory", "proof", "start", "terms", "token", "watch"}
)


def failed(result: Result, exit_code: int, code: str) -> None:
    """Assert that a run with --json failed in just this way."""
    envelope = result.envelope
    assert (result.code, envelope["status"], envelope["error"]["code"]) == (exit_code, "error", code)
    assert f"error: {envelope['error']['message']}" in result.err


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in NEEDS_NO_STORE])
def test_a_missing_store_is_not_made(cli: Cli, surroundings: Path, name: str) -> None:
    """Commands that only read exit with 3 if there is no store, and create none."""
    result = cli(name, *arguments(name, ("0" * 31 + "1", "0" * 31 + "2"), surroundings), "--json")
    failed(result, 3, "not_found")
    assert "engine init" in result.envelope["error"]["hint"]
    assert not (surroundings / "store").exists()


@pytest.mark.parametrize("name", sorted(MAKES_A_STORE))
def test_a_missing_store_is_made(cli: Cli, surroundings: Path, name: str) -> None:
    """Commands that add data create the store."""
    assert cli(name, *arguments(name, ("", ""), surroundings)).code == 0
    assert cli("root").code == 0


USAGE = [
    ["nothing"],
    ["add"],
    ["add", "a", "b"],
    ["add", "a", "--nothing"],
    ["add", "a", "--trust", "much"],
    ["find", "--limit", "0"],
    ["log", "--from", "-1"],
    ["link", "1111", "references"],
    ["--store"],
]


@pytest.mark.parametrize("args", USAGE, ids=" ".join)
def test_wrong_use_is_exit_2(cli: Cli, args: list[str]) -> None:
    """An invalid command line is a usage error that points to the help."""
    result = cli("--json", *args)
    failed(result, 2, "usage")
    assert "--help" in result.envelope["error"]["hint"]


OTHER_SPELLINGS = ["٣", "３", "²", "03", "+3", " 3", "3 ", "3\n", "1_0", "0x3", "3.0", "1e1", "", "-0", "-03"]


@pytest.mark.parametrize("spelled", OTHER_SPELLINGS)
def test_a_whole_number_has_one_spelling(cli: Cli, pair: Pair, spelled: str) -> None:
    """ASCII digits without leading zeros are a number, and nothing else is."""
    for option in ("--from", "--limit"):
        assert cli("log", option, "1").code == 0
        failed(cli("log", f"{option}={spelled}", "--json"), 2, "usage")
    failed(cli("add", "a", f"--sequence={spelled}", "--json"), 2, "usage")
    for events in (spelled, f"{spelled}..3", f"1..{spelled}"):
        failed(cli("revert", "--dry-run", "--json", "--", events), 2, "invalid")


@pytest.mark.parametrize("spelled", ["٣", "1_0", "nan", "inf", "-inf", "Infinity", " 1", "1.", ".5", "0x1p3"])
def test_a_number_has_ascii_digits(cli: Cli, pair: Pair, spelled: str) -> None:
    """A number with a fraction is digits with one point, and an exponent if needed."""
    first, second = pair
    failed(cli("link", first, "references", second, f"--weight={spelled}", "--json"), 2, "usage")


INVALID = [
    ["add", " "],
    ["add", "a", "--tag", "\u200b"],
    ["add", "a", "--trust", "101"],
    ["add", "a", "--created", "yesterday"],
    ["find", "--since", "2026-13-01"],
    ["find", "--direction", "up"],
    ["find", "--form", "huge"],
    ["find", "--follow", "references"],
    ["recall", " "],
    ["revise", "1111"],
    ["verify-root", "--expect", "abc"],
    ["link", "1111", "references", "2222", "--data", "{"],
    ["init", "--store", "ftp:somewhere"],
    ["init", "--store", ""],
    ["find", "--as-of", "007"],
    ["find", "--as-of", "1" * 21],
    ["add", "a", "--actor", "Not A Label"],
    ["ingest", ""],
    ["watch", ""],
    ["find", "--mentions", ""],
    ["erase", "--mentions", " ", "--dry-run"],
    ["revert", "--actor", "ann"],
]


@pytest.mark.parametrize("args", INVALID, ids=" ".join)
def test_invalid_values_are_exit_2(cli: Cli, pair: Pair, args: list[str]) -> None:
    """An invalid value is refused before anything is written."""
    before = cli("root").out
    result = cli(*args, "--json")
    assert (result.code, result.envelope["error"]["code"]) in {(2, "invalid"), (2, "limit")}
    assert cli("root").out == before


def test_what_was_never_recorded_is_exit_3(cli: Cli, pair: Pair) -> None:
    """Unknown atoms, types, events and commands are exit code 3."""
    unknown = "00000000-0000-8000-8000-000000000001"
    for args in (
        ["get", unknown],
        ["get", "0000"],
        ["tombstone", unknown],
        ["link", *pair[:1], "unheard_of", pair[1]],
        ["get", pair[0], "--as-of", "999"],
        ["help", "nothing"],
        ["ingest", "no/such/file"],
        ["erase", "--list", "no-such-list", "--dry-run"],
        ["copy", "no-store", "sqlite:new.db"],
    ):
        failed(cli(*args, "--json"), 3, "not_found")


@pytest.mark.parametrize(
    "args",
    [
        "backup",
        "export",
        "export --format mem0",
        "export --format basic-memory",
        "log export",
        "key new",
        "copy",
    ],
)
def test_a_missing_folder_is_not_made(cli: Cli, pair: Pair, surroundings: Path, args: str) -> None:
    """Commands that write outside the store exit with 3 if the folder to write to does not exist."""
    source = ["store"] if args == "copy" else []
    result = cli(*args.split(), *source, str(surroundings / "missing" / "x"), "--json")
    failed(result, 3, "not_found")
    assert "missing to write x to" in result.err
    assert not (surroundings / "missing").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("1234", "no atom id begins with 1234"),
        ("12", "atom id '12' is neither a UUID nor the first 4 or more digits of a UUID"),
        ("0000000A-0000-8000-8000-000000000001", "is not a UUID in lower case"),
        ("Plan B", "no page has the path, title or alias 'Plan B'"),
        ("cafe", "no page has the path, title or alias 'cafe'"),
    ],
)
def test_an_error_is_about_an_id_or_a_page(cli: Cli, pair: Pair, name: str, message: str) -> None:
    """What looks like an id is answered with an error about ids, other names with one about pages."""
    assert message in cli("get", name).err


def test_an_ambiguous_id_is_exit_6(cli: Cli) -> None:
    """An ambiguous id is exit code 6, and the candidates are listed with their titles or texts."""
    ids = [f"abcd{digit}000-0000-4000-8000-000000000000" for digit in "123"]
    for atom in ids:
        cli("add", f"Text of {atom}", "--id", atom)
    result = cli("tombstone", "abcd", "--json")
    failed(result, 6, "conflict")
    assert all(f"{atom[:8]} 'Text of {atom[:4]}" in result.err for atom in ids)
    assert cli("get", "abcd2", "--json").data["id"] == ids[1]


def test_a_contradiction_is_exit_6(cli: Cli, pair: Pair) -> None:
    """Different content under the same key, and changes of a tombstoned atom, are conflicts."""
    cli("add", "One.", "--key", "k")
    failed(cli("add", "Two.", "--key", "k", "--json"), 6, "conflict")
    cli("tombstone", pair[0])
    failed(cli("tag", pair[0], "x", "--json"), 6, "conflict")


@needs_leveldb
def test_a_busy_store_is_exit_5(cli: Cli, pair: Pair, surroundings: Path) -> None:
    """A LevelDB store that another process has open is busy."""
    with Engine.open(str(surroundings / "store")):
        failed(cli("root", "--json", "--wait", "0"), 5, "busy")


def test_a_store_that_becomes_free_is_waited_for(cli: Cli, pair: Pair, surroundings: Path) -> None:
    """A command waits until another command closes the store."""
    holder = Engine.open(str(surroundings / "store"))
    timer = threading.Timer(0.1, holder.close)
    timer.start()
    assert cli("root", "--wait", "30").code == 0
    timer.join()


def test_a_changed_row_is_exit_4(cli: Cli, pair: Pair, surroundings: Path) -> None:
    """`verify-root` names the first row that differs and still prints its report."""
    with open_backend(str(surroundings / "store")) as backend:
        key, value = next(backend.scan_prefix(ATOM))
        batch = Batch()
        batch.put(key, value[:-1] + bytes([value[-1] ^ 1]))
        backend.write(batch)
    result = cli("verify-root", "--json")
    failed(result, 4, "verification_failed")
    first = result.envelope["data"]["differences"][0]
    assert (first["family"], first["key"]) == ("atoms", key.hex())
    assert key.hex() in cli("verify-root").out


def test_another_root_is_exit_4(cli: Cli, pair: Pair) -> None:
    """`verify-root --expect` fails for any other root."""
    failed(cli("verify-root", "--expect", "0" * 64, "--json"), 4, "verification_failed")


def test_a_partial_import_is_exit_8(cli: Cli, surroundings: Path) -> None:
    """Unreadable items are listed with their reasons; the others are imported."""
    notes = surroundings / "notes"
    notes.mkdir()
    (notes / "good.md").write_text("Good text.\n")
    (notes / "bad.md").write_bytes(b"\xff\xfe\x00bad\x00")
    result = cli("ingest", "notes", "--json")
    failed(result, 8, "partial_import")
    assert [item["source"] for item in result.envelope["data"]["skipped"]] == ["notes/bad.md"]
    assert "skipped notes/bad.md" in result.err
    assert len(cli("find", "--json").data) == 1


def test_a_file_name_cannot_forge_a_line(cli: Cli, surroundings: Path) -> None:
    """A line break in the name of a skipped file is escaped."""
    notes = surroundings / "notes"
    notes.mkdir()
    (notes / "a\nerror: forged\x1b[2J.md").write_text("Text.\n")
    result = cli("ingest", "notes")
    assert result.code == 8
    assert "a\\nerror: forged\\x1b[2J.md" in result.err
    assert "\nerror: forged" not in result.err


def test_stdin_that_is_not_text(cli: Cli) -> None:
    """Input on stdin that is too long or not UTF-8 is refused with the reason."""
    failed(cli("add", "-", "--json", stdin=b"abc\xff"), 2, "invalid")
    failed(cli("add", "-", "--json", stdin=b"a" * ((1 << 20) + 3)), 2, "limit")
    assert cli("status").code == 3


def test_an_operating_system_error_is_a_message(cli: Cli, surroundings: Path) -> None:
    """An operating system error is a message, not a traceback."""
    (surroundings / "file").write_text("")
    result = cli("--store", "file/store", "init", "--json")
    assert result.code in {1, 2}
    assert result.envelope["error"]["message"]
    assert "Traceback" not in result.err


def test_a_bug_is_a_short_message(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected exception is exit code 1 and one line; ENGINE_DEBUG shows the traceback."""

    def broken(*args: object, **options: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(Engine, "open", broken)
    result = cli("root", "--json")
    failed(result, 1, "unexpected")
    assert "Traceback" not in result.err
    monkeypatch.setenv("ENGINE_DEBUG", "1")
    assert "Traceback" in cli("root").err


def test_quiet_keeps_the_error(cli: Cli) -> None:
    """--quiet suppresses notes, but not the reason of a failure."""
    result = cli("--quiet", "root")
    assert (result.code, result.out) == (3, "")
    assert "error: " in result.err


def test_the_envelope_says_what_failed(cli: Cli) -> None:
    """The envelope names the command even if its options could not be parsed."""
    assert json.loads(cli("find", "--nothing", "--json").out)["command"] == "find"


@pytest.mark.parametrize("target", ["same.db", "./same.db"])
def test_a_store_is_not_copied_onto_itself(cli: Cli, surroundings: Path, target: str) -> None:
    """`copy` refuses a target that is the source."""
    cli("--store", "sqlite:same.db", "add", "One.")
    failed(cli("copy", "sqlite:same.db", f"sqlite:{target}", "--json"), 2, "invalid")


def test_a_file_for_a_verifier_key_is_refused(cli: Cli, pair: Pair) -> None:
    """If a file name is given instead of a verifier key, the hint shows the correct form."""
    cli("key", "new", "k")
    cli("checkpoint", "-o", "kept")
    result = cli("verify-checkpoint", "kept", "--key", "k.vkey", "--json")
    failed(result, 2, "invalid")
    assert "$(cat FILE)" in result.envelope["error"]["hint"]
