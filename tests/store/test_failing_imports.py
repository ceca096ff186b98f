"""Loading a part of the program fails as any other call of the system: with an error of the engine."""

from __future__ import annotations

import builtins
import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from inspect import Parameter, getattr_static, signature
from pathlib import Path
from typing import Any

import pytest

from backends.errors import TROUBLES
from engine.base.errors import EngineError, SystemFailureError
from engine.base.scopes import offers
from engine.engine import Engine
from tests.support.engines import engine_on

METHODS = [
    name
    for name in offers(Engine)
    if not isinstance(getattr_static(Engine, name), property) and name != "close"
]


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function after which no module of the engine can be imported, for want of something."""
    real = builtins.__import__

    def failing(number: int) -> None:
        def loads(name: str, *given: Any, **named: Any) -> Any:
            if name.startswith("engine."):
                raise OSError(number, os.strerror(number), f"/lib/{name}")
            return real(name, *given, **named)

        monkeypatch.setattr(builtins, "__import__", loads)

    return failing


@pytest.mark.parametrize("name", METHODS)
def test_no_method_lets_an_error_of_the_system_out(
    name: str, fail: Callable[[int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an import of a method fails for want of descriptors, the caller gets an EngineError."""
    monkeypatch.chdir(tmp_path)
    engine = engine_on()
    method = getattr(engine, name)
    required = [one for one in signature(method).parameters.values() if one.default is Parameter.empty]
    given = ["text" for one in required if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    fail(errno.EMFILE)
    with suppress(EngineError):
        result = method(*given)
        if isinstance(result, AbstractContextManager) and not isinstance(result, Engine):
            result.__enter__()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSPC, errno.EIO])
def test_a_failing_import_says_why(number: int, fail: Callable[[int], None]) -> None:
    """The error of a failing import names the cause, also while a memory is opened."""
    engine = engine_on()
    fail(number)
    for call in (
        engine.verify,
        lambda: Engine.open("memory:", memory="x"),
        lambda: Engine.open("memory:", secrets="warn"),
    ):
        with pytest.raises(SystemFailureError, match=TROUBLES[number].what):
            call()
