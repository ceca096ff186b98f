"""Where the shared data and vectors are: read in place, never copied in."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("MEMROOT_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def needs(path: str) -> Path:
    """The shared file or folder `path`; skips the test, saying so, where it is missing."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"shared data not found: {found} (set MEMROOT_SHARED)")
    return found
