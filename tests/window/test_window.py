"""The window into a memory, in a browser: Search and Read, and what it has checked of what it shows."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING, Any

import pytest

from engine.engine import Engine
from tests.support.workloads import id_of
from tests.window.browser import NARROW, picture
from tests.window.service import (
    BOILER,
    KETTLE,
    PLAN,
    UNCHANGED,
    Service,
    Window,
    filled,
    honest,
    settled,
    window,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store, which no test changes."""
    path = tmp_path_factory.mktemp("window") / "notes.db"
    filled(path)
    return path


@pytest.fixture
def service(store: Path, tmp_path: Path) -> Iterator[Service]:
    """An honest service on a copy of the store."""
    copy(store, tmp_path / "notes.db")
    made = Service(f"sqlite:{tmp_path / 'notes.db'}")
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared(browser: Browser, store: Path) -> Iterator[Window]:
    """A window that several tests use in turn, on a service that was honest on the first visit."""
    with settled(browser, f"sqlite:{store}") as made:
        yield made


@pytest.fixture
def opened(shared: Window) -> Iterator[Window]:
    """The shared window; its service is honest again after the test."""
    yield shared
    shared.service.lie = honest


def changed(operation: str, change: Any) -> Any:
    """Return a lie about one operation."""
    return lambda asked, given, answer: change(given, answer) if asked == operation else answer


def test_search_shows_hits_that_are_verified(opened: Window) -> None:
    """By source, with snippets, tags and the tokens that an agent would spend. No proof covers the order."""
    opened.search("when is the kettle descaled")
    text = opened.text("#list")
    assert opened.marks() == [f"{UNCHANGED}: 3 texts"]
    assert "Choice and order of 3 hits" in opened.text("#list .said")
    assert opened.page.locator("#list mark").first.inner_text() == "kettle"
    assert "Kettle care" in text
    assert "#kitchen" in text
    assert "tokens for an agent" in text


def test_search_shows_the_context_that_an_agent_would_get(opened: Window) -> None:
    """As it would be handed out, made of the texts that proofs opened."""
    opened.search("kettle")
    opened.page.get_by_text("Context", exact=True).click()
    opened.page.wait_for_selector(".content")
    assert "The kettle is descaled on Mondays by Ms Okafor." in opened.text(".content")
    opened.settle()
    assert opened.marks() == [f"{UNCHANGED}: 3 passages"]
    assert "The choice of texts" in opened.text("#list .said")


def test_read_shows_an_atom_with_its_history_and_connections(opened: Window) -> None:
    """All of it is opened; what changed is marked word by word, and no event or connection is left out."""
    opened.visit(f"atom={PLAN}")
    assert opened.text("#reading .content") == "Descale the kettle on Mondays, with <b>vinegar</b>."
    assert opened.page.locator(".timeline del").all_inner_texts() == ["Fridays"]
    assert opened.page.locator(".timeline ins").all_inner_texts() == ["Mondays, with <b>vinegar</b>"]
    assert opened.marks("#reading") == [UNCHANGED]
    assert "These are all: 2 events." in opened.text("#reading")
    opened.visit(f"atom={KETTLE}")
    card = opened.page.locator("#reading .card", has_text="Connections")
    assert "From here →\nreferences" in card.inner_text()
    assert "These are all: 1 connection." in card.inner_text()
    card.locator(".links").get_by_role("link").click()
    opened.page.locator("#reading .content", has_text="boiler").wait_for()
    opened.settle()
    assert opened.text("#reading .content") == "Ms Okafor services the boiler."
    assert "← Links to here\nreferences" in opened.text("#reading")


