"""The commands checkpoint, verify-checkpoint and key, and `verify-root --checkpoint`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from backends import open_backend
from engine.ledger.layout import ATOM, LOG, journal_key
from proofs.note import Checkpoint, Note, format_note, parse_note
from tests.support.command_line import Cli, Result
from tests.support.engines import flip_last_bit
from tests.support.places import copy_store
from tests.trust.notes.support import cosigned, note_bytes, witness_key

pytestmark = pytest.mark.slow


@pytest.fixture
def here(cli: Cli, surroundings: Path) -> Path:
    """Return a folder with a store of one atom, named by ENGINE_STORE."""
    cli("add", "Text.")
    return surroundings


def contradiction(result: Result) -> dict[str, Any]:
    """Return the data of a run with --json that exited with 9."""
    assert (result.code, result.envelope["error"]["code"]) == (9, "inconsistent")
    return dict(result.envelope["data"])


def fork(cli: Cli, here: Path) -> str:
    """Return another store with the same beginning and as many events."""
    copy_store(here / "store", here / "fork")
    cli("add", "Here.")
    cli("--store", "fork", "add", "There.")
    return "fork"


def test_a_checkpoint_is_printed_and_again_the_same(cli: Cli, here: Path) -> None:
    """Only the three lines of the note are on stdout; stderr and JSON have the event and the root."""
    root = cli("root").out.strip()
    first = cli("checkpoint")
    assert re.fullmatch(r"memroot\.local/[0-9a-f-]{36}\n3\n[A-Za-z0-9+/]{43}=\n", first.out)
    assert first.err == f"recorded: event 2 holds root {root}\n"
    again = cli("checkpoint")
    assert (again.out, again.err) == (first.out, f"nothing to do: event 2 holds root {root}\n")
    data = cli("checkpoint", "--json").data
    assert (data["seq"], data["size"], data["root"], data["note"]) == (2, 3, root, first.out)
    assert "checkpoints  1 correct" in cli("verify-root").out


def test_a_signed_checkpoint_goes_to_a_file(cli: Cli, here: Path) -> None:
    """A new key signs a checkpoint, its vkey verifies the note, and the store matches the note."""
    vkey = cli("-q", "key", "new", "k").out.strip()
    assert vkey == cli("key", "show", "k").out.strip() == (here / "k.vkey").read_text().strip()
    assert cli("checkpoint", "--key", "k", "-o", "n").out == "n\n"
    assert cli("checkpoint", "--key", "k", "-o", "-").out == (here / "n").read_text()
    data = cli("verify-checkpoint", "n", "--key", vkey, "--against-store", "--json").data
    assert (data["checked"], data["in_store"], data["size"]) == ("signatures", True, 3)
    assert [one["by"] for one in data["signatures"]] == ["key"]
    assert "continues    n" in cli("verify-root", "--checkpoint", "n").out


def test_without_keys_only_the_form_is_checked(cli: Cli, here: Path) -> None:
    """Without keys the output states that only the form was checked, for a file and for stdin."""
    note = cli("checkpoint").out
    result = cli("verify-checkpoint", "-", stdin=note.encode())
    assert result.code == 0
    assert "only the format; without a key, the author is not known" in result.out
    (here / "n").write_text(note)
    data = cli("verify-checkpoint", "n", "--json").data
    assert (data["checked"], data["in_store"]) == ("form", None)


def test_a_wrong_signature_is_exit_4(cli: Cli, here: Path) -> None:
    """A wrong signature, only unknown signatures, or an inexact form exits with 4."""
    vkey = cli("-q", "key", "new", "k").out.strip()
    other = cli("-q", "key", "new", "other").out.strip()
    signed = cli("-q", "checkpoint", "--key", "k").out
    (here / "n").write_text(signed)
    (here / "changed").write_text(signed.replace("\n3\n", "\n4\n"))
    (here / "crlf").write_bytes(signed.replace("\n", "\r\n").encode())
    for name, key in (("changed", vkey), ("n", other), ("crlf", vkey)):
        result = cli("verify-checkpoint", name, "--key", key, "--json")
        assert (result.code, result.envelope["error"]["code"]) == (4, "verification_failed"), name
    (here / "long").write_text(signed + "x" * 65_536)
    assert cli("verify-checkpoint", "long").code == 2
    assert cli("verify-checkpoint", "n", "--since", "changed", "--key", vkey).code == 4
    assert cli("verify-checkpoint", "none", "--json").code == 3
    assert cli("verify-checkpoint", "n", "--key", "nonsense", "--json").code == 2


def test_an_older_copy_is_exit_9(cli: Cli, here: Path) -> None:
    """verify-checkpoint and verify-root report the rollback and write both sides beside the note."""
    copy_store(here / "store", here / "old")
    cli("checkpoint", "-o", "n")
    for command in (("verify-root", "--checkpoint", "n"), ("verify-checkpoint", "n")):
        result = cli("--store", "old", *command, "--json")
        data = contradiction(result)
        assert data["problem"] == "rollback: the log has 2 events, but the known checkpoint covers 3"
        kept = json.loads((here / data["evidence"]).read_text())
        assert kept["known"] == (here / "n").read_text()
        assert parse_note(kept["found"][-1].encode()).checkpoint.size == 2
        assert f"both checkpoints are saved in {data['evidence']}" in result.err


def test_a_fork_is_exit_9(cli: Cli, here: Path) -> None:
    """The checkpoints of two diverged stores show the fork, with a store and without one."""
    other = fork(cli, here)
    cli("checkpoint", "-o", "n")
    cli("--store", other, "checkpoint", "-o", "m")
    assert "equivocation" in contradiction(cli("verify-checkpoint", "n", "--since", "m", "--json"))["problem"]
    assert "equivocation" in contradiction(cli("verify-root", "--checkpoint", "m", "--json"))["problem"]
    cli("add", "More.")
    assert "fork" in contradiction(cli("verify-root", "--checkpoint", "m", "--json"))["problem"]
    assert cli("verify-root", "--checkpoint", "n").code == 0
    data = contradiction(cli("verify-root", "--checkpoint", "n", "--checkpoint", "m", "--json"))
    assert (data["known"], data["evidence"]) == ((here / "m").read_text(), "m.evidence-2.json")


def test_another_store_is_exit_9(cli: Cli, here: Path) -> None:
    """A checkpoint of a store with another id is reported as another store."""
    cli("--store", "new", "add", "Text.")
    cli("--store", "new", "checkpoint", "-o", "n")
    assert "another store" in contradiction(cli("verify-root", "--checkpoint", "n", "--json"))["problem"]


def test_a_checkpoint_continues_an_older_one(cli: Cli, here: Path) -> None:
    """The store shows that a checkpoint continues an older one; without it the check is refused.

    In the wrong order the two checkpoints are a rollback.
    """
    cli("checkpoint", "-o", "old")
    cli("add", "More.")
    cli("checkpoint", "-o", "new")
    assert cli("verify-checkpoint", "new", "--since", "old", "--against-store").code == 0
    assert cli("verify-root", "--checkpoint", "old", "--checkpoint", "new").code == 0
    assert "only be checked with the store" in cli("verify-checkpoint", "new", "--since", "old").err
    data = contradiction(cli("verify-checkpoint", "old", "--since", "new", "--json"))
    assert data["problem"] == "rollback: the log has 3 events, but the known checkpoint covers 5"


def test_evidence_is_never_overwritten(cli: Cli, here: Path) -> None:
    """The same contradiction is written once; another one gets a new file beside existing files."""
    copy_store(here / "store", here / "old")
    cli("checkpoint", "-o", "n")
    (here / "n.evidence-1.json").write_text("mine")
    names = [
        contradiction(cli("--store", "old", "verify-checkpoint", "n", "--json"))["evidence"] for _ in "ab"
    ]
    cli("--store", "old", "add", "Other.")
    names.append(contradiction(cli("--store", "old", "verify-checkpoint", "n", "--json"))["evidence"])
    assert names == ["n.evidence-2.json", "n.evidence-2.json", "n.evidence-3.json"]
    assert (here / "n.evidence-1.json").read_text() == "mine"


def test_evidence_goes_where_it_is_asked_to(cli: Cli, here: Path) -> None:
    """--evidence names a folder; if it cannot be written to, the exit code stays the same."""
    copy_store(here / "store", here / "old")
    cli("checkpoint", "-o", "n")
    (here / "kept").mkdir()
    asked = ["--store", "old", "verify-root", "--checkpoint", "n", "--json", "--evidence"]
    assert contradiction(cli(*asked, "kept"))["evidence"] == "kept/n.evidence-1.json"
    assert contradiction(cli(*asked, "nowhere"))["evidence"] is None


def test_a_kept_checkpoint_is_replaced_by_one_that_continues_it_only(cli: Cli, here: Path) -> None:
    """`checkpoint -o` refuses to replace a note that the store contradicts, or any other file."""
    other = fork(cli, here)
    cli("checkpoint", "-o", "n")
    kept = (here / "n").read_bytes()
    events = cli("--store", other, "status", "--json").data["events"]
    assert contradiction(cli("--store", other, "checkpoint", "-o", "n", "--json"))["known"] == kept.decode()
    assert cli("--store", other, "status", "--json").data["events"] == events
    assert (here / "n").read_bytes() == kept
    (here / "diary").write_text("mine")
    assert cli("checkpoint", "-o", "diary", "--json").envelope["error"]["code"] == "refused"
    assert (here / "diary").read_text() == "mine"
    cli("add", "More.")
    assert cli("checkpoint", "-o", "n").code == 0
    assert parse_note((here / "n").read_bytes()).checkpoint.size == 6


def test_cosignatures_are_added_and_kept(cli: Cli, here: Path) -> None:
    """--add accepts a note of the same text or lines alone, and writing the file again keeps them all."""
    vkey = cli("-q", "key", "new", "k").out.strip()
    cli("checkpoint", "--key", "k", "-o", "n")
    checkpoint = parse_note((here / "n").read_bytes()).checkpoint
    (here / "lines").write_text(cosigned("w1", 1_700_000_000, checkpoint).line)
    (here / "note").write_bytes(note_bytes(cosigned("w2", 1, checkpoint), checkpoint=checkpoint))
    witnesses = [part for name in ("w1", "w2") for part in ("--witness", witness_key(name).vkey)]
    trusted = ["verify-checkpoint", "n", "--key", vkey, *witnesses]
    assert cli(*trusted).code == 4
    assert cli(*trusted, "--threshold", "0").code == 2
    assert cli(*trusted, "--threshold", "1", "--add", "lines", "--json").data["added"] == 1
    assert cli(*trusted, "--threshold", "2").code == 4
    data = cli(*trusted, "--add", "note", "--json").data
    assert [one["by"] for one in data["signatures"]] == ["key", "witness", "witness"]
    assert data["signatures"][1]["time"] == "2023-11-14T22:13:20.000000Z"
    kept = (here / "n").read_bytes()
    assert cli("checkpoint", "--key", "k", "-o", "n").code == 0
    assert (here / "n").read_bytes() == kept


def test_a_wrong_cosignature_is_not_added(cli: Cli, here: Path) -> None:
    """A known witness's wrong line, and a note of another text, leave the file as it was."""
    cli("checkpoint", "-o", "n")
    kept = (here / "n").read_bytes()
    checkpoint = parse_note(kept).checkpoint
    other = Checkpoint(checkpoint.origin, 9, checkpoint.root)
    (here / "lines").write_text(cosigned("w1", 7, other).line)
    (here / "note").write_bytes(format_note(Note(other)))
    for name in ("lines", "note"):
        result = cli("verify-checkpoint", "n", "--witness", witness_key("w1").vkey, "--add", name)
        assert result.code == 4, name
    assert (here / "n").read_bytes() == kept


