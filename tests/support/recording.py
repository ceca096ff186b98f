"""A backend that records its calls, so that tests can check how many reads and writes an operation takes."""

from __future__ import annotations

from collections.abc import Iterator

from backends.base import Backend, Batch, Guards, Row, Snapshot, guards_of
from engine.ledger.layout import family_of


def name_of(key: bytes) -> str:
    """Return the family of a key, followed by the key if it is text."""
    return key.decode() if key.startswith(b"meta/") else family_of(key)


def grouped(names: list[str]) -> str:
    """Return the names in order, as one text. Consecutive equal names are written once, with a count."""
    shown: list[list[object]] = []
    for name in names:
        if shown and shown[-1][0] == name:
            shown[-1][1] = int(str(shown[-1][1])) + 1
        else:
            shown.append([name, 1])
    return ", ".join(str(name) if times == 1 else f"{name} × {times}" for name, times in shown)


class Recording(Backend):
    """A backend that calls `inner` and records each operation in `lines`.

    A line has the name of the operation and the families of the rows.
    """

    def __init__(self, inner: Backend) -> None:
        self.inner = inner
        self.name = inner.name
        self.capabilities = inner.capabilities
        self.lines: list[str] = []

    def get(self, key: bytes) -> bytes | None:
        """Record the call and pass it to `inner`."""
        self.lines.append(f"get {name_of(key)}")
        return self.inner.get(key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Record the call and pass it to `inner`."""
        self.lines.append(f"scan {name_of(start)}")
        return self.inner.scan(start, end, reverse=reverse)

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Record the call and pass it to `inner`."""
        put = grouped(sorted(name_of(key) for key, value in batch.rows.items() if value is not None))
        deleted = grouped(sorted(name_of(key) for key, value in batch.rows.items() if value is None))
        guards = guards_of(guard)
        guarded = f" guarded by {' and '.join(name_of(one.key) for one in guards)}" if guards else ""
        synced = " durably" if durable else ""
        self.lines.append(f"write{synced}{guarded}: {put}" + (f"; delete {deleted}" if deleted else ""))
        self.inner.write(batch, guard=guard, durable=durable)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of `inner` whose calls are recorded, too."""
        self.lines.append("snapshot")
        return _RecordingSnapshot(self, self.inner.snapshot())

    def purge(self) -> bool:
        """Record the call and pass it to `inner`."""
        self.lines.append("purge")
        return self.inner.purge()

    def close(self) -> None:
        """Record the call and pass it to `inner`."""
        self.lines.append("close")
        self.inner.close()


class _RecordingSnapshot(Snapshot):
    def __init__(self, backend: Recording, inner: Snapshot) -> None:
        self._backend = backend
        self._inner = inner

    def get(self, key: bytes) -> bytes | None:
        self._backend.lines.append(f"  get {name_of(key)}")
        return self._inner.get(key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        self._backend.lines.append(f"  scan {name_of(start)}")
        return self._inner.scan(start, end, reverse=reverse)

    def close(self) -> None:
        self._inner.close()
