"""Callbacks that follow the stages of an erasure."""

from __future__ import annotations

from collections.abc import Callable

Stage = Callable[[str], None]
"""A callback that receives the name of each stage when the stage begins."""


def ignore_stage(stage: str) -> None:
    """Do nothing. This is the default callback for the stages of an erasure."""
    del stage
