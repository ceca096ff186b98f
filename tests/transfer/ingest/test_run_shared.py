"""Ingest into a store that somebody else writes to meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backends.memory import MemoryBackend
from engine import EdgeType, Engine, State
from engine.base.validation import atom_id
from engine.commands import Command
from engine.commands.reconcile import RetireEdge, UpsertEdge
from engine.transfer.ingest.run import IngestProgress
from tests.transfer.ingest.folder import Folder, fixed_clock, folder_of, salt

LINE = '{"id": "X", "text": "%s", "tags": ["%s"]}\n'


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Folder]:
    """An empty folder and an empty memory."""
    with folder_of(tmp_path) as folder:
        yield folder


def once(action: Callable[[], object]) -> Callable[[IngestProgress], None]:
    """Runs `action` after the first file was planned and before anything is committed."""
    waiting = [action]

    def run(_: IngestProgress) -> None:
        if waiting:
            waiting.pop()()

    return run


@pytest.mark.parametrize(("text", "tag"), [("two", "a"), ("one", "b")])
def test_what_is_tombstoned_meanwhile_stays_so_and_the_rest_goes_in(
    notes: Folder, text: str, tag: str
) -> None:
    """A revision or other tags were called for until somebody tombstoned the atom."""
    notes.write("c.jsonl", LINE % ("one", "a"))
    notes.ingest()
    atom = notes.atoms("c.jsonl")[0].id
    notes.write("c.jsonl", LINE % (text, tag))
    notes.write("d.md", "More.\n")
    meanwhile = once(lambda: notes.engine.tombstone(atom, "wrong"))
    report = notes.engine.ingest([notes.path], progress=meanwhile)
    assert (report.added, report.revised, report.retagged) == (1, 0, 0)
    assert notes.engine.get(atom).state is State.TOMBSTONED


def test_what_is_revised_meanwhile_keeps_what_was_written(notes: Folder) -> None:
    """A revision by a person that came first is not overwritten."""
    notes.write("c.jsonl", LINE % ("one", "a"))
    notes.ingest()
    atom = notes.atoms("c.jsonl")[0].id
    notes.write("c.jsonl", LINE % ("two", "a"))
    meanwhile = once(lambda: notes.engine.revise(atom, content="By hand."))
    assert not notes.engine.ingest([notes.path], progress=meanwhile).changed
    assert notes.engine.get(atom).content == "By hand."


def test_what_is_revived_and_tombstoned_meanwhile_is_not_revived(notes: Folder) -> None:
    """The tombstone that ingest would have lifted has become a person's."""
    notes.write("c.jsonl", LINE % ("one", "a"))
    notes.ingest()
    atom = notes.atoms("c.jsonl")[0].id
    notes.write("c.jsonl", "")
    notes.ingest()
    notes.write("c.jsonl", LINE % ("two", "b"))

    def by_hand() -> None:
        notes.engine.revive(atom)
        notes.engine.tombstone(atom, "wrong")

    assert not notes.engine.ingest([notes.path], progress=once(by_hand)).changed
    assert notes.engine.get(atom).state is State.TOMBSTONED


def test_an_edge_that_a_person_took_over_is_left_to_them(notes: Folder) -> None:
    """What links called for when they were planned is looked at again when it is decided."""
    notes.write("a.md", "See [[b]].\n")
    notes.write("b.md", "Target.\n")
    notes.write("c.md", "Other.\n")
    notes.ingest()
    a, b, c = (notes.atoms(name)[0].id for name in ("a.md", "b.md", "c.md"))
    notes.engine.unlink(a, EdgeType.REFERENCES, b)
    notes.engine.link(a, EdgeType.REFERENCES, c)
    kind = EdgeType.REFERENCES
    ends: list[Command] = [UpsertEdge(atom_id(a), kind, atom_id(b)), RetireEdge(atom_id(a), kind, atom_id(c))]
    assert not any(receipt.changed for receipt in notes.engine.apply(ends, actor="ingest"))


def test_a_lost_race_is_decided_anew(tmp_path: Path) -> None:
    """Another writer tombstones the atom between the decision and its commit."""
    notes = tmp_path / "notes"
    notes.mkdir()
    file = notes / "c.jsonl"
    file.write_text(LINE % ("one", "a"))
    backend = MemoryBackend()
    other = Engine(backend, clock=fixed_clock, salts=salt)
    other.ingest([notes])
    atom = other.recall("one").hits[0].id
    waiting = [atom]

    def clock() -> int:
        if waiting:
            other.tombstone(waiting.pop(), "wrong")
        return fixed_clock()

    file.write_text(LINE % ("two", "b"))
    with Engine(backend, clock=clock, salts=salt) as memory:
        report = memory.ingest([notes])
        assert not report.changed
        assert memory.get(atom).state is State.TOMBSTONED
        assert memory.verify().ok
