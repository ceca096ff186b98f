"""What a store checks when it is opened, and what it refuses when it was opened at a past moment."""

from __future__ import annotations

import pytest

from backends.memory import MemoryBackend
from engine.base.errors import EngineError, RefusedError
from engine.commands import Add
from engine.store.store import Store
from tests.support.engines import engine_on


def test_a_store_of_another_analyzer_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store whose journal was written with other rules for terms is refused, unless it is only examined."""
    backend = MemoryBackend()
    engine_on(backend).add("a kettle")
    monkeypatch.setattr("engine.store.store.current_fingerprint", lambda: bytes(32))
    with pytest.raises(EngineError, match="analyzer"):
        engine_on(backend)
    assert Store(backend, None, check=False).identity.fingerprint != bytes(32)


def test_a_store_that_was_opened_at_a_past_moment_takes_no_commands() -> None:
    """A command is refused by the store itself, before the backend is asked for anything."""
    engine = engine_on()
    engine.add("a kettle")
    with engine.as_of(1) as past, pytest.raises(RefusedError, match="the past cannot be changed"):
        past.store.commit([Add("a pot")], actor="ana")
    assert engine.size == 2
