"""Ingest after texts were moved from file to file, and files were renamed: their atoms are kept."""

from __future__ import annotations

import pytest

from engine import State
from engine.base.model import Direction
from engine.commands.moves import Moves
from tests.files.ingest.folder import ASH, ELM, FIR, OAK, Folder, id_of, note, planted


@pytest.mark.parametrize(("old", "new"), [("a.md", "b.md"), ("b.md", "a.md")])
@pytest.mark.parametrize("changed", [OAK, OAK.replace("gate", "well")])
def test_a_text_that_moved_to_another_file_keeps_its_atom(
    notes: Folder, old: str, new: str, changed: str
) -> None:
    """Tags, edges and history stay, whichever file is read first, also if a word of the text changed."""
    notes.write(old, note(OAK, ASH))
    notes.write(new, note(ELM))
    notes.ingest()
    oak, elm = id_of(notes, old, "oak"), id_of(notes, new, "Elms")
    notes.engine.tag(oak, "old-tree")
    notes.engine.link(elm, "related_to", oak)
    notes.write(old, note(ASH))
    notes.write(new, note(ELM, changed))
    report = notes.ingest()
    assert (report.added, report.tombstoned, report.revised) == (0, 0, 1)
    moved = notes.atoms(new)[-1]
    assert (moved.id, moved.tags, moved.content) == (oak, ("old-tree",), f"# Section\n\n{changed}")
    assert [edge.src for edge in notes.engine.edges(oak, direction=Direction.IN)] == [elm]
    assert not notes.ingest().changed


def test_what_a_person_put_on_a_text_goes_with_it_into_another_text(notes: Folder) -> None:
    """A section that is appended to running text gives its tags, aliases and edges to the atom there."""
    oak = planted(notes, b=f"{ELM}\n", c=note(FIR))
    fir = id_of(notes, "c.md", "Firs")
    notes.engine.tag(oak, "mine")
    notes.engine.revise(oak, aliases=["Quercus"])
    notes.engine.link(fir, "related_to", oak)
    notes.engine.link(oak, "references", fir)
    notes.write("a.md", note(ASH))
    notes.write("b.md", f"{ELM}\n{OAK} It fell later.\n")
    report = notes.ingest()
    assert (report.added, report.tombstoned) == (0, 1)
    (atom,) = notes.atoms("b.md")
    assert (atom.id != oak, atom.tags, atom.aliases) == (True, ("mine",), ("Quercus",))
    edges = {(one.type, one.src, one.dst) for one in notes.engine.edges(atom.id, direction=Direction.BOTH)}
    assert edges == {("related_to", fir, atom.id), ("references", atom.id, fir)}
    assert not notes.ingest().changed


def test_a_text_that_was_cut_and_is_pasted_elsewhere_later_keeps_its_atom(notes: Folder) -> None:
    """An atom that ingest hid is revived with its tags if its text comes back in another file."""
    oak = planted(notes)
    notes.engine.tag(oak, "old-tree")
    notes.write("a.md", note(ASH))
    assert notes.ingest().tombstoned == 1
    notes.write("b.md", note(OAK))
    report = notes.ingest()
    assert (report.added, report.revived) == (0, 1)
    assert (id_of(notes, "b.md", "oak"), notes.atoms("b.md")[0].tags) == (oak, ("old-tree",))
    assert not notes.ingest().changed


def test_the_text_that_a_file_lost_last_comes_back(notes: Folder) -> None:
    """If several hidden atoms have the text, the one that was hidden last is revived."""
    last = planted(notes, b=note(OAK, ELM))
    notes.write("b.md", note(ELM))
    notes.ingest()
    notes.write("a.md", note(ASH))
    notes.ingest()
    notes.write("c.md", note(OAK))
    notes.ingest()
    assert id_of(notes, "c.md", "oak") == last


