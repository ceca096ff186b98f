"""Ingest after people edited files and atoms: an edit keeps its atom, and nothing written by hand is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import State
from engine.base.errors import ConflictError, InvalidInputError, RefusedError
from engine.base.model import Atom, Direction
from engine.base.validation import atom_id
from engine.commands.conflicts import CONFLICTS_WITH
from engine.commands.file_texts import atoms_of
from engine.commands.reconcile import is_by
from engine.ledger.journal import entries_back
from engine.ledger.queries import get_record
from proofs.events import AtomBody
from tests.files.ingest.folder import ASH, ELM, FIR, OAK, Folder, folder_of, id_of, note, planted


def test_page_facts_are_recorded_once_and_follow_the_file(notes: Folder) -> None:
    """Aliases and the stated title revise the atom when they change; a repeated ingest is a no-op."""
    notes.write("a.md", "The kettle.\n")
    notes.ingest()
    (before,) = notes.atoms("a.md")
    notes.write("a.md", "---\ntitle: Tea\naliases: [Pot]\ndate: 1901-02-03\n---\nThe kettle.\n")
    assert notes.ingest().revised == 1
    (after,) = notes.atoms("a.md")
    assert (after.id, after.aliases, after.meta) == (before.id, ("Pot",), {"page": "Tea"})
    assert after.created < 0
    assert not notes.ingest().changed
    notes.write("a.md", "---\ntitle: Tea\naliases: [Can]\ndate: 1901-02-03\n---\nThe kettle.\n")
    assert notes.ingest().revised == 1
    notes.write("a.md", "The kettle.\n")
    notes.ingest()
    (last,) = notes.atoms("a.md")
    assert (last.id, last.aliases, last.meta) == (before.id, (), {})


def test_aliases_given_by_hand_stay(notes: Folder) -> None:
    """An alias and a value of meta that a person gave stay, beside those that the file states later."""
    notes.write("a.md", "The kettle.\n")
    notes.ingest()
    (atom,) = notes.atoms("a.md")
    notes.engine.revise(atom.id, aliases=["Pot"], meta={"mine": 1})
    notes.write("a.md", "---\naliases: [Tea]\n---\nThe kettle.\n")
    notes.ingest()
    (after,) = notes.atoms("a.md")
    assert (after.aliases, after.meta) == (("Pot", "Tea"), {"mine": 1})
    assert not notes.ingest().changed
    notes.write("a.md", "---\ntitle: Hot\n---\nThe kettle whistles.\n")
    assert (notes.ingest().conflicts, notes.ingest().changed) == (0, False)
    (last,) = notes.atoms("a.md")
    assert (last.content, last.aliases) == ("The kettle whistles.", ("Pot",))
    assert last.meta == {"page": "Hot", "mine": 1}


def test_frontmatter_is_taken_over_after_a_revision_by_hand(notes: Folder) -> None:
    """What a file states later about a text that a person revised is recorded; the text and tags stay."""
    notes.write("a.md", "---\ntags: [tea, old]\n---\nThe kettle.\n")
    notes.ingest()
    (atom,) = notes.atoms("a.md")
    notes.engine.revise(atom.id, content="By hand.")
    notes.engine.tag(atom.id, "mine")
    stated = "---\ntitle: Tea\naliases: [Pot]\ntags: [tea, new]\ndate: 1901-02-03\n---\n"
    notes.write("a.md", f"{stated}The kettle.\n")
    assert (notes.ingest().revised, notes.ingest().changed) == (1, False)
    (after,) = notes.atoms("a.md")
    assert (after.id, after.content) == (atom.id, "By hand.")
    assert (after.aliases, after.meta, set(after.tags)) == (("Pot",), {"page": "Tea"}, {"tea", "new", "mine"})
    assert after.created < 0
    notes.write("a.md", f"{stated}The kettle whistles.\n")
    assert notes.ingest().conflicts == 1


def test_a_conflict_moves_with_its_file(notes: Folder) -> None:
    """If the file of an open or settled conflict is renamed, the atoms of both sides get the new source."""
    for text in ("The kettle.", "The kettle whistles all day."):
        notes.write("a.md", text)
        notes.ingest()
        for atom in notes.atoms("a.md"):
            notes.engine.revise(atom.id, content=f"By hand: {atom.content}")
    notes.write("a.md", "The kettle whistles all night.")
    notes.ingest()
    settled, _ = notes.engine.conflicts()
    notes.engine.settle(settled.file.id, settled.hand.id, "both")
    notes.remove("a.md")
    notes.write("b/tea.md", "The kettle whistles all night.")
    notes.ingest()
    assert (len(notes.texts("a.md")), len(notes.texts("b/tea.md"))) == (0, 3)
    assert not notes.ingest().changed


def atom_with(notes: Folder, word: str) -> Atom:
    """Return the only live atom of `a.md` that contains `word`."""
    (atom,) = [atom for atom in notes.atoms("a.md") if word in atom.content]
    return atom


def in_conflict(notes: Folder) -> str:
    """Change the oak by hand and in its file. Return the id of the atom that was changed by hand."""
    oak = planted(notes)
    notes.engine.tag(oak, "old-tree")
    notes.engine.revise(oak, content="Rewritten by hand.")
    notes.write("a.md", note(OAK.replace("gate", "well"), ASH))
    assert notes.ingest().conflicts == 1
    return oak


def test_an_edited_text_keeps_id_tags_edges_and_history(notes: Folder) -> None:
    """Changing a word in a file revises the atom; tags and links made by hand stay on it."""
    oak, ash = planted(notes), id_of(notes, "a.md", "ash")
    notes.engine.tag(oak, "old-tree")
    notes.engine.link(ash, "related_to", oak)
    notes.write("a.md", note(OAK.replace("gate", "well"), ASH))
    report = notes.ingest()
    after = atom_with(notes, "well")
    assert (report.added, report.revised, report.tombstoned) == (0, 1, 0)
    assert (after.id, after.tags, after.version) == (oak, ("old-tree",), 2)
    assert [edge.src for edge in notes.engine.edges(oak, direction=Direction.IN)] == [ash]


def test_a_moved_text_and_one_that_is_moved_and_edited_keep_their_ids(notes: Folder) -> None:
    """Changing the order of a file, and a word of a moved text, adds no atom."""
    notes.write("a.md", note(OAK, ASH, ELM))
    notes.ingest()
    before = {atom.content[-20:]: atom.id for atom in notes.atoms("a.md")}
    notes.write("a.md", note(ELM, OAK.replace("gate", "well"), ASH))
    report = notes.ingest()
    assert (report.added, report.tombstoned) == (0, 0)
    assert {atom.content[-20:]: atom.id for atom in notes.atoms("a.md")} == before


def test_the_former_text_added_elsewhere_is_an_atom_of_its_own(notes: Folder) -> None:
    """The default id of the former text belongs to the revised atom, so the text gets the next id."""
    oak = planted(notes)
    notes.write("a.md", note(OAK.replace("gate", "well"), ASH))
    notes.ingest()
    notes.write("a.md", note(OAK.replace("gate", "well"), ASH, OAK))
    report = notes.ingest()
    assert (report.added, report.revised, report.tombstoned) == (1, 0, 0)
    assert atom_with(notes, "well").id == oak != atom_with(notes, "gate").id
    assert not notes.ingest().changed


def test_a_text_added_again_after_its_atom_was_revised_is_kept(notes: Folder) -> None:
    """Adding a former text appends one atom; repeating the call appends nothing."""
    first = notes.engine.add("The pump needs oil.").id
    notes.engine.revise(first, content="The pump was sold.")
    again = notes.engine.add("The pump needs oil.")
    assert again.changed
    assert again.id != first
    assert not notes.engine.add("The pump needs oil.").changed


def test_a_person_s_revision_and_the_changed_file_are_both_kept(notes: Folder) -> None:
    """If a person revised the atom and the file changes, too, both texts are live and joined by an edge."""
    oak = planted(notes)
    notes.engine.revise(oak, content="Rewritten by hand.")
    notes.write("a.md", note(OAK.replace("gate", "well"), ASH))
    report = notes.ingest()
    theirs = atom_with(notes, "well")
    assert (report.added, report.revised, report.tombstoned, report.conflicts) == (1, 0, 0, 1)
    assert notes.engine.get(oak).content == "Rewritten by hand."
    edges = list(notes.engine.edges(theirs.id, direction=Direction.OUT))
    assert [(edge.type, edge.dst) for edge in edges] == [(CONFLICTS_WITH, oak)]
    assert not notes.ingest().changed


def test_after_a_conflict_the_new_atom_stands_for_the_file(notes: Folder) -> None:
    """A later edit of the file revises the atom of the file, and no second conflict is recorded."""
    in_conflict(notes)
    theirs = atom_with(notes, "well")
    notes.write("a.md", note(OAK.replace("gate", "pond"), ASH))
    report = notes.ingest()
    assert (report.added, report.revised, report.conflicts) == (0, 1, 0)
    assert atom_with(notes, "pond").id == theirs.id


def test_a_hidden_text_stays_hidden_when_its_file_changes(notes: Folder) -> None:
    """A changed text does not bring back the atom that a person hid."""
    oak = planted(notes)
    notes.engine.tombstone(oak, "wrong")
    notes.write("a.md", note(OAK.replace("gate", "well"), ASH))
    report = notes.ingest()
    assert (report.added, report.conflicts) == (1, 1)
    assert notes.engine.get(oak).state is State.TOMBSTONED


def test_a_text_that_a_person_moved_to_another_source_is_not_added_again(notes: Folder) -> None:
    """Ingest does not add the text of an atom to which a person gave another source."""
    notes.engine.revise(planted(notes), source="elsewhere")
    assert not notes.ingest().changed


def test_a_renamed_file_keeps_its_atoms(notes: Folder) -> None:
    """A file that has a new name, and a changed word, continues the atoms of the old name."""
    notes.write("a.md", note(OAK, ASH, ELM))
    notes.ingest()
    before = [atom.id for atom in notes.atoms("a.md")]
    notes.engine.tag(before[0], "old-tree")
    notes.remove("a.md")
    notes.write("trees/b.md", note(OAK, ASH.replace("faster", "slower"), ELM))
    report = notes.ingest()
    assert (report.added, report.tombstoned, report.revised) == (0, 0, 3)
    assert [atom.id for atom in notes.atoms("trees/b.md")] == before
    assert notes.atoms("trees/b.md")[0].tags == ("old-tree",)
    assert notes.atoms("a.md") == []
    assert not notes.ingest(prune=True).changed


def test_files_that_differ_in_case_only_lose_nothing_on_a_disk_that_ignores_case(
    notes: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a disk shows one of the two files. Both are reported, and keep their texts, also with pruning."""
    notes.write("Oak.md", OAK)
    notes.write("oak.md", ASH)
    notes.ingest()
    notes.remove("Oak.md")
    exists, same = Path.exists, Path.samefile

    def as_listed(path: Path) -> Path:
        return next((one for one in path.parent.iterdir() if one.name.lower() == path.name.lower()), path)

    monkeypatch.setattr(Path, "exists", lambda path: exists(as_listed(path)))
    monkeypatch.setattr(Path, "samefile", lambda path, other: same(as_listed(path), other))
    for text in (ASH, OAK):
        notes.write("oak.md", text)
        report = notes.ingest(prune=True)
        assert (report.changed, len(report.skipped)) == (False, 2)
        assert (notes.texts("Oak.md"), notes.texts("oak.md")) == ([OAK], [ASH])
    notes.write("fir.md", FIR)
    notes.ingest()
    notes.remove("fir.md")
    notes.write("Fir.md", FIR.replace("mill", "barn"))
    assert (notes.ingest().skipped[2:], len(notes.texts("fir.md")), len(notes.texts("Fir.md"))) == ((), 0, 1)


