"""A service for the window, without a socket, whose answers to the browser may be changed into lies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from engine.engine import Engine
from tests.service.support import client_of
from tests.support.workloads import id_of
from tests.window.browser import ORIGIN, WIDE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

KETTLE, PLAN, BOILER = id_of(1), id_of(2), id_of(3)
UNCHANGED: Final = "Unchanged since recorded"
"""The words of the mark over what proofs opened."""
TOKEN: Final = "reader"  # noqa: S105  the name of a grant in the tests
Lie = Callable[[str, Any, Any], Any]
"""From an operation, its parameters and the honest answer to the answer that is given."""


def filled(path: Path) -> str:
    """Make a store with three atoms, an edge and a history; return its URL."""
    url = f"sqlite:{path}"
    with Engine.open(url) as engine:
        fill(engine)
    return url


def fill(engine: Engine) -> None:
    """Add three atoms, an edge and a history to a memory."""
    engine.add(
        "The kettle is descaled on Mondays by Ms Okafor.",
        id=KETTLE,
        title="Kettle care",
        tags=["kitchen"],
        source="kettle.md",
        sequence=1,
    )
    engine.add("Descale the kettle on Fridays.", id=PLAN, title="Plan", tags=["kitchen", "chores"])
    engine.revise(PLAN, "Descale the kettle on Mondays, with <b>vinegar</b>.")
    engine.add("Ms Okafor services the boiler.", id=BOILER, tags=["heating"])
    engine.link(KETTLE, "references", BOILER)


class Service:
    """What the browser talks to: a store that can be replaced, and answers that can be changed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stack = ExitStack()
        self._client = self._stack.enter_context(client_of(url))
        self.lie: Lie = honest

    def replaced_by(self, url: str) -> None:
        """Serve another store from now on."""
        self.close()
        self._client = self._stack.enter_context(client_of(url))

    def close(self) -> None:
        """End the service."""
        self._stack.close()

    def answer(self, route: Route) -> None:
        """Answer a request of the browser."""
        request = route.request
        path = urlsplit(request.url).path
        passed = ("authorization", "content-type")
        headers = {"authorization": ""}  # the test client would send the token of an administrator
        headers |= {name: value for name, value in request.headers.items() if name in passed}
        answered = self._client.request(
            request.method, path, content=request.post_data_buffer, headers=headers
        )
        body = answered.content
        is_lines = answered.headers["content-type"].startswith("application/x-ndjson")
        if request.method == "POST" and answered.status_code == 200:
            given = json.loads(request.post_data_buffer or b"{}")
            honest_answer = [json.loads(line) for line in body.splitlines()] if is_lines else answered.json()
            told = self.lie(path.rpartition("/")[2], given, honest_answer)
            body = ("\n".join(map(json.dumps, told)) if is_lines else json.dumps(told)).encode()
        left_out = ("content-encoding", "content-length")
        kept = {name: value for name, value in answered.headers.items() if name not in left_out}
        route.fulfill(status=answered.status_code, headers=kept, body=body)


def honest(operation: str, given: Any, answer: Any) -> Any:
    """Return the answer as it is."""
    del operation, given
    return answer


class Visitor:
    """The window at an address in a browser, with what it keeps between visits."""

    def __init__(self, page: Page, origin: str = ORIGIN) -> None:
        self.page = page
        self.origin = origin

    def visit(self, place: str = "") -> None:
        """Go to a place of the window, and wait until all is checked."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.origin}/#{place}")
        self.settle()

    def visit_within(self, place: str) -> None:
        """Go to a place of the window without loading the page again, and wait until all is checked."""
        self.page.evaluate("(place) => { location.hash = place; }", place)
        self.settle()

    def go(self, place: str) -> None:
        """Go to another place without loading the page again, and wait until all is checked."""
        change = """(place) => new Promise((done) => {
          addEventListener("hashchange", done, { once: true });
          location.hash = place;
        })"""
        self.page.evaluate(change, place)
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is being loaded or checked."""
        self.page.wait_for_selector('#list[aria-busy="false"] > *', state="attached")
        self.page.wait_for_selector('#reading[aria-busy="false"]', state="attached")
        self.page.wait_for_function(
            "() => ![...document.querySelectorAll('.mark')].some((one) => one.textContent === 'Checking…')"
        )

    def search(self, words: str) -> None:
        """Type a question, without filters."""
        self.visit()
        self.page.fill("#query", words)
        self.arrive(words)

    def arrive(self, words: str) -> None:
        """Wait until the answers to a question are shown and checked."""
        place = "(words) => new URLSearchParams(location.hash.slice(1)).get('q') === words"
        self.page.wait_for_function(place, arg=words)
        self.settle()

    def marks(self, place: str = "#list") -> list[str]:
        """Return the words of the marks in a place."""
        return self.page.locator(f"{place} .mark").all_inner_texts()

    def text(self, place: str) -> str:
        """Return the text of a place."""
        return self.page.inner_text(place)


class Window(Visitor):
    """The window on a service without a socket."""

    def __init__(self, page: Page, service: Service) -> None:
        super().__init__(page)
        self.service = service


@contextmanager
def window(
    browser: Browser,
    service: Service,
    *,
    size: tuple[int, int] = WIDE,
    dark: bool = False,
    token: str = TOKEN,
    scale: float = 1.0,
    script: str = "",
) -> Iterator[Window]:
    """Open the window on a service, with a token, after `script` ran. An error in the page fails the test."""
    context: BrowserContext = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        device_scale_factor=scale,
    )
    context.set_default_timeout(15_000)
    context.route("**/*", service.answer)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.add_init_script(script)
    page.goto(f"{ORIGIN}/#token={token}")
    yield Window(page, service)
    context.close()
    assert faults == []


@contextmanager
def settled(browser: Browser, url: str) -> Iterator[Window]:
    """Open the window on a service for a memory, and wait until everything is shown."""
    service = Service(url)
    with window(browser, service) as made:
        made.settle()
        yield made
    service.close()


def hold(held: list[Route]) -> Callable[[Route], None]:
    """Return a handler that leaves requests without an answer, and adds them to a list."""

    def handler(route: Route) -> None:
        held.append(route)

    return handler
