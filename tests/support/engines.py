"""Deterministic engines for tests, and helpers that read, change and compare the rows of their stores."""

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
from engine.ledger.appender import Clock
from engine.ledger.journal import encode_log, read_log, read_raw
from engine.ledger.layout import FAMILIES, JOURNAL, LOG, PAYLOAD, journal_key, payload_key
from engine.store.replay import append
from proofs.codec import encode_body, encode_header
from proofs.events import Body, Detail, EventKind, Header, Origin
from proofs.hashing import commitment
from proofs.log import leaf_hash

BEGIN = 1_600_000_000_000_000
"""The first time that the injected clocks return: a Sunday in September 2020, in µs since 1970 UTC."""


def ticking(start: int = BEGIN, step: int = 1_000_003) -> Clock:
    """Return a clock that advances by `step` µs each time it is read."""
    now = start - step

    def clock() -> int:
        nonlocal now
        now += step
        return now

    return clock


def salt_of(seq: int) -> bytes:
    """Return a salt of 32 bytes that depends only on the seq."""
    return hashlib.sha256(b"salt %d" % seq).digest()


def engine_on(backend: Backend | None = None, clock: Clock | None = None) -> Engine:
    """Return an engine whose rows depend only on the commands; by default on a new memory store."""
    return Engine(backend or MemoryBackend(), clock=clock or ticking(), salts=salt_of)


def rows_of(reader: Reader, *families: str) -> dict[bytes, bytes]:
    """Return all rows of a store, or only the rows of some key families."""
    prefixes = [FAMILIES[name] for name in families] or [b""]
    return {key: value for prefix in prefixes for key, value in reader.scan_prefix(prefix)}


def projection_rows(reader: Reader) -> dict[bytes, bytes]:
    """Return all rows except the journal's: the rows that a rebuild creates again, including cursors."""
    return {
        key: value for key, value in reader.scan() if key != LOG and not key.startswith((JOURNAL, PAYLOAD))
    }


def put_rows(backend: Backend, changes: dict[bytes, bytes | None]) -> None:
    """Change rows directly in the backend, without the engine."""
    batch = Batch()
    batch.rows |= changes
    backend.write(batch)


def flip_last_bit(backend: Backend, key: bytes) -> None:
    """Change the lowest bit of the last byte of a row's value."""
    raw = backend.get(key) or b""
    put_rows(backend, {key: raw[:-1] + bytes([raw[-1] ^ 1])})


def copied_rows(backend: Reader) -> MemoryBackend:
    """Return a new memory store with the same rows."""
    other = MemoryBackend()
    put_rows(other, dict(backend.scan()))
    return other


def after(made: list[Command], size: int = 1) -> Engine:
    """Return an engine that has executed `commands` in batches of `size`."""
    engine = engine_on()
    for at in range(0, len(made), size):
        engine.apply(made[at : at + size])
    return engine


def fresh_rows(backend: Reader) -> dict[bytes, bytes]:
    """Return the rows of a new store that has the same journal and has processed it in one step."""
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
    origin: Origin | None = None,
) -> None:
    """Append an event that does not come from a command, with a correct commitment, log and records."""
    log, seq = read_log(backend), read_log(backend).size
    raw_body = encode_body(body)
    bound = commitment(salt_of(seq), raw_body)
    header = Header(seq, max(time, log.time), kind, "forger", bound, prev, detail, origin)
    frontier, raw = log.frontier, encode_header(header)
    frontier.append(leaf_hash(raw))
    put_rows(
        backend,
        {
            journal_key(seq): raw,
            payload_key(seq): salt_of(seq) + raw_body,
            LOG: encode_log(header.time, frontier.to_bytes()),
        },
    )


class CountingReader(Reader):
    """A reader that records which keys were scanned."""

    def __init__(self, inner: Reader) -> None:
        self.inner = inner
        self.scanned: list[bytes] = []

    def get(self, key: bytes) -> bytes | None:
        """Return the result of `inner`."""
        return self.inner.get(key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Yield the rows of `inner`, and record each key."""
        for row in self.inner.scan(start, end, reverse=reverse):
            self.scanned.append(row[0])
            yield row


@contextmanager
def head_of(engine: Engine) -> Iterator[Snapshot]:
    """Return a snapshot in which all followers have processed the whole journal."""
    with engine.store.view(*engine.store.followers) as rows:
        yield rows


def backend_of(engine: Engine) -> Backend:
    """Return the backend of an engine."""
    return engine.store.backend


def unchanged_by(engine: Engine, command: Callable[[], object]) -> bool:
    """Return whether `command`, which may raise an exception, leaves all rows unchanged."""
    before = dict(backend_of(engine).scan())
    try:
        command()
    finally:
        after = dict(backend_of(engine).scan())
    return before == after


def refuses(
    engine: Engine, error: type[EngineError], call: Callable[..., object], *given: object, **named: object
) -> bool:
    """Return whether `call` raises `error` or a subclass of it, and leaves all rows unchanged."""
    before = dict(backend_of(engine).scan())
    with pytest.raises(error):
        call(*given, **named)
    return before == dict(backend_of(engine).scan())
