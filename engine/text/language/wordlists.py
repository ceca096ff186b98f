"""A reader for the word lists, which are text files in folders with the name `data`."""

from __future__ import annotations

import pkgutil


def read_lists(package: str, file: str) -> dict[str, list[str]]:
    """Read the word lists in `data/<file>` of a package.

    Return a map from the name of each list to its entries.

    The entries are in the order of the file. A line `[name]` begins a list, and every other line is an entry.
    Blank lines and lines that begin with `#` are skipped.

    Raises:
        FileNotFoundError: the file does not exist.
    """
    # Not importlib.resources: it imports tempfile, random and lzma, which costs each process 10 ms.
    raw = pkgutil.get_data(package, f"data/{file}")
    if raw is None:
        raise FileNotFoundError(f"package {package} has no file data/{file}")
    lists: dict[str, list[str]] = {}
    entries: list[str] = []
    for line in raw.decode().split("\n"):
        if line.startswith("["):
            entries = lists[line[1:-1]] = []
        elif line and not line.startswith("#"):
            entries.append(line)
    return lists
