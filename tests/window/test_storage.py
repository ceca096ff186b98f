"""The window in a browser that keeps nothing for it: its storage is blocked, or full."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING, Final

import pytest

from engine.engine import Engine
from tests.support.workloads import id_of
from tests.window.browser import NARROW, faults_of_access, picture
from tests.window.service import UNCHANGED, Service, filled, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

BLOCKED: Final = """
for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, {
    get() { throw new DOMException("The operation is insecure.", "SecurityError"); },
  });
}"""
FULL: Final = """
Storage.prototype.setItem = () => { throw new DOMException("It is full.", "QuotaExceededError"); };"""
SAID: Final = "What is pinned lasts until you close the page or load it again."


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """An honest service."""
    made = Service(filled(tmp_path / "notes.db"))
    yield made
    made.close()


@pytest.mark.parametrize("script", [BLOCKED, FULL], ids=["blocked", "full"])
def test_the_page_works_without_storage_and_says_so(browser: Browser, service: Service, script: str) -> None:
    """It keeps the token and the pin itself, and verifies what it shows."""
    with window(browser, service, size=NARROW, script=script) as opened:
        opened.settle()
        assert SAID in opened.text("#unkept")
        opened.go("tag=kitchen")
        assert opened.marks() == [f"{UNCHANGED}: 2 texts"]
        picture(opened.page, "window-unkept-360")
        assert faults_of_access(opened.page) == []


def test_a_pin_that_only_the_page_keeps_is_compared_with(
    browser: Browser, service: Service, tmp_path: Path
) -> None:
    """A log that is rolled back while the page is open is refused."""
    copy(tmp_path / "notes.db", tmp_path / "older.db")
    with Engine.open(f"sqlite:{tmp_path / 'notes.db'}") as engine:
        engine.add("The kettle was sold.", id=id_of(4))
    with window(browser, service, script=BLOCKED) as opened:
        opened.settle()
        service.replaced_by(f"sqlite:{tmp_path / 'older.db'}")
        opened.go("tag=kitchen")
        assert opened.marks("#trust-button") == ["Refused"]
        assert UNCHANGED not in opened.text("#list")


def test_a_root_can_be_pinned_without_storage(browser: Browser, service: Service, tmp_path: Path) -> None:
    """What the person gives is compared with until the page is closed."""
    with Engine.open(f"sqlite:{tmp_path / 'notes.db'}") as engine:
        root = engine.root().root
    with window(browser, service, script=BLOCKED) as opened:
        opened.settle()
        opened.page.click("#trust-button")
        opened.page.fill("#given", root)
        opened.page.get_by_role("button", name="Pin", exact=True).click()
        opened.page.wait_for_selector("#trust", state="hidden")
        opened.go("tag=kitchen")
        assert opened.marks("#trust-button") == [f"Continues {root[:8]}…"]


def test_a_pin_is_kept_where_there_is_storage(browser: Browser, service: Service) -> None:
    """Then nothing is said, and the next visit begins with the pin."""
    with window(browser, service) as opened:
        opened.settle()
        assert opened.text("#unkept") == ""
        assert opened.page.evaluate("localStorage.length") == 1
