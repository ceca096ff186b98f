"""The compiled kernels for tests that compare them with their twins."""

from __future__ import annotations

from types import ModuleType

import pytest

from engine.base.native import load


def native() -> ModuleType:
    """Return the extension module; skip the test if it is not installed."""
    try:
        module = load("native")
    except Exception as error:  # noqa: BLE001  the reason is shown
        pytest.skip(str(error))
    assert module is not None
    return module