def test_a_text_in_a_file_is_preferred_to_a_hidden_one(notes: Folder) -> None:
    """If the file had the same text earlier, the atom that was live until now still goes with the text."""
    planted(notes, b=note(OAK, ELM))
    oak = id_of(notes, "b.md", "oak")
    notes.write("a.md", note(ASH))
    notes.ingest()
    notes.write("a.md", note(ASH, OAK))
    notes.write("b.md", note(ELM))
    notes.ingest()
    assert id_of(notes, "a.md", "oak") == oak


def test_a_copy_is_an_atom_of_its_own(notes: Folder) -> None:
    """If the text is still in its file, the same text in another file is a new atom."""
    oak = planted(notes)
    notes.write("b.md", note(OAK))
    assert notes.ingest().added == 1
    assert id_of(notes, "a.md", "oak") == oak != id_of(notes, "b.md", "oak")


def test_of_several_equal_texts_the_first_file_gets_the_atom(notes: Folder) -> None:
    """The files are used in their order: the first one continues the atom, the others get new atoms."""
    notes.write("m.md", note(OAK, ASH))
    notes.ingest()
    oak = id_of(notes, "m.md", "oak")
    notes.write("m.md", note(ASH))
    notes.write("b.md", note(OAK))
    notes.write("z.md", note(OAK))
    assert notes.ingest().added == 1
    assert id_of(notes, "b.md", "oak") == oak


def test_a_moved_text_that_was_revised_by_hand_keeps_the_revision(notes: Folder) -> None:
    """The atom gets its new source; if the file's text changed as well, there is a conflict."""
    oak, ash = planted(notes, b=note(ELM)), id_of(notes, "a.md", "ash")
    notes.engine.revise(oak, content="Rewritten by hand.")
    notes.engine.revise(ash, content="The ash is mine.")
    notes.write("a.md", "")
    notes.write("b.md", note(ELM, OAK, ASH.replace("faster", "slower")))
    report = notes.ingest()
    assert (report.added, report.conflicts) == (1, 1)
    changed = "# Section\n\n" + ASH.replace("faster", "slower")
    assert set(notes.texts("b.md")[1:]) == {"Rewritten by hand.", "The ash is mine.", changed}
    assert not notes.ingest().changed


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("remove", [False, True])
def test_a_text_that_was_hidden_by_hand_stays_hidden_in_another_file(
    notes: Folder, remove: bool, prune: bool
) -> None:
    """Moving the text to another file does not bring it back; changing it there is a conflict."""
    oak = planted(notes, b=note(ELM))
    notes.engine.tombstone(oak, "wrong")
    notes.write("a.md", note(ASH))
    if remove:
        notes.remove("a.md")
    notes.write("b.md", note(ELM, OAK))
    assert notes.ingest(prune=prune).added == 0
    assert not notes.ingest(prune=prune).changed
    notes.write("b.md", note(ELM, OAK.replace("gate", "well")))
    report = notes.ingest(prune=prune)
    assert (report.added, report.conflicts) == (1, 1)
    assert notes.engine.get(oak).state is State.TOMBSTONED
    assert not notes.ingest(prune=prune).changed


def test_a_text_that_was_hidden_by_hand_stays_hidden_if_its_file_is_renamed(notes: Folder) -> None:
    """The text is recognised under the new name; changed a little, it is a conflict."""
    oak = planted(notes, a=note(OAK, ASH, ELM))
    notes.engine.tombstone(oak, "wrong")
    notes.remove("a.md")
    notes.write("b.md", note(OAK, ASH, ELM))
    notes.ingest()
    assert [text for text in notes.texts("b.md") if "oak" in text] == []
    notes.write("b.md", note(OAK.replace("gate", "well"), ASH, ELM))
    assert notes.ingest().conflicts == 1
    assert notes.engine.get(oak).state is State.TOMBSTONED


