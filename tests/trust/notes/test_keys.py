"""Keys are outside every store, private to their owner, and never sign two contradictory checkpoints."""

from __future__ import annotations

import fcntl
import stat
from pathlib import Path

import pytest

from backends.memory import MemoryBackend
from engine.base import outside_files
from engine.base.errors import (
    ConflictError,
    EngineError,
    InconsistentError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
)
from engine.engine import Engine
from engine.trust.notes.known_checkpoints import read_history
from engine.trust.notes.signing import load_key, new_key, signing, verify_ed25519
from proofs.note import Checkpoint, Note, format_note, origin_of, parse_note, verify_signatures
from proofs.vkey import parse_vkey
from tests.support.engines import copied_rows, engine_on
from tests.trust.notes.support import signed


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Return a key whose name is not that of a store."""
    new_key(tmp_path / "signing.key", "log.example")
    return tmp_path / "signing.key"


def test_a_new_key_is_its_owner_s_alone(tmp_path: Path) -> None:
    """A key file has the mode 0600 and Go's form, its vkey is beside it, and the key loads again."""
    made = new_key(tmp_path / "k", "log.example")
    text = (tmp_path / "k").read_text()
    assert stat.S_IMODE((tmp_path / "k").stat().st_mode) == 0o600
    assert text.startswith(f"PRIVATE+KEY+log.example+{made.key_id.hex()}+A")
    assert parse_vkey((tmp_path / "k.vkey").read_text().strip()) == made
    assert load_key(tmp_path / "k").verifier == made
    assert "seed" not in repr(load_key(tmp_path / "k"))


def test_two_new_keys_differ(tmp_path: Path) -> None:
    """New keys are random."""
    assert new_key(tmp_path / "a", "x").public != new_key(tmp_path / "b", "x").public


def test_go_s_example_key_loads(tmp_path: Path) -> None:
    """The private key in the documentation of Go's package `note` has the public half given there."""
    (tmp_path / "k").write_text(
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz\n"
    )
    (tmp_path / "k").chmod(0o600)
    assert load_key(tmp_path / "k").verifier.vkey == (
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    )


@pytest.mark.parametrize("there", ["k", "k.vkey"])
def test_nothing_is_overwritten_by_a_key(tmp_path: Path, there: str) -> None:
    """A key is not created if its file or the file of its vkey exists."""
    (tmp_path / there).write_text("mine")
    with pytest.raises(ConflictError):
        new_key(tmp_path / "k", "log.example")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(there, "mine")]


@pytest.mark.parametrize(
    "name", ["", "a b", "a+b", "a\nb", "a\0b", "a\x7fb", "a\u200bb", "\ud800", "a" * 1025]
)
def test_a_key_has_a_name_that_fits_a_signature_line(tmp_path: Path, name: str) -> None:
    """A name that does not fit a signature line is refused, and no file is created."""
    with pytest.raises(InvalidInputError):
        new_key(tmp_path / "k", name)
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_never_in_a_store(tmp_path: Path) -> None:
    """Keys in a LevelDB folder, or named as a file of a SQLite store, are neither created nor used."""
    (tmp_path / "db").mkdir()
    (tmp_path / "lock").touch()
    (tmp_path / "db" / "k").write_text("PRIVATE+KEY+x+00000000+AAAA\n")
    for make in (lambda: new_key(tmp_path / "db" / "new", "x"), lambda: load_key(tmp_path / "db" / "k")):
        with pytest.raises(RefusedError, match="inside the store"):
            make()
    elsewhere = tmp_path.parent / "other"
    elsewhere.mkdir()
    for name in ("notes.db", "notes.db-wal", "notes.db/k"):
        with pytest.raises(RefusedError, match="inside the store"):
            new_key(elsewhere / name, "x", elsewhere / "notes.db")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "\xff",
        "log.example+00000000+AAAA",
        "PRIVATE+KEY+log.example+00000000+AAAA",
        "PRIVATE+KEY+PeterNeumann+c74f20a4+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
        "PRIVATE+KEY+PeterNeumann+c74f20a3+BoEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
        "PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
        "PRIVATE+KEY+x+" + "A" * 10_000,
    ],
)
def test_what_is_no_key_is_refused_without_quoting_it(tmp_path: Path, text: str) -> None:
    """The error about a damaged key quotes no part of it."""
    (tmp_path / "k").write_text(text, encoding="latin-1")
    with pytest.raises(InvalidInputError) as caught:
        load_key(tmp_path / "k")
    assert "AYEKF" not in str(caught.value)
    with pytest.raises(NotFoundError):
        load_key(tmp_path / "none")


