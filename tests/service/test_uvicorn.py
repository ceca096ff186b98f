"""What the service uses of uvicorn that uvicorn does not document: a release that changes it fails here."""

from __future__ import annotations

import inspect
import re

import pytest
import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.lifespan.on import LifespanOn
from uvicorn.server import ServerState

METHODS: dict[type, str] = {
    uvicorn.Server: "startup on_tick shutdown run",
    LifespanOn: "startup",
}
"""Class → the methods that the service overrides or calls."""

FIELDS: dict[type, str] = {
    ServerState: "connections tasks default_headers",
    uvicorn.Server: "config server_state started should_exit",
    LifespanOn: "state should_exit",
}
"""Class → the attributes that its `__init__` sets, and the service reads or sets."""


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_uvicorn_has_the_methods_that_the_service_replaces(kind: type) -> None:
    """Each method exists, so that the service's method is called in its place."""
    assert [name for name in METHODS[kind].split() if not inspect.isfunction(getattr(kind, name, None))] == []


@pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.__name__)
def test_uvicorn_has_the_attributes_that_the_service_reads(kind: type) -> None:
    """Each attribute is set when an object is made."""
    made = set(re.findall(r"self\.(\w+)(?::[^=\n]+)? = ", inspect.getsource(kind.__init__)))  # type: ignore[misc]
    assert set(FIELDS[kind].split()) - made == set()


def test_uvicorn_has_the_constants_that_the_service_uses() -> None:
    """The exit code of a failed start is a number."""
    assert isinstance(STARTUP_FAILURE, int)
