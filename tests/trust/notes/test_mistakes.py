"""Common mistakes with checkpoints: none of them loses data or reveals a secret."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proofs.note import Note, Signature, format_note, parse_note
from tests.support.command_line import Cli
from tests.trust.notes.support import cosigned, witness_key
from tests.trust.notes.test_command import contradiction, here

pytestmark = pytest.mark.slow

__all__ = ["here"]


@pytest.fixture
def old_and_new(cli: Cli, here: Path) -> Path:
    """Return two checkpoints of the store, `old` and `new`."""
    cli("checkpoint", "-o", "old")
    cli("add", "More.")
    cli("checkpoint", "-o", "new")
    return here


def events(cli: Cli) -> int:
    """Return the number of events in the store."""
    return int(cli("status", "--json").data["events"])


@pytest.mark.parametrize(
    "command",
    [
        ("verify-checkpoint", "n", "--key", "KEY"),
        ("verify-checkpoint", "n", "--witness", "KEY"),
        ("verify-checkpoint", "KEY"),
        ("verify-checkpoint", "n", "--since", "KEY"),
        ("verify-root", "--checkpoint", "KEY"),
        ("checkpoint", "--key", "KEY"),
        ("checkpoint", "-o", "KEY"),
        ("key", "show", "KEY"),
    ],
)
def test_a_private_key_is_never_printed(cli: Cli, here: Path, command: tuple[str, ...]) -> None:
    """A private key that is given in place of a vkey or a file's name is in no message, also with --json."""
    cli("key", "new", "k")
    cli("checkpoint", "-o", "n")
    secret = (here / "k").read_text().strip()
    for more in ([], ["--json"]):
        result = cli(*(secret if part == "KEY" else part for part in command), *more)
        assert (result.code, "this is a private key" in result.err) == (2, True)
        assert secret[-20:] not in result.out + result.err


def test_checkpoints_in_the_wrong_order_are_no_rollback(cli: Cli, old_and_new: Path) -> None:
    """If the store has both checkpoints, the wrong order is a usage error and leaves no evidence."""
    for command in (
        ("verify-root", "--since", "new", "old"),
        ("verify-checkpoint", "old", "--since", "new", "--against-store"),
    ):
        result = cli(*command, "--json")
        assert (result.code, result.envelope["error"]["code"]) == (2, "invalid")
        assert (
            result.envelope["error"]["message"] == "OLD is newer than NEW: it covers 5 events, NEW covers 3"
        )
        assert result.envelope["error"]["hint"] == "swap the two files"
    assert list(old_and_new.glob("*evidence*")) == []


def test_a_store_that_has_only_one_of_them_went_back(cli: Cli, old_and_new: Path) -> None:
    """In either order, a newer checkpoint that the store lacks shows the rollback."""
    (old_and_new / "store").rename(old_and_new / "newer")
    cli("copy", "newer", "store")
    cli("add", "Elsewhere.")
    cli("checkpoint", "-o", "newest")
    for pair in (("newest", "old"), ("old", "newest")):
        result = cli("--store", "newer", "verify-root", "--since", *pair, "--json")
        assert contradiction(result)["problem"].startswith(
            "rollback: the log has 5 events, but the known checkpoint covers"
        )


def test_without_a_store_they_may_be_swapped(cli: Cli, old_and_new: Path) -> None:
    """Without a store, swapped checkpoints look like a rollback, and the hint mentions the order."""
    result = cli("verify-checkpoint", "old", "--since", "new")
    assert (
        result.code,
        "if OLD is newer than NEW, swap the two files; both checkpoints are saved" in result.err,
    ) == (
        9,
        True,
    )


def test_the_first_signature_for_a_store_is_said(cli: Cli, here: Path) -> None:
    """The first signature for a store is announced, and again if the key's record was lost."""
    cli("key", "new", "k")
    said = "k has no record of an earlier checkpoint of this store"
    assert said in cli("checkpoint", "--key", "k").err
    assert said not in cli("checkpoint", "--key", "k").err
    (kept,) = here.glob("*.last")
    kept.unlink()
    assert cli("checkpoint", "--key", "k", "--json").data["first"] is True
    assert cli("checkpoint", "--key", "k", "--json").data["first"] is False
    assert said not in cli("checkpoint").err