def test_a_copied_file_gets_atoms_of_its_own(notes: Folder) -> None:
    """A copy of a file that still exists does not take over its atoms."""
    planted(notes)
    notes.write("b.md", note(OAK, ASH))
    assert notes.ingest().added == 2


def test_a_revision_by_hand_is_not_doubled_when_its_file_is_renamed(notes: Folder) -> None:
    """The text that a person replaced does not come back under the new name of its file."""
    oak = planted(notes, a=note(OAK, ASH, ELM))
    notes.engine.revise(oak, content="Rewritten by hand.")
    notes.remove("a.md")
    notes.write("b.md", note(OAK, ASH, ELM))
    report = notes.ingest()
    assert (report.added, report.conflicts, report.revised) == (0, 0, 3)
    assert (notes.engine.get(oak).content, notes.engine.get(oak).source) == (
        "Rewritten by hand.",
        "notes/b.md",
    )
    assert not notes.ingest().changed
    notes.write("b.md", note(OAK.replace("gate", "well"), ASH, ELM))
    assert notes.ingest().conflicts == 1
    assert notes.engine.get(oak).content == "Rewritten by hand."


def test_a_moved_folder_takes_the_atoms_that_people_revised_with_it(notes: Folder, tmp_path: Path) -> None:
    """After `moved`, the folder is known by its new path, even if one of its atoms was revised by hand."""
    oak = planted(notes)
    notes.engine.revise(oak, content="Rewritten by hand.")
    other = tmp_path / "other" / "notes"
    other.mkdir(parents=True)
    (other / "a.md").write_text(note(OAK, ASH))
    assert notes.engine.ingest([other], moved=True).revised == 2
    assert not notes.engine.ingest([other]).changed
    assert notes.engine.get(oak).content == "Rewritten by hand."


