"""`engine serve` in processes of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Running:
    """A service in a process of its own."""

    process: subprocess.Popen[str]
    url: str

    def line(self) -> str:
        """Return the next line of stderr."""
        assert self.process.stderr is not None
        return self.process.stderr.readline()


@contextmanager
def serving(store: str | Path, *options: str) -> Iterator[Running]:
    """Run `engine serve` on a free port until the block ends."""
    command = [sys.executable, "-m", "engine", "serve", "--store", str(store), "--port", "0", *options]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ | {"HOME": "/nowhere"}
    )
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        found = re.search(r"serving (http\S+)", first)
        assert found is not None, first + process.stderr.read()
        yield Running(process, found[1])
    finally:
        process.kill()
        process.communicate()