def test_signatures_are_added_by_known_keys_only(cli: Cli, here: Path) -> None:
    """--add skips and reports lines of unknown keys; without a key it is a usage error."""
    cli("checkpoint", "-o", "n")
    checkpoint = parse_note((here / "n").read_bytes()).checkpoint
    good, stranger = cosigned("w1", 7, checkpoint), cosigned("stranger", 7, checkpoint)
    poison = Signature("w2", witness_key("w2").key_id, bytes(72))
    (here / "lines").write_text(stranger.line + good.line + poison.line)
    add = ["verify-checkpoint", "n", "--add", "lines"]
    assert cli(*add).code == 2
    assert parse_note((here / "n").read_bytes()) == Note(checkpoint)
    data = cli(*add, "--witness", witness_key("w1").vkey, "--json").data
    assert (data["added"], [one["name"] for one in data["left_out"]]) == (1, ["stranger", "w2"])
    assert parse_note((here / "n").read_bytes()) == Note(checkpoint, (good,))
    again = cli(*add, "--witness", witness_key("w1").vkey)
    assert f"left out     stranger {stranger.key_id.hex()}: unknown key" in again.out
    (here / "n2").write_bytes(format_note(Note(checkpoint)))
    both = [part for name in ("w1", "w2") for part in ("--witness", witness_key(name).vkey)]
    assert cli("verify-checkpoint", "n2", *both, "--threshold", "1", "--add", "lines").code == 4
    assert parse_note((here / "n2").read_bytes()) == Note(checkpoint)


def test_a_signed_note_is_not_replaced_by_an_unsigned_one(cli: Cli, here: Path) -> None:
    """Replacing a signed note by an unsigned one is refused before an event is written; the hint is --key."""
    cli("key", "new", "k")
    cli("checkpoint", "--key", "k", "-o", "n")
    cli("add", "More.")
    kept, before = (here / "n").read_bytes(), events(cli)
    result = cli("checkpoint", "-o", "n")
    assert (result.code, "--key" in result.err) == (7, True)
    assert ((here / "n").read_bytes(), events(cli)) == (kept, before)
    assert cli("checkpoint", "--key", "k", "-o", "n").code == 0


@pytest.mark.parametrize(
    ("out", "code"),
    [
        ("none/n", 3),
        ("/proc/self/n", 10),
        ("store/n", 7),
        ("store/db/CURRENT", 7),
        ("folder", 7),
        ("fifo", 7),
    ],
)
def test_a_place_that_cannot_be_written_costs_nothing(cli: Cli, here: Path, out: str, code: int) -> None:
    """An unwritable file is refused before an event is written or signed."""
    cli("key", "new", "k")
    (here / "folder").mkdir()
    os.mkfifo(here / "fifo")
    before = events(cli)
    assert cli("checkpoint", "--key", "k", "-o", out).code == code
    assert (events(cli), list(here.glob("*.last"))) == (before, [])


def test_evidence_holds_the_signed_note(cli: Cli, here: Path) -> None:
    """Evidence against the last signed note contains its signature, not only its text."""
    (here / "before").mkdir()
    cli("copy", "store", "before/store")
    cli("key", "new", "k")
    note = cli("-q", "checkpoint", "--key", "k").out
    result = cli("--store", "before/store", "checkpoint", "--key", "k", "--json")
    data = contradiction(result)
    assert (data["known"], data["evidence"]) == (note, "k.evidence-1.json")
    plain = cli("--store", "before/store", "checkpoint", "--key", "k").out.splitlines()
    assert plain[0] == "known        " + " ".join(note.splitlines()[:3])


def test_an_origin_of_no_store_is_said(cli: Cli, here: Path) -> None:
    """A note with an origin that is not a store's is reported as such."""
    note = cli("checkpoint").out
    (here / "n").write_text(note)
    (here / "other").write_text(note[:14] + note[14:].partition("\n")[0].upper() + note[50:])
    said = "not the origin of a memroot store, which is memroot.local/ and an id in lower case"
    assert said in cli("verify-checkpoint", "other").out
    assert said not in cli("verify-checkpoint", "n").out
    assert cli("verify-checkpoint", "n", "--json").data["store_id"] == note[14:50]
    (here / "other").write_text("log.example" + note[50:])
    assert cli("verify-checkpoint", "other", "--json").data["store_id"] is None