def test_read_shows_an_atom_in_its_page_and_why_it_is_here(
    browser: Browser, service: Service, tmp_path: Path
) -> None:
    """The text before it is checked, too; who brought it, what it was made from and what replaces it."""
    first, tip = id_of(8), id_of(9)
    source = "notes/limescale.md"
    with Engine.open(f"sqlite:{tmp_path / 'notes.db'}") as engine:
        agent = engine.acting_as("agent")
        agent.add("Hard water leaves limescale.", id=first, title="Water", source=source, sequence=1)
        agent.add("Use vinegar.", id=tip, title="Tip", source=source, sequence=2, provenance="quarantine")
        engine.link(tip, "derived_from", BOILER)
        engine.link(BOILER, "derived_from", PLAN)
        engine.supersede(BOILER, PLAN)
    with window(browser, service) as opened:
        opened.visit(f"atom={tip}")
        assert opened.text("#reading .around > .row .said") == "2 of 2"
        assert "Hard water leaves limescale." in opened.text("#reading .piece")
        assert "Use vinegar." in opened.text("#reading .piece.current")
        assert "In quarantine: do not rely on it" in opened.marks("#reading")
        why = opened.page.locator("#reading .card", has_text="Why it is here").inner_text()
        assert "added by\nagent, " in why
        assert "derived from →\nMs Okafor services the boiler." in why
        assert "derived from, in 2 steps →\nPlan" in why
        boiler = [{"atom": {"id": BOILER, "sequence": 1}}]
        service.lie = changed("find", lambda given, answer: boiler + answer[1:])
        opened.visit(f"atom={tip}")
        assert "boiler" not in "".join(opened.page.locator("#reading .piece").all_inner_texts())
        assert opened.marks("#reading")[0] == UNCHANGED
        opened.visit(f"atom={BOILER}")
        assert "replaced by\nPlan" in opened.text("#reading")


def test_the_atoms_with_a_tag_are_verified_to_be_all(opened: Window) -> None:
    """A list by one tag is complete."""
    opened.visit("tag=kitchen")
    assert opened.marks() == [f"{UNCHANGED}: 2 texts"]
    assert "These are all: 2 atoms" in opened.text("#list")


def test_only_what_is_shown_is_proved(opened: Window) -> None:
    """A proof about a tag is large: none is asked for of tags that a list does not show."""
    asked: list[str] = []

    def note(operation: str, given: Any, answer: Any) -> Any:
        if operation == "prove":
            asked.extend(" ".join(claim) for claim in given["claims"])
        return honest(operation, given, answer)

    opened.service.lie = note
    opened.visit()
    assert [claim for claim in asked if claim.startswith("tags ")] == []
    opened.visit("tag=kitchen")
    tags = sorted(claim for claim in asked if claim.startswith("tags "))
    assert tags == [f"tags {KETTLE} live", f"tags {PLAN} live"]


def test_a_source_leads_to_its_page_and_to_its_atoms(opened: Window) -> None:
    """The page has all its texts, as a proof shows. A filter is a chip, which takes itself away."""
    opened.visit(f"atom={KETTLE}")
    opened.page.locator("#reading").get_by_role("link", name="kettle", exact=True).click()
    opened.page.locator("#reading .page").wait_for()
    opened.settle()
    assert opened.marks("#reading") == [f"{UNCHANGED}: 1 text"]
    assert "These are all." in opened.text("#reading")
    opened.page.locator("#reading").get_by_role("link", name="kettle.md").click()
    opened.page.wait_for_selector("#filters .chip")
    opened.settle()
    assert opened.marks() == [f"{UNCHANGED}: 1 text"]
    assert "These are all: 1 atom" in opened.text("#list")
    opened.page.click("#filters .chip")
    opened.page.wait_for_selector("#filters", state="hidden")
    opened.settle()
    assert "What is in this memory?" in opened.text("#list")


def test_the_keyboard_skips_to_the_answers(opened: Window) -> None:
    """The first stop of Tab leads past the search, and changes nothing else."""
    opened.visit("tag=kitchen")
    opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")
    assert opened.page.evaluate("document.activeElement.id") == "list"
    assert opened.page.url.endswith("#tag=kitchen")


def test_nothing_found_is_verified_of_the_terms_that_are_shown(opened: Window) -> None:
    """The page shows the terms that it asked about, since a liar could prove the absence of another one."""
    opened.search("unicorns")
    assert opened.page.locator("#list code").all_inner_texts() == ["unicorn"]
    assert opened.marks() == [f"{UNCHANGED}: no text has it"]


