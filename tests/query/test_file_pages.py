"""A page is found by its path, its title or an alias, and collects the links of its pieces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import Engine, RecallConfig
from engine.base.errors import ConflictError, NotFoundError
from engine.query.file_pages import Page

NOTES = {
    "05 - Concepts/Maps of Content (MOC).md": "---\naliases:\n- MOC\n- MOCs\ntags: [seedling]\n---\n# Maps\n"
    "A map leads to notes.\n\n## Uses\nSee [[Zettelkasten]] and [[Links#How]].\n",
    "Zettelkasten.md": "---\ntitle: The slip box\nalias: card index, Zettel\ndate: 1958-03\n---\n"
    "Luhmann's method. See [[Links]].\n",
    "Links.md": "# How\nWrite two brackets. A [[MOC]] is written so, too.\n\n# Why\nLinks join notes.\n",
    "a/Index.md": "The index of a.\n",
    "b/Index.md": "The index of b. See [[Maps of Content (MOC)]].\n",
    "talk.jsonl": '{"text": "a map of content is a note", "source": "chat"}\n',
}


@pytest.fixture(name="memory")
def memory_of_notes(tmp_path: Path) -> Iterator[Engine]:
    """Yield a memory with the notes."""
    folder = tmp_path / "vault"
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with Engine.open("memory:") as engine:
        engine.ingest([folder])
        yield engine


@pytest.mark.parametrize(
    "name",
    [
        "vault/05 - Concepts/Maps of Content (MOC).md",
        "05 - Concepts/Maps of Content (MOC).md",
        "05 - Concepts/Maps of Content (MOC)",
        "Maps of Content (MOC).md",
        "maps of content (moc)",
        "MOC",
        "mocs",
    ],
)
def test_a_page_is_found_by_path_title_and_alias(memory: Engine, name: str) -> None:
    """A path may lack its first folders and its suffix, and case is ignored."""
    assert memory.page(name).source == "vault/05 - Concepts/Maps of Content (MOC).md"


def test_a_page_has_its_facts(memory: Engine) -> None:
    """A page has the stated title, the aliases, the date, the text and the pieces of its file."""
    page = memory.page("zettelkasten")
    assert (page.title, page.aliases) == ("The slip box", ("card index", "Zettel"))
    assert page.created == -373_593_600_000_000
    assert page == memory.page("The Slip Box") == memory.page("ZETTEL")
    assert memory.page("MOC").text == (
        "# Maps\nA map leads to notes.\n\n## Uses\nSee [[Zettelkasten]] and [[Links#How]]."
    )
    assert memory.page("MOC").tags == ("seedling",)
    assert [memory.get(one).title for one in memory.page("MOC").ids] == ["Maps", "Uses"]


def titles(page: Page) -> tuple[list[str], list[str]]:
    """Return the titles of the links and of the backlinks of a page."""
    return [link.title for link in page.links], [link.title for link in page.backlinks]


def test_a_page_collects_the_links_of_its_pieces(memory: Engine) -> None:
    """Links that start or end at any piece are those of the page; a page is listed once."""
    links, backlinks = titles(memory.page("MOC"))
    assert sorted(links) == ["Links", "The slip box"]
    assert backlinks == ["Index"]
    links, backlinks = titles(memory.page("Links"))
    assert sorted(backlinks) == ["Maps of Content (MOC)", "The slip box"]


def test_an_ambiguous_name_lists_its_sources(memory: Engine) -> None:
    """Two pages of one name are refused with their paths; a folder tells them apart."""
    with pytest.raises(ConflictError, match=r"vault/a/Index\.md.*vault/b/Index\.md") as caught:
        memory.page("index")
    assert "paths" in (caught.value.hint or "")
    assert memory.page("b/index").text.startswith("The index of b.")
    with pytest.raises(ConflictError, match=r"vault/a/Index\.md"):
        memory.explorer().explore_neighbors("Index")


@pytest.mark.parametrize("name", ["Maps", "chat", "nothing", "Concepts/Maps of Content (MOC)", "é"])
def test_other_names_are_not_pages(memory: Engine, name: str) -> None:
    """A heading, a chat, an unknown name and a part of a folder's name are no pages."""
    with pytest.raises(NotFoundError):
        memory.page(name)


def test_exploration_resolves_pages(memory: Engine) -> None:
    """Neighbors are those of all pieces; a peek shows the first piece, and expanding the whole page."""
    explorer = memory.explorer()
    found = explorer.explore_neighbors("MOC")
    assert found.node.name == "Maps of Content (MOC)"
    edges = {(one.subject, one.object) for one in found.triples if one.predicate == "references"}
    assert ("Maps of Content (MOC)", "How") in edges
    assert ("Index", "Maps of Content (MOC)") in edges
    assert explorer.explore_peek("moc").text.startswith("# Maps")
    assert "## Uses" in explorer.explore_expand("MOC").text
    assert explorer.explore_expand("MOC").text == memory.page("MOC").text


def test_hints_show_the_page_and_its_section(memory: Engine) -> None:
    """A hint has the title of the page, and that of the section if they differ."""
    shown = {hint.title for hint in memory.explorer().explore_recall("Links join notes").hints}
    assert "Links › Why" in shown


def test_a_hidden_page_is_not_found(memory: Engine) -> None:
    """A page without live pieces has no name any more."""
    for one in memory.page("MOC").ids:
        memory.tombstone(one)
    with pytest.raises(NotFoundError):
        memory.page("MOC")


def test_a_question_with_an_alias_finds_the_page(memory: Engine) -> None:
    """A page is the first hit of a question that names only an alias, which no text contains."""
    hit = memory.recall("what is a card index?").hits[0]
    assert (hit.page, hit.role) == ("The slip box", "anchor")
    assert memory.recall("what is a MOC?", explain=True).hits[0].page == "Maps of Content (MOC)"


def test_recall_folds_hits_by_page(tmp_path: Path) -> None:
    """At most two hits are of one page, unless more are asked for; a chat is not folded."""
    folder = tmp_path / "vault"
    folder.mkdir()
    words = ("kettle", "descaler", "vinegar", "limescale", "steam")
    for page in ("one", "two"):
        text = "".join(f"# Part {word}\nThe tea of {page} with {word}.\n\n" for word in words)
        (folder / f"{page}.md").write_text(text)
    lines = "".join(f'{{"text": "Green tea and {word} in talk", "source": "chat"}}\n' for word in words)
    (folder / "talk.jsonl").write_text(lines)
    with Engine.open("memory:", config=RecallConfig(collapse=False)) as memory:
        memory.ingest([folder])

        def pages(per_page: int | None) -> list[int]:
            hits = memory.recall("tea", limit=20, per_page=per_page).hits
            return [
                sum(hit.source == source for hit in hits)
                for source in ("vault/one.md", "vault/two.md", "chat")
            ]

        assert pages(None) == [2, 2, 5]
        assert pages(1) == [1, 1, 5]
        assert pages(0) == [5, 5, 5]
        answer = memory.recall("tea", limit=20, explain=True)
        assert answer.folded == 6
        assert [one.reason for one in answer.dropped] == ["enough of its page"] * 6


def test_an_alias_finds_its_page_if_no_text_has_its_words() -> None:
    """The alias alone finds the atom if nothing else matches the question."""
    with Engine.open("memory:") as other:
        other.add("A map leads to notes.", aliases=["MOC"])
        assert len(other.recall("what is a MOC?").hits) == 1
