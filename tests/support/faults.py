"""A backend in which the k-th operation fails in a chosen way.

Wrap a backend, choose a `Fault`, run the code under test, and check how it handled the fault. `Fault.on`
selects the operations that are counted. The reads of a snapshot are counted like reads of the backend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from backends.base import (
    Backend,
    Batch,
    Guards,
    Reader,
    Row,
    Snapshot,
    check_batch,
    check_guards,
    guards_of,
)
from backends.errors import BackendClosed, BackendError, BackendInDoubt

Operation = Literal["write", "get", "scan", "snapshot"]
Kind = Literal["before", "after", "drop_unsynced", "flip", "stale", "missing", "other"]
Mode = Literal["once", "persistent", "crash"]

_OF_READS: Final = ("flip", "stale", "missing", "other")


@dataclass(frozen=True, slots=True)
class Fault:
    """The kind of a fault, and the operation in which it occurs.

    In a write, `before` raises BackendInDoubt without applying the batch, and `after` applies the batch and
    then raises BackendInDoubt. `drop_unsynced` simulates a power failure: it acts like `before`, always
    crashes, and also loses the rows written with durable=False since the last durable write. In a read or a
    snapshot, `before` and `after` raise BackendError.

    In a read, `flip` flips one bit of the value, `stale` returns the previous value (or the current value if
    the handle has not seen a different value), `missing` returns no row, and `other` returns the value of the
    next row of the store. In a scan, these four affect the first row. They never affect writes.
    """

    kind: Kind
    at: int
    """The number of the operation that fails, counted from 1."""
    on: frozenset[Operation] = frozenset({"write"})
    """The operations that are counted and can fail."""
    mode: Mode = "once"
    """`once`: only the k-th operation fails; `persistent`: the k-th and all later ones; `crash`: all
    later operations fail until `reopen` returns a new handle."""
    bit: int = 0
    """The number of the bit that `flip` flips, modulo the number of bits of the value."""


class FaultBackend(Backend):
    """A backend that passes all calls to `inner`, except for the fault, if one is set.

    `counts` maps the name of each operation to the number of calls so far.
    """

    def __init__(self, inner: Backend, fault: Fault | None = None) -> None:
        self.inner = inner
        self.fault = fault
        self.counts: Counter[Operation] = Counter()
        self.name = inner.name
        self.capabilities = inner.capabilities
        self._dead = False
        self._undo: dict[bytes, bytes | None] = {}
        self._previous: dict[bytes, bytes | None] = {}

    def reopen(self) -> FaultBackend:
        """Return a handle without faults on the rows that survived. The crashed handle stays unusable."""
        self._dead = True
        return FaultBackend(self.inner)

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, changed by the fault if it occurs."""
        return self._get(self.inner, key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return the rows. If the fault occurs, it changes the first row."""
        return self._scan(self.inner, start, end, reverse)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current rows, whose reads are counted, too."""
        self._read_fault("snapshot")
        return _FaultSnapshot(self, self.inner.snapshot())

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch`, unless the fault occurs in this write."""
        check_batch(batch)
        guards = guards_of(guard)
        fault = self._due("write")
        if fault is None or fault.kind in _OF_READS:
            self._write(batch, guards, durable)
            return
        check_guards(guards, self.inner.get)
        if fault.kind == "after":
            self._write(batch, guards, durable)
        if fault.kind == "drop_unsynced":
            self._lose_power()
        elif fault.mode == "crash":
            self._dead = True
        raise BackendInDoubt(f"fault {fault.kind!r} at write {self.counts['write']}")

    def exclusive(self) -> AbstractContextManager[None]:
        """Call `exclusive` of `inner`. The call is not counted, and no fault occurs in it."""
        if self._dead:
            raise BackendClosed("the handle crashed; reopen it")
        return self.inner.exclusive()

    def purge(self) -> bool:
        """Call `purge` of `inner`. The call is counted as a write and can fail like a write."""
        fault = self._due("write")
        if fault is None or fault.kind in _OF_READS:
            done = self.inner.purge()
            self._undo.clear()
            return done
        if fault.kind == "after":
            self.inner.purge()
        if fault.kind == "drop_unsynced":
            self._lose_power()
        elif fault.mode == "crash":
            self._dead = True
        raise BackendInDoubt(f"fault {fault.kind!r} at write {self.counts['write']}")

    def files(self) -> tuple[Path, ...]:
        """Return the files of `inner`."""
        return self.inner.files()

    def close(self) -> None:
        """Close `inner`, unless this handle has crashed, because then the reopened handle uses `inner`."""
        if not self._dead:
            self.inner.close()

    def _write(self, batch: Batch, guards: Guards, durable: bool) -> None:
        before = {key: self.inner.get(key) for key in batch.rows}
        self.inner.write(batch, guard=guards, durable=durable)
        self._previous |= before
        if durable:
            self._undo.clear()
        else:
            self._undo = before | self._undo

    def _lose_power(self) -> None:
        """Restore the rows that were never synced to their old values, and crash."""
        lost = Batch()
        lost.rows |= self._undo
        self.inner.write(lost)
        self._dead = True

    def _due(self, operation: Operation) -> Fault | None:
        """Count one operation, and return the fault if it occurs in this operation."""
        if self._dead:
            raise BackendClosed("the handle crashed; reopen it")
        self.counts[operation] += 1
        fault = self.fault
        if fault is None or operation not in fault.on:
            return None
        count = sum(self.counts[counted] for counted in fault.on)
        due = count == fault.at or (fault.mode == "persistent" and count > fault.at)
        return fault if due else None

    def _read_fault(self, operation: Operation) -> Fault | None:
        """Count one read. Return the fault if it changes the result, or raise its exception."""
        fault = self._due(operation)
        if fault is None:
            return None
        if fault.mode == "crash":
            self._dead = True
        if fault.kind in ("before", "after"):
            raise BackendError(f"fault {fault.kind!r} at {operation} {self.counts[operation]}")
        return fault

    def _spoil(self, fault: Fault | None, key: bytes, value: bytes | None) -> bytes | None:
        if fault is None:
            return value
        if fault.kind == "missing":
            return None
        if fault.kind == "other" and value is not None:
            return next((row for _, row in self.inner.scan(key + b"\0")), value)
        if fault.kind == "stale":
            return self._previous.get(key, value)
        return flip_bit(value, fault.bit) if fault.kind == "flip" and value else value

    def _get(self, source: Reader, key: bytes) -> bytes | None:
        fault = self._read_fault("get")
        return self._spoil(fault, key, source.get(key))

    def _scan(self, source: Reader, start: bytes, end: bytes | None, reverse: bool) -> Iterator[Row]:
        fault = self._read_fault("scan")
        rows = source.scan(start, end, reverse=reverse)
        return rows if fault is None else self._spoiled(fault, rows)

    def _spoiled(self, fault: Fault, rows: Iterator[Row]) -> Iterator[Row]:
        for key, value in rows:
            spoilt = self._spoil(fault, key, value)
            if spoilt is not None:
                yield key, spoilt
            break
        yield from rows


class Overtaken(FaultBackend):
    """A handle that lets another process act directly before the first write that is due."""

    def __init__(
        self, inner: Backend, due: Callable[[Batch], bool], act: Callable[[Backend], object]
    ) -> None:
        super().__init__(inner)
        self._due_for = due
        self._act: Callable[[Backend], object] | None = act

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Let the other process act, if this write is due, then write."""
        if self._act is not None and self._due_for(batch):
            act, self._act = self._act, None
            act(self.inner)
        super().write(batch, guard=guard, durable=durable)


class _FaultSnapshot(Snapshot):
    def __init__(self, backend: FaultBackend, inner: Snapshot) -> None:
        self._backend = backend
        self._inner = inner

    def get(self, key: bytes) -> bytes | None:
        return self._backend._get(self._inner, key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        return self._backend._scan(self._inner, start, end, reverse)

    def close(self) -> None:
        self._inner.close()


def flip_bit(data: bytes, bit: int) -> bytes:
    """Return `data` with one bit flipped. Bit 0 is the lowest bit of the first byte; `bit` wraps around."""
    changed = bytearray(data)
    changed[bit // 8 % len(data)] ^= 1 << bit % 8
    return bytes(changed)
