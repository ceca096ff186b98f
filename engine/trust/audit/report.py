"""What a verification found."""

from __future__ import annotations

from dataclasses import dataclass

from engine.trust.audit.compare import Difference
from engine.trust.audit.destroyed import Unchecked


@dataclass(frozen=True, slots=True)
class Report:
    """What a verification found; the roots are recomputed from the journal alone."""

    ok: bool
    size: int
    """Events replayed."""
    root: str
    """The overall root, 64 hex digits; empty if the journal itself broke off."""
    roots: dict[str, str]
    """The log's and the namespaces' roots by name."""
    checkpoints: int
    """Checkpoints whose roots were recomputed and found right."""
    rows: int
    """Rows compared."""
    differences: tuple[Difference, ...]
    """At most 20, the first one first."""
    unchecked: tuple[Unchecked, ...] = ()
    """Checkpoints that can no longer be checked in full, because something was erased since."""
