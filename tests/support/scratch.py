"""Where the scratch stores of verifying and replaying go while these tests run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def _scratch_in_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where there is a file system in memory, scratch stores go there: some hundred fsyncs less.

    What tests ask for by `tmp_path` stays on the disk.
    """
    tmp_path_factory.getbasetemp()  # chosen before, so that it is not moved too
    memory, before = Path("/dev/shm"), tempfile.tempdir  # noqa: S108  a mount point
    if memory.is_dir() and os.access(memory, os.W_OK):
        tempfile.tempdir = str(memory)
    yield
    tempfile.tempdir = before
