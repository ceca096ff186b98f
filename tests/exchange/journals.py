"""Shared parts of the journal tests: a store, its export, and stores made from exports."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from backends.memory import MemoryBackend
from engine.base.errors import CorruptionError, translated
from engine.engine import Engine
from engine.exchange.backup import export_store
from engine.exchange.journal_import import JournalReader, read_into
from tests.support import workloads
from tests.support.engines import engine_on

NAME = "the file"


def exported(engine: Engine) -> bytes:
    """Return the export of an engine's journal."""
    out = io.BytesIO()
    with translated():
        export_store(engine.store, out.write)
    return out.getvalue()


def imported(raw: bytes) -> MemoryBackend:
    """Return a new store with the journal of an export."""
    target = MemoryBackend()
    read_into(target, JournalReader(io.BytesIO(raw), NAME))
    return target


def history(count: int = 60, seed: int = 3) -> Engine:
    """Return a store with events of all kinds, including checkpoints."""
    engine = engine_on()
    made = workloads.commands(count, seed)
    for at in range(0, count, 20):
        engine.apply(made[at : at + 20])
        engine.checkpoint()
    return engine


A_FILE = exported(history())
LINES = A_FILE.splitlines(keepends=True)


@contextmanager
def refused(line: int, said: str = "") -> Iterator[None]:
    """Assert that the block raises a CorruptionError that names this line and the reason."""
    with pytest.raises(CorruptionError, match=said or None) as error:
        yield
    assert str(error.value).startswith(f"{NAME} line {line}: "), str(error.value)
