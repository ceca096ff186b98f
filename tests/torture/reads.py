"""Reads that return a flipped bit, a value of another time or row, or nothing: no write may rest on them."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from engine.trust.audit.verify import verify
from tests.support.engines import copied_rows, engine_on
from tests.support.faults import Fault, FaultBackend, Kind
from tests.torture.short_runs import carry_out, later, start, was_undisturbed

KINDS: Final[tuple[Kind, ...]] = ("flip", "stale", "missing", "other")
BROKEN_JOURNAL: Final = "journals broken by a write"


def torture(kind: Kind, seed: int, wanted: int, _folder: Path) -> tuple[Counter[str], list[str]]:
    """Let one read of a command return something else; return counts, and a line for each failure."""
    chosen = Random(f"reads {kind} {seed}")
    counts: Counter[str] = Counter()
    told: list[str] = []
    store, made = start(chosen)
    for _ in range(wanted):
        backend = FaultBackend(copied_rows(store))
        engine = engine_on(backend, clock=later)
        at = sum(backend.counts[name] for name in ("get", "scan")) + chosen.randint(1, 30)
        backend.fault = Fault(kind, at, on=frozenset({"get", "scan"}), bit=chosen.randrange(1 << 16))
        named = f"{kind} at read {at}"
        counts["trials"] += 1
        if was_undisturbed(partial(carry_out, engine, made), partial(str, named), counts, told):
            counts["carried out"] += 1
        report = verify(backend.inner)
        if not report.ok and any(one.family == "journal" for one in report.differences):
            counts[BROKEN_JOURNAL] += 1
            told.append(f"{named}: {report.differences[0]}"[:300])
    return counts, told
