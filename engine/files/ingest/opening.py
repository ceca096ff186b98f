"""Open a file of an ingested folder safely."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from engine.files.ingest.documents import BadItemError


def open_regular(path: Path) -> BinaryIO:
    """Open the regular file at `path` for reading.

    The file may have been replaced since it was found: a symbolic link is not followed, and a pipe does not
    block.

    Raises:
        BadItemError: `path` is not a regular file.
        OSError: the file cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadItemError("not a regular file", "not a regular file")
    return os.fdopen(descriptor, "rb")
