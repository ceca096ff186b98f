"""A store of any kind whose values are encrypted.

The rows keep their keys, so scans stay scans; keys of rows hold no word and no unkeyed hash of one. The
header is in two rows, the first and the last of the store, so that no single damage takes both.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from backends.base import (
    HEADERS,
    Backend,
    Batch,
    Guard,
    Guards,
    Reader,
    Row,
    Snapshot,
    check_batch,
    check_guards,
    guards_of,
)
from backends.errors import (
    BackendBusy,
    BackendCorrupt,
    BackendError,
    BackendLocked,
    BackendUnusable,
    GuardFailed,
)
from backends.files import Location
from backends.sealed.key_sources import unlocked
from backends.sealed.seal import Header, Seal, decode_header

Open = Callable[[bytes, bytes], bytes]
"""Returns the value of a row from its key and its stored bytes."""


class _SealedReader(Reader):
    """A reader whose rows are encrypted in `inner`."""

    inner: Backend | Snapshot
    _open_row: Open

    def _settled(self) -> Backend | Snapshot:
        """Return `inner`, ready for a read."""
        return self.inner

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        raw = self._settled().get(key)
        return None if raw is None or key in HEADERS else self._open_row(key, raw)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in the same order."""
        open_row = self._open_row
        return [
            None if raw is None or key in HEADERS else open_row(key, raw)
            for key, raw in zip(keys, self._settled().multi_get(keys), strict=True)
        ]

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end."""
        return _opened_rows(self._settled().scan(start, end, reverse=reverse), self._open_row)

    def keys(self, prefix: bytes, limit: int) -> list[bytes]:
        """Return the first `limit` keys that begin with `prefix`, including the keys of damaged values."""
        found = self._settled().keys(prefix, limit + len(HEADERS))
        return [key for key in found if key not in HEADERS][:limit]


class SealedSnapshot(_SealedReader, Snapshot):
    """A snapshot of a sealed store."""

    def __init__(self, inner: Snapshot, open_row: Open) -> None:
        self.inner: Snapshot = inner
        self._open_row = open_row

    def _settled(self) -> Snapshot:
        # Callers change the settings of a snapshot at any time.
        self.inner.confirm_missing, self.inner.from_store = self.confirm_missing, self.from_store
        return self.inner

    def close(self) -> None:
        """Release the snapshot."""
        self.inner.close()


class SealedBackend(_SealedReader, Backend):
    """The rows of `inner`, which are encrypted there.

    Args:
        inner: The backend that keeps the encrypted rows. It is closed with this one.
        seal: The key.
    """

    def __init__(self, inner: Backend, seal: Seal) -> None:
        self.inner: Backend = inner
        self.seal: Seal = seal
        self.name = inner.name
        self.capabilities = inner.capabilities
        self.beyond_purge = inner.beyond_purge
        self.clock_of = inner.clock_of
        self._seen: dict[bytes, tuple[bytes, bytes]] = {}
        """The key of a row that guarded a write → its value and its stored bytes after that write."""

    @property
    def unwritable(self) -> str | None:  # type: ignore[override]
        """Why the store can only be read; None if it can be written."""
        return self.inner.unwritable

    @property
    def location(self) -> Location | None:  # type: ignore[override]
        """The place of the store's files."""
        return self.inner.location

    def clock(self) -> int:
        """Return the time of the inner backend's clock."""
        return self.inner.clock()

    def is_wanted(self) -> bool:
        """Return True if somebody has tried to open the store in vain."""
        return self.inner.is_wanted()

    def read_ahead(self, keys: Sequence[bytes]) -> None:
        """Fetch rows that are probably read soon."""
        self.inner.read_ahead(keys)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current rows."""
        return SealedSnapshot(self.inner.snapshot(), self._open_row)

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Encrypt the values of `batch` and of the guards, and write them."""
        check_batch(batch)
        if not HEADERS.isdisjoint(batch.rows):
            raise BackendError("the header of a sealed store is not a row of the store")
        guards = guards_of(guard)
        sealed = Batch()
        sealed.reaches = batch.reaches
        sealed.rows = self.seal.close_all(batch.rows)
        while True:
            expected = [Guard(one.key, self._stored(one)) for one in guards]
            try:
                self.inner.write(sealed, guard=expected, durable=durable)
            except GuardFailed:
                self._seen.clear()
                # Somebody may have written the same value again, which has other bytes.
                check_guards(guards, self.get)
            else:
                break
        for one in guards:
            value, raw = batch.rows.get(one.key), sealed.rows.get(one.key)
            if value is not None and raw is not None:
                self._seen[one.key] = (value, raw)

    def _stored(self, guard: Guard) -> bytes | None:
        """Return the stored bytes of a row whose value is the expected one.

        The rows that guard the writes of this handle are mostly those that it wrote last, so few are read.

        Raises:
            GuardFailed: the row has another value.
        """
        if guard.expected is None:
            return None
        seen = self._seen.get(guard.key)
        if seen is not None and seen[0] == guard.expected:
            return seen[1]
        raw = self.inner.get(guard.key)
        if raw is None or self._open_row(guard.key, raw) != guard.expected:
            raise GuardFailed(f"row {guard.key!r} has changed")
        return raw

    def exclusive(self) -> AbstractContextManager[None]:
        """Prevent other processes from writing until the end of the block."""
        return self.inner.exclusive()

    def purge(self) -> bool:
        """Remove all deleted and replaced bytes from the store's own files."""
        return self.inner.purge()

    def stored(self, key: bytes) -> bytes | None:
        """Return the encrypted value of `key`."""
        return self.inner.stored(key)

    def files(self) -> tuple[Path, ...]:
        """Return the paths of all files that may hold bytes of the store."""
        return self.inner.files()

    def close(self) -> None:
        """Close the inner backend."""
        self.inner.close()

    def set_header(self, header: Header) -> bool:
        """Replace the header, and remove the bytes of the earlier one from the files.

        Returns:
            False if only the operator of the database can remove them.
        """
        _write_header(self.inner, replace(header, clean=False))
        self.seal = self.seal.with_header(header)
        return _finish(self.inner, header)

    def _open_row(self, key: bytes, raw: bytes) -> bytes:
        value = self.seal.open(key, raw)
        if value is None:
            header = read_header(self.inner)
            if header is None or header.id != self.seal.header.id:
                raise BackendLocked(
                    "the key of the store was changed while it was open here",
                    hint="close it, and open it again",
                )
            raise BackendCorrupt(f"the value of the row {ascii(key)[:80]} is damaged", key=key)
        return value


