"""One browser for all tests of this folder.

It is closed when they are over, because Playwright keeps an event loop running in its thread until then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.window.browser import started

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser."""
    with started() as found:
        yield found
