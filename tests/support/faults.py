"""A backend that fails on demand: the k-th operation goes wrong, in a chosen way.

Wrap any backend, choose a `Fault`, run the code under test, and look at what it made of it. What
counts as an operation is chosen with `Fault.on`; each snapshot's reads count like the backend's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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
Kind = Literal["before", "after", "drop_unsynced", "flip", "stale", "missing"]
Mode = Literal["once", "persistent", "crash"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, and when.

    For writes: `before` raises BackendInDoubt and applies nothing; `after` applies and then raises
    it; `drop_unsynced` is `before` plus loss of power: what was written with durable=False since
    the last durable write is lost too (it always crashes). For reads and snapshots, `before` and
    `after` raise BackendError.

    For reads: `flip` flips one bit of the value, `stale` gives the value before the last one
    (the current one where the handle has not seen another), `missing` gives no row. In a scan they
    hit the first row. Writes never meet these three.
    """

    kind: Kind
    at: int
    """Which operation, counted from 1."""
    on: frozenset[Operation] = frozenset({"write"})
    """Which operations are counted, and can fail."""
    mode: Mode = "once"
    """`once`: the k-th only; `persistent`: the k-th and all later; `crash`: the handle is dead
    from then on, and `reopen` gives a new one."""
    bit: int = 0
    """Which bit `flip` flips, counted over the whole value and wrapped around."""


class FaultBackend(Backend):
    """`inner` with a fault in it; without one, it behaves as `inner` does.

    `counts` has the number of operations so far, by their names.
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
        """A handle without faults over the rows that survived; this one stays dead."""
        self._dead = True
        return FaultBackend(self.inner)

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or what the fault makes of it."""
        return self._get(self.inner, key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """The rows, with what the fault makes of the first."""
        return self._scan(self.inner, start, end, reverse)

    def snapshot(self) -> Snapshot:
        """The rows as they are now; reads of it count."""
        self._read_fault("snapshot")
        return _FaultSnapshot(self, self.inner.snapshot())

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch`, unless it is this one's turn to fail."""
        check_batch(batch)
        guards = guards_of(guard)
        fault = self._due("write")
        if fault is None or fault.kind in ("flip", "stale", "missing"):
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
        """What `inner` does; it is no operation that could fail on demand."""
        if self._dead:
            raise BackendClosed("the handle crashed; reopen it")
        return self.inner.exclusive()

    def purge(self) -> None:
        """What `inner` does; it is counted as a write, and can fail as one."""
        fault = self._due("write")
        if fault is None or fault.kind in ("flip", "stale", "missing"):
            self.inner.purge()
            self._undo.clear()
            return
        if fault.kind == "after":
            self.inner.purge()
        if fault.kind == "drop_unsynced":
            self._lose_power()
        elif fault.mode == "crash":
            self._dead = True
        raise BackendInDoubt(f"fault {fault.kind!r} at write {self.counts['write']}")

    def files(self) -> tuple[Path, ...]:
        """Those of `inner`."""
        return self.inner.files()

    def close(self) -> None:
        """Close `inner`, unless it crashed: then what `reopen` gave goes on with it."""
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
        """Take back what was never synced, and die."""
        lost = Batch()
        lost.rows |= self._undo
        self.inner.write(lost)
        self._dead = True

    def _due(self, operation: Operation) -> Fault | None:
        """Count one operation; the fault, if it is its turn."""
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
        """The fault that changes what this read gives; those that raise are raised here."""
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
    """`data` with one bit the other way round; `bit` counts from the first byte's lowest, wrapped."""
    changed = bytearray(data)
    changed[bit // 8 % len(data)] ^= 1 << bit % 8
    return bytes(changed)
