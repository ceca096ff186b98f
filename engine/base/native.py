"""The compiled kernels: the choice between a Python function and its compiled twin.

A kernel is an expensive pure function on bytes and arrays. Each kernel has a Python version, its *twin*,
which is the reference. A twin is in the package for its subject, for example `engine.query`. The compiled
version of a kernel is in the extension module `engine.kernels._native`, which is written in Rust and may be
missing. For every input, the compiled version returns either the same value as the twin or `None`. After
`None`, the caller must call the twin. So only twins raise errors.

The environment variable MEMROOT_KERNELS selects the versions: `auto` (the default) uses the extension if it
is installed, `python` never uses the extension, and `native` requires it.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Final

from engine.base.errors import EngineError

VARIABLE: Final = "MEMROOT_KERNELS"
MODES: Final = ("auto", "python", "native")


def load(mode: str) -> ModuleType | None:
    """Return the extension module, or None if `mode` or the installation excludes it.

    Raises:
        EngineError: `mode` is unknown, or it is `native` and the extension is not installed.
    """
    if mode not in MODES:
        raise EngineError(f"{VARIABLE} is {mode!r}", hint=f"set it to one of: {', '.join(MODES)}")
    if mode == "python":
        return None
    try:
        from engine.kernels import _native
    except ImportError as error:
        if mode == "auto":
            return None
        raise EngineError(
            f"{VARIABLE} is 'native', but the compiled kernels cannot be loaded: {error}",
            hint="install a wheel of this platform, or install from source with Rust",
        ) from error
    return _native


NATIVE: Final = load(os.environ.get(VARIABLE) or "auto")
"""The extension module that this process uses, or None if it uses the Python functions."""
