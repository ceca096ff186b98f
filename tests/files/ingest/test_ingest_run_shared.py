"""Ingest into a store that another process writes to meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from backends.memory import MemoryBackend
from engine import EdgeType, Engine, State
from engine.base.validation import atom_id
from engine.commands import Command
from engine.commands.reconcile import RetireEdge, UpsertEdge
from engine.files.ingest.import_run import IngestProgress
from tests.files.ingest.folder import Folder, fixed_clock, salt

LINE = '{"id": "X", "text": "%s", "tags": ["%s"]}\n'


def once(action: Callable[[], object]) -> Callable[[IngestProgress], None]:
    """Run `action` after the first file was planned and before any commit."""
    waiting = [action]

    def run(_: IngestProgress) -> None:
        if waiting:
            waiting.pop()()

    return run


@pytest.mark.parametrize(("text", "tag"), [("two", "a"), ("one", "b")])
def test_what_is_tombstoned_meanwhile_stays_so_and_the_rest_goes_in(
    notes: Folder, text: str, tag: str
) -> None:
    """An atom that is tombstoned meanwhile is not changed, and the others are ingested."""
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
    """An atom that is revised meanwhile keeps the new content."""
    notes.write("c.jsonl", LINE % ("one", "a"))
    notes.ingest()
    atom = notes.atoms("c.jsonl")[0].id
    notes.write("c.jsonl", LINE % ("two", "a"))
    meanwhile = once(lambda: notes.engine.revise(atom, content="By hand."))
    assert not notes.engine.ingest([notes.path], progress=meanwhile).changed
    assert notes.engine.get(atom).content == "By hand."


def test_what_is_revived_and_tombstoned_meanwhile_is_not_revived(notes: Folder) -> None:
    """An atom that a person revives and tombstones meanwhile is not revived."""
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
    """An edge that a person changes meanwhile is not removed."""
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
    """A command whose atom changes between decision and commit is decided again."""
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