def test_a_settled_conflict_stays_settled(notes: Folder) -> None:
    """After keeping the text of the file, ingesting again changes nothing; tags by hand are kept."""
    oak = in_conflict(notes)
    (conflict,) = notes.engine.conflicts()
    notes.engine.settle(conflict.file.id, conflict.hand.id, "file")
    assert notes.engine.conflicts() == []
    assert not notes.ingest().changed
    assert atom_with(notes, "well").tags == ("old-tree",)
    assert notes.engine.get(oak).state is State.TOMBSTONED


def test_a_text_kept_by_hand_conflicts_again_if_the_file_changes_again(notes: Folder) -> None:
    """The next change of the file conflicts with the atom that was kept, not with the hidden text."""
    oak = in_conflict(notes)
    (conflict,) = notes.engine.conflicts()
    notes.engine.settle(conflict.file.id, conflict.hand.id, "hand")
    assert not notes.ingest().changed
    notes.write("a.md", note(OAK.replace("gate", "pond"), ASH))
    assert notes.ingest().conflicts == 1
    (conflict,) = notes.engine.conflicts()
    assert (conflict.hand.id, "pond" in conflict.file.content) == (oak, True)


@pytest.mark.parametrize(("keep", "error"), [("neither", InvalidInputError), ("file", ConflictError)])
def test_settling_what_is_no_conflict_is_refused(notes: Folder, keep: str, error: type[Exception]) -> None:
    """A wrong choice, and two atoms without a conflict, are refused."""
    planted(notes)
    oak, ash = (atom.id for atom in notes.atoms("a.md"))
    with pytest.raises(error):
        notes.engine.settle(oak, ash, keep)


