"""The exercises of the reliability programme: what each does, on what, and how often in a release.

An exercise has variants, such as backends, and is carried out in slices, each in a process of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from tests.torture.calls import why_not as strace
from tests.torture.memory import why_not as allocations

Result = tuple[Counter[str], list[str]]
Run = Callable[[str, int, int, Path], Result]
"""Carries out a slice: the variant, the seed, the wanted number of trials, and an empty folder."""


class Exercise(NamedTuple):
    """One kind of fault, on several variants."""

    title: str
    faults: str
    """The numbers of the faults in the table of faults."""
    what: str
    """What one trial is."""
    variants: Sequence[str]
    release: int
    """The number of trials of each variant in a release."""
    slice: int
    """The number of trials in one process."""
    zero: Sequence[str]
    """The counts that must be 0."""
    run: Run
    missing: Callable[[], str] = lambda: ""
    """Returns what the exercise needs and is missing here, as a sentence; empty if nothing is missing."""

    @property
    def by_backend(self) -> bool:
        """True if the report sums up the variants of a backend, which are named `BACKEND COMMAND`."""
        return self.variants is _EACH_COMMAND


FILES: Final = ("leveldb", "sqlite")


def _torture(module: str, *more: str) -> Run:
    """Return the function `torture` of a module, which is imported when the exercise is carried out."""

    def run(variant: str, seed: int, wanted: int, folder: Path) -> Result:
        made: Result = import_module(f"tests.torture.{module}").torture(variant, *more, seed, wanted, folder)
        return made

    return run


def _power(variant: str, seed: int, wanted: int, folder: Path) -> Result:
    from tests.torture.power import explore, recorded, states

    run = recorded(variant, seed, 150, folder)
    return explore(run, states(run, seed, wanted), folder)


def _rot(kind: str) -> Run:
    def run(variant: str, seed: int, wanted: int, folder: Path) -> Result:
        from tests.torture import rot

        scheme, _, how = variant.partition(" ")
        whole = rot.left_open(scheme, folder, closed=how == "closed")
        damages = rot.flips(whole, seed, wanted) if kind == "flips" else rot.surgery(whole, seed, wanted)
        return rot.torture(whole, damages, folder)

    return run


def _simulated(variant: str, seed: int, wanted: int, _: Path) -> Result:
    from tests.torture.simulation import FAILURES, simulate

    total: Counter[str] = Counter()
    told = []
    for number in range(wanted):
        counts, _order = simulate(seed * 1000 + number, 2 if variant == "two processes" else 3)
        total += counts
        if any(counts[name] for name in FAILURES):
            told.append(f"simulate({seed * 1000 + number}): { {k: v for k, v in counts.items() if v} }"[:400])
    return total, told


def _cells(variant: str, seed: int, wanted: int, folder: Path) -> Result:
    from tests.torture.determinism import torture

    return torture(variant.split(maxsplit=1)[0], seed % SLICES_MAX * CELLS, wanted, folder)


SLICES_MAX: Final = 100_000
"""A slice's seed is that of the run, times this, plus the number of the slice."""
CELLS: Final = 81
DECODERS: Final = (
    "action", "atom-record", "blocks", "body", "counters", "dream", "edge-record", "erasing", "export",
    "export-event", "export-head", "facts", "frontier", "frontmatter", "header", "json", "leaf", "lengths",
    "log-state", "manifest", "note", "pack", "page", "proof-postings", "signatures", "strict-cbor",
    "summary", "verifier-key",
)  # fmt: skip
COMMANDS: Final = (
    "add", "apply_many", "backup", "checkpoint", "dream", "erase", "import", "ingest", "merge", "mirror",
    "rebuild", "revise", "supersede",
)  # fmt: skip
_EACH_COMMAND: Final = tuple(f"{scheme} {command}" for scheme in FILES for command in COMMANDS)
_STATES: Final = ("leveldb closed", "leveldb killed", "sqlite closed", "sqlite killed")
_AFTER_A_FAULT: Final = (
    "acknowledged events lost", "not opened", "differ from the undisturbed run", "not verified",
)  # fmt: skip
_AFTER_A_COMMAND: Final = (
    *_AFTER_A_FAULT, "errors that are not ours", "files beside the store torn",
    "another root after repeating the command", "cannot be repeated",
)  # fmt: skip

