"""The folders of tests are in a file system in memory, if it has room: there, a sync costs nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

MEMORY: Final = Path("/dev/shm")  # noqa: S108  a mount point
ROOM_BYTES: Final = 4 << 30
"""The free bytes that a run may need. In a container, the file system in memory often has only 64 MiB."""

IN_MEMORY: Final = (
    MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM_BYTES
)

if IN_MEMORY:
    # Where pytest makes the folders that tests get from `tmp_path`. It reads the variable later.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.fixture(autouse=True, scope="session")
def _scratch_in_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Create the temporary stores of verifying and replaying in memory, too."""
    tmp_path_factory.getbasetemp()  # chosen before, so that it is not moved
    before = tempfile.tempdir
    if IN_MEMORY:
        tempfile.tempdir = str(MEMORY)
    yield
    tempfile.tempdir = before
