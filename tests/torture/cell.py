"""Carries out one slice of an exercise: `python -m tests.torture.cell EXERCISE VARIANT SEED TRIALS`.

Prints one line of JSON with the counts and a line for each failure.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.torture.exercises import EXERCISES

TOLD_MAX: Final = 20
"""The number of failures of a slice that are kept in full."""


def main(name: str, variant: str, seed: int, wanted: int) -> None:
    """Carry out the slice in a temporary folder and print its result."""
    exercise = EXERCISES[name]
    if reason := exercise.missing():
        print(json.dumps({"skipped": reason}))  # noqa: T201  what the parent reads
        return
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    try:
        counts, told = exercise.run(variant, seed, wanted, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    shown = {name: number for name, number in sorted(counts.items()) if number}
    print(json.dumps({"counts": shown, "told": told[:TOLD_MAX]}))  # noqa: T201  as above


if __name__ == "__main__":
    memory = Path("/dev/shm")  # noqa: S108  a file system in memory, where syncing costs nothing
    if memory.is_dir():
        tempfile.tempdir = str(memory)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
