"""Rows that a handle keeps are those of the snapshot that reads them, whoever writes."""

from __future__ import annotations

from backends.base import Backend, Batch
from backends.postgresql.postgresql_backend import PostgreSQLBackend
from backends.postgresql.postgresql_reads import KEPT_BYTES_MAX, VALUE_BYTES_MAX, RowCache, State
from tests.support.postgresql import shared_server

FIRST, SECOND, OTHER = State(1, b"token  1"), State(2, b"token  2"), State(2, b"token  x")


def opened(name: str) -> PostgreSQLBackend:
    """Open a memory of the shared server."""
    return PostgreSQLBackend(shared_server().url.removeprefix("postgresql:"), memory=name)


def batch_of(rows: dict[bytes, bytes | None]) -> Batch:
    """Return a batch; None deletes a row."""
    batch = Batch()
    batch.rows.update(rows)
    return batch


def read(backend: Backend) -> tuple[list[bytes | None], list[tuple[bytes, bytes]]]:
    """Return the rows `a` and `b` and a scan, from a new snapshot."""
    with backend.snapshot() as rows:
        return rows.multi_get([b"a", b"b"]), list(rows.scan(b"a", b"c"))


def test_a_write_of_another_handle_is_seen_at_once() -> None:
    """A snapshot that begins after a write has its rows, although older ones were kept."""
    with opened("kept-other") as backend, opened("kept-other") as other:
        backend.write(batch_of({b"a": b"1", b"b": b"1"}))
        assert read(backend) == ([b"1", b"1"], [(b"a", b"1"), (b"b", b"1")])
        other.write(batch_of({b"a": b"2", b"b": None}))
        assert read(backend) == ([b"2", None], [(b"a", b"2")])


def test_an_own_write_changes_the_kept_rows() -> None:
    """After a write of the handle itself, kept rows and scans have its changes."""
    with opened("kept-own") as backend:
        backend.write(batch_of({b"a": b"1", b"b": b"1"}))
        read(backend)
        backend.write(batch_of({b"a": b"2", b"b": None}))
        assert read(backend) == ([b"2", None], [(b"a", b"2")])


def test_an_open_snapshot_keeps_its_moment() -> None:
    """Rows kept after a write are not handed out by a snapshot that began before."""
    with opened("kept-moment") as backend:
        backend.write(batch_of({b"a": b"1"}))
        with backend.snapshot() as before:
            backend.write(batch_of({b"a": b"2"}))
            assert read(backend)[0] == [b"2", None]
            assert before.get(b"a") == b"1"
            assert list(before.scan()) == [(b"a", b"1")]


def test_a_write_that_a_guard_stopped_changes_no_kept_row() -> None:
    """The rows of a batch that was not applied are not kept."""
    kept = RowCache()
    kept.enter(FIRST)
    kept.keep(FIRST, {b"a": b"1"})
    kept.wrote(FIRST, SECOND, {})
    assert kept.find(SECOND, [b"a"]) == {b"a": b"1"}


def test_another_history_with_as_many_writes_is_another_state() -> None:
    """After a fail-over to a server that lacks a write, the count may repeat; the token does not."""
    kept = RowCache()
    kept.enter(SECOND)
    kept.keep(SECOND, {b"a": b"1"})
    kept.enter(OTHER)
    assert kept.find(OTHER, [b"a"]) == {}
    kept.wrote(SECOND, State(3, b"token  3"), {b"b": b"1"})
    assert kept.find(State(3, b"token  3"), [b"a", b"b"]) == {b"b": b"1"}


def test_a_late_snapshot_does_not_replace_newer_rows() -> None:
    """Rows that were read in an older state are not kept."""
    kept = RowCache()
    kept.enter(SECOND)
    kept.enter(FIRST)
    kept.keep(FIRST, {b"a": b"old"})
    kept.keep_scan(FIRST, (b"", None, False), [(b"a", b"old")])
    assert kept.find(FIRST, [b"a"]) == kept.find(SECOND, [b"a"]) == {}
    assert kept.find_scan(SECOND, (b"", None, False)) is None


def test_the_kept_rows_are_bounded() -> None:
    """The oldest rows go first; a large value is not kept at all."""
    kept = RowCache()
    kept.enter(FIRST)
    for number in range(2 * KEPT_BYTES_MAX // 1000):
        kept.keep(FIRST, {b"%d" % number: bytes(1000)})
    assert kept._bytes <= KEPT_BYTES_MAX
    assert kept.find(FIRST, [b"0"]) == {}
    assert len(kept.find(FIRST, [b"%d" % number])) == 1
    kept.keep(FIRST, {b"large": bytes(VALUE_BYTES_MAX + 1)})
    assert kept.find(FIRST, [b"large"]) == {}