def _opened_rows(rows: Iterator[Row], open_row: Open) -> Iterator[Row]:
    for key, raw in rows:
        if key not in HEADERS:
            yield key, open_row(key, raw)


def read_header(inner: Backend) -> Header | None:
    """Return the header of a store, or None if the store is not sealed.

    Raises:
        BackendCorrupt: both rows of the header are damaged.
    """
    damage: BackendCorrupt | None = None
    with inner.snapshot() as rows:
        # A missing header is not evidence: the rows beside its place are checked when they are read.
        rows.confirm_missing = False
        for key in sorted(HEADERS):
            try:
                if (raw := rows.get(key)) is not None:
                    return decode_header(raw)
            except BackendCorrupt as error:
                damage = error
    if damage is not None:
        raise damage
    return None


def opened(inner: Backend, key: str | Seal | None) -> Backend:
    """Return the store in `inner`: itself if it is open, or decrypted if it is sealed.

    Args:
        inner: The backend.
        key: A secret of the store, or its seal; None to look for a secret (`backends.sealed.key_sources`). An
            empty store is sealed under `key`.

    Raises:
        BackendLocked: there is no key, or it is wrong.
        BackendUnusable: `key` is given, but the store has rows and is not sealed.
    """
    header = read_header(inner)
    if header is None:
        if key is None:
            return inner
        if next(inner.scan(), None) is not None:
            raise BackendUnusable("a key was given, but the store is not sealed; `engine seal` seals it")
        seal = key if isinstance(key, Seal) else Seal.new({"passphrase": key})
        _write_header(inner, seal.header)
        return SealedBackend(inner, seal)
    seal = unlocked(header, key)
    if not header.clean and inner.unwritable is None:
        # The last change of the key was interrupted. A reader in another process may be in the way.
        with contextlib.suppress(BackendBusy):
            _finish(inner, header)
    return SealedBackend(inner, seal)


def reseal(backend: Backend, seal: Seal | None) -> bool:
    """Encrypt all rows of an open store anew, or decrypt them if `seal` is None. Then close the store.

    If the process is killed at any point, all rows are as before, or all are as wished.

    Returns:
        False if only the operator of the database can remove the earlier bytes.

    Raises:
        BackendBusy: a snapshot or scan stayed open; the rows are as before.
    """
    sealed = backend if isinstance(backend, SealedBackend) else None
    inner = sealed.inner if sealed else backend

    def changed(rows: Iterator[Row]) -> Iterator[Row]:
        for key, value in _opened_rows(rows, sealed._open_row) if sealed else rows:
            yield key, value if seal is None else seal.close(key, value)
        if seal is not None:
            yield from _header_rows(replace(seal.header, clean=False))

    done = inner.rewrite(changed)
    if seal is not None:
        _write_header(inner, seal.header)
    return done


def _finish(inner: Backend, header: Header) -> bool:
    done = inner.purge()
    _write_header(inner, replace(header, clean=True))
    return done


def _write_header(inner: Backend, header: Header) -> None:
    batch = Batch()
    batch.rows |= dict(_header_rows(header))
    inner.write(batch)


def _header_rows(header: Header) -> list[Row]:
    return [(key, header.encode()) for key in sorted(HEADERS)]
