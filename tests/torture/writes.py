"""Bits that flip on the way to the disk: no checkpoint note may be issued over such a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from backends.base import Batch, Guards
from engine.commands import Command
from engine.trust.audit.verify import verify
from tests.support.engines import copied_rows, engine_on
from tests.support.faults import FaultBackend, flip_bit
from tests.torture.short_runs import AFTERWARDS, carry_out, later, start, was_undisturbed

VARIANTS: Final = ("same process", "reopened")
OVER_BAD_DATA: Final = "notes over bad data"
NOT_DERIVED: Final = frozenset({"journal", "payload", "log", "meta"})
"""The families whose damage a replay cannot heal."""


class FlippingBackend(FaultBackend):
    """A backend in which one bit of one row flips before write number `at` reaches the store."""

    at: int = 0
    row: int = 0
    """The position of the row among the rows of the write that have a value, modulo their number."""
    bit: int = 0
    flipped: bytes | None = None
    """The key of the row, once the bit has flipped."""

    def _write(self, batch: Batch, guards: Guards, durable: bool) -> None:
        values = [key for key, value in batch.rows.items() if value]
        if self.counts["write"] == self.at and values:
            self.flipped = values[self.row % len(values)]
            changed = Batch()
            changed.reaches = batch.reaches
            changed.rows |= batch.rows
            changed.put(self.flipped, flip_bit(batch.rows[self.flipped] or b"", self.bit))
            batch = changed
        super()._write(batch, guards, durable)


def torture(variant: str, seed: int, wanted: int, _folder: Path) -> tuple[Counter[str], list[str]]:
    """Flip a bit in a write of a command, then ask for a note; return counts, and a line for each failure."""
    chosen = Random(f"writes {variant} {seed}")
    counts: Counter[str] = Counter()
    told: list[str] = []
    store, made = start(chosen)
    last = AFTERWARDS if variant == "reopened" else AFTERWARDS + 2
    for _ in range(wanted):
        backend = FlippingBackend(copied_rows(store))
        backend.at, backend.row = chosen.randint(1, last), chosen.randrange(64)
        backend.bit = chosen.randrange(1 << 16)
        counts["trials"] += 1
        noted = partial(_take_note, variant, backend, made)
        if was_undisturbed(noted, partial(_named, backend), counts, told):
            _judge(backend, counts, told)
    return counts, told


def _take_note(variant: str, backend: FlippingBackend, made: Sequence[Command]) -> None:
    """Carry out the commands, then ask for a note, in the same process or after opening the store again."""
    engine = engine_on(backend, clock=later)
    carry_out(engine, made)
    if variant == "reopened":
        engine = engine_on(backend.inner, clock=later)
    engine.checkpoint_note()


def _named(backend: FlippingBackend) -> str:
    return f"write {backend.at}, row {backend.flipped!r}, bit {backend.bit}"


def _judge(backend: FlippingBackend, counts: Counter[str], told: list[str]) -> None:
    """Count a note as wrong unless a replay of the stored journal confirms it."""
    if backend.flipped is None:
        counts["no bit flipped"] += 1
        return
    report = verify(backend.inner)
    if report.ok:
        counts["replaced by a later write"] += 1
        return
    # The replay computes the roots of the one checkpoint again, and counts it only if they are the same.
    if report.checkpoints != 1 or any(one.family in NOT_DERIVED for one in report.differences):
        counts[OVER_BAD_DATA] += 1
        told.append(f"{_named(backend)}: {report.differences[0]}"[:300])
    else:
        counts["in a derived row only"] += 1