def test_a_damaged_store_is_exit_4_whatever_the_checkpoint(cli: Cli, here: Path) -> None:
    """Headers that the log does not commit to are damage, and verify-root still names the event."""
    cli("checkpoint", "-o", "n")
    with open_backend(str(here / "store")) as backend:
        flip_last_bit(backend, journal_key(1))
    assert cli("checkpoint").code == 4
    result = cli("verify-root", "--checkpoint", "n", "--json")
    assert (result.code, result.envelope["data"]["differences"][0]["family"]) == (4, "journal")
    assert result.envelope["data"]["continues"] == []


def test_a_changed_projection_is_exit_4_although_the_checkpoint_holds(cli: Cli, here: Path) -> None:
    """A changed row is reported although the checkpoint of the log matches."""
    cli("checkpoint", "-o", "n")
    with open_backend(str(here / "store")) as backend:
        flip_last_bit(backend, next(backend.scan_prefix(ATOM))[0])
    result = cli("verify-root", "--checkpoint", "n", "--json")
    assert (result.code, result.envelope["data"]["continues"]) == (4, ["n"])


def test_a_log_state_that_lies_gives_no_checkpoint(cli: Cli, here: Path) -> None:
    """No checkpoint is printed for a log state that does not match the stored headers."""
    with open_backend(str(here / "store")) as backend:
        flip_last_bit(backend, LOG)
    result = cli("checkpoint", "--json")
    assert (result.code, result.envelope["error"]["code"]) == (4, "corrupt")


