"""The location of the shared data and test vectors, which are read there and never copied."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("MEMROOT_SHARED", Path(__file__).resolve().parents[3] / "shared"))


def needs(path: str) -> Path:
    """Return the path of the shared file or folder `path`. If it is missing, skip the test with a message."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"shared data not found: {found} (set MEMROOT_SHARED)")
    return found