LIES = {
    "a changed snippet": (
        "q=kettle",
        changed(
            "recall", lambda _, answer: answer["hits"][0].update(snippet="The kettle is sold.") or answer
        ),
        "snippet: The kettle is sold. ",
    ),
    "a changed source": (
        "q=kettle",
        changed("recall", lambda _, answer: answer["hits"][0].update(source="other.md") or answer),
        "source: other.md ",
    ),
    "a tag that is not there": (
        "q=kettle",
        changed("recall", lambda _, answer: answer["hits"][0].update(tags=["secret"]) or answer),
        "tags: secret ",
    ),
    "a changed passage": (
        "q=kettle&form=context",
        changed("context", lambda _, answer: answer["windows"][0].update(text="[1] Sold.") or answer),
        "passage: [1] Sold. ",
    ),
    "a changed text": (
        "tag=kitchen",
        changed("find", lambda _, answer: answer[0]["atom"].update(content="It is sold.") or answer),
        "content: It is sold. The kettle is descaled",
    ),
    "a changed actor": (
        f"atom={PLAN}",
        changed("history", lambda _, answer: [answer[0] | {"actor": "somebody"}, *answer[1:]]),
        "actor: somebody user",
    ),
    "an event that is left out": (
        f"atom={PLAN}",
        changed("history", lambda _, answer: answer[1:]),
        "event: nothing atom added",
    ),
    "a hidden atom": (
        "q=kettle",
        changed("recall", lambda _, answer: answer | {"hits": []}),
        "The service makes no proof of this",
    ),
    "a shortened list of a tag": (
        "tag=kitchen",
        changed("find", lambda _, answer: answer[:1]),
        "List altered by the service: it named 1 atom",
    ),
    "a proof that is changed": (
        f"atom={KETTLE}",
        changed("prove", lambda _, answer: answer | {"data": flipped(answer["data"])}),
        "Refused",
    ),
}


