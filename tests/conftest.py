"""How tests are run everywhere: what passes or fails for one does so for all, however busy the machine.

Hypothesis tries the same examples in each run, and keeps none from an earlier one. In a long run
(`tests.support.soak`) it tries fresh ones, more of them, and prints how to try again what failed.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

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


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print the seed of a long run, by which it can be repeated."""
    if FACTOR and not hasattr(session.config, "workerinput"):
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        assert reporter is not None
        reporter.write_line(f"{FACTOR} times the usual examples, MEMROOT_SEED={RUN_SEED}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In a long run, multiply the examples of each test that Hypothesis finds examples for."""
    done: set[Any] = set()
    for item in items if FACTOR else ():
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        if item.get_closest_marker("hypothesis") and test not in done:
            done.add(test)
            multiply(test)


def multiply(test: Any) -> None:
    """Have Hypothesis try so many times as many examples; a state machine asks `times` itself."""
    own = getattr(test, "_hypothesis_internal_use_settings", None)
    if own is not None:
        test._hypothesis_internal_use_settings = settings(own, max_examples=times(own.max_examples))
