"""Time: an earlier moment of everything on the page, what changed, and who did it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from engine.engine import Engine
from tests.support.workloads import id_of
from tests.window.browser import NARROW, WIDE, faults_of_access, picture
from tests.window.service import (
    BOILER,
    KETTLE,
    PLAN,
    UNCHANGED,
    Service,
    Window,
    filled,
    settled,
    window,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = pytest.mark.slow

BEFORE = 2
"""The seq of the event that added the plan, before it was revised."""
MARKUP = "<img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on a store in which a dreamer adds a hostile text at the end."""
    url = filled(tmp_path_factory.mktemp("time") / "notes.db")
    with Engine.open(url) as engine:
        dreamer = engine.acting_as("dreamer")
        dreamer.add(f"The kettle: {MARKUP}\n--dry-run; rm -rf ~", id=id_of(9))
        dreamer.tag(BOILER, "warm")
        dreamer.link(KETTLE, "related_to", BOILER)
        dreamer.revise(PLAN, "Descale the kettle on Sundays.")
        engine.revise(PLAN, "Descale the kettle on Mondays, with salt.")
        engine.tombstone(KETTLE, f"sold {MARKUP}")
    with settled(browser, url) as made:
        yield made


def test_everything_is_shown_as_it_was_and_is_verified(opened: Window) -> None:
    """Search and Read show the earlier text; what was added later is not there."""
    opened.visit(f"q=kettle&at={BEFORE}&atom={PLAN}")
    assert "An earlier moment: after event 2" in opened.text("#moment")
    assert opened.text("#reading .content") == "Descale the kettle on Fridays."
    assert opened.page.locator(".timeline li").count() == 1
    assert opened.marks() == [f"{UNCHANGED}: 2 texts"]
    assert opened.marks("#reading") == [UNCHANGED]
    picture(opened.page, "window-earlier")
    opened.visit(f"q=boiler&at={BEFORE}")
    assert opened.marks() == [f"{UNCHANGED}: no text has it"]
    opened.page.get_by_role("button", name="Back to now").click()
    opened.page.wait_for_selector("#moment", state="hidden")
    opened.page.locator(".snippet", has_text="boiler").wait_for()


