"""A question while it is typed: what the page asks the service for, and when."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.window.browser import ORIGIN
from tests.window.service import UNCHANGED, Service, Window, filled, hold, honest, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = pytest.mark.slow

REST = 250
"""The time, in ms, after which typing has ended."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """An honest service on a store with three atoms."""
    made = Service(filled(tmp_path_factory.mktemp("typing") / "notes.db"))
    yield made
    made.close()


@pytest.fixture
def opened(browser: Browser, service: Service) -> Iterator[Window]:
    """The window, with everything that stands on its start page verified."""
    with window(browser, service) as found:
        found.settle()
        yield found


def test_no_proof_is_asked_for_before_typing_has_ended(opened: Window) -> None:
    """Hits are shown at each key; a proof of them would delay the answer to the next key."""
    asked: list[str] = []

    def note(operation: str, given: Any, answer: Any) -> Any:
        asked.append(operation)
        return honest(operation, given, answer)

    opened.page.clock.install()
    opened.page.clock.pause_at("2100-01-01")
    opened.service.lie = note
    try:
        opened.page.focus("#query")
        for letter in "kettle":
            opened.page.keyboard.type(letter)
            opened.page.wait_for_selector('#list[aria-busy="false"]')
        assert opened.marks("#list .summary") == ["Checking…"]
        assert asked == ["recall"] * 6
        opened.page.clock.run_for(REST)
        opened.settle()
    finally:
        opened.service.lie = honest
    assert asked == ["recall"] * 6 + ["prove"]
    assert opened.marks("#list .summary") == [f"{UNCHANGED}: 3 texts"]


def test_only_one_answer_is_under_way_while_a_question_is_typed(opened: Window) -> None:
    """The service is not asked again before it has answered, and then only what stands in the field."""
    held: list[Route] = []
    opened.page.route("**/recall", hold(held))
    opened.page.locator("#query").press_sequentially("kettle")
    opened.page.wait_for_function("() => location.hash === '#q=kettle'")
    assert [queried(route) for route in held] == ["k"]
    with opened.page.expect_request("**/recall"):
        opened.service.answer(held[0])
    opened.page.wait_for_timeout(0)
    assert [queried(route) for route in held] == ["k", "kettle"]
    opened.service.answer(held[1])
    opened.settle()
    assert opened.page.locator("#list mark").first.inner_text() == "kettle"


def queried(route: Route) -> str:
    """Return the question of a request."""
    query: str = json.loads(route.request.post_data or "{}")["query"]
    return query


def test_the_address_keeps_what_was_typed(opened: Window) -> None:
    """Once typing has ended, so that the page can be loaded again with the same answers."""
    opened.page.fill("#query", "boiler")
    opened.arrive("boiler")
    opened.page.reload()
    opened.settle()
    assert opened.page.input_value("#query") == "boiler"
    assert "Ms Okafor services the boiler." in opened.text("#list")


def test_an_answer_that_was_not_waited_for_is_asked_for_again(opened: Window) -> None:
    """A person who leaves a question before it is answered, and comes back, gets the answer."""
    held: list[Route] = []
    opened.page.route("**/recall", hold(held), times=1)
    opened.page.goto(f"{ORIGIN}/#q=boiler")
    opened.page.wait_for_selector('#list[aria-busy="true"]')
    opened.visit_within("tag=kitchen")
    opened.visit_within("q=boiler")
    held[0].abort()
    assert "Ms Okafor services the boiler." in opened.text("#list")


def test_a_click_on_a_hit_ends_typing(opened: Window) -> None:
    """The list stays with its question in the address, and its hits are opened."""
    opened.page.clock.install()
    opened.page.clock.pause_at("2100-01-01")
    opened.page.fill("#query", "boiler")
    opened.page.wait_for_selector('#list[aria-busy="false"]')
    opened.page.click("#list .hit-title")
    opened.settle()
    assert "q=boiler" in opened.page.url
    assert opened.marks("#list .summary") == [f"{UNCHANGED}: 3 texts"]