def test_another_folder_of_the_same_name_is_refused(notes: Folder, tmp_path: Path) -> None:
    """Two folders of one name do not replace each other's notes; a moved folder is accepted on request."""
    planted(notes)
    other = tmp_path / "other" / "notes"
    other.mkdir(parents=True)
    (other / "a.md").write_text(note(ELM))
    size = notes.events()
    with pytest.raises(RefusedError, match="different folder"):
        notes.engine.ingest([other])
    assert notes.events() == size
    assert notes.engine.ingest([other], name="other").added == 1
    (other / "a.md").write_text(note(OAK, ASH))
    assert notes.engine.ingest([other], moved=True).revised == 2
    assert not notes.engine.ingest([other]).changed
    with pytest.raises(RefusedError, match="different folder"):
        notes.ingest()


def test_two_folders_of_one_name_in_one_call_are_refused(notes: Folder, tmp_path: Path) -> None:
    """Two folders of one name are refused before anything is written."""
    (tmp_path / "other" / "notes").mkdir(parents=True)
    with pytest.raises(InvalidInputError, match="two folders"):
        notes.engine.ingest([notes.path, tmp_path / "other" / "notes"])


WORDS = ("oak", "ash", "elm", "gate", "well", "church", "flood", "ground")
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=5, max_size=7).map(" ".join)
FILES = st.lists(SENTENCES, max_size=5)
HANDS = st.lists(
    st.tuples(st.sampled_from(("revise", "hide", "tag", "add")), st.integers(0, 9), SENTENCES), max_size=3
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(FILES, HANDS), min_size=1, max_size=4))
def test_the_live_texts_are_those_of_the_file_and_those_of_people(
    rounds: list[tuple[list[str], list[tuple[str, int, str]]]],
) -> None:
    """After any edits, the texts of the file are live unless a person changed them; texts of people stay."""
    with TemporaryDirectory() as folder, folder_of(Path(folder)) as notes:
        for texts, hands in rounds:
            of_people = texts_of_people(notes)
            notes.write("a.md", note(*texts))
            notes.ingest()
            assert not notes.ingest().changed
            live = Counter(notes.texts("a.md"))
            wanted = Counter(f"# Section\n\n{text}" for text in texts)
            assert texts_of_people(notes) == of_people
            assert live - of_people <= wanted
            assert wanted - live <= former_texts(notes)
            for kind, at, text in hands:
                change_by_hand(notes, kind, at, f"By hand: {text}")


