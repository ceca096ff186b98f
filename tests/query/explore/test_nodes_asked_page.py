"""Questions that ask for a page by its name: the page is read first, and answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import Engine, Filters
from engine.query.explore.state import Stop

PAGE = (
    "---\naliases: [MOC]\n---\n# Map of content\n\n"
    "A note that gathers links to the notes on one subject. It is made when a folder has grown too large.\n"
)


@pytest.fixture
def vault(tmp_path: Path) -> Engine:
    """A vault with a page about maps of content, and 30 pages that use the words more often."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Map of content.md").write_text(PAGE)
    for number in range(30):
        text = (
            f"This map of content is the map of topic {number}, a content map. #moc\n- [[Map of content]]\n"
        )
        (folder / f"Topic {number} MOC.md").write_text(text)
    (folder / "Home.md").write_text("Home is where the maps are. What is a map of content?\n")
    engine = Engine.open("memory:")
    engine.ingest([folder])
    return engine


@pytest.mark.parametrize(
    "question",
    [
        "what is a map of content?",
        "What are maps of content?",
        "What does MOC mean?",
        "Map of Content",
        "define map of content",
        "Can you tell me what a map of content is?",
    ],
)
def test_what_is_a_map_of_content_ends_with_the_page(vault: Engine, question: str) -> None:
    """The recall returns the page, which answers; other pages are not read."""
    with vault:
        found = vault.explore(question)
    assert len(found.steps) == 1
    assert found.stopped is Stop.ANSWERED
    assert [one.title for one in found.context] == ["Map of content"]
    assert [quote.text for quote in found.answer] == [
        "A note that gathers links to the notes on one subject.",
        "It is made when a folder has grown too large.",
    ]


def test_the_hint_for_the_page_comes_first(vault: Engine) -> None:
    """The hint has at least the best score and says that the question asks for it."""
    with vault:
        hints = vault.explorer().explore_recall("what is a map of content?").hints
    assert hints[0].asked
    assert hints[0].score == max(hint.score for hint in hints)
    assert not any(hint.asked for hint in hints[1:])
    assert len({hint.id for hint in hints}) == len(hints) == 5


@pytest.mark.parametrize("question", ["where is home?", "Who wrote the map of content of topic 7?", "what?"])
def test_a_question_about_something_else_asks_for_no_page(vault: Engine, question: str) -> None:
    """A name of a page within a longer question, or after another question word, is not asked for."""
    with vault:
        hints = vault.explorer().explore_recall(question).hints
    assert not any(hint.asked for hint in hints)


def test_filters_and_known_ids_hold_for_the_page(vault: Engine) -> None:
    """The page is no hint if it fails the filters or is known already."""
    with vault:
        explorer = vault.explorer()
        [page, *_] = explorer.explore_recall("what is a map of content?").hints
        known = explorer.explore_recall("what is a map of content?", known=[page.id]).hints
        other = Filters(sources=("vault/Topic *",))
        filtered = explorer.explore_recall("what is a map of content?", filters=other).hints
    assert page.asked
    assert not any(hint.asked for hint in (*known, *filtered))
