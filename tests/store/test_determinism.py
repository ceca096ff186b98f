"""The same events give the same root on every backend, in every process, under every process setting."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from backends import open_backend
from backends.memory import MemoryBackend
from engine.base import limits
from engine.store.maintenance import copy
from tests.support.children import ROOT as FOLDER
from tests.support.engines import backend_of, copied_rows, engine_on, projection_rows
from tests.support.workloads import commands

pytestmark = pytest.mark.slow

COUNT = 400
ROOT = "f0e4478cdaee434b734d2c9da6e7e3f583e54cb5c4609058c3ce6f6c9b1f10e4"
"""The overall root of 400 commands with a checkpoint in the middle. It changes only with the format."""

MAKE = """
import sys
from tests.store.test_determinism import made
print(made(sys.argv[1]))
"""


def made(url: str, batch: int = 50) -> str:
    """Return the root of the golden history, written to a new store at `url`."""
    with open_backend(url) as backend:
        engine = engine_on(backend)
        history = commands(COUNT, seed=2026, relating=False)
        for at in range(0, COUNT, batch):
            engine.apply(history[at : at + batch])
            if at == COUNT // 2:
                engine.checkpoint()
        return engine.root().root


def child(python: str, url: str = "memory:", **environment: str) -> str:
    """Return the root that another process computes."""
    run = subprocess.run(
        [python, "-c", MAKE, url],
        cwd=FOLDER,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("scheme", ["memory", "sqlite", "leveldb"])
def test_the_root_is_the_golden_one_on_every_backend(scheme: str, tmp_path: Path) -> None:
    """Memory, SQLite and LevelDB give the golden root."""
    if scheme == "leveldb" and find_spec("plyvel") is None:
        pytest.skip("NOT TESTED: plyvel is not installed")
    assert made("memory:" if scheme == "memory" else f"{scheme}:{tmp_path / 'store'}") == ROOT


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC+14"},
        {"PYTHONHASHSEED": "1", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati"},
        {
            "PYTHONHASHSEED": "random",
            "LC_ALL": "C.UTF-8",
            "PYTHONUTF8": "0",
            "TZ": "UTC-12",
            "PYTHONOPTIMIZE": "2",
        },
        {"PYTHONHASHSEED": "random", "LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
    ids=lambda environment: environment["LC_ALL"],
)
def test_no_setting_of_the_process_changes_the_root(environment: dict[str, str]) -> None:
    """Hash seed, locale, time zone and optimisation level do not change the root."""
    assert child(sys.executable, **environment) == ROOT


def test_other_pythons_give_the_same_root() -> None:
    """Every interpreter in MEMROOT_PYTHONS (paths, separated by colons) gives the golden root."""
    pythons = [name for name in os.environ.get("MEMROOT_PYTHONS", "").split(os.pathsep) if name]
    if not pythons:
        pytest.skip("NOT TESTED: name interpreters that have the dependencies in MEMROOT_PYTHONS")
    assert {python: child(python) for python in pythons} == dict.fromkeys(pythons, ROOT)


@pytest.mark.parametrize(
    "path", ["rebuilt", "copied", "never followed", "followed one by one", "opened anew"]
)
def test_every_way_to_the_head_gives_the_same_rows(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rebuilding, copying, and following late, event by event or in a new process give the same rows."""
    engine = engine_on()
    for command in commands(COUNT, seed=2026)[:120]:
        engine.apply([command])
        if path != "never followed" and path != "followed one by one":
            engine.catch_up()
    plain = copied_rows(backend_of(engine))
    engine_on(plain).catch_up()
    expected = projection_rows(plain)
    if path == "rebuilt":
        engine.rebuild()
    if path == "copied":
        target = MemoryBackend()
        copy(backend_of(engine), target)
        engine = engine_on(target)
    if path == "followed one by one":
        monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 1)
    if path == "opened anew":
        engine = engine_on(copied_rows(backend_of(engine)))
    engine.catch_up()
    assert projection_rows(backend_of(engine)) == expected


def test_batches_do_not_change_the_namespace_roots() -> None:
    """One batch or four hundred give the same log and the same roots of atoms, edges, tags and index."""
    assert {made_plain(batch) for batch in (1, 7, 1000)} == {made_plain(50)}


def made_plain(batch: int) -> str:
    """Return the root of part of the golden history without its checkpoint, in batches of `batch`."""
    engine, history = engine_on(), commands(COUNT, seed=2026)[:150]
    for at in range(0, len(history), batch):
        engine.apply(history[at : at + batch])
    return engine.root().root
