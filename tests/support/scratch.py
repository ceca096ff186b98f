"""The folder for the temporary stores that verifying and replaying create during tests."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def _scratch_in_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Create temporary stores in a file system in memory, if there is one. This saves hundreds of fsyncs.

    Folders that tests get from `tmp_path` stay on the disk.
    """
    tmp_path_factory.getbasetemp()  # chosen before, so that it is not moved too
    memory, before = Path("/dev/shm"), tempfile.tempdir  # noqa: S108  a mount point
    if memory.is_dir() and os.access(memory, os.W_OK):
        tempfile.tempdir = str(memory)
    yield
    tempfile.tempdir = before
