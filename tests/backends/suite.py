"""Tests that every backend must pass; a new one subclasses `BackendSuite` and defines how it is opened.

Nothing is skipped: backends declare their differences as `Capabilities`, and the tests expect what is
declared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from backends.base import KEY_BYTES_MAX, Backend, Batch, Capabilities, Row, prefix_end
from backends.errors import BackendClosed, BackendError
from tests.backends.machine import machine_for
from tests.support.soak import times

ROWS: list[Row] = [
    (b"\x00", b"zero"),
    (b"a", b"1"),
    (b"a\x00", b"2"),
    (b"a\xff", b"3"),
    (b"ab", b""),
    (b"b", b"5"),
    (b"\x7f", b"6"),
    (b"\x80", b"7"),
    (b"\xff", b"8"),
    (b"\xff\xff", b"9"),
]
ORDERED = sorted(ROWS)


def batch_of(rows: Iterable[tuple[bytes, bytes | None]]) -> Batch:
    """A batch that puts `rows`, and deletes those whose value is None."""
    batch = Batch()
    batch.rows |= dict(rows)
    return batch


class Opening(ABC):
    """The way a backend is opened, and the capabilities that it declares."""

    capabilities: Capabilities

    @abstractmethod
    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open the only store of `folder`, which exists and is empty at first."""

    @pytest.fixture
    def backend(self, tmp_path: Path) -> Iterator[Backend]:
        """A new, empty store."""
        with self.open(tmp_path) as backend:
            yield backend


