"""Settling conflicts between files and changes by hand, whatever happened to the two atoms since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import State
from engine.base.errors import RefusedError
from engine.commands.conflicts import Conflict
from tests.files.ingest.folder import Folder, folder_of

OAK = "The oak beside the gate was planted in the year of the flood."
ELM = "Elms died everywhere; the last one stands behind the church."


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Folder]:
    """Return a folder with two files. The text of one was revised by hand and changed in the file."""
    with folder_of(tmp_path) as folder:
        folder.write("a.md", OAK)
        folder.write("b.md", ELM)
        folder.ingest()
        (oak,) = folder.atoms("a.md")
        folder.engine.revise(oak.id, content="Rewritten by hand.")
        folder.write("a.md", OAK.replace("gate", "well"))
        assert (folder.ingest().conflicts, folder.ingest().open_conflicts) == (1, 1)
        yield folder


def conflict_in(notes: Folder) -> Conflict:
    """Return the only conflict."""
    (conflict,) = notes.engine.conflicts()
    return conflict


@pytest.mark.parametrize("hidden", [(), ("file",), ("hand",), ("file", "hand")])
@pytest.mark.parametrize("keep", ["file", "hand", "both"])
def test_a_settled_conflict_is_gone_for_good(notes: Folder, keep: str, hidden: tuple[str, ...]) -> None:
    """Whichever side is kept, a live kept atom stays live, and another ingest changes nothing."""
    conflict = conflict_in(notes)
    for side in hidden:
        notes.engine.tombstone(getattr(conflict, side).id, "by hand")
    if (keep, hidden) == ("file", ("file",)):
        with pytest.raises(RefusedError, match="both texts would be hidden"):
            notes.engine.settle(conflict.file.id, conflict.hand.id, keep)
        return
    notes.engine.settle(conflict.file.id, conflict.hand.id, keep)
    states = {side: notes.engine.get(getattr(conflict, side).id).state for side in ("file", "hand")}
    live = {side for side, state in states.items() if state is State.LIVE}
    assert live == {side for side in ("file", "hand") if side not in hidden and keep in {side, "both"}}
    assert notes.engine.conflicts() == []
    report = notes.ingest()
    assert (report.changed, report.open_conflicts) == (False, 0)


def test_a_merge_that_settled_a_conflict_is_undone_by_unmerge(notes: Folder) -> None:
    """Both texts are live again, and the conflict stays settled."""
    conflict = conflict_in(notes)
    notes.engine.settle(conflict.file.id, conflict.hand.id, "file")
    notes.engine.unmerge(conflict.hand.id)
    assert {"Rewritten by hand.", OAK.replace("gate", "well")} == set(notes.texts("a.md"))
    assert notes.engine.conflicts() == []
    assert not notes.ingest().changed


@pytest.mark.parametrize("prune", [False, True])
def test_a_conflict_outlives_its_file(notes: Folder, prune: bool) -> None:
    """If the file is deleted, the conflict is still listed and counted, and can be settled."""
    notes.remove("a.md")
    report = notes.ingest(prune=prune)
    conflict = conflict_in(notes)
    assert (report.conflicts, report.open_conflicts) == (0, 1)
    assert (conflict.file.state is State.TOMBSTONED, conflict.hand.state) == (prune, State.LIVE)
    notes.engine.settle(conflict.file.id, conflict.hand.id, "hand")
    assert notes.texts("a.md") == ["Rewritten by hand."]
    assert not notes.ingest(prune=prune).changed


def test_the_reason_why_the_text_of_the_file_is_gone_is_kept(notes: Folder) -> None:
    """The atom of a deleted file says that the file no longer exists."""
    notes.remove("a.md")
    notes.ingest(prune=True)
    gone = conflict_in(notes).file.tombstone
    assert gone is not None
    assert gone.reason == "the file no longer exists"


def test_a_restored_file_is_in_conflict_again(notes: Folder) -> None:
    """If the deleted file comes back before the conflict is settled, its text is live again."""
    notes.remove("a.md")
    notes.ingest(prune=True)
    notes.write("a.md", OAK.replace("gate", "well"))
    report = notes.ingest()
    assert (report.revived, report.conflicts, report.open_conflicts) == (1, 0, 1)
    conflict = conflict_in(notes)
    notes.engine.settle(conflict.file.id, conflict.hand.id, "file")
    assert notes.texts("a.md") == [OAK.replace("gate", "well")]


def test_a_text_that_a_person_settled_away_stays_away_when_its_file_is_restored(notes: Folder) -> None:
    """After keeping the text by hand, the deleted and restored file brings nothing back."""
    conflict = conflict_in(notes)
    notes.engine.settle(conflict.file.id, conflict.hand.id, "hand")
    notes.remove("a.md")
    notes.ingest(prune=True)
    notes.write("a.md", OAK.replace("gate", "well"))
    assert not notes.ingest().changed
    assert notes.texts("a.md") == ["Rewritten by hand."]
