"""The Chromium of the system: where it is, and how tests and measurements start it."""

from __future__ import annotations

import shutil
from typing import Final

NAMES: Final = (
    *("chromium", "chromium-browser", "google-chrome"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
SWITCHES: Final = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)
"""The page is trusted, only it may use the network, and a container has no GPU and little `/dev/shm`."""


SHELL: Final = "chromium-headless-shell"
"""Chromium without windows. The tests of pages take three quarters of the time in it (measured)."""


def chromium() -> str | None:
    """Return the path of Chromium, or None if it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def headless() -> str | None:
    """Return the path of Chromium's headless shell, or of Chromium; None if neither is installed."""
    return shutil.which(SHELL) or chromium()
