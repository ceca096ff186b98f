"""A browser for the tests: the Chromium of the system, driven by Playwright."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import pytest

from tests.support.chromium import SHELL, SWITCHES, headless

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

ROOT: Final = Path(__file__).parents[2]
PICTURES: Final = ROOT / "build" / "screenshots"
WIDE: Final = (1280, 800)
NARROW: Final = (360, 740)
ORIGIN: Final = "https://memroot.test"
"""An origin whose files come from this repository. Nothing is sent over a network."""
_SETTLED: Final = "Promise.allSettled(document.getAnimations().map((one) => one.finished)).then(() => 0)"


def needs_browser() -> str:
    """Return the path of Chromium. Without one, skip the test; where the variable CI is set, fail it."""
    found = headless()
    if found is not None:
        return found
    missing = f"the tests of pages need Chromium, which is not installed (Debian's package: {SHELL})"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


@contextmanager
def started() -> Iterator[Browser]:
    """Start a browser."""
    path = needs_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser,
    address: str,
    *,
    size: tuple[int, int] = WIDE,
    dark: bool = False,
    script: str = "",
) -> Iterator[Page]:
    """Open a page in a window of its own, after `script` ran in it.

    An address with the origin `ORIGIN`, or the same with `http:`, is a file of this repository. An error in
    the page fails the test, and so does a request to any other place.
    """
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light"
    )
    faults: list[str] = []
    asked: list[str] = []
    context.route("**/*", _answered)
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(script)
    page.goto(address)
    yield page
    elsewhere = [url for url in asked if urlsplit(url)[:2] != urlsplit(address)[:2]]
    context.close()
    assert (faults, elsewhere) == ([], [])


def _answered(route: Route) -> None:
    """Answer a request with a file of this repository, if it asks for one."""
    url = urlsplit(route.request.url)
    if url.scheme == "file":
        route.continue_()
        return
    path = ROOT / url.path.lstrip("/")
    if url.hostname != urlsplit(ORIGIN).hostname or not path.is_file():
        route.abort()
        return
    kind = "text/javascript" if path.suffix == ".mjs" else guess_type(path.name)[0]
    route.fulfill(body=path.read_bytes(), content_type=f"{kind}; charset=utf-8")


def picture(page: Page, name: str, *, whole: bool = True) -> None:
    """Keep a picture in build/screenshots: of the whole page, or of the part in the window."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(PICTURES / f"{name}.png"), full_page=whole)


def faults_of_access(page: Page) -> list[str]:
    """Return what axe-core finds against WCAG 2.2, levels A and AA, and its best practices."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(_axe())
    # What passes is counted by axe as well, which costs more than finding the faults.
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]


@cache
def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def faults_of_looks(page: Page, name: str, *, whole: bool = True) -> list[str]:
    """Return what keeps somebody from reading a page in light and dark, wide and 360 pixels narrow.

    Nothing may be cut off sideways, and axe must find no fault. The structure of the page does
    not depend on its colours, nor the colours on its width, so axe sees three of the four, and a picture of
    each of these is kept.
    """
    faults = []
    for size, dark in ((WIDE, False), (NARROW, False), (NARROW, True), (WIDE, True)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme="dark" if dark else "light")
        # A button passes through colours of less contrast while its scheme changes.
        page.evaluate(_SETTLED)
        look = f"{name}-{size[0]}-{'dark' if dark else 'light'}"
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        faults += [f"{look}: {wider} pixels are cut off"] * (wider > 0)
        if (size, dark) != (NARROW, True):
            picture(page, look, whole=whole)
            faults += [f"{look}: {fault}" for fault in faults_of_access(page)]
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    page.emulate_media(color_scheme="light")
    return faults
