"""Garbage collection during bulk work."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable Python's search for garbage cycles during the block.

    Afterwards, the search is enabled again if it was enabled before. Bulk work makes many small objects, none
    of which is part of a cycle, and Python starts a search after every 700 of them. Measured: the searches
    take 4 % of the time of a bulk add of 20,000 atoms, and more in larger processes. Keep the block short,
    and do not yield to a caller from inside it: the setting applies to the whole process.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