def flipped(data: str) -> str:
    """Return a proof with one bit of its middle changed."""
    raw = bytearray(b64decode(data))
    raw[len(raw) // 2] ^= 1
    return b64encode(raw).decode()


@pytest.mark.parametrize("name", LIES)
def test_a_service_that_lies_is_named(opened: Window, name: str) -> None:
    """Beside what is recorded: with the false words struck out, or with the reason why there is no proof."""
    place, lie, reason = LIES[name]
    opened.service.lie = lie
    opened.visit(place)
    text = " ".join(opened.text("#panes").split())
    if name == "a changed text":
        picture(opened.page, "window-altered")
    assert "Refused" in text or "ltered by the service" in text
    assert reason in text


def test_a_log_that_is_rolled_back_is_refused(browser: Browser, service: Service, tmp_path: Path) -> None:
    """A service that shows an older copy is found out on the next visit; then nothing is verified."""
    copy(tmp_path / "notes.db", tmp_path / "older.db")
    with window(browser, service) as opened:
        opened.settle()
        with Engine.open(f"sqlite:{tmp_path / 'notes.db'}") as engine:
            engine.add("The kettle was sold.", id=id_of(4))
        opened.visit(f"atom={id_of(4)}")
        assert opened.marks("#reading")[0] == UNCHANGED
        service.replaced_by(f"sqlite:{tmp_path / 'older.db'}")
        opened.visit("q=kettle")
        assert opened.marks("#trust-button") == ["Refused"]
        assert UNCHANGED not in opened.text("#panes")
        opened.page.click("#trust-button")
        assert "The log has fewer events than were seen before." in opened.text("#trust")
        picture(opened.page, "window-rolled-back", whole=False)


@pytest.mark.parametrize("more", [1, 2])
def test_a_log_that_is_forked_is_refused(
    browser: Browser, service: Service, tmp_path: Path, more: int
) -> None:
    """A copy that went on with other events is found out, whether it has as many events or more."""
    copy(tmp_path / "notes.db", tmp_path / "other.db")
    with window(browser, service) as opened:
        opened.settle()
        with Engine.open(f"sqlite:{tmp_path / 'notes.db'}") as engine:
            engine.add("The kettle was sold.", id=id_of(4))
        opened.visit("q=sold")
        assert f"{UNCHANGED}: 1 text" in opened.marks()
        with Engine.open(f"sqlite:{tmp_path / 'other.db'}") as engine:
            for number in range(more):
                engine.add(f"The kettle was stolen, {number}.", id=id_of(5 + number))
        service.replaced_by(f"sqlite:{tmp_path / 'other.db'}")
        opened.visit("q=kettle")
        assert opened.marks("#trust-button") == ["Refused"]
        assert UNCHANGED not in opened.text("#panes")


def test_two_roots_of_one_log_are_refused(browser: Browser, service: Service) -> None:
    """The page keeps the overall root that belongs to the log, so the other trees cannot change under it."""
    other = """() => {
      const kept = JSON.parse(localStorage.getItem("memroot pin ~"));
      kept.seen.overall = "00".repeat(32);
      localStorage.setItem("memroot pin ~", JSON.stringify(kept));
    }"""
    with window(browser, service) as opened:
        opened.settle()
        opened.page.evaluate(other)
        opened.visit("q=kettle")
        assert opened.marks("#trust-button") == ["Refused"]
        assert "has two roots" in opened.text("#list")


def test_another_store_is_refused(browser: Browser, service: Service, tmp_path: Path) -> None:
    """The pin is of the address, so a service cannot escape it with another store."""
    with window(browser, service) as opened:
        opened.settle()
        service.replaced_by(filled(tmp_path / "second.db"))
        opened.visit("q=kettle")
        assert opened.marks("#trust-button") == ["Refused"]
        assert UNCHANGED not in opened.text("#panes")


def test_the_person_pins_a_root_or_a_checkpoint(browser: Browser, service: Service, tmp_path: Path) -> None:
    """What is pinned is what everything is compared with; what is no root is not pinned."""
    with Engine.open(f"sqlite:{tmp_path / 'notes.db'}") as engine:
        root, note = engine.root().root, engine.checkpoint_note().note
    with window(browser, service) as opened:
        opened.settle()
        for given, expected in (
            (root, f"Continues {root[:8]}…"),
            (note, f"Continues {b64decode(note.splitlines()[2]).hex()[:8]}…"),
        ):
            opened.page.click("#trust-button")
            opened.page.fill("#given", "my root")
            opened.page.get_by_role("button", name="Pin", exact=True).click()
            assert "This cannot be pinned" in opened.text("#trust")
            opened.page.fill("#given", given)
            opened.page.get_by_role("button", name="Pin", exact=True).click()
            opened.page.wait_for_selector("#trust", state="hidden")
            opened.settle()
            assert opened.marks("#trust-button") == [expected]
        opened.page.click("#trust-button")
        opened.page.fill("#given", "00" * 32)
        opened.page.get_by_role("button", name="Pin", exact=True).click()
        opened.page.wait_for_selector("#trust", state="hidden")
        opened.settle()
        assert opened.marks("#trust-button") == ["Refused"]


def test_a_token_is_asked_for_and_leaves_the_address(browser: Browser, service: Service) -> None:
    """Without a valid token the page asks for one; a token in the address is taken out of it."""
    with window(browser, service, token="wrong") as opened:  # noqa: S106  no password
        opened.page.wait_for_selector("#token[open]")
        assert opened.page.url.endswith("/")
        picture(opened.page, "window-token", whole=False)
        opened.page.fill("#given-token", "reader")
        opened.page.keyboard.press("Enter")
        opened.page.get_by_text("What is in this memory?").wait_for()


def test_what_cannot_be_a_token_is_not_sent(browser: Browser, service: Service) -> None:
    """Somebody without a token is told how to get one, and that a text with spaces is none."""
    with window(browser, service, token="") as opened:
        opened.page.wait_for_selector("#token[open]")
        assert "only to people who have a token" in opened.text("#token")
        assert "engine token new" in opened.text("#token")
        opened.page.fill("#given-token", "Bearer reader")
        opened.page.keyboard.press("Enter")
        opened.page.get_by_text("This is no token").wait_for()
        opened.page.fill("#given-token", "wrong")
        opened.page.keyboard.press("Enter")
        opened.page.get_by_text("was mistyped, has expired or was revoked").first.wait_for()


def test_an_address_of_an_atom_that_was_erased_says_so(
    browser: Browser, service: Service, tmp_path: Path
) -> None:
    """What is left of it is shown, and verified; nothing stands where its text was."""
    with Engine.open(f"sqlite:{tmp_path / 'notes.db'}") as engine:
        engine.erase(PLAN, reason="asked for")
    with window(browser, service) as opened:
        opened.visit(f"atom={PLAN}")
        assert "The content of this atom was erased." in opened.text("#reading")
        assert opened.page.locator("#reading .content").count() == 0
        assert opened.marks("#reading")[0] == UNCHANGED
        picture(opened.page, "window-erased")


def test_addresses_that_lead_nowhere_are_answered_in_a_sentence(opened: Window) -> None:
    """Of an atom that never was, of a moment that is to come, and of a memory that is not there."""
    for place, sentence in {
        f"atom={id_of(99)}": "was never recorded",
        "atom=garbage!": "is neither a UUID nor",
        "at=999&q=kettle": "is not in the journal",
        "since=tomorrow": "is not a date or time",
        f"memory=attic&atom={PLAN}": "There is no memory attic that this token may read.",
    }.items():
        opened.visit(place)
        assert sentence in opened.text("#panes")
    assert opened.page.is_hidden("#reading")
    opened.page.click("#narrow-button")
    opened.page.fill("#query", "kettle")
    opened.page.wait_for_function("() => location.hash.includes('q=kettle')")
    opened.settle()
    assert "There is no memory attic that this token may read." in opened.text("#list")


def test_the_window_is_used_with_the_keyboard_alone(opened: Window) -> None:
    """A slash goes to the search field, arrows walk through the hits, Enter opens, and Escape closes."""
    opened.visit()
    keys = opened.page.keyboard
    keys.press("/")
    keys.type("boiler")
    opened.arrive("boiler")
    keys.press("ArrowDown")
    keys.press("Enter")
    opened.page.wait_for_selector("#reading .content")
    opened.settle()
    assert opened.page.evaluate("document.activeElement.id") == "reading"
    assert f"atom={BOILER}" in opened.page.url
    keys.press("Escape")
    opened.page.wait_for_selector("#reading", state="hidden")


def test_hostile_contents_are_text(browser: Browser, service: Service, tmp_path: Path) -> None:
    """Titles, texts, tags, sources and actors make no element, and characters that nobody sees are named."""
    markup = "<img src=x onerror=\"document.title='owned'\">"
    with Engine.open(f"sqlite:{tmp_path / 'notes.db'}") as engine:
        acting = engine.acting_as("visitor")
        acting.add(
            f"{markup}\n</main><h1>x</h1>",
            id=id_of(7),
            title=markup,
            tags=["<b>bold</b>"],
            source=f"{markup}.md",
        )
        acting.revise(id_of(7), f"{markup} {{{{x}}}} \u202eowned\u202c")
    with window(browser, service) as opened:
        opened.search("owned")
        opened.visit(f"q=owned&atom={id_of(7)}")
        assert opened.page.locator("img, iframe, #panes b, #panes script").count() == 0
        assert opened.page.title() != "owned"
        assert opened.text("#reading .content") == f"{markup} {{{{x}}}} U+202EownedU+202C"
        assert opened.marks("#reading")[0] == UNCHANGED
        picture(opened.page, "window-hostile")


def test_an_honest_context_is_never_said_to_be_altered(
    browser: Browser, service: Service, tmp_path: Path
) -> None:
    """The page makes the same passages as the service: of odd characters, of runs, and of cut texts."""
    odd = [
        "\u200bx\u202e y\x1b",
        "a\x0bb\x0c\x1cc\x85d\u2028e",
        "  \n\n lead \n\n\ttab\u00a0 \n\n",
        "❤\ufe0f\ufe0f 👩\u200d💻",
    ]
    with Engine.open(f"sqlite:{tmp_path / 'notes.db'}") as engine:
        for number, text in enumerate(odd):
            place: dict[str, Any] = {
                "source": "a|b\u200b  c.md",
                "sequence": number,
                "title": f"T {number // 2} \u202e |",
            }
            engine.add(f"zebra {text} end", id=id_of(20 + number), provenance="external", **place)
        engine.add("wombat " + "long words of a wombat, " * 2000, id=id_of(30), title="Long")
        engine.add("\ufeffzebra", id=id_of(31), source="alone.md")
    with window(browser, service) as opened:
        for word, part in (("zebra", "\\u202e"), ("wombat", "…")):
            opened.visit(f"q={word}&form=context")
            assert "ltered" not in opened.text("#list")
            assert UNCHANGED in opened.text("#list .summary")
            assert part in opened.text("#list .content")


def test_very_long_words_are_not_cut_off(browser: Browser, service: Service, tmp_path: Path) -> None:
    """In titles, texts, tags, sources and connections, on a narrow page."""
    long, source = "x" * 300, f"notes/{'p' * 180}.md"
    with Engine.open(f"sqlite:{tmp_path / 'notes.db'}") as engine:
        engine.add(f"One {long}", id=id_of(8), title=long, tags=["t" * 60], source=source, sequence=1)
        engine.add(f"{long} two", id=id_of(9), tags=[f"tag{n}" for n in range(20)], source=source, sequence=2)
        engine.link(id_of(8), "derived_from", id_of(9))
        engine.tombstone(BOILER, long)
    with window(browser, service, size=NARROW) as opened:
        for place in ("q=one+two", f"atom={id_of(8)}", f"atom={BOILER}", "q=one&form=context", ""):
            opened.visit(place)
            assert opened.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, place
        opened.visit("q=two")
        assert "and 12 tags more" in opened.text("#list")


def test_an_empty_memory_says_how_to_fill_it(browser: Browser, tmp_path: Path) -> None:
    """By commands, instead of an invitation to search."""
    url = f"sqlite:{tmp_path / 'empty.db'}"
    Engine.open(url).close()
    service = Service(url)
    with window(browser, service) as opened:
        opened.settle()
        commands = opened.page.locator("#list .command-line").all_inner_texts()
    service.close()
    assert [line.split()[1] for line in commands] == ["add", "ingest"]


def test_two_editors_never_overwrite_each_other(browser: Browser, service: Service, tmp_path: Path) -> None:
    """An edit is made against the version that was read; what happens to other atoms does not matter."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    with window(browser, service, token="writer") as opened:  # noqa: S106  no password
        opened.visit(f"atom={PLAN}")
        form = opened.page.get_by_role("form", name="Save", exact=True)
        opened.page.keyboard.press("e")
        form.get_by_label("Text, in Markdown").fill("Mine.")
        with Engine.open(url) as engine:
            engine.revise(PLAN, "Theirs.")
        form.get_by_role("button", name="Save").click()
        form.get_by_text("Nothing was overwritten").wait_for()
        assert form.locator("del").inner_text() == "Theirs"
        with Engine.open(url) as engine:
            assert engine.get(PLAN).content == "Theirs."
            engine.add("Something else.", id=id_of(4))
        form.get_by_role("button", name="I have read theirs").click()
        form.get_by_role("button", name="Save").click()
        opened.page.locator("#done", has_text="atom revised").wait_for()
        opened.settle()
        assert opened.text("#reading .content") == "Mine."
        assert opened.marks("#done") == [UNCHANGED]
        opened.page.get_by_role("button", name="Undo", exact=True).click()
        opened.page.locator("#reading .content", has_text="Theirs.").wait_for()


def test_a_page_that_only_reads_offers_no_change(opened: Window) -> None:
    """Reading is the default; the view that writes says how to get another page."""
    opened.visit(f"atom={PLAN}")
    assert opened.page.locator(".action, .actions").count() == 0
    assert opened.page.get_by_role("link", name="Write").count() == 0
    opened.visit("view=write")
    assert "engine ui --write" in opened.text("#list")
    assert opened.page.locator("#list form").count() == 0
