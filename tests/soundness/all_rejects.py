"""Imports all modules of named rejects, which fills the register."""

from __future__ import annotations

from tests.soundness import (
    rejects_claims,
    rejects_forged,
    rejects_leaf,
    rejects_lists,
    rejects_log,
    rejects_siblings,
    rejects_whole,
)

__all__ = [
    "rejects_claims",
    "rejects_forged",
    "rejects_leaf",
    "rejects_lists",
    "rejects_log",
    "rejects_siblings",
    "rejects_whole",
]
