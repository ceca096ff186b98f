"""The environment variable with which `make coverage` measures child processes of tests."""

from __future__ import annotations

import os


def measured() -> dict[str, str]:
    """Return the variable to pass to started processes, or {} if coverage is not measured."""
    return {name: value for name, value in os.environ.items() if name == "COVERAGE_PROCESS_CONFIG"}
