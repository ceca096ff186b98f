"""`engine prove`, `engine verify-proof` and `python -m proofs` on the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.ledger.layout import value_key
from proofs import __main__ as standalone
from proofs.envelope import decode
from tests.support.command_line import Cli, bare, cli, surroundings
from tests.support.engines import backend_of, put_rows
from tests.support.workloads import id_of
from tests.trust.proving.commands import alone, as_standalone, trust
from tests.trust.proving.support import raw_id

pytestmark = pytest.mark.slow

__all__ = ["bare", "cli", "surroundings"]

ATOM = id_of(1)
STRANGER = "77777777-7777-7777-7777-777777777777"


@pytest.fixture
def store(cli: Cli) -> Cli:
    """Return a store of two atoms and a checkpoint, whose note is in a file."""
    cli("add", "The kettle.", "--id", ATOM, "-t", "Kitchen")
    cli("checkpoint", "--out", "kept.checkpoint")
    cli("add", "Later.", "--id", id_of(2))
    return cli


def test_a_proof_is_made_and_verified(store: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """Both verifiers exit with 0, and the line that `prove` prints runs the other one."""
    made = store("prove", "atom", "6174", "-o", "one.proof")
    assert (made.code, made.out.split()[:4]) == (6, [])
    made = store("prove", "atom", ATOM, "-o", "one.proof")
    assert made.code == 0
    options = trust(store)
    assert store("verify-proof", "one.proof", *options, "atom", ATOM).code == 0
    code, answer = alone(capsys, "one.proof", *as_standalone(options), "atom", ATOM)
    assert (code, answer["shown"][0]["body"]["content"]) == (0, "The kettle.")
    printed = made.out.splitlines()[-1].split()[1:]
    assert printed == ["python", "-m", "proofs", "one.proof"]
    code, whole = alone(capsys, *printed[3:])
    assert (code, whole["shown"]) == (0, answer["shown"])


def test_the_file_alone_is_verified(store: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """Both verifiers need only the file, and say which root or checkpoint is to be compared."""
    store("key", "new", "signing.key", "--name", "example.com/kept")
    store("checkpoint", "--key", "signing.key", "--out", "signed.checkpoint")
    root = store("root").out.strip()
    cases: list[tuple[list[str], str]] = [
        ([], root),
        (["--checkpoint", "kept.checkpoint"], "a checkpoint that you trust"),
        (["--checkpoint", "signed.checkpoint"], "example.com/kept+"),
    ]
    for options, named in cases:
        made = store("prove", "atom", ATOM, *options, "-o", "one.memproof")
        assert made.code == 0, made.err
        told = store("verify-proof", "one.memproof")
        assert told.code == 0, told.err
        assert named in told.out.splitlines()[-1]
        answer = alone(capsys, "one.memproof")[1]
        assert {"verified": True, **store("verify-proof", "one.memproof", "--json").data} == answer
        assert answer["compare"] in told.out
        assert (answer["shown"][0]["body"]["content"], answer["shown"][0]["shows"]) == (
            "The kettle.",
            "LiveAtom",
        )


PINNED: list[tuple[int, list[str]]] = [
    (0, ["--root", "ROOT"]),
    (0, ["--root", "ROOT", "--size", "4"]),
    (0, ["--root", "ROOT", "atom", ATOM]),
    (4, ["--root", "00" * 32]),
    (4, ["--root", "ROOT", "--size", "3"]),
    (4, ["--root", "ROOT", "--store-id", STRANGER]),
    (4, ["--store-id", STRANGER]),
    (4, ["--checkpoint", "kept.checkpoint"]),
    (4, ["atom", ATOM, "tombstoned"]),
    (4, ["no-atom", ATOM]),
    (2, ["--size", "4"]),
    (2, ["--root", "ROOT", "--size", "\u0664"]),
    (2, ["--root", "ROOT", "--size", "04"]),
    (2, ["--root", "ROOT", "--size", " 4"]),
    (2, ["--root", "ROOT", "--size", "+4"]),
    (2, ["--root", "ROOT", "--size", "4_0"]),
    (2, ["--root", "ROOT", "--size", "-4"]),
    (2, ["--root", "root"]),
    (2, ["--store-id", "77777777777777777777777777777777"]),
    (2, ["--root", "ROOT", "--checkpoint", "kept.checkpoint"]),
    (2, ["atoms", ATOM]),
    (3, ["--checkpoint", "missing.note"]),
]


@pytest.mark.parametrize(("code", "options"), PINNED)
def test_what_the_caller_gives_is_compared(
    store: Cli, capsys: pytest.CaptureFixture[str], code: int, options: list[str]
) -> None:
    """A root, size, store or checkpoint of another file exits with 4, and wrong words with 2."""
    assert store("prove", "atom", ATOM, "-o", "one.memproof").code == 0
    root = store("root").out.strip()
    given = [root if word == "ROOT" else word for word in options]
    result = store("verify-proof", "one.memproof", *given)
    assert result.code == code, result.out + result.err
    found, answer = alone(capsys, "one.memproof", *as_standalone(given))
    assert found == code
    if not code:
        assert answer["compare"] is None


@pytest.mark.parametrize("command", [[], ["verify"]])
def test_the_word_verify_may_be_left_out(
    store: Cli, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """`python -m proofs FILE` and `python -m proofs verify FILE` are the same."""
    assert store("prove", "atom", ATOM, "-o", "one.memproof").code == 0
    assert standalone.main([*command, "one.memproof"]) == 0


def test_a_changed_file_is_refused(store: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """Both verifiers exit with 4 for a changed, a cut and an empty file, and for another file."""
    assert store("prove", "atom", ATOM, "-o", "one.memproof").code == 0
    raw = Path("one.memproof").read_bytes()
    changed = raw.replace(b"kettle", b"kittle")
    for data in (changed, raw[:-1], raw[:10], b"", b"The kettle.", Path("kept.checkpoint").read_bytes()):
        Path("changed.memproof").write_bytes(data)
        assert store("verify-proof", "changed.memproof").code == 4
        assert alone(capsys, "changed.memproof")[0] == 4


def test_verifiers_give_the_same_answer(store: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """`verify-proof --json` has the basis and the facts that `python -m proofs` prints."""
    store("prove", "tagged", "kitchen", "-o", "one.proof")
    options = trust(store)
    data = store("verify-proof", "one.proof", *options, "tagged", "kitchen", "--json").data
    _, answer = alone(capsys, "one.proof", *as_standalone(options), "tagged", "kitchen")
    assert {"verified": True, **data} == answer


def test_json_has_the_proof_or_the_file(store: Cli) -> None:
    """The JSON envelope has the bytes in hex, or the name of the file, and the size of the proof."""
    inline = store("prove", "no-term", "unicorns", "--json").data
    written = store("prove", "no-term", "unicorns", "-o", "one.proof", "--json").data
    raw = Path("one.proof").read_bytes()
    assert (inline["proof"], inline["file"]) == (raw.hex(), None)
    assert (written["proof"], written["file"], written["bytes"]) == (None, "one.proof", len(raw))
    assert (
        written["shown"]
        == inline["shown"]
        == [{"claim": "no-term unicorn", "shows": "TermUnused", "ordinals": 2, "about": ABOUT_TERMS}]
    )


ABOUT_TERMS = "the term after analysis, not the word; a word can have several terms"

FAILURES: list[tuple[int, list[str]]] = [
    (2, ["prove"]),
    (2, ["prove", "atoms", ATOM, "-o", "x"]),
    (2, ["prove", "atom", ATOM, "--claims", "claims.txt", "-o", "x"]),
    (2, ["prove", "--claims", "empty.txt", "-o", "x"]),
    (2, ["prove", "--claims", "twice.txt", "-o", "x"]),
    (2, ["prove", "--claims", "latin.txt", "-o", "x"]),
    (2, ["prove", "--claims", ".", "-o", "x"]),
    (4, ["prove", "atom", ATOM, "--checkpoint", "claims.txt", "-o", "x"]),
    (2, ["prove", "atom", ATOM, "--checkpoint", "kept.checkpoint", "--as-of", "1", "-o", "x"]),
    (2, ["prove", "atom", ATOM, "--as-of", "never", "-o", "x"]),
    (2, ["prove", "no-term", "two words", "-o", "x"]),
    (3, ["prove", "--claims", "missing.txt", "-o", "x"]),
    (3, ["prove", "atom", "7777", "-o", "x"]),
    (3, ["prove", "atom", STRANGER, "-o", "x"]),
    (3, ["prove", "event", "99", "-o", "x"]),
    (3, ["prove", "root", "ab" * 32, "-o", "x"]),
    (3, ["prove", "atom", ATOM, "--as-of", "99", "-o", "x"]),
    (3, ["prove", "atom", ATOM, "--checkpoint", "missing.note", "-o", "x"]),
    (6, ["prove", "atom", "6174", "-o", "x"]),
    (7, ["prove", "atom", ATOM, "tombstoned", "-o", "x"]),
    (7, ["prove", "no-atom", ATOM, "-o", "x"]),
    (7, ["prove", "no-term", "kettle", "-o", "x"]),
    (7, ["prove", "prefix", "1", "ab" * 32, "-o", "x"]),
    (7, ["prove", "atom", ATOM, "--checkpoint", "other.checkpoint", "-o", "x"]),
]


def files() -> None:
    """Create files in which claims and notes may be looked for."""
    Path("claims.txt").write_text(f"atom {ATOM}\n\nno-term unicorn\n")
    Path("empty.txt").write_text("\n \n")
    Path("twice.txt").write_text(f"atom {ATOM}\natom {ATOM} sealed\n")
    Path("latin.txt").write_bytes(b"tagged caf\xe9\n")
    kept = Path("kept.checkpoint").read_text().splitlines()
    other = "memroot.local/00000000-0000-4000-8000-000000000001"
    Path("other.checkpoint").write_text("\n".join([other, *kept[1:]]) + "\n")


@pytest.mark.parametrize(("code", "words"), FAILURES)
def test_what_cannot_be_proved_has_an_exit_code(store: Cli, code: int, words: list[str]) -> None:
    """Errors exit with 2 (usage), 3 (not found), 4 (bad note), 6 (ambiguous) or 7 (false), without a file."""
    files()
    result = store(*words, "--json")
    assert result.code == code, result.err
    assert result.envelope["status"] == "error"
    assert result.envelope["error"]["message"]
    assert not Path("x").exists()


def test_a_damaged_store_is_exit_code_4(store: Cli) -> None:
    """A value that was changed on the disk exits with 4, not as a false claim, and leaves no file."""
    assert store("tag", ATOM, "steel").code == store("root").code == 0
    with Engine.open("store", create=False) as engine:
        key = value_key("atoms", raw_id(1))
        raw = bytearray(backend_of(engine).get(key) or b"")
        raw[-1] ^= 1
        put_rows(backend_of(engine), {key: bytes(raw)})
    assert store("prove", "atom", ATOM, "-o", "x").code == 4
    assert not Path("x").exists()


UNTRUE: list[tuple[int, list[str]]] = [
    (4, ["one.proof", "atom", ATOM, "tombstoned"]),
    (4, ["one.proof", "atom", ATOM, "sealed"]),
    (4, ["one.proof", "no-atom", ATOM]),
    (4, ["one.proof", "--size", "1", "atom", ATOM]),
    (4, ["claims.txt", "atom", ATOM]),
    (4, ["empty.proof", "atom", ATOM]),
    (2, ["one.proof", "atom", "6174"]),
    (2, ["one.proof", "atoms", ATOM]),
    (2, ["bare.proof"]),
    (0, ["bare.proof", "atom", ATOM]),
    (4, ["bare.proof", "no-atom", ATOM]),
    (2, ["one.proof", "--claims", "claims.txt", "atom", ATOM]),
    (2, ["one.proof", "--claims", "latin.txt"]),
    (2, ["one.proof", "--checkpoint", "kept.checkpoint", "atom", ATOM]),
    (2, ["one.proof", "no-term", "Kettle"]),
    (2, ["one.proof", "tagged", ""]),
]


def test_a_tag_may_be_written_as_people_do(store: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """`engine verify-proof` folds a tag; `python -m proofs` has no Unicode tables and takes its identity."""
    assert store("prove", "tagged", "#Kitchen", "-o", "tagged.proof").code == 0
    options = trust(store)
    assert store("verify-proof", "tagged.proof", "tagged", "#Kitchen", *options).code == 0
    assert alone(capsys, "tagged.proof", "tagged", "kitchen", *as_standalone(options))[0] == 0
    assert alone(capsys, "tagged.proof", "tagged", "#Kitchen", *as_standalone(options))[0] == 2


@pytest.mark.parametrize(("code", "words"), UNTRUE)
def test_what_is_not_shown_has_an_exit_code(
    store: Cli, capsys: pytest.CaptureFixture[str], code: int, words: list[str]
) -> None:
    """Both verifiers exit with 4 if a proof does not show a claim, and with 2 if the claim is invalid."""
    files()
    Path("empty.proof").write_bytes(b"")
    assert store("prove", "atom", ATOM, "-o", "one.proof").code == 0
    Path("bare.proof").write_bytes(decode(Path("one.proof").read_bytes()).proof)
    options = trust(store)
    assert store("verify-proof", *words, *options).code == code
    assert alone(capsys, *words, *as_standalone(options))[0] == code


def test_a_missing_proof_is_not_found(store: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """Both verifiers exit with 3 for a missing file."""
    options = trust(store)
    assert store("verify-proof", "missing.proof", *options, "atom", ATOM).code == 3
    assert alone(capsys, "missing.proof", *as_standalone(options), "atom", ATOM)[0] == 3


def test_a_list_of_claims(store: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """The same list of claims proves and verifies, against the root and against an older note."""
    Path("claims.txt").write_text(f"atom {ATOM} live\nno-term unicorn\nno-atom {STRANGER}\nevent 1\n")
    for basis in (trust(store), ["--checkpoint", "kept.checkpoint"]):
        given = basis if basis[0] == "--checkpoint" else []
        made = store("prove", "--claims", "claims.txt", *given, "-o", "all.proof")
        assert (made.code, made.out.count("holds")) == (0, 4)
        assert store("verify-proof", "all.proof", *basis, "--claims", "claims.txt").code == 0
        assert alone(capsys, "all.proof", *as_standalone(basis), "--claims", "claims.txt")[0] == 0


def test_a_list_with_line_ends_of_windows(store: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """A list with CR LF line ends is the same list, and the CR belongs to no term."""
    Path("claims.txt").write_bytes(b"no-term unicorn\r\n\r\n")
    assert store("prove", "--claims", "claims.txt", "-o", "all.proof").code == 0
    options = trust(store)
    code, answer = alone(capsys, "all.proof", *as_standalone(options), "--claims", "claims.txt")
    assert (code, answer["shown"][0]["claim"]) == (0, "no-term unicorn")
    assert store("verify-proof", "all.proof", *options, "--claims", "claims.txt").code == 0


def test_as_of_says_what_was_replayed(store: Cli) -> None:
    """A proof of the past prints the number of replayed events on stderr."""
    result = store("prove", "no-atom", STRANGER, "--as-of", "1", "-o", "one.proof", "--json")
    assert (result.data["size"], result.data["replayed"]) == (2, 2)
    assert "2 events replayed" in result.err


@pytest.mark.parametrize("place", [".", "no/such/folder/x", "one.proof/x", ""])
def test_a_place_that_cannot_be_written(store: Cli, place: str) -> None:
    """An output file that cannot be written is an error, and nothing is left behind."""
    store("prove", "atom", ATOM, "-o", "one.proof")
    before = sorted(Path.cwd().iterdir())
    result = store("prove", "atom", ATOM, "-o", place, "--json")
    assert result.code in {1, 2, 3}, result.err
    assert "unexpected" not in result.err
    assert sorted(Path.cwd().iterdir()) == before


def test_a_proof_replaces_what_was_there(store: Cli) -> None:
    """-o replaces a whole file, and accepts `-` and names with spaces or dashes."""
    for name in ("one.proof", "one.proof", "with space", "./-dash", "é.proof"):
        assert store("prove", "atom", ATOM, "-o", name).code == 0
        assert Path(name).read_bytes().startswith(b"\x86\x70memroot-envelope\x03")


def test_a_proof_goes_into_a_pipe(store: Cli, surroundings: Path) -> None:
    """Without -o only the proof is on stdout, and the way to verify it is on stderr."""
    made = store("prove", "atom", ATOM, "-o", "one.proof")
    assert made.code == 0
    done = subprocess.run(
        [sys.executable, "-m", "engine", "prove", "atom", ATOM],
        cwd=surroundings,
        env={"ENGINE_STORE": str(surroundings / "store"), "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, Path("one.proof").read_bytes())
    assert b"python -m proofs FILE" in done.stderr
