"""Every view of the window can be read by everybody, and used with the keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

from engine.engine import Engine
from tests.support.workloads import id_of
from tests.window.browser import faults_of_looks
from tests.window.service import KETTLE, PLAN, Window, filled, settled

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

VIEWS: Final = {
    "start": "",
    "hits": "q=kettle",
    "nothing": "q=unicorns",
    "context": "q=kettle&form=context",
    "graph": "q=kettle&form=graph",
    "names": "q=Ada+Okafor+PostgreSQL&form=names",
    "around": f"form=graph&around={KETTLE}",
    "tag": "tag=kitchen",
    "filters": "q=kettle&tag=kitchen&since=2020-01-01",
    "read": f"q=kettle&atom={PLAN}",
    "earlier": f"q=kettle&at=2&atom={PLAN}",
    "time": "view=time",
    "upkeep": "view=upkeep",
}
PARTS_OF_DATE: Final = 16
"""Each field for a date or a time has a stop of its own for each of its parts."""
STOPS: Final = """() => [...document.querySelectorAll(
  "a[href], button, input:not([type=radio]), [type=radio]:checked, select, textarea, summary, [tabindex='0']"
)].filter((one) => one.checkVisibility() && !one.disabled).length"""
FOCUS: Final = """() => {
  const here = document.activeElement;
  if (here === document.body || here === document.documentElement) return null;
  const isNew = !here.hasAttribute("data-reached");
  here.setAttribute("data-reached", "");
  const shown = here.type === "radio" ? here.closest("label") : here;
  const { outlineStyle, outlineWidth } = getComputedStyle(shown);
  const { width, height } = shown.getBoundingClientRect();
  const isSeen = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && width > 0 && height > 0;
  return [isNew, isSeen, shown.outerHTML.slice(0, 100)];
}"""


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window that the tests use in turn, on a store with names."""
    url = filled(tmp_path_factory.mktemp("access") / "notes.db")
    with Engine.open(url) as engine:
        engine.relate("Ada Okafor", "works_at", "Berlin")
        engine.relate("Berlin", "uses", "PostgreSQL")
        engine.add("The kettle of Ada Okafor.", id=id_of(6), source="kettle.md", sequence=2)
    with settled(browser, url) as made:
        yield made


def view(opened: Window, place: str) -> None:
    """Go to a view, and wait until all of it is shown."""
    opened.visit(place)
    opened.page.wait_for_function("() => document.querySelector('[aria-busy=\"true\"]') === null")
    opened.settle()


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_can_be_read_by_everybody(opened: Window, name: str) -> None:
    """In light and dark, wide and narrow."""
    view(opened, VIEWS[name])
    assert faults_of_looks(opened.page, f"window-{name}") == []


def test_a_refusal_can_be_read_by_everybody(opened: Window) -> None:
    """Of an atom, and of a relation in a graph that has a chosen node."""

    def lie(operation: str, given: Any, answer: Any) -> Any:
        del given
        if operation == "edges":
            return [one | {"dst": PLAN} for one in answer]
        if operation == "recall":
            return answer | {"hits": [hit | {"snippet": "The kettle is sold."} for hit in answer["hits"]]}
        return answer

    opened.service.lie = lie
    view(opened, f"form=graph&around={KETTLE}")
    opened.page.focus("canvas")
    opened.page.keyboard.press("ArrowDown")
    assert "1 of 1 relation refused" in opened.marks()
    assert faults_of_looks(opened.page, "window-graph-refused") == []
    view(opened, "q=kettle")
    assert "Altered by the service" in opened.marks()
    assert faults_of_looks(opened.page, "window-altered") == []


def test_the_dialogs_can_be_read_by_everybody(opened: Window) -> None:
    """What is trusted, and the question for a token, over the form of the filters."""
    view(opened, "q=kettle")
    opened.page.click("#narrow-button")
    opened.page.click("#trust-button")
    faults = faults_of_looks(opened.page, "window-trust", whole=False)
    opened.page.keyboard.press("Escape")
    opened.page.route(
        "**/v1/**", lambda route: route.fulfill(status=401, json={"code": "token", "detail": "No token."})
    )
    opened.page.evaluate("() => { location.hash = 'q=boiler'; }")
    opened.page.wait_for_selector("#token[open]")
    faults += faults_of_looks(opened.page, "window-token", whole=False)
    opened.page.unroute("**/v1/**")
    assert faults == []


@pytest.mark.parametrize("name", VIEWS)
def test_tab_reaches_everything_in_a_view(opened: Window, name: str) -> None:
    """Each link, button and field once, with a ring around it; nothing holds the focus."""
    view(opened, VIEWS[name])
    opened.page.evaluate("() => document.activeElement.blur()")
    stops = opened.page.evaluate(STOPS)
    unseen, reached = [], 0
    for _ in range(stops + PARTS_OF_DATE):
        opened.page.keyboard.press("Tab")
        found = opened.page.evaluate(FOCUS)
        # Between the end and the beginning of the page, nothing has the focus.
        is_new, is_seen, html = found or (False, True, "")
        reached += is_new
        unseen += [html] if is_new and not is_seen else []
    assert (reached, unseen) == (stops, [])
