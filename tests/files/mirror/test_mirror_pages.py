"""The layout of a mirror and the format of its pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.files.mirror import mirror_pages
from tests.files.mirror.parsing import pages, parse, structure, whole
from tests.support.engines import engine_on

STYLES = ("plain", "obsidian")


def test_atoms_are_bundled_by_bucket_tag_and_source(tmp_path: Path) -> None:
    """A page has the path `@bucket/#tag/Source_Name_hash.md`, with its atoms in the source's order."""
    engine = engine_on()
    second = engine.add("second", source="notes/tea.md", sequence=2, tags=["Tea"]).subject
    first = engine.add("first", source="notes/tea.md", sequence=1, tags=["tea"]).subject
    engine.mirror(tmp_path / "m")
    ((path, text),) = pages(tmp_path / "m").items()
    assert re.fullmatch(r"@inbox/#tea/notes_tea_md_[0-9a-f]{12}\.md", path)
    assert [entry.id for entry in parse(text).entries] == [first, second]
    assert text.startswith("# notes/tea.md\n")


def test_an_atom_in_no_bucket_stands_in_the_inbox(tmp_path: Path) -> None:
    """A note and an entity without a bucket are mirrored in the default bucket."""
    engine = engine_on()
    note = engine.add("in none", source="s", buckets=[]).id
    engine.add("Kettle", title="Kettle", kind="entity", buckets=[])
    engine.mirror(tmp_path / "m")
    found = pages(tmp_path / "m")
    assert all(path.startswith("@inbox/") for path in found)
    assert note in {entry.id for text in found.values() for entry in parse(text).entries}


def test_an_entry_is_a_heading_with_id_and_snippet(tmp_path: Path) -> None:
    """Each entry begins with `## [ID] Snippet`, and a rule separates entries."""
    engine = engine_on()
    ids = [engine.add(f"text {number}", source="s").subject for number in range(3)]
    engine.mirror(tmp_path / "m")
    (text,) = pages(tmp_path / "m").values()
    assert re.findall(r"^## \[(.*)\] (.*)$", text, re.MULTILINE) == [
        (id_, f"text {n}") for n, id_ in enumerate(ids)
    ]
    assert structure(text) == (3, 2)


def test_a_page_has_at_most_100_atoms(tmp_path: Path) -> None:
    """201 atoms of a source are split into three pages."""
    engine = engine_on()
    for number in range(201):
        engine.add(f"text {number}", source="s", sequence=number)
    engine.mirror(tmp_path / "m")
    found = pages(tmp_path / "m")
    assert [len(parse(text).entries) for text in found.values()] == [100, 100, 1]
    assert [path[-6:] for path in found][1:] == ["_p2.md", "_p3.md"]


def test_a_page_ends_before_it_is_too_large(tmp_path: Path) -> None:
    """Contents over 256 KiB are split into several pages, and a larger content has its own."""
    engine = engine_on()
    for number, size in enumerate((200_000, 100_000, 300_000, 10)):
        engine.add("x" * size, source="s", sequence=number)
    engine.mirror(tmp_path / "m")
    assert [len(parse(text).entries) for text in pages(tmp_path / "m").values()] == [1, 1, 1, 1]


def test_untagged_and_sourceless_atoms_stand_by_day(tmp_path: Path) -> None:
    """Atoms without a source are bundled by UTC day, and those without a tag are in `untagged`."""
    engine = engine_on()
    engine.add("late", created=1_767_225_599_999_999)
    engine.add("early", created=1_767_225_600_000_000, tags=["x"])
    engine.mirror(tmp_path / "m")
    found = [path.rpartition("_")[0] for path in pages(tmp_path / "m")]
    assert found == ["@inbox/#x/2026-01-01", "@inbox/untagged/2025-12-31"]


@pytest.mark.parametrize("style", STYLES)
def test_an_atom_stands_whole_once_and_is_referred_to(tmp_path: Path, style: str) -> None:
    """An atom is shown in its first bucket and tag; the others contain its heading and a link."""
    engine = engine_on()
    id_ = engine.add("text", source="s", tags=["b", "a"], buckets=["work", "inbox"]).subject
    engine.mirror(tmp_path / "m", style=style)
    found = {path: parse(text).entries for path, text in pages(tmp_path / "m").items()}
    assert [[entry.id for entry in entries] for entries in found.values()] == [[id_]] * 4
    home, *others = found
    assert home.split("/")[:2] == ["@inbox", "#a" if style == "plain" else "tag-a"]
    assert found[home][0].content == "text"
    name = home.rpartition("/")[2].removesuffix(".md")
    assert all(name in found[path][0].fields["see"] for path in others)