EXERCISES: Final[Mapping[str, Exercise]] = {
    "power": Exercise(
        "Loss of power", "F3",
        "the system calls of a run are recorded; from the recording, the files are put into a state in which "
        "a loss of power can leave them; the store is opened and compared with the run, and every tenth "
        "store is replayed",
        FILES, 10_000, 500, _AFTER_A_FAULT, _power, strace,
    ),
    "kill": Exercise(
        "Kills at system calls", "F2, F6, F20",
        "a process that carries out a command is killed at one of its system calls; the store is opened, "
        "compared and replayed, and the command is repeated",
        _EACH_COMMAND, 100, 25, _AFTER_A_COMMAND, _torture("kills", "SIGKILL"), strace,
    ),
    "eio": Exercise(
        "System calls that fail", "F4",
        "a system call of a command fails with EIO, once or from then on; then as above",
        _EACH_COMMAND, 200, 25, _AFTER_A_COMMAND, _torture("kills", "EIO"), strace,
    ),
    "enospc": Exercise(
        "A full disk", "F5",
        "a system call of a command fails with ENOSPC, once or from then on; then as above",
        _EACH_COMMAND, 200, 25, _AFTER_A_COMMAND, _torture("kills", "ENOSPC"), strace,
    ),
    "flips": Exercise(
        "Flipped bits in files", "F10",
        "one bit of one file of a store is flipped; the store is opened and asked thirteen questions, and "
        "replayed if no answer shows the damage",
        _STATES, 12_500, 500, ("wrong answers", "errors that are not ours"), _rot("flips"),
    ),
    "surgery": Exercise(
        "Damaged whole files", "F11",
        "a file of a store is cut short, deleted, swapped with another, or has a block of zeros; a wrong "
        "answer counts only if a replay with the root that was kept outside finds nothing",
        _STATES, 1_000, 250, ("not noticed with a kept root", "errors that are not ours"), _rot("surgery"),
    ),
    "simulation": Exercise(
        "Several processes", "F1, F15, F17, F19",
        "processes on one store take turns at each operation; some die, some writes fail or are in doubt, "
        "and the power fails; at the end the journal is compared with every receipt and replayed",
        ("two processes", "three processes"), 10_000, 250,
        (
            "acknowledged events lost", "not verified", "errors that are not ours", "stuck",
            "acknowledged at the same place twice", "doubtful writes reported wrongly",
            "acknowledged and not seen by its process",
        ),
        _simulated,
    ),
    "rows": Exercise(
        "Rows that are changed from outside", "F12",
        "one row is changed, deleted or added, or two rows are swapped, and a command is carried out; then "
        "the store is rebuilt and replayed",
        ("memory", *FILES), 2_000, 250, ("wrong event", "wrong answer", "broken", "not healed"),
        _torture("tampered"),
    ),
    "reads": Exercise(
        "Reads that return something else", "F14",
        "one read of a command returns a flipped bit, an earlier value, the value of another row or nothing; "
        "then the journal is replayed",
        ("flip", "stale", "missing", "other"), 2_000, 250,
        ("journals broken by a write", "errors that are not ours"), _torture("reads"),
    ),
    "writes": Exercise(
        "Bits that flip before they are written", "F13",
        "one bit of one row flips on its way to the store; then a checkpoint note is asked for, by the same "
        "process or by the next, and a replay is compared with the note",
        ("same process", "reopened"), 2_000, 250,
        ("notes over bad data", "errors that are not ours"), _torture("writes"),
    ),
    "memory": Exercise(
        "Lack of memory", "F8",
        "1, 10 or 1,000 allocations of Python in a row fail while a process carries out a command, or the "
        "process may grow by at most 4 KiB to 256 MiB; then as after a kill",
        _EACH_COMMAND, 40, 20, _AFTER_A_COMMAND, _torture("memory"), allocations,
    ),
    "interrupts": Exercise(
        "Interrupts", "F9",
        "KeyboardInterrupt is raised at one line of a commit or of what follows it; then the handle must go "
        "on correctly, or refuse until the store is opened again",
        ("memory", "sqlite", "leveldb"), 3_000, 250,
        ("acknowledged events lost", "not verified", "errors that are not ours", "stuck",
         "another root than that of the disk"),
        _torture("interrupts"),
    ),
    "leaks": Exercise(
        "Leaks", "F21", "a store is opened, asked and closed",
        FILES, 10_000, 10_000, ("descriptors left open", "memory grew by over 5 %", "threads left"),
        _torture("leaks"),
    ),
    "cells": Exercise(
        "Determinism", "",
        "every process writes the same history and must get the same roots; what varies is the backend, the "
        "hash seed, the locale, the time zone, the size of the batches, how the root is reached, the "
        "kernels, and the versions of Python in MEMROOT_PYTHONS",
        ("native kernels", "python kernels"), 729, CELLS, ("other roots", "processes that failed"), _cells,
    ),
    "fuzz": Exercise(
        "Decoders", "",
        "a decoder gets a changed example; it must decode or refuse it with its own error, within a second",
        DECODERS, 100_000, 20_000, ("errors that are not the decoder's", "slower than 1 s"), _torture("fuzz"),
    ),
}  # fmt: skip
"""Name → exercise, in the order of the report."""
