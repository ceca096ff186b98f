"""What a process needs to be measured by `make coverage`, for tests that choose its environment."""

from __future__ import annotations

import os


def measured() -> dict[str, str]:
    """The variable by which coverage measures the processes that are started; nothing in a usual run."""
    return {name: value for name, value in os.environ.items() if name == "COVERAGE_PROCESS_CONFIG"}