class BackendSuite(Opening):
    """Tests of the map. Guards, threads and processes are in the modules beside this one."""

    def test_it_declares_what_it_can_do(self, backend: Backend) -> None:
        """The capabilities are the expected ones."""
        assert backend.capabilities == self.capabilities

    def test_a_missing_row_is_none(self, backend: Backend) -> None:
        """Reading a missing row returns None, alone and among other rows."""
        backend.write(batch_of([(b"a", b"1")]))
        assert backend.get(b"b") is None
        assert backend.multi_get([b"b", b"a", b"b", b"a"]) == [None, b"1", None, b"1"]

    def test_many_rows_at_once_come_in_the_order_asked(self, backend: Backend) -> None:
        """multi_get returns one value for each key, in the order of the keys, also for hundreds of keys."""
        backend.write(batch_of([(b"%03d" % n, b"v%d" % n) for n in range(0, 330, 2)]))
        keys = [b"%03d" % n for n in reversed(range(330))]
        with backend.snapshot() as snapshot:
            assert snapshot.multi_get(keys) == backend.multi_get(keys) == [backend.get(key) for key in keys]
        assert backend.multi_get([]) == []

    def test_rows_come_in_byte_order(self, backend: Backend) -> None:
        """Keys are ordered as unsigned bytes; a prefix comes before longer keys."""
        backend.write(batch_of(ROWS))
        assert list(backend.scan()) == ORDERED

    def test_reverse_is_the_same_rows_backwards(self, backend: Backend) -> None:
        """A reverse scan yields exactly the rows of the forward scan in reverse order."""
        backend.write(batch_of(ROWS))
        for start, end in ((b"", None), (b"a", b"b"), (b"a\x00", b"\xff"), (b"zz", b"zzz")):
            forward = list(backend.scan(start, end))
            assert list(backend.scan(start, end, reverse=True)) == forward[::-1]

    def test_the_start_is_in_and_the_end_is_out(self, backend: Backend) -> None:
        """A scan includes start and excludes end; the bounds need not be keys; an empty range has no rows."""
        backend.write(batch_of(ROWS))
        keys = [key for key, _ in ORDERED]
        for start in (b"", b"a", b"aa", b"\xff\xff\xff"):
            for end in (None, b"", b"a", b"ac", b"b", b"\xff\xff"):
                expected = [key for key in keys if key >= start and (end is None or key < end)]
                assert [key for key, _ in backend.scan(start, end)] == expected

    def test_a_prefix_scan_has_the_prefix_and_nothing_else(self, backend: Backend) -> None:
        """scan_prefix yields exactly the rows that begin with the prefix, also for 0xff and an empty one."""
        backend.write(batch_of(ROWS))
        for prefix in (b"", b"a", b"a\xff", b"\xff", b"\xff\xff", b"c"):
            expected = [row for row in ORDERED if row[0].startswith(prefix)]
            assert list(backend.scan_prefix(prefix)) == expected
            assert list(backend.scan_prefix(prefix, reverse=True)) == expected[::-1]

    def test_the_last_word_on_a_key_wins(self, backend: Backend) -> None:
        """Within a batch a later put or delete of the same key replaces the earlier one."""
        backend.write(batch_of([(b"b", b"old")]))
        batch = batch_of([(b"a", b"1"), (b"a", b"2"), (b"b", b"3")])
        batch.delete(b"b")
        batch.delete(b"c")
        batch.put(b"c", b"4")
        backend.write(batch)
        assert list(backend.scan()) == [(b"a", b"2"), (b"c", b"4")]

    def test_an_empty_batch_changes_nothing(self, backend: Backend) -> None:
        """Writing no rows is allowed, durable or not, and changes nothing."""
        backend.write(batch_of(ROWS), durable=False)
        backend.write(Batch())
        backend.write(Batch(), durable=False)
        assert list(backend.scan()) == ORDERED

    def test_deleting_what_is_not_there_is_allowed(self, backend: Backend) -> None:
        """A delete of a missing row does nothing."""
        backend.write(batch_of([(b"a", None)]))
        assert list(backend.scan()) == []

    def test_large_and_empty_values_come_back(self, backend: Backend) -> None:
        """Values of 1 MiB and empty values are returned unchanged."""
        large = bytes(range(256)) * 4096
        backend.write(batch_of([(b"a", large), (b"b", b"")]))
        assert backend.multi_get([b"a", b"b"]) == [large, b""]
        assert list(backend.scan()) == [(b"a", large), (b"b", b"")]

    def test_the_longest_key_works(self, backend: Backend) -> None:
        """A key of KEY_BYTES_MAX bytes is kept and found."""
        key = b"\xfe" * KEY_BYTES_MAX
        backend.write(batch_of([(key, b"1")]))
        assert list(backend.scan_prefix(key)) == [(key, b"1")]

    @pytest.mark.parametrize("key", [b"", b"k" * (KEY_BYTES_MAX + 1)], ids=["empty", "too-long"])
    def test_a_key_out_of_bounds_is_refused_with_its_batch(self, backend: Backend, key: bytes) -> None:
        """One bad key refuses the whole batch before anything is written, put or deleted."""
        with pytest.raises(BackendError, match="1 to 1024"):
            backend.write(batch_of([(b"a", b"1"), (key, b"2")]))
        batch = batch_of([(b"a", b"1")])
        batch.delete(key)
        with pytest.raises(BackendError, match="1 to 1024"):
            backend.write(batch)
        assert list(backend.scan()) == []

    @pytest.mark.parametrize("row", [("a", b"1"), (b"a", "1"), (b"a", bytearray(b"1")), (None, b"1")])
    def test_what_is_not_bytes_is_refused_with_its_batch(self, backend: Backend, row: Row) -> None:
        """A key or value that is not bytes makes the whole batch refused; the handle stays usable."""
        with pytest.raises(BackendError, match="must be bytes"):
            backend.write(batch_of([(b"a", b"1"), row]))
        backend.write(batch_of([(b"b", b"1")]))
        assert list(backend.scan()) == [(b"b", b"1")]

    def test_a_snapshot_does_not_move(self, backend: Backend) -> None:
        """A snapshot shows the same rows after any puts, replacements and deletes."""
        backend.write(batch_of([(b"a", b"1"), (b"b", b"1"), (b"c", b"1")]))
        with backend.snapshot() as first:
            batch = batch_of([(b"a", b"2"), (b"aa", b"2")])
            batch.delete(b"b")
            backend.write(batch)
            with backend.snapshot() as second:
                backend.write(batch_of([(b"a", b"3"), (b"b", b"3")]))
                assert list(second.scan()) == [(b"a", b"2"), (b"aa", b"2"), (b"c", b"1")]
                assert second.multi_get([b"a", b"b"]) == [b"2", None]
            assert list(first.scan()) == [(b"a", b"1"), (b"b", b"1"), (b"c", b"1")]
            assert first.get(b"aa") is None
            assert [key for key, _ in first.scan_prefix(b"", reverse=True)] == [b"c", b"b", b"a"]
        assert list(backend.scan()) == [(b"a", b"3"), (b"aa", b"2"), (b"b", b"3"), (b"c", b"1")]

    def test_a_closed_snapshot_says_so(self, backend: Backend) -> None:
        """Closing a snapshot twice is allowed; reading it or continuing a scan raises BackendClosed."""
        backend.write(batch_of(ROWS))
        snapshot = backend.snapshot()
        rows = snapshot.scan()
        next(rows)
        snapshot.close()
        snapshot.close()
        for use in (lambda: snapshot.get(b"a"), lambda: list(snapshot.scan()), lambda: list(rows)):
            with pytest.raises(BackendClosed):
                use()

    @pytest.mark.parametrize("reverse", [False, True])
    def test_a_scan_shows_the_rows_as_of_its_call(self, backend: Backend, reverse: bool) -> None:
        """A scan does not see writes after its call, even before its first row is read."""
        rows = [(b"%04d" % n, b"1") for n in range(500)]
        backend.write(batch_of(rows))
        scan = backend.scan(reverse=reverse)
        batch = batch_of([(b"%04d+" % n, b"2") for n in range(500)])
        for n in range(0, 500, 2):
            batch.delete(b"%04d" % n)
        backend.write(batch)
        assert next(scan) == rows[-1 if reverse else 0]
        backend.write(batch_of([(key, b"3") for key, _ in rows]))
        assert sorted(scan, reverse=reverse) == (rows[-2::-1] if reverse else rows[1:])

    def test_scans_left_half_read_are_harmless(self, backend: Backend) -> None:
        """Unfinished scans block neither writes nor other scans."""
        backend.write(batch_of([(b"%04d" % n, b"1") for n in range(100)]))
        left = [backend.scan() for _ in range(30)]
        for scan in left[::2]:
            next(scan)
        backend.write(batch_of([(b"x", b"1")]))
        del left, scan
        backend.write(batch_of([(b"y", b"1")]))
        assert sum(1 for _ in backend.scan()) == 102

    def test_after_closing_everything_says_so(self, backend: Backend) -> None:
        """Closing a store twice is allowed; all other use, of open scans too, raises BackendClosed."""
        backend.write(batch_of([(b"%04d" % n, b"1") for n in range(100)]))
        snapshot, scan = backend.snapshot(), backend.scan()
        next(scan)
        backend.close()
        backend.close()
        for use in (
            lambda: backend.get(b"a"),
            lambda: backend.multi_get([b"a"]),
            lambda: list(backend.scan()),
            lambda: list(backend.scan(b"b", b"a")),
            lambda: backend.write(batch_of(ROWS)),
            lambda: backend.write(Batch()),
            backend.snapshot,
            lambda: snapshot.get(b"a"),
            lambda: list(snapshot.scan()),
            lambda: list(scan),
        ):
            with pytest.raises(BackendClosed):
                use()
        snapshot.close()

    def test_rows_outlive_the_handle_if_it_says_so(self, tmp_path: Path) -> None:
        """A persistent backend has all rows after reopening, durable or not; another has none."""
        with self.open(tmp_path) as backend:
            backend.write(batch_of(ROWS[:5]))
            backend.write(batch_of(ROWS[5:]), durable=False)
        with self.open(tmp_path) as backend:
            assert list(backend.scan()) == (ORDERED if self.capabilities.persistent else [])

    def test_it_behaves_like_a_sorted_dict(self, tmp_path: Path) -> None:
        """Any sequence of operations leaves the same rows as on a plain dict."""
        machine = machine_for(self.open, tmp_path, persistent=self.capabilities.persistent)
        run_state_machine_as_test(
            machine, settings=settings(max_examples=times(20), stateful_step_count=30, deadline=None)
        )

    @pytest.mark.parametrize(
        ("prefix", "end"),
        [(b"", None), (b"\xff\xff", None), (b"a", b"b"), (b"a\xff", b"b"), (b"\x00", b"\x01")],
    )
    def test_the_end_of_a_prefix(self, prefix: bytes, end: bytes | None) -> None:
        """prefix_end is the least key above all keys with the prefix."""
        assert prefix_end(prefix) == end
