"""The overall root of a store, as a value that callers receive."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The overall root of a store with `size` events, and the roots from which that root is computed."""

    size: int
    root: str
    log_root: str
    namespaces: dict[str, str]
