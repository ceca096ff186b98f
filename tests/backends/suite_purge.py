"""Tests of `purge` that every backend must pass."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from backends.base import Backend
from backends.errors import BackendClosed
from tests.backends.suite import Opening, batch_of

SECRET = b"the-secret-that-was-written-and-deleted"


def found_in(folder: Path) -> list[str]:
    """Return the names of the files anywhere under `folder` that contain the secret."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if SECRET in path.read_bytes()]


class PurgeSuite(Opening):
    """Tests of `purge`, also during concurrent calls."""

    def files_of(self, backend: Backend) -> tuple[Path, ...]:
        """Return the files that may hold bytes of the store."""
        return backend.files()

    def found_in(self, folder: Path) -> list[str]:
        """Return the names of the files of the store in `folder` that contain the secret."""
        return found_in(folder)

    def test_purging_keeps_every_row(self, backend: Backend) -> None:
        """Purging keeps rows, empty values and order, also of rows that were not written durably."""
        rows = [(b"%05d" % number, b"v" * (number % 97)) for number in range(3000)]
        backend.write(batch_of(rows[:2000]))
        backend.write(batch_of(rows[2000:]), durable=False)
        backend.purge()
        assert list(backend.scan()) == rows
        backend.write(batch_of([(b"z", b"after")]))
        assert backend.get(b"z") == b"after"

    def test_deleted_and_replaced_bytes_are_in_no_file(self, tmp_path: Path) -> None:
        """Deleted and replaced bytes are in no file of the folder after purging; present bytes are."""
        with self.open(tmp_path) as backend:
            for number in range(400):
                backend.write(batch_of([(b"%04d" % number, SECRET + b"%d" % number)]), durable=False)
            backend.write(batch_of([(SECRET, b"as a key"), (b"kept", b"kept-and-kept")]))
            doomed = batch_of([(b"%04d" % number, b"other") for number in range(200)])
            for number in range(200, 400):
                doomed.delete(b"%04d" % number)
            doomed.delete(SECRET)
            backend.write(doomed)
            backend.purge()
            kept = backend.stored(b"kept") or b""
            files = self.files_of(backend)
            assert bool(files) is self.capabilities.persistent
            assert self.found_in(tmp_path) == []
        assert self.found_in(tmp_path) == []
        if self.capabilities.persistent:
            assert any(kept in path.read_bytes() for path in files if path.exists())
            with self.open(tmp_path, create=False) as backend:
                assert len(list(backend.scan())) == 201

    def test_purging_twice_and_an_empty_store(self, backend: Backend) -> None:
        """Purging twice and purging an empty store are allowed."""
        backend.purge()
        backend.write(batch_of([(b"a", b"1")]))
        backend.purge()
        backend.purge()
        assert list(backend.scan()) == [(b"a", b"1")]

    def test_reads_and_writes_go_on_while_it_purges(self, backend: Backend) -> None:
        """Threads that read, scan, take snapshots and write during a purge see the right rows."""
        backend.write(batch_of([(b"%03d" % number, b"x" * 50) for number in range(300)]))
        problems: list[BaseException] = []
        done = threading.Event()

        def uses(number: int) -> None:
            try:
                while not done.is_set():
                    assert backend.get(b"007") == b"x" * 50
                    assert len(list(backend.scan(b"000", b"100"))) == 100
                    with backend.snapshot() as rows:
                        assert rows.multi_get([b"001", b"none"]) == [b"x" * 50, None]
                    backend.write(batch_of([(b"own-%d" % number, b"1")]), durable=False)
            except BaseException as error:  # noqa: BLE001  whatever it is, the test tells it
                problems.append(error)

        threads = [threading.Thread(target=uses, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(3):
                backend.purge()
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert problems == []
        assert len(list(backend.scan(b"000", b"300"))) == 300

    def test_a_closed_handle_purges_nothing(self, backend: Backend) -> None:
        """Purging a closed handle raises BackendClosed."""
        backend.close()
        with pytest.raises(BackendClosed):
            backend.purge()
