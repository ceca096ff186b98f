"""Reads that return a flipped bit, an old value or nothing: no write may rest on them."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

from backends.memory import MemoryBackend
from engine.base.errors import CorruptionError, EngineError
from engine.trust.audit.verify import verify
from tests.support.engines import copied_rows, engine_on
from tests.support.faults import Fault, FaultBackend, Kind
from tests.support.workloads import commands
from tests.torture.oracle import FOREIGN

KINDS: Final[tuple[Kind, ...]] = ("flip", "stale", "missing")
BROKEN_JOURNAL: Final = "journals broken by a write"
COMMANDS: Final = 40


def torture(kind: Kind, seed: int, wanted: int) -> tuple[Counter[str], list[str]]:
    """Let one read of a command return something else; return counts, and a line for each failure."""
    chosen = Random(f"reads {kind} {seed}")
    counts: Counter[str] = Counter()
    told: list[str] = []
    start = MemoryBackend()
    made = commands(2 * COMMANDS, seed=chosen.randrange(1000))
    engine_on(start).apply(made[:COMMANDS])
    for _ in range(wanted):
        backend = FaultBackend(copied_rows(start))
        engine = engine_on(backend, clock=lambda: 2_000_000_000_000_000)
        reads = sum(backend.counts[name] for name in ("get", "scan"))
        at = reads + chosen.randint(1, 30)
        backend.fault = Fault(kind, at, on=frozenset({"get", "scan"}), bit=chosen.randrange(1 << 16))
        counts["trials"] += 1
        try:
            for command in made[COMMANDS : COMMANDS + 6]:
                engine.apply([command])
            counts["carried out"] += 1
        except CorruptionError:
            counts["noticed"] += 1
        except EngineError as error:
            counts[f"refused: {error.code}"] += 1
        except Exception as error:  # noqa: BLE001  counted as a failure
            counts[FOREIGN] += 1
            told.append(f"{kind} at read {at}: {type(error).__name__}: {error}"[:300])
        report = verify(backend.inner)
        if not report.ok and any(one.family == "journal" for one in report.differences):
            counts[BROKEN_JOURNAL] += 1
            told.append(f"{kind} at read {at}: {report.differences[0]}"[:300])
    return counts, told
