"""Reads the word lists that stand beside the code as text files."""

from __future__ import annotations

import pkgutil


def read_lists(package: str, file: str) -> dict[str, list[str]]:
    """The lists in `data/<file>` of a package: the name of each, and its entries in the order of the file.

    A line `[name]` begins a list, every other line is an entry; blank lines and those that begin with `#`
    are skipped.
    """
    # Not importlib.resources: importing it costs every process 10 ms (it brings tempfile, random and lzma).
    raw = pkgutil.get_data(package, f"data/{file}")
    if raw is None:
        raise FileNotFoundError(f"{package}: data/{file}")
    lists: dict[str, list[str]] = {}
    entries: list[str] = []
    for line in raw.decode().split("\n"):
        if line.startswith("["):
            entries = lists[line[1:-1]] = []
        elif line and not line.startswith("#"):
            entries.append(line)
    return lists