def change_by_hand(notes: Folder, kind: str, at: int, text: str) -> None:
    """Make one change as a person, if there is an atom to change."""
    if kind == "add":
        notes.engine.add(text, source="notes/a.md")
    elif atoms := notes.atoms("a.md"):
        atom = atoms[at % len(atoms)].id
        if kind == "tag":
            notes.engine.tag(atom, "mine")
        elif kind == "hide":
            notes.engine.tombstone(atom, "by hand")
        else:
            notes.engine.revise(atom, content=text)


def texts_of_people(notes: Folder) -> Counter[str]:
    """Return the live contents that were not written by an ingest."""
    with notes.engine.store.view() as rows:
        return Counter(
            atom.content
            for atom in notes.atoms("a.md")
            if not is_by(rows, get_record(rows, atom_id(atom.id)).payload_seq, "ingest")
        )


def former_texts(notes: Folder) -> Counter[str]:
    """Return the texts that an ingest wrote for atoms that a person revised or hid."""
    texts: Counter[str] = Counter()
    store = notes.engine.store
    with store.view(store.tags) as rows:
        for record in atoms_of(rows, "notes/a.md").values():
            events = list(entries_back(rows, record.last_seq))
            if {header.actor for header, _, _ in events} != {"ingest"}:
                texts.update(
                    {
                        body.content
                        for header, body, _ in events
                        if header.actor == "ingest" and isinstance(body, AtomBody)
                    }
                )
    return texts
