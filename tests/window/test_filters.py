"""Filters of a search: chips that are added and removed, and that stand in the address."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest

from engine.engine import Engine
from tests.support.workloads import id_of
from tests.window.browser import NARROW, faults_of_access, picture
from tests.window.service import Service, Window, filled, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

MARKUP = "<b>bold</b>"


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on a store with atoms of several buckets and provenances, one of them hostile."""
    url = filled(tmp_path_factory.mktemp("filters") / "notes.db")
    with Engine.open(url) as engine:
        engine.add("The kettle boils.", id=id_of(4), buckets=["shelf"], provenance="external")
        engine.add(
            "The kettle whistles.", id=id_of(5), source=MARKUP, created=datetime(2020, 1, 1, 12, tzinfo=UTC)
        )
    service = Service(url)
    with window(browser, service, size=NARROW) as made:
        made.settle()
        yield made
    service.close()


def add(opened: Window, kind: str, word: str) -> None:
    """Add a filter with the mouse."""
    page = opened.page
    if page.locator("#narrow").is_hidden():
        page.click("#narrow-button")
    page.get_by_label("Kind of filter").select_option(kind)
    field = page.locator(".narrow-word > *")
    if kind == "Provenance":
        field.select_option(word)
    else:
        field.fill(word)
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator("#filters .chip", has_text=word).wait_for()
    opened.settle()


def place(opened: Window) -> list[tuple[str, str]]:
    """Return the parts of the address."""
    return parse_qsl(urlsplit(opened.page.url).fragment)


@pytest.mark.parametrize(
    ("kind", "word", "part", "found"),
    [
        ("Bucket", "shelf", ("bucket", "shelf"), "The kettle boils."),
        ("Source", MARKUP, ("source", MARKUP), "The kettle whistles."),
        ("Provenance", "external", ("provenance", "external"), "The kettle boils."),
        ("Source", "kettle.*", ("source", "kettle.*"), "The kettle is descaled"),
        ("Before", "2020-01-02", ("until", "2020-01-02"), "The kettle whistles."),
        ("Tag", "#chores", ("tag", "chores"), "Descale the kettle"),
    ],
)
def test_a_filter_narrows_a_search_and_stands_in_the_address(
    opened: Window, kind: str, word: str, part: tuple[str, str], found: str
) -> None:
    """What is shown has it; a link with it shows the same."""
    opened.search("kettle")
    add(opened, kind, word.removeprefix("#"))
    assert part in place(opened)
    assert opened.page.locator(".snippet").count() == 1
    assert found in opened.text("#list")
    assert opened.page.locator("#filters b, #list b").count() == 0
    opened.visit(urlsplit(opened.page.url).fragment)
    assert opened.page.locator(".snippet").count() == 1


def test_filters_are_added_and_removed_with_the_keyboard(opened: Window) -> None:
    """Enter adds; Enter on a chip removes it, and the focus goes to the chip beside it."""
    opened.visit("q=kettle&since=2020-01-01")
    keys = opened.page.keyboard
    opened.page.focus("#narrow-button")
    keys.press("Enter")
    keys.press("Tab")
    keys.type("kitchen")
    keys.press("Enter")
    opened.page.locator("#filters .chip", has_text="kitchen").wait_for()
    opened.settle()
    picture(opened.page, "window-filters-360")
    assert faults_of_access(opened.page) == []
    keys.press("Escape")
    assert opened.page.evaluate("document.activeElement.id") == "narrow-button"
    opened.page.focus("#filters .chip")
    keys.press("Enter")
    opened.page.locator("#filters .chip", has_text="kitchen").wait_for(state="detached")
    opened.page.wait_for_function("() => document.activeElement.innerText.startsWith('since')")
    keys.press("Enter")
    opened.page.wait_for_selector("#filters", state="hidden")
    opened.page.wait_for_function("() => document.activeElement.id === 'narrow-button'")
    assert place(opened) == [("q", "kettle")]