def test_a_key_has_the_store_s_name_or_one_that_is_given(cli: Cli, here: Path) -> None:
    """Without a store a name is required; a key inside the store and an unknown action are refused."""
    assert cli("key", "new", "a", "--json").data["name"] == cli("checkpoint").out.splitlines()[0]
    assert cli("key", "new", "b", "--name", "log.example", "--json").data["name"] == "log.example"
    assert cli("--store", "none", "key", "new", "c").code == 3
    assert cli("--store", "none", "key", "new", "c", "--name", "log.example").code == 0
    assert cli("key", "new", "store/db/k").code == 7
    assert cli("key", "new", "a", "--name", "x").code == 6
    assert cli("key", "show", "a", "--name", "x").code == 2
    assert cli("key", "lose", "a").code == 2
    assert sorted(path.name for path in here.glob("[abc]*")) == ["a", "a.vkey", "b", "b.vkey", "c", "c.vkey"]


def test_no_key_reaches_the_store(cli: Cli, here: Path) -> None:
    """No row of the store contains the private or the public half of the signing key."""
    cli("key", "new", "k")
    cli("checkpoint", "--key", "k", "-o", "n")
    parts = [part.encode() for name in ("k", "k.vkey") for part in (here / name).read_text().split("+")[-2:]]
    with open_backend(str(here / "store")) as backend:
        rows = b"".join(key + value for key, value in backend.scan())
    assert [part for part in parts if len(part) > 8 and part.strip() in rows] == []


def test_a_hostile_origin_reaches_no_terminal(cli: Cli, here: Path) -> None:
    """The text of a note is printed escaped, and invisible characters are refused."""
    root = format_note(parse_note(cli("checkpoint").out.encode())).split(b"\n")[2]
    (here / "n").write_bytes("a\u2028\u0085b\n3\n".encode() + root + b"\n")
    result = cli("verify-checkpoint", "n")
    assert (result.code, "a\\u2028\\x85b" in result.out) == (0, True)
    (here / "n").write_bytes("\ufeffab\n3\n".encode() + root + b"\n")
    result = cli("verify-checkpoint", "n")
    assert (result.code, "U+FEFF" in result.err, "\ufeff" in result.err) == (4, True, False)