def test_a_note_of_one_text_may_be_renamed_and_edited_at_once(notes: Folder) -> None:
    """The new file continues the atom if most words are the same."""
    notes.write("a.md", OAK)
    notes.ingest()
    (oak,) = notes.atoms("a.md")
    notes.remove("a.md")
    notes.write("b.md", OAK.replace("beside the gate", "behind our house"))
    report = notes.ingest()
    assert (report.added, report.revised) == (0, 1)
    assert [atom.id for atom in notes.atoms("b.md")] == [oak.id]


def test_a_renamed_note_continues_the_most_similar_of_several(notes: Folder) -> None:
    """If two deleted notes are similar to the new one, the more similar one is continued."""
    notes.write("a.md", OAK.replace("flood", "fire"))
    notes.write("b.md", OAK)
    notes.ingest()
    (oak,) = notes.atoms("b.md")
    notes.remove("a.md")
    notes.remove("b.md")
    notes.write("c.md", OAK.replace("beside the gate", "behind our house"))
    assert notes.ingest().added == 0
    assert [atom.id for atom in notes.atoms("c.md")] == [oak.id]


def test_a_text_and_its_pruned_file_may_be_moved_in_one_ingest(notes: Folder) -> None:
    """Texts of a deleted file that continue in another file are not hidden with the rest of the file."""
    oak = planted(notes, a=note(OAK, ASH, FIR), b=note(ELM))
    notes.remove("a.md")
    notes.write("b.md", note(ELM, OAK))
    report = notes.ingest(prune=True)
    assert (report.added, report.tombstoned) == (0, 2)
    assert id_of(notes, "b.md", "oak") == oak


def test_a_renamed_file_is_not_hidden_by_pruning_in_the_same_ingest(notes: Folder) -> None:
    """The atoms that got the new source do not belong to the file that is pruned."""
    planted(notes, b=note(ELM))
    notes.remove("a.md")
    notes.write("c.md", note(OAK, ASH))
    assert notes.ingest(prune=True).tombstoned == 0
    assert len(notes.atoms("c.md")) == 2


def test_the_former_file_may_get_the_text_again(notes: Folder) -> None:
    """After a text was moved and revised by hand, the same text in the former file is a new atom."""
    oak = planted(notes, b=note(ELM))
    notes.write("a.md", note(ASH))
    notes.write("b.md", note(ELM, OAK))
    notes.ingest()
    notes.engine.revise(oak, content="Rewritten by hand.")
    notes.write("a.md", note(ASH, OAK))
    assert notes.ingest().added == 1
    assert id_of(notes, "a.md", "oak") != oak


def test_links_of_a_moved_text_lead_to_the_same_atoms(notes: Folder) -> None:
    """The edges of links in a moved text stay, and links to the files are found."""
    oak = planted(notes, a=note(ASH, f"{OAK} See [[c]]."), b=note(ELM), c=note(FIR))
    notes.write("a.md", note(ASH))
    notes.write("b.md", note(f"{OAK} See [[c]].", ELM))
    notes.write("d.md", f"{FIR} About [[b]].")
    report = notes.ingest()
    assert (report.linked, report.unlinked) == (1, 0)
    assert [edge.dst for edge in notes.engine.edges(oak, direction=Direction.OUT)] == [
        id_of(notes, "c.md", "Firs")
    ]
    assert [edge.src for edge in notes.engine.edges(oak, direction=Direction.IN)] == [
        id_of(notes, "d.md", "Firs")
    ]


def test_texts_beyond_the_bound_are_settled_file_by_file(
    notes: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If too much new text was read, a moved text becomes a new atom, and nothing else changes."""
    monkeypatch.setattr(Moves, "is_full", True)
    notes.write("a.md", note(ASH))
    notes.write("b.md", note(OAK, ELM))
    notes.ingest()
    notes.write("a.md", note(ASH, OAK))
    notes.write("b.md", note(ELM.replace("church", "house")))
    report = notes.ingest()
    assert (report.added, report.revised, report.tombstoned) == (1, 1, 1)
    assert not notes.ingest().changed
