"""The keyword arguments of `Engine.dream`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from engine.knowledge.dreaming.config import DreamConfig
from engine.store.replay import Progress


class DreamOptions(TypedDict, total=False):
    """How far a cycle may go. Bounds say where it ends, never what is decided."""

    budget: int | None
    """At most so many atoms are read or looked at; None for all there is to do."""
    seconds: float | None
    """No further step is begun after so many."""
    dry_run: bool
    """Say what would be done, and write nothing."""
    config: DreamConfig | None
    """Other limits than the measured ones."""
    stop: Callable[[], bool]
    """Asked between steps of some dozen atoms: whether to end here."""
    progress: Progress
    """Told how many of all atoms are done."""
