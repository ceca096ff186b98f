"""Damage to the state of the log and to other rows under `meta/` is found or harmless, and can be healed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.base import Backend
from backends.memory import MemoryBackend
from engine.base.errors import BusyError, CorruptionError, EngineError
from engine.engine import Engine
from engine.followers.base import void_cursor
from engine.followers.records import Records
from engine.ledger.journal import Cursor, encode_cursor, read_log, read_raw
from engine.ledger.layout import DREAM, ERASURE, LOG, cursor_key, journal_key, payload_key
from engine.store.maintenance import copy, rebuild
from engine.store.replay import append
from engine.trust.audit.verify import verify
from tests.support.engines import backend_of, copied_rows, engine_on, put_rows
from tests.support.faults import Overtaken, flip_bit
from tests.support.workloads import commands, id_of


def filled(count: int = 300) -> Engine:
    """Return an engine with `count` commands, whose followers are up to date."""
    engine = engine_on()
    engine.apply(commands(count, seed=15))
    engine.catch_up()
    return engine


ENGINE = filled()
STORE = backend_of(ENGINE)
ROOT = ENGINE.root().root


def older() -> bytes | None:
    """Return the state of the log of the same store, before its last events."""
    return backend_of(filled(290)).get(LOG)


def flipped(at: int) -> bytes:
    """Return the state of the log with one bit changed in the byte `at`, counted from the end."""
    row = bytearray(STORE.get(LOG) or b"")
    row[-at] ^= 4
    return bytes(row)


DAMAGE = {
    "hash of the newest events": flipped(1),
    "hash of the oldest events": flipped(32 * read_log(STORE).size.bit_count()),
    "size": flipped(32 * read_log(STORE).size.bit_count() + 1),
    "missing": None,
    "junk": b"\x80",
    "older": older(),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_log_state_is_found_when_the_store_is_opened(name: str) -> None:
    """Opening the store raises CorruptionError, so that no event is added to a wrong log."""
    store = copied_rows(STORE)
    put_rows(store, {LOG: DAMAGE[name]})
    with pytest.raises(CorruptionError):
        engine_on(store)


@pytest.mark.parametrize("name", DAMAGE)
def test_a_log_state_damaged_while_the_store_is_open_is_found(name: str) -> None:
    """A command is refused, and nothing is written."""
    store = copied_rows(STORE)
    engine = engine_on(store)
    put_rows(store, {LOG: DAMAGE[name]})
    before = dict(store.scan())
    with pytest.raises(CorruptionError):
        engine.add("one more")
    assert dict(store.scan()) == before


@pytest.mark.parametrize("name", ["hash of the newest events", "hash of the oldest events"])
def test_no_root_is_formed_over_a_log_state_that_was_damaged_while_the_store_is_open(name: str) -> None:
    """`root` raises CorruptionError instead of a root that no replay would give."""
    store = copied_rows(STORE)
    engine = engine_on(store)
    put_rows(store, {LOG: DAMAGE[name]})
    with pytest.raises(CorruptionError):
        engine.root()


@pytest.mark.parametrize("name", DAMAGE)
def test_a_rebuild_heals_a_damaged_log_state(name: str) -> None:
    """After a rebuild the store has all its rows again."""
    store = copied_rows(STORE)
    put_rows(store, {LOG: DAMAGE[name]})
    assert rebuild(store).root == ROOT
    assert dict(store.scan()) == dict(STORE.scan())


CURSORS = {
    "missing": None,
    "void": void_cursor(),
    "of another journal": encode_cursor(Cursor(Records.version, 5, bytes([7] * 32))),
}


@pytest.mark.parametrize("name", CURSORS)
def test_a_rebuild_heals_a_missing_log_state_whatever_the_cursor_says(name: str) -> None:
    """If the cursor of the records does not name the header before it, all headers are counted."""
    store = copied_rows(STORE)
    put_rows(store, {LOG: None, cursor_key("records"): CURSORS[name]})
    assert rebuild(store).root == ROOT
    assert dict(store.scan()) == dict(STORE.scan())


def overtaken(inner: Backend, family: bytes, act: Callable[[Backend], object]) -> Backend:
    """Return a handle that lets another process act before it writes a row of a family."""
    return Overtaken(inner, lambda batch: any(key.startswith(family) for key in batch.rows), act)


def test_a_rebuild_keeps_events_of_a_process_that_was_faster() -> None:
    """While it reads the journal, another one repairs the log and adds an event: the rebuild is refused."""
    store = copied_rows(STORE)
    put_rows(store, {LOG: DAMAGE["junk"]})

    def act(backend: Backend) -> None:
        rebuild(backend)
        engine_on(backend).add("one more")

    with pytest.raises(BusyError, match="another process"):
        rebuild(overtaken(store, LOG, act))
    assert read_log(store).size == read_log(STORE).size + 1
    assert verify(store).ok


def test_a_rebuild_keeps_an_erasure_that_happened_meanwhile() -> None:
    """Its row about an atom that was erased again is not replaced by the row about the first time."""
    engine = engine_on()
    engine.add("to be erased", id=id_of(1))
    engine.erase(id_of(1), "asked for", probe=False)
    engine.add("another text", id=id_of(1), force=True)
    store = backend_of(engine)
    put_rows(store, {ERASURE + b"nothing": b"junk"})

    def act(backend: Backend) -> None:
        engine_on(backend).erase(id_of(1), "asked again", probe=False)

    rebuild(overtaken(store, ERASURE, act))
    rebuild(store)
    assert verify(store).ok


def refused_with_a_changed(key: bytes) -> None:
    """Change one bit of a row, and check that a rebuild is refused and changes no row."""
    store = copied_rows(STORE)
    row = STORE.get(key) or b""
    put_rows(store, {key: flip_bit(row, 8 * len(row) - 8)})
    before = dict(store.scan())
    with pytest.raises(CorruptionError):
        rebuild(store)
    assert dict(store.scan()) == before


@pytest.mark.parametrize("seq", [0, 100, read_log(STORE).size - 1])
def test_a_rebuild_does_not_take_a_changed_header_for_a_damaged_log_state(seq: int) -> None:
    """With one bit changed in a header, a rebuild is refused and changes no row."""
    refused_with_a_changed(journal_key(seq))


def test_a_lost_cursor_of_the_log_in_a_small_store_does_no_harm() -> None:
    """Under 256 events the follower `log` has no rows: the store verifies, and the cursor is made again."""
    engine = filled(100)
    store = backend_of(engine)
    before = dict(store.scan())
    put_rows(store, {cursor_key("log"): None})
    assert verify(store).ok
    reopened = engine_on(store)
    reopened.catch_up()
    assert dict(store.scan()) == before


@pytest.mark.parametrize("junk", [b"", b"\x80", b"\xff" * 40])
def test_junk_in_the_cursor_of_the_dreamer_does_no_harm(junk: bytes) -> None:
    """Dreaming begins again, and adds what it adds without the junk."""
    stores = [copied_rows(STORE), copied_rows(STORE)]
    put_rows(stores[1], {DREAM: junk})
    for store in stores:
        engine_on(store).dream()
    assert dict(stores[0].scan()) == dict(stores[1].scan())


@pytest.mark.parametrize("seq", [0, 100, read_log(STORE).size - 1])
def test_a_rebuild_of_a_damaged_journal_deletes_nothing(seq: int) -> None:
    """Payloads, too, are checked before anything is deleted."""
    refused_with_a_changed(payload_key(seq))


def _broken_off() -> tuple[MemoryBackend, MemoryBackend]:
    """Return a store with an erased atom, and a copy that ends before the event `erased`."""
    source = MemoryBackend()
    engine = engine_on(source)
    engine.add("to be erased", id=id_of(1))
    engine.add("another", id=id_of(2))
    engine.erase(id_of(1), "asked for", probe=False)
    target = MemoryBackend()
    append(target, list(read_raw(source, 0, read_log(source).size - 1)), None)
    return source, target


def test_a_copy_broken_off_before_an_erasure_is_finished_by_copying_again() -> None:
    """A command on the atom is refused in the unfinished copy, and the finished copy has all rows."""
    source, target = _broken_off()
    with pytest.raises(EngineError):
        engine_on(target).add("once more", id=id_of(1), force=True)
    copy(source, target)
    engine_on(source).catch_up()
    assert dict(target.scan()) == dict(source.scan())
    assert verify(target).ok


def test_a_rebuild_of_a_copy_broken_off_before_an_erasure_loses_nothing() -> None:
    """The row that says why a payload is missing stays, and copying again finishes the copy."""
    source, target = _broken_off()
    rebuild(target)
    copy(source, target)
    assert verify(target).ok