def test_connections_titles_and_tags_are_those_of_the_moment(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What was removed since is shown and verified; what came later is not there."""
    url = filled(tmp_path_factory.mktemp("then") / "notes.db")
    with Engine.open(url) as engine:
        copy = engine.add("Ms Okafor services the BOILER.").id
        moment = engine.size - 1
        engine.unlink(KETTLE, "references", BOILER)
        engine.link(KETTLE, "related_to", PLAN)
        engine.revise(BOILER, "It was replaced.")
        engine.untag(PLAN, "chores")
        engine.tombstone(copy)
    service = Service(url)
    with window(browser, service) as made:
        made.visit(f"at={moment}&atom={KETTLE}")
        links = made.page.locator("#reading .links li")
        assert [" ".join(one.split()) for one in links.all_inner_texts()] == [
            "references Ms Okafor services the boiler."
        ]
        chips = made.page.locator("#list a.chip").all_inner_texts()
        assert {"#kitchen", "#chores", "#heating"} == {chip.split()[0] for chip in chips}
        made.visit(f"at={moment}&atom={BOILER}")
        made.page.locator("#reading h2", has_text="Nearly the same").wait_for()
        made.visit(f"atom={BOILER}")
        assert "Nearly the same" not in made.text("#reading")
        made.visit(f"atom={KETTLE}")
        assert "related to" in made.text("#reading .links")
        assert "#chores" not in made.text("#list")
    service.close()


def arrives(opened: Window, event: str | None) -> None:
    """Wait until a moment stands in the address."""
    place = "(event) => new URLSearchParams(location.hash.slice(1)).get('at') === event"
    opened.page.wait_for_function(place, arg=event)


def test_the_moment_is_set_with_the_keyboard_or_by_a_date(opened: Window) -> None:
    """The slider goes from event to event, and a date to the last event before it."""
    opened.visit("view=time")
    page = opened.page
    page.focus("#moment-event")
    page.keyboard.press("Home")
    arrives(opened, "0")
    page.keyboard.press("ArrowRight")
    arrives(opened, "1")
    opened.settle()
    assert "An earlier moment: after event 1" in opened.text("#moment")
    page.fill("#moment-date", "2999-01-01T00:00:00")
    page.locator("#moment-date").blur()
    arrives(opened, None)
    page.fill("#moment-date", "1999-01-01T00:00:00")
    page.locator("#moment-date").blur()
    page.locator("#moment", has_text="No such moment").wait_for()


def test_a_late_answer_does_not_hide_what_is_wrong_with_a_date(opened: Window) -> None:
    """The time of the event that the slider showed arrives after the answer that there is no such moment."""
    opened.visit("view=time")
    page = opened.page
    held: list[Route] = []
    is_held = [True]
    page.route("**/prove*", lambda route: held.append(route) if is_held[0] else opened.service.answer(route))
    page.focus("#moment-event")
    page.keyboard.press("Home")
    arrives(opened, "0")
    page.locator("#moment", has_text="after event 0").wait_for()
    page.fill("#moment-date", "1999-01-01T00:00:00")
    page.locator("#moment", has_text="No such moment").wait_for()
    late = page.locator("#moment time")
    assert late.count() == 0
    is_held.clear()
    is_held.append(False)
    for one in held:
        opened.service.answer(one)
    opened.settle()
    assert "No such moment" in opened.text("#moment")
    assert page.input_value("#moment-date") == "1999-01-01T00:00"
    page.get_by_role("button", name="Back to now").click()
    page.locator("#moment", has_text="Now:").wait_for()
    page.unroute("**/prove*")


def test_what_changed_and_who_did_it_are_shown(opened: Window) -> None:
    """Word by word, as the service says; the events of each actor are counted from proofs."""
    opened.visit(f"view=time&at={BEFORE}")
    opened.page.locator("#list ins").first.wait_for()
    opened.settle()
    text = opened.text("#list")
    assert "changed" in text
    assert f"sold {MARKUP}" in text
    assert "references →" in text
    assert opened.page.locator("img").count() == 0
    assert opened.page.locator("#list del").first.inner_text() == "Fridays"
    assert f"{UNCHANGED}: 3 events" in opened.marks()


def test_what_undoing_an_actor_would_change_is_shown(opened: Window) -> None:
    """The atoms, tags and connections, what is not undone, and the command; nothing is undone."""
    opened.visit("view=time")
    before = opened.page.locator(".share", has_text="dreamer").count()
    dreamer = opened.page.locator(".share", has_text="dreamer")
    dreamer.locator("summary").first.click()
    dreamer.get_by_text("Undoing 4 events would change 2 atoms and 1 connection.").wait_for()
    assert before == 1
    assert dreamer.locator(".timeline del", has_text="#warm").count() == 1
    hidden = dreamer.locator(".timeline li", has_text="tombstoned")
    hidden.locator("del", has_text="--dry-run; rm -rf ~").wait_for()
    link = dreamer.locator(".links a", has_text="Kettle care")
    assert f"atom={KETTLE}" in str(link.get_attribute("href"))
    dreamer.locator("summary", has_text="Not undone: 1").click()
    assert "content: changed again by event 10" in dreamer.inner_text()
    assert dreamer.locator("img").count() == 0
    shown = "engine revert --actor dreamer --since 6 --dry-run"
    assert dreamer.locator("code.command-line").inner_text() == shown
    picture(opened.page, "window-undo")


@pytest.mark.parametrize(
    ("operation", "lie", "reason"),
    [
        ("prove", lambda answer: answer | {"root": "00" * 32}, "The proof belongs to a different root"),
        ("prove", lambda answer: answer | {"size": answer["size"] + 1}, "the proof is about another moment"),
    ],
)
def test_a_lie_about_an_earlier_moment_is_refused(
    opened: Window, operation: str, lie: object, reason: str
) -> None:
    """As about now."""
    assert callable(lie)
    opened.service.lie = lambda asked, given, answer: (
        lie(answer) if asked == operation and "as_of" in given else answer
    )
    opened.visit(f"at={BEFORE}&atom={PLAN}")
    assert "Refused" in opened.marks("#reading")
    assert reason in opened.text("#reading")


@pytest.mark.parametrize(
    ("size", "dark"), [(WIDE, False), (WIDE, True), (NARROW, False)], ids=["light", "dark", "narrow"]
)
def test_time_can_be_read_by_everybody(opened: Window, size: tuple[int, int], dark: bool) -> None:
    """Nothing is cut off sideways, and axe finds no fault."""
    opened.page.set_viewport_size({"width": size[0], "height": size[1]})
    opened.page.emulate_media(color_scheme="dark" if dark else "light")
    opened.visit(f"view=time&at={BEFORE}")
    opened.page.locator("#list ins").first.wait_for()
    opened.page.locator("#list summary").first.click()
    opened.page.evaluate("() => scrollTo(0, 0)")
    picture(opened.page, f"window-time-{size[0]}-{'dark' if dark else 'light'}")
    assert opened.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert faults_of_access(opened.page) == []