def test_plain_links_lead_to_pages(tmp_path: Path) -> None:
    """A relative link leads to the page on which the other atom appears in full."""
    from urllib.parse import unquote

    engine = engine_on()
    many = [engine.add(f"text {number}", source="s?", sequence=number).subject for number in range(120)]
    engine.add("other", tags=["ö c"])
    here = engine.add("here", tags=["#x"]).subject
    engine.link(here, "references", many[110])
    engine.mirror(tmp_path / "m")
    (page,) = (tmp_path / "m" / "@inbox" / "#x").iterdir()
    (link,) = re.findall(r"^- references \[.*\]\((.*) \".*\"\)$", page.read_text(), re.MULTILINE)
    target = (page.parent / unquote(link)).resolve()
    assert target.name.endswith("_p2.md")
    assert many[110] in [entry.id for entry in parse(target.read_text()).entries if entry.content]


def test_an_edge_is_shown_at_its_source(tmp_path: Path) -> None:
    """An edge to a live atom is shown with its type, target and any weight other than 1."""
    engine = engine_on()
    a, b, c = (engine.add(text, source="s").subject for text in ("one", "two", "three"))
    engine.link(a, "references", b, 0.1)
    engine.link(a, "part_of", c)
    engine.link(b, "references", a)
    engine.unlink(b, "references", a)
    engine.mirror(tmp_path / "m")
    assert whole(tmp_path / "m")[a].edges == [("part_of", c), ("references", b)]
    assert re.search(
        r"^- references .* \(0.1\d*\)$", next(iter(pages(tmp_path / "m").values())), re.MULTILINE
    )
    assert whole(tmp_path / "m")[b].edges == []
    engine.tombstone(c)
    engine.mirror(tmp_path / "m")
    assert whole(tmp_path / "m")[a].edges == [("references", b)]


def test_more_edges_than_are_shown_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If an atom has too many edges, its entry names the command that lists all of them."""
    monkeypatch.setattr(mirror_pages, "EDGES_MAX", 2)
    engine = engine_on()
    ids = [engine.add(f"text {number}").subject for number in range(4)]
    for other in ids[1:]:
        engine.link(ids[0], "references", other)
    engine.mirror(tmp_path / "m")
    entry = whole(tmp_path / "m")[ids[0]]
    assert len(entry.edges) == 2
    assert f"engine edges {ids[0]}" in entry.fields["more"]


@pytest.mark.parametrize("style", STYLES)
def test_an_entity_has_a_page_with_its_relations(tmp_path: Path, style: str) -> None:
    """The page of an entity is named after it, and its relations link to other pages."""
    engine = engine_on()
    engine.relate("daemon", "listens on", "unix socket")
    engine.mirror(tmp_path / "m", style=style)
    found = {path.rpartition("_")[0]: parse(text).entries for path, text in pages(tmp_path / "m").items()}
    assert list(found) == ["@inbox/entities/daemon", "@inbox/entities/unix_socket"]
    ((daemon,), (socket,)) = found.values()
    assert [name for name, _ in daemon.edges] == ["listens_on"]
    assert socket.content == "unix socket"


def test_hidden_atoms_are_not_in_it(tmp_path: Path) -> None:
    """Tombstoned atoms and old contents do not occur in pages or manifest."""
    engine = engine_on()
    gone = engine.add("secretword", title="secretword", tags=["secrettag"], source="secretsource").subject
    old = engine.add("oldword", source="s").subject
    engine.mirror(tmp_path / "m")
    engine.tombstone(gone)
    engine.revise(old, content="newword")
    engine.mirror(tmp_path / "m")
    everything = "".join(path.read_text() for path in (tmp_path / "m").rglob("*") if path.is_file())
    names = " ".join(map(str, (tmp_path / "m").rglob("*")))
    assert [word for word in ("secret", "oldword", gone) if word in everything + names] == []
    assert "newword" in everything
