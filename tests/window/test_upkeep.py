"""Upkeep: what a person may want to settle, each with a command that is safe to paste."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.cli.command_tree import COMMANDS, loaded
from engine.engine import Engine
from tests.support.workloads import id_of
from tests.window.browser import NARROW, WIDE, faults_of_looks
from tests.window.service import BOILER, KETTLE, PLAN, Lie, Window, filled, settled

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

MARKUP = "<img src=x onerror=\"document.title='owned'\">"
COPY, COPY_2, HELD, OLD = id_of(11), id_of(12), id_of(13), id_of(14)
TEXT = "The meeting about the roof is on the first Tuesday of March in the small hall of the town."


def troubled(folder: Path) -> str:
    """Make a store that has one thing of each kind to settle; return its URL."""
    url = filled(folder / "notes.db")
    (folder / "files").mkdir()
    file = folder / "files" / "a.md"
    file.write_text("The oak beside the gate was planted in the year of the flood.\n")
    with Engine.open(url) as engine:
        engine.ingest([file.parent])
        (oak,) = [found for found in engine.find(form="full") if "oak" in str(found.atom)]
        engine.revise(oak.id, f"Rewritten by hand {MARKUP}.")
        file.write_text("The oak beside the well was planted in the year of the flood.\n")
        engine.ingest([file.parent])
        engine.add(TEXT, id=COPY)
        engine.add(TEXT.replace("town", "city"), id=COPY_2)
        engine.add(f"Read me {MARKUP}", id=HELD, provenance="quarantine")
        engine.add("The boiler is serviced by nobody.", id=OLD)
        engine.supersede(OLD, BOILER)
        engine.checkpoint()
    return url


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window that several tests use in turn."""
    with settled(browser, troubled(tmp_path_factory.mktemp("upkeep"))) as made:
        yield made


def keeping(other: str) -> Lie:
    """Return a lie: the atom to keep of each group of duplicates has another id."""

    def lie(asked: str, given: Any, answer: Any) -> Any:
        del given
        if asked != "duplicates":
            return answer
        return [group | {"keep": group["keep"] | {"id": other}} for group in answer]

    return lie


def visit(opened: Window, more: str = "") -> None:
    """Go to the view, and wait until each card is filled."""
    opened.visit(f"view=upkeep{more}")
    opened.page.wait_for_function("() => document.querySelector('#list [aria-busy=\"true\"]') === null")
    opened.settle()


def card(opened: Window, heading: str) -> tuple[str, list[list[str]]]:
    """Return the text of a card, and the words that a shell would make of its commands."""
    place = opened.page.locator("#list .card").filter(has=opened.page.get_by_role("heading", name=heading))
    lines = place.locator(".command-line").all_inner_texts()
    return place.inner_text(), [shlex.split(line) for line in lines]


def test_each_thing_to_settle_is_shown_with_its_command(opened: Window) -> None:
    """Conflicts, duplicates, quarantine, what is superseded, and the last checkpoint."""
    visit(opened)
    text, commands = card(opened, "Conflicts to settle")
    assert f"By hand (live): Rewritten by hand {MARKUP}." in text
    assert [words[-1] for words in commands] == ["file", "hand", "both"]
    assert ["engine", "merge", COPY, COPY_2] in [words[:4] for words in card(opened, "Duplicates")[1]]
    text, commands = card(opened, "In quarantine")
    assert "Read me <img" in text
    assert ["engine", "tombstone", HELD] in commands
    assert "boiler" in card(opened, "Superseded")[0]
    assert "0 events ago" in card(opened, "Last checkpoint")[0]
    assert opened.page.locator("img").count() == 0


def test_the_sizes_and_the_last_scrub_are_shown(opened: Window) -> None:
    """Without a scrub, and with one after which events were added; without files, no size."""
    visit(opened)
    assert "never finished" in card(opened, "How the memory stands")[0]
    scrub = {"scrubbed_at": "2026-03-01T08:00:00Z", "scrubbed_events": 1, "file_bytes": 12_345_678}
    opened.service.lie = lambda asked, _, answer: answer | scrub if asked == "status" else answer
    visit(opened)
    text = card(opened, "How the memory stands")[0]
    assert "12.3 MB" in text
    assert "no damage found at 2026-03-01 08:00:00 UTC" in text
    assert "events ago" in text
    scrub["file_bytes"] = None
    visit(opened)
    assert "MB" not in card(opened, "How the memory stands")[0]


def test_the_commands_exist(opened: Window) -> None:
    """Each command that the view shows is one of the program, with options that it has."""
    visit(opened, f"&erase={PLAN}")
    opened.page.locator("#list .command-line", has_text="erase").first.wait_for()
    for line in opened.page.locator("#list .command-line").all_inner_texts():
        program, name, *words = shlex.split(line)
        assert name in COMMANDS
        options = {word for word in words if word.startswith("--")}
        known = {one for option in loaded(name).params for one in option.opts}
        assert (program, options - known) == ("engine", set())


def test_the_reach_of_an_erasure_is_shown_before_it_is_done(opened: Window) -> None:
    """From an atom, also where there is room for one pane, or by its first digits. Nothing is erased."""
    opened.page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    opened.visit(f"atom={PLAN}")
    opened.page.get_by_role("link", name="What an erasure would reach").click()
    heading = opened.page.get_by_role("heading", name="What an erasure would reach")
    heading.wait_for()
    assert opened.page.evaluate("scrollY") == 0
    opened.page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    opened.page.locator("#list .command-line", has_text="erase").first.wait_for()
    text, commands = card(opened, "What an erasure would reach")
    assert "2 versions" in text
    assert commands == [
        ["engine", "erase", PLAN, "--dry-run"],
        ["engine", "erase", PLAN, "--reason", "REASON"],
    ]
    opened.page.fill("#erase-id", "zz")
    opened.page.keyboard.press("Enter")
    opened.page.locator("#list", has_text="No answer").wait_for()


@pytest.mark.parametrize("id_", ["x; rm -rf ~", "$(touch x)", "it's", "`x`"])
def test_what_a_service_sends_stays_one_word_of_a_command(opened: Window, id_: str) -> None:
    """Whatever it holds, a shell takes it for one word."""
    opened.service.lie = keeping(id_)
    visit(opened)
    assert ["engine", "merge", id_, COPY_2] in [words[:4] for words in card(opened, "Duplicates")[1]]


@pytest.mark.parametrize("id_", ["--force", "a\nrm -rf ~", "a\u001b[2Jb", "a\u202eb", ""])
def test_no_command_is_made_of_what_cannot_be_pasted_safely(opened: Window, id_: str) -> None:
    """An option, or a character that a terminal acts on, or that nobody sees."""
    opened.service.lie = keeping(id_)
    visit(opened)
    text, commands = card(opened, "Duplicates")
    assert commands == []
    assert "No command is shown" in text


def test_upkeep_can_be_read_by_everybody(opened: Window) -> None:
    """Also when it shows what an erasure would reach."""
    visit(opened)
    opened.page.fill("#erase-id", KETTLE)
    opened.page.press("#erase-id", "Enter")
    opened.page.locator("#list .command-line", has_text="erase").first.wait_for()
    opened.page.evaluate("() => scrollTo(0, 0)")
    assert faults_of_looks(opened.page, "window-upkeep") == []
