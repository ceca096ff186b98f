"""The stubs of `AsyncEngine` and `AsyncExplorer` agree with `Engine` and `Explorer`."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from engine import AsyncEngine, Engine
from engine.clients.asynchronous.async_engine import INTERNAL, READING
from tests.support.stubs import stubs


@pytest.mark.parametrize("path", stubs(), ids=lambda path: path.name)
def test_the_stub_is_up_to_date(path: Path) -> None:
    """`python -m tests.support.stubs` would change nothing."""
    assert path.read_text(encoding="utf-8") == stubs()[path], "run that command"


def test_every_public_method_is_offered() -> None:
    """Each public name of `Engine` is one of `AsyncEngine`, with its docstring, or is for internal use."""
    for name in dir(Engine):
        if name.startswith("_") or name in INTERNAL:
            continue
        assert inspect.getdoc(getattr(AsyncEngine, name)), name


def test_only_a_property_that_reads_the_store_becomes_a_method() -> None:
    """`size` is awaited; the properties that read nothing stay properties."""
    kept = {name for name, member in vars(Engine).items() if isinstance(member, property)} - INTERNAL
    assert {name for name in kept if isinstance(vars(AsyncEngine)[name], property)} == kept - READING
    assert all(inspect.iscoroutinefunction(vars(AsyncEngine)[name]) for name in READING)
