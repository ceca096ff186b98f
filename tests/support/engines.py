"""Engines without chance in them, and what tests of the core ask of their rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from backends.base import Backend, Batch, Reader, Row, Snapshot
from backends.memory import MemoryBackend
from engine.base.errors import EngineError
from engine.commands import Command
from engine.engine import Engine
from engine.ledger.journal import Clock, encode_log, read_log, read_raw
from engine.ledger.layout import FAMILIES, JOURNAL, LOG, PAYLOAD, journal_key, payload_key
from engine.store.replay import append
from proofs.codec import encode_body, encode_header
from proofs.events import Body, Detail, EventKind, Header
from proofs.hashing import commitment
from proofs.log import leaf_hash

BEGIN = 1_600_000_000_000_000
"""When the injected clocks begin: a Sunday in September 2020, in µs UTC."""


def ticking(start: int = BEGIN, step: int = 1_000_003) -> Clock:
    """A clock that moves on by `step` µs each time it is read."""
    now = start - step

    def clock() -> int:
        nonlocal now
        now += step
        return now

    return clock


def salt_of(seq: int) -> bytes:
    """32 bytes that depend on the seq alone."""
    return hashlib.sha256(b"salt %d" % seq).digest()


def engine_on(backend: Backend | None = None, clock: Clock | None = None) -> Engine:
    """An engine whose every byte follows from the commands it gets; on a new memory store by default."""
    return Engine(backend or MemoryBackend(), clock=clock or ticking(), salts=salt_of)


def rows_of(reader: Reader, *families: str) -> dict[bytes, bytes]:
    """All rows, or those of some families."""
    prefixes = [FAMILIES[name] for name in families] or [b""]
    return {key: value for prefix in prefixes for key, value in reader.scan_prefix(prefix)}


def projection_rows(reader: Reader) -> dict[bytes, bytes]:
    """All rows but the journal's: what a rebuild makes anew, cursors included."""
    return {
        key: value for key, value in reader.scan() if key != LOG and not key.startswith((JOURNAL, PAYLOAD))
    }


def put_rows(backend: Backend, changes: dict[bytes, bytes | None]) -> None:
    """Change rows behind the engine's back."""
    batch = Batch()
    batch.rows |= changes
    backend.write(batch)


def copied_rows(backend: Reader) -> MemoryBackend:
    """A memory store with the same rows."""
    other = MemoryBackend()
    put_rows(other, dict(backend.scan()))
    return other


def after(made: list[Command], size: int = 1) -> Engine:
    """An engine that carried out commands in batches of `size`."""
    engine = engine_on()
    for at in range(0, len(made), size):
        engine.apply(made[at : at + size])
    return engine


def fresh_rows(backend: Reader) -> dict[bytes, bytes]:
    """The rows a new store has once it has this journal and followed it in one go."""
    target = MemoryBackend()
    append(target, list(read_raw(backend, 0, read_log(backend).size, 1 << 40)), None)
    engine_on(target).catch_up()
    return dict(target.scan())


def forge(
    backend: Backend,
    kind: EventKind,
    detail: Detail,
    body: Body,
    *,
    prev: int | None = None,
    time: int = BEGIN * 2,
) -> None:
    """Append an event that no command decided, with a right commitment, log and records."""
    log, seq = read_log(backend), read_log(backend).size
    raw_body = encode_body(body)
    header = Header(
        seq, max(time, log.time), kind, "forger", commitment(salt_of(seq), raw_body), prev, detail
    )
    frontier, raw = log.frontier.copy(), encode_header(header)
    frontier.append(leaf_hash(raw))
    put_rows(
        backend,
        {
            journal_key(seq): raw,
            payload_key(seq): salt_of(seq) + raw_body,
            LOG: encode_log(header.time, frontier),
        },
    )


class CountingReader(Reader):
    """A reader that remembers which keys were scanned."""

    def __init__(self, inner: Reader) -> None:
        self.inner = inner
        self.scanned: list[bytes] = []

    def get(self, key: bytes) -> bytes | None:
        """As `inner`."""
        return self.inner.get(key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """As `inner`, noting each key."""
        for row in self.inner.scan(start, end, reverse=reverse):
            self.scanned.append(row[0])
            yield row


@contextmanager
def head_of(engine: Engine) -> Iterator[Snapshot]:
    """A snapshot with everything at the head."""
    with engine.store.view(*engine.store.followers) as rows:
        yield rows


def backend_of(engine: Engine) -> Backend:
    """The backend an engine holds."""
    return engine.store.backend


def unchanged_by(engine: Engine, command: Callable[[], object]) -> bool:
    """Whether `command`, which may raise, leaves every row as it is."""
    before = dict(backend_of(engine).scan())
    try:
        command()
    finally:
        after = dict(backend_of(engine).scan())
    return before == after


def refuses(
    engine: Engine, error: type[EngineError], call: Callable[..., object], *given: object, **named: object
) -> bool:
    """Whether `call` raises `error`, or a kind of it, and leaves every row as it is."""
    before = dict(backend_of(engine).scan())
    with pytest.raises(error):
        call(*given, **named)
    return before == dict(backend_of(engine).scan())
