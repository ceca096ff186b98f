"""The engine agrees with the reference after any history of commands, failures and upkeep."""

import itertools
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from backends import Backend, open_backend
from backends.memory import MemoryBackend
from tests.model.machine import EngineMachine
from tests.support.postgresql import shared_server
from tests.support.soak import times

pytestmark = [pytest.mark.twins, pytest.mark.slow]


def check(machine: Callable[[], EngineMachine], examples: int, steps: int) -> None:
    """Run a machine with this number of examples and steps."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        machine,  # type: ignore[arg-type]  # a function that makes one does as well as a class
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=slow,
        ),
    )


def in_memory() -> EngineMachine:
    """Return a machine on a memory store; reopening makes a new engine over the same rows."""
    return EngineMachine(MemoryBackend, lambda backend: backend)


def on_disk(scheme: str, folder: Path) -> Callable[[], EngineMachine]:
    """Return machines on new stores under `folder`, or on a PostgreSQL server; reopening uses the URL."""
    if scheme == "leveldb" and find_spec("plyvel") is None:
        pytest.skip("NOT TESTED: plyvel is not installed")
    server = shared_server().url.removeprefix("postgresql:") if scheme == "postgresql" else ""
    name, numbers = f"m{uuid4().hex[:12]}", itertools.count()

    def machine() -> EngineMachine:
        places: dict[int, str] = {}

        def opened() -> Backend:
            number = next(numbers)
            url = f"postgresql+{name}-{number}:{server}" if server else f"{scheme}:{folder / str(number)}"
            backend = open_backend(url)
            places[id(backend)] = url
            return backend

        def renewed(backend: Backend) -> Backend:
            url = places.pop(id(backend))
            backend.close()
            again = open_backend(url, create=False)
            places[id(again)] = url
            return again

        return EngineMachine(opened, renewed)

    return machine


def test_any_history_in_memory() -> None:
    """Root, rows, receipts and refusals on a memory store are those of the reference."""
    check(in_memory, examples=times(120), steps=30)


@pytest.mark.parametrize("scheme", ["sqlite", "leveldb", "postgresql"])
def test_any_history_on_disk(scheme: str, tmp_path: Path) -> None:
    """Root, rows, receipts and refusals on stores that last are those of the reference."""
    few = scheme == "postgresql"
    check(on_disk(scheme, tmp_path), examples=times(2 if few else 6), steps=10 if few else 20)


@pytest.mark.soak
@pytest.mark.parametrize("scheme", ["memory", "sqlite", "leveldb", "postgresql"])
def test_any_history_for_long(scheme: str, tmp_path: Path) -> None:
    """The same holds for 2,000 histories of 100 steps in memory, and 200 of 60 steps elsewhere."""
    if scheme == "memory":
        check(in_memory, examples=2000, steps=100)
    else:
        check(on_disk(scheme, tmp_path), examples=200, steps=60)
