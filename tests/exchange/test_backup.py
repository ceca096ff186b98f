"""Backups, stores made from them, and refusals if something else is at the target."""

from __future__ import annotations

import errno
import os
import signal
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.base.errors import (
    ConflictError,
    CorruptionError,
    EngineError,
    InconsistentError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    VerificationError,
)
from engine.commands import Add
from engine.engine import Engine
from engine.exchange.backup import backup, export_to, import_journal, verify_backup
from engine.trust.notes.trusted_keys import read_note
from tests.support import children, workloads
from tests.support.engines import after, ticking
from tests.support.leveldb import needs_leveldb

pytestmark = pytest.mark.slow

KINDS = [pytest.param("leveldb", marks=needs_leveldb), "sqlite"]


@pytest.fixture
def engine() -> Engine:
    """Return a store with events of all kinds."""
    return after(workloads.commands(60), 20)


def names(folder: Path) -> set[str]:
    """Return the names in a folder, without lock files."""
    return {path.name for path in folder.iterdir() if not path.name.endswith(("-lock", "-wal-mark"))}


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_comes_back_from_its_backup(engine: Engine, tmp_path: Path, kind: str) -> None:
    """A store made from a backup has the same root and verifies."""
    found = backup(engine.store, tmp_path / "b")
    assert found == engine.root()
    url = f"{kind}:{tmp_path / 'new' / 'store'}"
    restored = import_journal(tmp_path / "b", url)
    assert (restored.created, restored.events, restored.root) == (True, engine.size, found.root)
    with Engine.open(url, create=False) as again:
        assert again.verify(expect=found.root).ok
        again.add("It goes on.")
    assert names(tmp_path / "new") == {"store"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_backup_leaves_nothing(engine: Engine, tmp_path: Path, kind: str) -> None:
    """Importing a damaged backup creates no store and does not change an existing one."""
    backup(engine.store, tmp_path / "b")
    raw = bytearray((tmp_path / "b").read_bytes())
    raw[len(raw) // 2] ^= 1
    (tmp_path / "bad").write_bytes(raw)
    url = f"{kind}:{tmp_path / 'store'}"
    with pytest.raises(CorruptionError, match=r"bad line \d+: "):
        import_journal(tmp_path / "bad", url)
    with pytest.raises(CorruptionError, match=r"bad line \d+: "):
        verify_backup(tmp_path / "bad")
    assert names(tmp_path) == {"b", "bad"}
    import_journal(tmp_path / "b", url)
    with pytest.raises(CorruptionError):
        import_journal(tmp_path / "bad", url)
    with Engine.open(url) as again:
        assert again.verify(expect=engine.root().root).ok


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_that_is_the_beginning_is_brought_forward(engine: Engine, tmp_path: Path, kind: str) -> None:
    """Importing into an older copy of the store appends the missing events and gives the same root."""
    url = f"{kind}:{tmp_path / 'store'}"
    backup(engine.store, tmp_path / "b")
    import_journal(tmp_path / "b", url)
    engine.add("More.")
    backup(engine.store, tmp_path / "b")
    restored = import_journal(tmp_path / "b", url)
    assert (restored.created, restored.events) == (False, 1)
    assert import_journal(tmp_path / "b", url).events == 0
    with Engine.open(url) as again:
        assert again.verify(expect=engine.root().root).ok


def test_any_other_store_is_refused(engine: Engine, tmp_path: Path) -> None:
    """An import into a longer, forked or different store, or into something else, is refused."""
    backup(engine.store, tmp_path / "b")
    url = f"sqlite:{tmp_path / 'store'}"
    import_journal(tmp_path / "b", url)
    with Engine.open(url) as longer:
        longer.add("More.")
        size = longer.size
    with pytest.raises(ConflictError, match="longer"):
        import_journal(tmp_path / "b", url)
    engine.add("Something else.")
    engine.add("And more.")
    backup(engine.store, tmp_path / "b")
    with pytest.raises(ConflictError):
        import_journal(tmp_path / "b", url)
    with Engine.open(url) as longer:
        assert longer.size == size
    with Engine.open(f"sqlite:{tmp_path / 'foreign'}") as other:
        other.add("A.")
    with pytest.raises(ConflictError, match="not the store that was exported"):
        import_journal(tmp_path / "b", f"sqlite:{tmp_path / 'foreign'}")
    (tmp_path / "text").write_text("no store")
    with pytest.raises(EngineError):
        import_journal(tmp_path / "b", f"sqlite:{tmp_path / 'text'}")
    assert (tmp_path / "text").read_text() == "no store"
    with pytest.raises(InvalidInputError):
        import_journal(tmp_path / "b", "memory:")


def test_what_was_erased_since_is_not_left_behind(tmp_path: Path) -> None:
    """An import that erases content is refused for an older copy of the store, but not for a new store."""
    engine = after([Add("Secretword.", id=workloads.id_of(0)), Add("b")])
    old, new = (f"sqlite:{tmp_path / name}" for name in ("old", "new"))
    backup(engine.store, tmp_path / "b")
    import_journal(tmp_path / "b", old)
    engine.erase(workloads.id_of(0), "asked to")
    root = backup(engine.store, tmp_path / "b").root
    with pytest.raises(RefusedError, match="erased"):
        import_journal(tmp_path / "b", old)
    assert import_journal(tmp_path / "b", new).root == root
    assert import_journal(tmp_path / "b", new).events == 0
    with Engine.open(new) as again:
        assert again.verify(expect=root).ok
    assert b"Secretword" not in (tmp_path / "new").read_bytes()


def test_a_backup_takes_the_place_of_an_earlier_one(engine: Engine, tmp_path: Path) -> None:
    """A backup replaces an earlier one of the same store, unless the store lost events or was forked."""
    file = tmp_path / "b"
    backup(engine.store, file)
    url = f"sqlite:{tmp_path / 'old'}"
    import_journal(file, url)
    engine.add("More.")
    newer = backup(engine.store, file)
    raw = file.read_bytes()
    with Engine.open(url) as old:
        with pytest.raises(InconsistentError, match="rollback"):
            backup(old.store, file)
        old.add("Another way.")
        with pytest.raises(InconsistentError, match="equivocation"):
            backup(old.store, file)
    with Engine.open("memory:") as other, pytest.raises(InconsistentError, match="another store"):
        backup(other.store, file)
    assert file.read_bytes() == raw
    assert verify_backup(file, expect=newer.root) == newer


def test_nothing_else_is_written_over(engine: Engine, tmp_path: Path) -> None:
    """A backup does not overwrite other files, folders or links, and an export overwrites nothing."""
    (tmp_path / "text").write_text("kept")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "text")
    for name in ("text", "folder", "link"):
        with pytest.raises(RefusedError):
            backup(engine.store, tmp_path / name)
        with pytest.raises(RefusedError):
            export_to(engine.store, tmp_path / name)
    assert (tmp_path / "text").read_text() == "kept"
    backup(engine.store, tmp_path / "b")
    with pytest.raises(RefusedError, match="exists already"):
        export_to(engine.store, tmp_path / "b")
    assert names(tmp_path) == {"text", "folder", "link", "b"}


def test_a_past_memory_is_backed_up_like_any_other(engine: Engine, tmp_path: Path) -> None:
    """A backup as of an earlier event equals the backup made at that event."""
    then = engine.backup(tmp_path / "then")
    engine.add("More.")
    with engine.as_of(then.size - 1) as past:
        assert past.backup(tmp_path / "past") == then
    assert (tmp_path / "past").read_bytes() == (tmp_path / "then").read_bytes()


def test_only_its_owner_may_read_a_backup(engine: Engine, tmp_path: Path) -> None:
    """A backup is readable only by its owner."""
    backup(engine.store, tmp_path / "b")
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600


def test_a_backup_is_of_one_head_while_others_write(tmp_path: Path) -> None:
    """A backup made while others write contains a complete store as of one head."""
    url = f"sqlite:{tmp_path / 'store'}"
    with Engine.open(url, clock=ticking()) as engine, Engine.open(url, clock=ticking()) as other:
        engine.apply([Add(f"text {number}") for number in range(300)])
        done = threading.Event()

        def write() -> None:
            number = 0
            while not done.is_set():
                other.add(f"other {number}")
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            found = [backup(engine.store, tmp_path / "b") for _ in range(5)]
        finally:
            done.set()
            writer.join()
        assert verify_backup(tmp_path / "b") == found[-1]
        assert engine.root(as_of=found[-1].size - 1) == found[-1]
        assert other.size > found[0].size


BACK_UP = """
import os, signal, sys
from engine.engine import Engine
from engine.exchange import backup as backups
writes = 0
whole = backups.event_line
def line(event):
    global writes
    writes += 1
    if writes == 30:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(event)
backups.event_line = line
with Engine.open(sys.argv[1]) as engine:
    backups.backup(engine.store, sys.argv[2])
"""


def test_a_killed_backup_leaves_the_earlier_one(engine: Engine, tmp_path: Path) -> None:
    """A killed backup leaves the earlier one in place, and the next run removes its temporary files."""
    file, url = tmp_path / "b", f"sqlite:{tmp_path / 'store'}"
    backup(engine.store, file)
    import_journal(file, url)
    raw = file.read_bytes()
    with Engine.open(url) as again:
        again.add("More.")
    code, _ = children.run(BACK_UP, url, file)
    assert code == -signal.SIGKILL
    assert file.read_bytes() == raw
    assert any(name.startswith(".b.new-") for name in names(tmp_path))
    with Engine.open(url) as again:
        backup(again.store, file)
    assert not any(name.startswith(".b.new-") for name in names(tmp_path))


def test_what_a_backup_must_be(engine: Engine, tmp_path: Path) -> None:
    """Verification of a backup checks the expected root, checkpoints and that the file exists."""
    file = tmp_path / "b"
    note = engine.checkpoint_note()
    (tmp_path / "n").write_text(note.note)
    found = backup(engine.store, file)
    kept = read_note(tmp_path / "n")
    assert verify_backup(file, expect=found.root.upper(), notes=[kept]) == found
    with pytest.raises(VerificationError, match="complete, but"):
        verify_backup(file, expect="0" * 64)
    with pytest.raises(InvalidInputError):
        verify_backup(file, expect="abc")
    shorter = after(workloads.commands(60), 20)
    backup(shorter.store, tmp_path / "c")
    with pytest.raises(InconsistentError):
        verify_backup(tmp_path / "c", notes=[kept])
    for missing in (tmp_path / "no", tmp_path):
        with pytest.raises((NotFoundError, InvalidInputError)):
            verify_backup(missing)
        with pytest.raises((NotFoundError, InvalidInputError)):
            import_journal(missing, f"sqlite:{tmp_path / 's'}")


def test_nothing_is_left_where_there_is_no_room(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk gives an EngineError and leaves no file."""

    def full(event: object) -> bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("engine.exchange.backup.event_line", full)
    with pytest.raises(EngineError, match="disk is full"):
        backup(engine.store, tmp_path / "b")
    assert names(tmp_path) == set()


@pytest.mark.parametrize("write", [backup, export_to])
def test_a_file_that_is_not_what_was_written_is_not_kept(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[..., object]
) -> None:
    """The file is read back from the disk; if a bit has changed, the command fails, and nothing appears."""
    places = iter((3, 200, 4000, -2))

    def decay(path: Path) -> None:
        raw = bytearray(path.read_bytes())
        raw[next(places)] ^= 1
        path.write_bytes(raw)

    monkeypatch.setattr("engine.files.atomic_output.drop_cached", decay)
    for _ in range(4):
        with pytest.raises(CorruptionError, match="the bytes that were written"):
            write(engine.store, tmp_path / "b")
        assert list(tmp_path.iterdir()) == []


def test_a_bad_backup_does_not_replace_a_good_one(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the new file cannot be read back, the earlier backup is still there."""
    backup(engine.store, tmp_path / "b")
    before = (tmp_path / "b").read_bytes()
    engine.add("One more text.")
    monkeypatch.setattr("engine.files.atomic_output.drop_cached", lambda path: os.truncate(path, len(before)))
    with pytest.raises(CorruptionError):
        backup(engine.store, tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == before
