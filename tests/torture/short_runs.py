"""A few commands on a copy of one store, with one fault: what the exercises `reads` and `writes` share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from backends.memory import MemoryBackend
from engine.base.errors import CorruptionError, EngineError
from engine.commands import Command
from engine.engine import Engine
from tests.support.engines import engine_on
from tests.support.workloads import commands
from tests.torture.oracle import FOREIGN

COMMANDS: Final = 40
AFTERWARDS: Final = 6
"""The commands that run after the fault is set. Each is one write; more writes update the followers."""


def later() -> int:
    """Return a time after the times of the start."""
    return 2_000_000_000_000_000


def start(chosen: Random) -> tuple[MemoryBackend, list[Command]]:
    """Return a store with some events, and the commands to run on copies of it."""
    store = MemoryBackend()
    made = commands(2 * COMMANDS, seed=chosen.randrange(1000))
    engine_on(store).apply(made[:COMMANDS])
    return store, made[COMMANDS : COMMANDS + AFTERWARDS]


def carry_out(engine: Engine, made: Sequence[Command]) -> None:
    """Apply the commands one by one."""
    for command in made:
        engine.apply([command])


def was_undisturbed(
    do: Callable[[], object], named: Callable[[], str], counts: Counter[str], told: list[str]
) -> bool:
    """Call `do` and return True if it raises no error; otherwise count the error, which `named` describes."""
    try:
        do()
    except CorruptionError:
        counts["noticed"] += 1
    except EngineError as error:
        counts[f"refused: {error.code}"] += 1
    except Exception as error:  # noqa: BLE001  counted as a failure
        counts[FOREIGN] += 1
        told.append(f"{named()}: {type(error).__name__}: {error}"[:300])
    else:
        return True
    return False
