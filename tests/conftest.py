"""Settings that make every test run give the same results, on any machine and under any load.

Hypothesis tries the same examples in each run and does not store examples. In a long run
(`tests.support.soak`) it tries more and new examples, and prints how to repeat a failure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from backends.sealed import held
from tests.support.forking import Forks
from tests.support.soak import FACTOR, RUN_SEED, times

settings.register_profile(
    "usual",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    database=None,
    print_blob=True,
)
settings.register_profile("soak", settings.get_profile("usual"), derandomize=False)
settings.load_profile("soak" if FACTOR else "usual")

# Results do not depend on the spaCy pipelines that are installed; the tests of pipelines choose one.
os.environ["ENGINE_PIPELINE"] = "none"
# Receipts would be written to the data folder of the user.
os.environ["ENGINE_RECEIPTS"] = "off"

pytest_plugins = ["tests.support.command_line", "tests.support.scratch"]

CHANCE = Random()
"""The source of random bytes for stores that are opened in this process, except in a long run."""

if not FACTOR:
    os.urandom = CHANCE.randbytes


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print the seed of a long run, with which the run can be repeated."""
    if FACTOR and not hasattr(session.config, "workerinput"):
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        assert reporter is not None
        reporter.write_line(f"{FACTOR} times the stated examples, MEMROOT_SEED={RUN_SEED}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Seed the random numbers of each test with the test's name, and forget the keys of earlier tests."""
    CHANCE.seed(item.nodeid)
    held.clear()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Set the number of examples that Hypothesis tries in this run."""
    done: set[Any] = set()
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)  # shared by the classes that inherit a test
        own = getattr(test, "_hypothesis_internal_use_settings", None)  # a state machine asks `times` itself
        if own is not None and test not in done:
            done.add(test)
            changed = settings(own, max_examples=times(own.max_examples))
            test._hypothesis_internal_use_settings = changed  # type: ignore[union-attr]


@pytest.fixture(scope="session")
def forked() -> Iterator[Path]:
    """A folder with programs `engine` and `python` that are forked after their imports, to start faster."""
    forks = Forks()
    yield forks.folder
    forks.close()