def test_a_signed_checkpoint_verifies_and_again_is_the_same(key: Path) -> None:
    """A store whose head is a checkpoint gives the same signed note again and appends no event."""
    with engine_on() as engine:
        engine.add("Text.")
        first, again = engine.checkpoint_note(key=key), engine.checkpoint_note(key=str(key))
    assert (first.changed, again.changed, first.note) == (True, False, again.note)
    note = parse_note(first.note.encode())
    assert verify_signatures(note, [load_key(key).verifier], verify_ed25519)[0] is not None
    assert note.checkpoint.origin == origin_of(bytes.fromhex(first.origin.partition("/")[2].replace("-", "")))


def test_a_store_that_went_back_is_not_signed_for(key: Path) -> None:
    """A copy from before the last signed checkpoint is refused before anything is written to it."""
    with engine_on() as engine:
        engine.add("Text.")
        before = copied_rows(engine.store.backend)
        engine.checkpoint_note(key=key)
    rows = dict(before.scan())
    with engine_on(before) as old:
        with pytest.raises(
            InconsistentError, match="rollback: the log has 2 events, but the known checkpoint covers 3"
        ) as caught:
            old.checkpoint_note(key=key)
        assert dict(before.scan()) == rows
    assert caught.value.known.splitlines()[1] == "3"


@pytest.mark.parametrize("more", [0, 3])
def test_a_store_that_forked_is_not_signed_for(key: Path, more: int) -> None:
    """A forked history of the same or a larger size is not signed."""
    with engine_on() as engine:
        fork = copied_rows(engine.store.backend)
        engine.add("Here.")
        engine.checkpoint_note(key=key)
    with engine_on(fork) as other:
        other.add("There.")
        other.checkpoint()
        for number in range(more):
            other.add(f"More {number}.")
        with pytest.raises(InconsistentError, match="fork" if more else "equivocation"):
            other.checkpoint_note(key=key)
        assert other.checkpoint_note().note, "unsigned, it can still be printed"


def test_a_store_that_went_on_is_signed_for(key: Path) -> None:
    """Each later checkpoint replaces the last one on record, and several stores may share a key."""
    with engine_on() as engine, Engine(MemoryBackend()) as other:
        for number in range(5):
            engine.add(f"Text {number}.")
            note = engine.checkpoint_note(key=key)
            assert other.checkpoint_note(key=key).size == 2
    kept = [parse_note(path.read_bytes()).checkpoint.size for path in sorted(key.parent.glob("*.last"))]
    assert sorted(kept) == [2, note.size]


