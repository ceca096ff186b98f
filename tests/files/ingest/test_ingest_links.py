"""Links of notes as edges: their resolution and later changes."""

from __future__ import annotations

import pytest

from engine import EdgeType
from engine.files.ingest.documents import Reference
from engine.files.ingest.ingest_links import Targets
from tests.files.ingest.folder import Folder


def targets_of(notes: Folder, name: str) -> list[str]:
    """Return the contents of the atoms that the first atom of a file refers to."""
    atom = notes.atoms(name)[0]
    edges = notes.engine.edges(atom.id, types=[EdgeType.REFERENCES])
    return sorted(notes.engine.get(edge.dst).content for edge in edges)


@pytest.mark.parametrize("link", ["[[b]]", "[[B]]", "[[b|shown]]", "![[b]]", "[text](b.md)", "[[notes/b]]"])
def test_a_link_to_a_file_is_an_edge_to_its_first_atom(notes: Folder, link: str) -> None:
    """Wiki links, embeds and relative links to a file are edges to its first atom."""
    notes.write("a.md", f"See {link}.\n")
    notes.write("b.md", "# First\n\nOne.\n\n# Second\n\nTwo.\n")
    report = notes.ingest()
    assert report.linked == 1
    assert targets_of(notes, "a.md") == ["# First\n\nOne."]


def test_a_link_to_a_heading_is_an_edge_to_its_atom(notes: Folder) -> None:
    """A link to a heading is an edge to the atom of the section, ignoring case."""
    notes.write("a.md", "See [[b#second]].\n")
    notes.write("b.md", "# First\n\nOne.\n\n# Second\n\nTwo.\n")
    notes.ingest()
    assert targets_of(notes, "a.md") == ["# Second\n\nTwo."]


def test_a_link_that_leads_nowhere_is_counted_until_its_target_appears(notes: Folder) -> None:
    """An unresolved link is counted, and becomes an edge when its target is added."""
    notes.write("a.md", "See [[later]].\n")
    first = notes.ingest()
    notes.write("later.md", "Here I am.\n")
    second = notes.ingest()
    assert (first.linked, first.unresolved_links) == (0, 1)
    assert (second.linked, second.unresolved_links) == (1, 0)


def test_one_file_ingested_alone_links_to_what_the_store_holds(notes: Folder) -> None:
    """Links of a single file resolve to atoms that are already in the store."""
    notes.write("b.md", "Target.\n")
    notes.ingest()
    notes.write("a.md", "See [[b]].\n")
    report = notes.engine.ingest([notes.path / "a.md"])
    assert (report.files, report.linked) == (1, 1)


def test_a_link_that_is_taken_out_takes_its_edge_with_it(notes: Folder) -> None:
    """Removing a link removes its edge although the text of the atom is unchanged."""
    notes.write("a.md", "See [[b]].\n")
    notes.write("b.md", "# B\n\nTarget.\n")
    notes.write("sub/b.md", "# B\n\nAnother.\n")
    notes.ingest()
    notes.remove("b.md")
    report = notes.ingest(prune=True)
    assert (report.linked, report.unlinked) == (1, 1)
    assert targets_of(notes, "a.md") == ["# B\n\nAnother."]


def test_an_edge_that_a_person_removed_stays_removed(notes: Folder) -> None:
    """An edge that a person removed is not added again."""
    notes.write("a.md", "See [[b]].\n")
    notes.write("b.md", "Target.\n")
    notes.ingest()
    atom = notes.atoms("a.md")[0].id
    notes.engine.unlink(atom, EdgeType.REFERENCES, notes.atoms("b.md")[0].id)
    assert not notes.ingest().changed


def test_an_edge_that_a_person_added_stays(notes: Folder) -> None:
    """An edge that a person added is kept."""
    notes.write("a.md", "No links.\n")
    notes.write("b.md", "Target.\n")
    notes.ingest()
    notes.engine.link(notes.atoms("a.md")[0].id, EdgeType.REFERENCES, notes.atoms("b.md")[0].id)
    assert not notes.ingest().changed


def test_among_several_the_same_folder_wins_then_the_shortest_path() -> None:
    """Among several candidates, the same folder is preferred, then the shortest path."""
    sources = ["n/x/page.md", "n/page.md", "n/x/y/page.md"]
    targets = Targets(sources, lambda source: [(source.encode(), None)])
    page = Reference("page", None, "wiki")
    assert targets.resolve(page, "n/x/y/here.md") == b"n/x/y/page.md"
    assert targets.resolve(page, "n/elsewhere/here.md") == b"n/page.md"
    assert targets.resolve(Reference("y/page", None, "wiki"), "n/here.md") == b"n/x/y/page.md"


def test_a_relative_link_cannot_leave_what_was_ingested() -> None:
    """A relative link is resolved among sources, and never opened as a path."""
    targets = Targets(["n/a.md"], lambda source: [(source.encode(), None)])
    assert targets.resolve(Reference("../../../etc/passwd", None, "relative"), "n/a.md") is None
    assert targets.resolve(Reference("../n/a.md", None, "relative"), "n/b.md") == b"n/a.md"
