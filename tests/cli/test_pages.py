"""Pages on the command line: shown by name, listed with titles, and folded in answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import Cli


@pytest.fixture(name="notes")
def ingested_notes(cli: Cli, tmp_path: Path) -> Cli:
    """Return the command line of a store with two pages, three pieces and one link."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Map.md").write_text(
        "---\naliases: MOC\ndate: 1958-03-01\n---\n# Uses\nA map.\n\n# How\nOf [[Kettle]] notes.\n"
    )
    (folder / "Kettle.md").write_text("Kettles need a map.\n")
    (folder / "old").mkdir()
    (folder / "old" / "Kettle.md").write_text("An old map.\n")
    cli("ingest", str(folder))
    return cli


def test_a_page_is_shown_by_its_alias(notes: Cli) -> None:
    """`get` shows the title, the path, the date, the links and the text of a page."""
    shown = notes("get", "moc").out.splitlines()
    assert shown[:3] == ["title        Map", "page         vault/Map.md", "alias        MOC"]
    assert any(line.startswith("created      1958-03-01") for line in shown)
    assert "link         Kettle (vault/Kettle.md)" in shown
    assert shown[-5:] == ["# Uses", "A map.", "", "# How", "Of [[Kettle]] notes."]
    assert notes("get", "Map.md", "--content").out == "# Uses\nA map.\n\n# How\nOf [[Kettle]] notes."


def test_backlinks_stand_on_the_page(notes: Cli) -> None:
    """The page that a link leads to lists the page with the link."""
    shown = notes("get", "vault/Kettle.md", "--json").data
    assert [(one["title"], one["source"]) for one in shown["backlinks"]] == [("Map", "vault/Map.md")]


def test_an_ambiguous_name_lists_the_paths(notes: Cli) -> None:
    """A name of two pages is refused with both paths, and the exit code of a conflict."""
    failed = notes("get", "kettle")
    assert failed.code == 6
    assert "'vault/Kettle.md', 'vault/old/Kettle.md'" in failed.err


def test_edges_of_a_page_are_listed_with_titles(notes: Cli) -> None:
    """`edges` lists the edges of all pieces of a page, with the title of the page at the other end."""
    for page, way, title in (("MOC", "→", "Kettle"), ("vault/Kettle", "←", "Map")):
        (row,) = notes("edges", page).out.splitlines()
        assert (row.split("\t")[0], row.split("\t")[3]) == (way, title)


def test_an_unknown_name_is_not_found(notes: Cli) -> None:
    """A name of no page, also one that looks like the beginning of an id, is not found."""
    for failed in (notes("get", "teapot"), notes("edges", "cafe")):
        assert failed.code == 3
        assert "no page" in failed.err


def test_recall_shows_the_page_and_folds_it(notes: Cli) -> None:
    """A hit is headed by its page, and `--per-page` limits the hits of each page."""
    lines = notes("recall", "map", "--per-page", "1").out.splitlines()
    headings = [line for line in lines if line[:1].isdigit()]
    assert len(headings) == 3
    assert sum("Map › " in line for line in headings) == 1
    found = notes("recall", "map", "--per-page", "0", "--json").data
    assert sum(hit["page"] == "Map" for hit in found["hits"]) == 2