def test_what_was_signed_is_kept_before_it_is_given_out(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the signed note cannot be recorded, no signature is returned and the former record stays."""
    with engine_on() as engine:
        engine.checkpoint_note(key=key)
        (kept,) = key.parent.glob("*.last")
        before = kept.read_bytes()
        engine.add("Text.")

        def full(path: Path) -> None:
            raise OSError(28, "No space left on device", str(path))

        monkeypatch.setattr(outside_files, "fsync_path", full)
        with pytest.raises(RefusedError, match="No space left"):
            engine.checkpoint_note(key=key)
        assert (kept.read_bytes(), sorted(key.parent.glob(".*"))) == (before, [])
        monkeypatch.undo()
        assert engine.checkpoint_note(key=key).size == 4


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_key_whose_memory_is_damaged_does_not_sign(key: Path, damage: bytes | None) -> None:
    """A key with a damaged record of its last note does not sign."""
    with engine_on() as engine:
        note = parse_note(engine.checkpoint_note(key=key).note.encode())
        (kept,) = key.parent.glob("*.last")
        other = Note(note.checkpoint, (signed(note.checkpoint),))
        kept.write_bytes(format_note(other) if damage is None else damage)
        with pytest.raises(RefusedError, match="the last note that this key signed"):
            engine.checkpoint_note(key=key)


def test_what_was_signed_last_is_of_the_store_it_is_named_by(key: Path) -> None:
    """Exchanged records of two stores are refused."""
    with engine_on() as engine, Engine(MemoryBackend()) as other:
        for one in (engine, other):
            one.checkpoint_note(key=key)
        first, second = key.parent.glob("*.last")
        kept = first.read_bytes()
        second.replace(first)
        second.write_bytes(kept)
        for one in (engine, other):
            with pytest.raises(RefusedError, match=r"of a different store, memroot\.local/"):
                one.checkpoint_note(key=key)


def test_the_signer_itself_compares(key: Path) -> None:
    """A signer refuses checkpoints that are not in the history or do not continue the last signed one."""
    with engine_on() as engine:
        fork = copied_rows(engine.store.backend)
        engine.add("Here.")
        ours = read_history(engine.store.backend, [1, 2])
    with engine_on(fork) as other:
        other.add("There.")
        theirs = read_history(fork, [1, 2])
    with signing(key) as signer:
        with pytest.raises(InconsistentError):
            signer.sign(theirs.head, ours)
        signer.sign(ours.head, ours)
        with pytest.raises(InconsistentError):
            signer.sign(theirs.head, theirs)
        with pytest.raises(RefusedError, match="later"):
            signer.sign(Checkpoint(ours.origin, 1, ours.roots[1]), ours)


def test_a_key_of_another_store_does_not_sign(tmp_path: Path) -> None:
    """A key that is named as a store's origin signs for that store only."""
    new_key(tmp_path / "k", origin_of(bytes(16)))
    with engine_on() as engine, pytest.raises(RefusedError, match="the key belongs to"):
        engine.checkpoint_note(key=tmp_path / "k")


def test_a_key_that_is_missing_leaves_the_journal_alone(tmp_path: Path) -> None:
    """A missing key is an error before an event is written."""
    with engine_on() as engine:
        with pytest.raises(EngineError):
            engine.checkpoint_note(key=tmp_path / "none")
        assert engine.size == 1


@pytest.mark.parametrize("key", ["", ".", "a\0b", "/", 7, b"k"])
def test_what_is_no_path_of_a_key_is_invalid(key: str) -> None:
    """A key argument that is not a path is refused before an event is written."""
    with engine_on() as engine:
        with pytest.raises(InvalidInputError):
            engine.checkpoint_note(key=key)
        assert engine.size == 1


def test_what_is_no_checkpoint_cannot_be_known() -> None:
    """`known` accepts parsed checkpoints only."""
    with engine_on() as engine:
        for known in (["memroot.local/x\n7\n"], [None], 7):
            with pytest.raises(InvalidInputError):
                engine.checkpoint_note(known=known)  # type: ignore[arg-type]
        assert engine.size == 1


def test_a_key_signs_for_one_at_a_time(key: Path) -> None:
    """A signer locks its key against every other signer, by whatever name the file is reached."""
    (key.parent / "link").symlink_to(key)
    with signing(key.parent / "link"), key.open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with key.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_what_was_signed_last_lies_beside_the_key_itself(key: Path, tmp_path: Path) -> None:
    """The record of a key that is used through a link is beside the key, not beside the link."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link").symlink_to(key)
    with engine_on() as engine:
        before = copied_rows(engine.store.backend)
        engine.checkpoint_note(key=key)
    with engine_on(before) as old, pytest.raises(InconsistentError, match="rollback"):
        old.checkpoint_note(key=tmp_path / "elsewhere" / "link")
