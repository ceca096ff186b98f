"""Looking for bytes in a store's files, past every reader: what somebody with the disk would find.

In a process of its own: closing a file of SQLite's would drop the locks that this process holds on it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_CHILD = """
import json, sys
given = json.load(sys.stdin)
pieces = [bytes.fromhex(piece) for piece in given["pieces"]]
longest = max(map(len, pieces), default=1)
found = {}
for path in given["files"]:
    try:
        file = open(path, "rb")
    except FileNotFoundError:
        continue
    with file:
        kept = b""
        while chunk := file.read(1 << 20):
            held = kept + chunk
            for number, piece in enumerate(pieces):
                if piece in held:
                    found.setdefault(path, []).append(number)
            kept = held[-(longest - 1):] if longest > 1 else b""
json.dump({path: sorted(set(numbers)) for path, numbers in found.items()}, sys.stdout)
"""


def search(files: Sequence[Path], pieces: Sequence[bytes]) -> dict[str, list[int]]:
    """In which files which of `pieces` (by number) stand; those in none are left out.

    Raises:
        OSError: a file cannot be read.
    """
    if not files or not pieces:
        return {}
    asked = json.dumps({"files": list(map(str, files)), "pieces": [piece.hex() for piece in pieces]})
    done = subprocess.run(  # noqa: S603  our own interpreter and script; what is sought goes in by its input
        [sys.executable, "-I", "-c", _CHILD], input=asked, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OSError(f"the files could not be searched: {done.stderr.strip()[-200:]}")
    found: dict[str, list[int]] = json.loads(done.stdout)
    return found
