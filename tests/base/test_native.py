"""The choice between the compiled kernels and their Python twins."""

from __future__ import annotations

import sys

import pytest

from engine import kernels
from engine.base import native
from engine.base.errors import EngineError


def test_the_mode_python_never_loads_the_extension() -> None:
    """With the mode `python`, no extension module is used, whether it is installed or not."""
    assert native.load("python") is None


def test_an_unknown_mode_is_refused() -> None:
    """A mode that does not exist is an error that names the modes."""
    with pytest.raises(EngineError) as caught:
        native.load("fast")
    assert caught.value.hint == "set it to one of: auto, python, native"


def test_a_missing_extension_is_an_error_only_if_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extension, the mode `auto` uses the twins, and the mode `native` raises an error."""
    monkeypatch.delattr(kernels, "_native", raising=False)
    monkeypatch.setitem(sys.modules, "engine.kernels._native", None)
    assert native.load("auto") is None
    with pytest.raises(EngineError, match="cannot be loaded"):
        native.load("native")
