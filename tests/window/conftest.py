"""One browser for all tests of this folder.

It is closed when they are over, because Playwright keeps an event loop running in its thread until then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.window.browser import started
from tests.window.service import Window, honest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser."""
    with started() as found:
        yield found


@pytest.fixture
def opened(shared: Window) -> Iterator[Window]:
    """The window that the tests of a module share; its service is honest again after the test."""
    yield shared
    shared.service.lie = honest
