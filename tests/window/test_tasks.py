"""Ten tasks of a person who has read nothing: each is done with what the window shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.engine import Engine
from tests.support.workloads import id_of
from tests.window.browser import WIDE, faults_of_looks
from tests.window.service import UNCHANGED, Service, Window, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.slow

NOTES = """# Kettle

Ms Okafor descales it on **Mondays**, see [[Boiler]].

- [x] buy vinegar
- [ ] read https://kettle.example/manual

| part | price |
|---|---|
| lid | 4 |

![a lid](https://kettle.example/lid.png) <script>document.title = "owned"</script>
"""
CHAT = (
    ("Ann", "Did you book the ferry to Bergen?"),
    ("Ben", "Yes, I booked the ferry for the first of June."),
    ("Ann", "Then I bring the red tent."),
    ("Ben", "And I bring the stove."),
)


def _filled(folder: Path) -> str:
    """Make a memory with two pages, a chat, names that are related, and a conflict; return its URL."""
    vault = folder / "vault"
    vault.mkdir()
    (vault / "Kettle.md").write_text(NOTES)
    (vault / "Boiler.md").write_text("# Boiler\n\nIt is serviced on Mondays, in May.\n")
    url = f"sqlite:{folder / 'memory.db'}"
    with Engine.open(url) as engine:
        engine.ingest([vault])
        for number, (speaker, text) in enumerate(CHAT):
            day = datetime(2025, 5, 8 + number // 2, 13, number, tzinfo=UTC)
            engine.add(f"{speaker}: {text}", source="chat with Ben", sequence=number, created=day)
        engine.relate("Ms Okafor", "works_at", "Kettle Ltd")
        engine.relate("Kettle Ltd", "located_in", "Bergen")
        engine.add("The bins are emptied on Mondays.", id=id_of(1), title="Bins")
        (boiler,) = engine.find(sources=["vault/Boiler.md"])
        engine.revise(boiler.id, "# Boiler\n\nIt is serviced on Fridays, says Ben.")
        (vault / "Boiler.md").write_text("# Boiler\n\nIt is serviced on Mondays, in May and June.\n")
        engine.ingest([vault])
    return url


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """The window of a person who may write and erase. The tasks share the memory, in this order."""
    service = Service(_filled(tmp_path_factory.mktemp("tasks")))
    with window(browser, service, token="admin") as made:  # noqa: S106  no password
        made.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        made.settle()
        yield made
    service.close()


def press(opened: Window, words: str, kind: str = "button") -> None:
    """Press what is seen and has these words."""
    found = opened.page.get_by_role(kind, name=words)  # type: ignore[arg-type]
    found.or_(opened.page.locator("summary", has_text=words)).locator("visible=true").first.click()


def write(opened: Window, label: str, words: str) -> None:
    """Write in the field that is seen and has this label."""
    opened.page.get_by_label(label).locator("visible=true").first.fill(words)


def seen(opened: Window, words: str, place: str = "body") -> Locator:
    """Wait until words are seen, and return where."""
    found = opened.page.locator(place).get_by_text(words).locator("visible=true").first
    found.wait_for()
    return found


def test_find_who_somebody_is(opened: Window) -> None:
    """The start names people and things; a name leads to what is recorded about it."""
    press(opened, "Ms Okafor", "link")
    seen(opened, "works at", "#reading")
    seen(opened, "Kettle Ltd", "#reading")
    opened.settle()
    assert UNCHANGED in opened.marks("#reading")
    assert opened.page.title().startswith("Ms Okafor")


def test_find_when_something_was_said(opened: Window) -> None:
    """The answer stands among the turns around it, with the speaker and the day."""
    write(opened, "Search the memory", "who booked the ferry")
    opened.arrive("who booked the ferry")
    press(opened, "I booked the ferry", "link")
    seen(opened, "Thursday, 8 May 2025", "#reading")
    seen(opened, "Then I bring the red tent.", "#reading")
    assert "Ben" in opened.page.locator("#reading .current").inner_text()


def test_read_a_chat(opened: Window) -> None:
    """From the start, as a conversation, day by day, all of it as a proof shows."""
    opened.visit()
    press(opened, "chat with Ben", "link")
    seen(opened, "Friday, 9 May 2025", "#reading")
    opened.settle()
    turns = opened.page.locator("#reading .turn").all_inner_texts()
    assert [turn.split()[0] for turn in turns] == [speaker for speaker, _ in CHAT]
    assert "These are all." in opened.text("#reading")


def test_read_a_page(opened: Window) -> None:
    """Markdown is read as such; nothing is loaded, and nothing in it acts. A link leads to the other page."""
    asked: list[str] = []
    opened.page.on("request", lambda request: asked.append(request.url))
    opened.visit()
    press(opened, "Kettle", "link")
    page = opened.page.locator("#reading .page")
    page.get_by_role("heading", name="Kettle", exact=True).first.wait_for()
    assert page.locator("td").all_inner_texts() == ["lid", "4"]
    assert page.locator("strong").all_inner_texts() == ["Mondays"]
    assert [box.get_attribute("aria-label") for box in page.locator(".box").all()] == ["Done: ", "To do: "]
    assert (
        page.get_by_role("link", name="Picture: a lid").get_attribute("href")
        == "https://kettle.example/lid.png"
    )
    assert "<script>" in page.inner_text()
    page.get_by_role("link", name="Boiler").click()
    seen(opened, "serviced on", "#reading")
    assert [url for url in asked if "kettle.example" in url] == []
    assert opened.page.locator("img, #panes script").count() == 0


def test_share_a_link(opened: Window) -> None:
    """Another tab opens what is seen, without a token in the address; going back goes back one step."""
    opened.visit()
    write(opened, "Search the memory", "tent")
    opened.arrive("tent")
    press(opened, "red tent", "link")
    seen(opened, "Then I bring the red tent.", "#reading")
    press(opened, "Copy link")
    address = opened.page.evaluate("navigator.clipboard.readText()")
    assert "token" not in address
    other = opened.page.context.new_page()
    other.goto(address)
    other.locator("#reading .current", has_text="red tent").wait_for()
    other.close()
    opened.page.go_back()
    opened.page.wait_for_selector("#reading", state="hidden")
    assert opened.page.locator("#query").input_value() == "tent"
    opened.page.go_back()
    seen(opened, "What is in this memory?")


def test_show_the_way_from_one_name_to_another(opened: Window) -> None:
    """Step by step, in words."""
    press(opened, "Graph", "link")
    write(opened, "From", "Ms Okafor")
    write(opened, "to", "Bergen")
    press(opened, "Show the way")
    way = seen(opened, "works at", "#list .ways")
    assert "Bergen" in way.inner_text()


def test_make_a_picture(opened: Window) -> None:
    """Of the graph that is seen, as SVG and PNG, and as text for Mermaid."""
    for kind in ("SVG", "PNG"):
        with opened.page.expect_download() as kept:
            press(opened, kind)
        data = Path(kept.value.path()).read_bytes()
        assert data.startswith(b"<svg" if kind == "SVG" else b"\x89PNG")
        assert kind == "PNG" or b"Ms Okafor" in data
    press(opened, "Mermaid")
    text = opened.page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("graph")
    assert "works at" in text


def test_settle_a_conflict(opened: Window) -> None:
    """Both texts stand side by side; one press keeps one of them, and the event is shown with the root."""
    press(opened, "Upkeep", "link")
    seen(opened, "It is serviced on Fridays, says Ben.")
    press(opened, "Keep the one by hand")
    seen(opened, "Root", "#done")
    seen(opened, "by admin", "#done")
    press(opened, "Close")
    opened.page.locator(".card", has_text="Conflicts to settle").get_by_text("None.").wait_for()


def test_fix_a_wrong_fact_everywhere(opened: Window) -> None:
    """All texts that have it are shown before they are changed together."""
    press(opened, "Write", "link")
    write(opened, "Wrong words", "on Mondays")
    write(opened, "Right words", "on Tuesdays")
    press(opened, "Show what would change")
    press(opened, "Correct 1 text")
    seen(opened, "atom revised", "#done")
    press(opened, "Close")
    opened.visit(f"atom={id_of(1)}")
    assert opened.text("#reading .content") == "The bins are emptied on Tuesdays."


def test_what_is_written_and_read_can_be_read_by_everybody(opened: Window) -> None:
    """A page, the forms that change an atom, and the view that writes: light and dark, wide and narrow."""
    faults = []
    for name, place in (("page", "page=Kettle"), ("change", f"atom={id_of(1)}"), ("write", "view=write")):
        opened.visit(place)
        opened.page.evaluate(
            "() => document.querySelectorAll('.action').forEach((one) => { one.open = true; })"
        )
        faults += faults_of_looks(opened.page, f"window-{name}")
    assert faults == []


def test_a_phone_has_room_for_what_is_read(opened: Window) -> None:
    """The bar is low, and goes out of sight on the way down; seven hits or more fit into 800 pixels."""
    opened.page.set_viewport_size({"width": 390, "height": 800})
    opened.visit("q=ferry+kettle+boiler+tent+stove")
    height = "() => document.querySelector('.bar').getBoundingClientRect().bottom"
    assert opened.page.evaluate(height) <= 90
    hits = opened.page.locator("#list .hit").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().height)"
    )
    assert sum(hits) / len(hits) <= 800 / 7
    opened.visit()
    opened.page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 500); }")
    gone = "() => document.querySelector('.bar').getBoundingClientRect().bottom <= 0"
    opened.page.wait_for_function(gone)
    opened.page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})


def test_undo_yesterday(opened: Window) -> None:
    """The day is picked, what happened on it is seen, and undone."""
    opened.page.clock.set_fixed_time(datetime.now(UTC) + timedelta(days=1))
    press(opened, "Time", "link")
    press(opened, "Yesterday")
    seen(opened, "The bins are emptied on", "#list")
    press(opened, "Undo all of this")
    press(opened, "Yes, undo")
    seen(opened, "Root", "#done")


def test_erase_a_person(opened: Window) -> None:
    """What is reached is seen before, with the texts that have the name; the receipt after."""
    with Engine.open(opened.service._url) as engine:
        engine.relate("Mr Quist", "lives_in", "Bergen")
        engine.add("Mr Quist is allergic to nuts.")
    opened.visit()
    opened.page.get_by_role("link", name="Mr Quist", exact=True).click()
    press(opened, "Erase…", "link")
    seen(opened, "would destroy", "#list")
    opened.page.get_by_label("Also the 1 text that has the name").check()
    write(opened, "Why", "asked for")
    press(opened, "Erase for good")
    seen(opened, "destroyed", "#done")
    opened.visit("q=nuts")
    assert "allergic" not in opened.text("#list")
    assert json.dumps("Mr Quist") not in opened.text("body")
