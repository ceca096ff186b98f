"""The window over `engine serve`: memories in PostgreSQL, and tokens as people get them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from engine.engine import Engine
from tests.support.postgresql import NoServerError, programs, shared_server
from tests.window.browser import WIDE, picture
from tests.window.service import KETTLE, PLAN, UNCHANGED, Visitor, fill

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

TIMEOUT = 60


@pytest.fixture(scope="module")
def store() -> str:
    """The URL of a database with two memories: `team-tea`, which the token reads, and `diary`."""
    try:
        programs()
    except NoServerError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    server = shared_server()
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE windows")
    url = server.url.removesuffix("postgres") + "windows"
    with Engine.open(url, memory="team-tea") as engine:
        fill(engine)
    with Engine.open(url, memory="diary") as engine:
        engine.add("The kettle is a secret.", source="diary.md")
    return url


def run(store: str, *words: str) -> str:
    """Run `engine` with a command, and return what it prints."""
    command = [sys.executable, "-m", "engine", "--store", store, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT)
    return done.stdout.strip()


@contextmanager
def serving(store: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `engine serve` until the block ends; give the process and its address."""
    command = [sys.executable, "-m", "engine", "--store", store, "serve", "--port", "0", "--quiet-requests"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for text in process.stderr:
            if found := re.search(r"http://[\d.:]+", text):
                yield process, found[0]
                break
        else:
            pytest.fail("the service did not start")
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT)


@contextmanager
def visitor(browser: Browser, address: str, token: str | None = None) -> Iterator[Visitor]:
    """Open the window as somebody with a token in the address, or without one."""
    context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})
    context.set_default_timeout(15_000)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address if token is None else f"{address}/#token={token}")
    yield Visitor(page, address)
    context.close()
    assert faults == []


def test_a_memory_in_a_database_is_read_with_a_token(browser: Browser, store: str) -> None:
    """A person gives the token and uses every view; the memory of others is never shown."""
    token = run(store, "token", "new", "reader", "--memory", "team-*")
    seen = []
    with serving(store) as (_, address), visitor(browser, address) as opened:
        opened.page.wait_for_selector("#token[open]")
        opened.page.fill("#given-token", token)
        opened.page.keyboard.press("Enter")
        opened.settle()
        for name, place in {
            "overview": "",
            "search": "q=kettle",
            "read": f"q=kettle&atom={PLAN}",
            "graph": f"around={KETTLE}&form=graph",
            "time": "view=time",
            "earlier": "q=kettle&at=1",
            "upkeep": "view=upkeep",
        }.items():
            opened.visit(place)
            seen.append(opened.page.inner_text("body"))
            picture(opened.page, f"window-postgresql-{name}")
        opened.visit(f"atom={PLAN}")
        assert opened.marks("#reading")[0] == UNCHANGED
        opened.visit("memory=diary&q=kettle")
        refused = opened.text("#list")
        picture(opened.page, "window-postgresql-other-memory")
    assert not any("secret" in text or "diary" in text for text in seen)
    assert "secret" not in refused
    assert "There is no memory diary that this token may read." in refused


def test_a_token_that_is_revoked_or_reads_nothing_is_named(browser: Browser, store: str) -> None:
    """While the page is open: it says so in a sentence, and takes another token."""
    tokens = {
        name: run(store, "token", "new", name, "--memory", memory)
        for name, memory in {"first": "team-*", "second": "attic", "third": "*"}.items()
    }
    with serving(store) as (_, address), visitor(browser, address, tokens["first"]) as opened:
        opened.settle()
        run(store, "token", "revoke", "first")
        for _ in range(600):  # the service keeps the rights of a token for two seconds
            opened.visit_within("tag=kitchen")
            opened.visit_within("")
            if opened.page.is_visible("#token"):
                break
        assert "The service refuses the token of this page." in opened.text("#token")
        opened.page.keyboard.press("Escape")
        assert "The service refuses the token of this page." in opened.text("#list")
        give(opened, tokens["second"])
        opened.page.get_by_text("This token may read no memory, or there is none.").wait_for()
        picture(opened.page, "window-token-without-memory")
        give(opened, tokens["third"])
        opened.page.get_by_text("What is in this memory?").wait_for()


def give(opened: Visitor, token: str) -> None:
    """Press the button that asks for another token, and give one."""
    opened.page.get_by_role("button", name="Give another token").first.click()
    opened.page.fill("#given-token", token)
    opened.page.keyboard.press("Enter")


def test_a_memory_that_is_deleted_and_a_service_that_ends_are_named(browser: Browser, store: str) -> None:
    """While the page is open: a sentence stands in place of the answer, and a button begins again."""
    with Engine.open(store, memory="attic") as engine:
        engine.add("The kettle of the attic.")
    token = run(store, "token", "new", "finder")
    with serving(store) as (process, address), visitor(browser, address, token) as opened:
        opened.visit("memory=attic&q=kettle")
        assert "The kettle of the attic." in opened.text("#list")
        run(store, "memory", "delete", "attic", "--yes")
        opened.visit_within("memory=attic&q=attic")
        assert "was deleted" in opened.text("#list")
        opened.visit("memory=attic")
        assert "There is no memory attic that this token may read." in opened.text("#list")
        opened.page.get_by_role("link", name="team-tea").click()
        opened.page.get_by_text("What is in this memory?").wait_for()
        process.terminate()
        process.wait(TIMEOUT)
        opened.page.fill("#query", "kettle")
        opened.page.get_by_role("button", name="Try again").wait_for()
        assert "The service does not answer." in opened.text("#list")
        picture(opened.page, "window-service-ended")
        opened.page.get_by_role("button", name="Try again").click()
        opened.page.get_by_role("button", name="Try again").wait_for()
