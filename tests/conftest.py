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

pytest_plugins = ["tests.support.command_line", "tests.support.scratch"]

CHANCE = Random()
"""The source of random bytes for stores that are opened in this process, except in a long run."""

if not FACTOR:
    os.urandom = CHANCE.randbytes

SLOW = frozenset(
    """
    test_all_sizes test_arguments test_bm25 test_changed_rows test_chunks test_claims test_codec
    test_command test_commands test_determinism test_differential test_docs test_exploring
    test_failures test_faults test_follower test_followers test_fresh_proofs test_graph test_hints test_hits
    test_hostile test_imports test_index_corruption test_index_follower test_isolation
    test_journal_erased test_killed test_kills test_kinds test_laws test_leveldb test_leveldb_crashes
    test_limits test_loop test_machine test_mcp_memory test_moments test_mutants test_mutations test_odd_text
    test_offline test_paths test_places test_power test_processes test_reference test_rot test_segments
    test_connections test_deadlines test_mcp_http test_month test_sockets test_stopping
    test_picture test_several test_several_processes test_several_writers test_spec_example test_sqlite
    test_standalone test_stdio test_tamper test_threads test_tiles test_tiles_again test_tiles_compared
    test_totality test_unicode14 test_vectors test_verbs test_wheel
    """.split()  # noqa: SIM905  a list of them would take a page
)
"""The test modules that `--quick` skips: each takes over two seconds, or starts many processes."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--quick` to pytest."""
    parser.addoption("--quick", action="store_true", help="leave out the modules that take long")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--quick`, do not import the modules that take long."""
    return True if config.getoption("quick") and collection_path.stem in SLOW else None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print the seed of a long run, with which the run can be repeated."""
    if FACTOR and not hasattr(session.config, "workerinput"):
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        assert reporter is not None
        reporter.write_line(f"{FACTOR} times the stated examples, MEMROOT_SEED={RUN_SEED}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Seed the random numbers of each test with the test's name, independent of earlier tests."""
    CHANCE.seed(item.nodeid)


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
