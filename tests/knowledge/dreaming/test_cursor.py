"""The cursor: it saves work, and no result depends on it."""

from __future__ import annotations

import pytest

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.base.errors import InvalidInputError
from engine.knowledge.dreaming.round import NO_CURSOR, Cursor, Phase, cursor_batch, read_cursor
from engine.ledger.journal import read_log
from engine.ledger.layout import DREAM
from engine.store.maintenance import copy
from tests.knowledge.dreaming.support import EAGER, LETTERS, added, dreamt, left_in
from tests.support.engines import backend_of, engine_on, put_rows

DIGEST = EAGER.digest()


def test_what_was_looked_at_is_not_looked_at_again() -> None:
    """A run over an unchanged memory reads no atoms."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        again = engine.dream(config=EAGER)
        assert (again.read, again.looked_at, again.changes, again.left) == (0, 0, 0, 0)


def test_only_new_texts_and_those_with_new_names_are_looked_at() -> None:
    """A run reads new texts, and old ones only for newly learned names."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        added(engine, "Nothing of note.")
        assert engine.dream(config=EAGER).looked_at == 1
        added(engine, "Then Grace Hopper called.")
        engine.dream(config=EAGER)
        added(engine, "Again Grace Hopper called.")
        assert engine.dream(config=EAGER).looked_at == 2


def test_everything_is_looked_at_again_when_the_memory_has_doubled() -> None:
    """When the memory has doubled, a round reads all texts."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        added(engine, *(f"Plain text {number}." for number in range(4)))
        assert engine.dream(config=EAGER).looked_at == 8


def test_a_budget_is_kept() -> None:
    """A cycle reads at most its budget of atoms, and reports the number left."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        first = engine.dream(budget=3, config=EAGER)
        assert (first.read, first.looked_at, first.left, first.done) == (3, 0, 5, False)
        second = engine.dream(budget=3, config=EAGER)
        assert (second.read, second.looked_at, second.left) == (1, 2, 2)
        assert engine.dream(budget=3, config=EAGER).left == 0


def test_a_cycle_that_is_told_to_stop_stops() -> None:
    """If `stop` returns True at once, no atom is read."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        report = engine.dream(stop=lambda: True, config=EAGER)
        assert (report.looked_at, report.left) == (0, 8)


def test_a_cursor_of_another_journal_counts_as_none() -> None:
    """A cursor of another journal or with other limits is ignored."""
    with engine_on() as engine, engine_on() as other:
        added(engine, *LETTERS)
        added(other, *reversed(LETTERS))
        engine.dream(config=EAGER)
        row = backend_of(engine).get(DREAM)
        size = read_log(backend_of(engine)).size
        assert read_cursor(backend_of(engine), DIGEST, size) != NO_CURSOR
        assert read_cursor(backend_of(engine), bytes(8), size) == NO_CURSOR
        put_rows(backend_of(other), {DREAM: row})
        assert read_cursor(backend_of(other), DIGEST, read_log(backend_of(other)).size) == NO_CURSOR


@pytest.mark.parametrize("row", [b"", b"\x00", b"\xff" * 40, b"\x89" + b"\x00" * 9])
def test_a_damaged_cursor_counts_as_none(row: bytes) -> None:
    """A run with a damaged cursor ends like one without a cursor."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        put_rows(backend_of(engine), {DREAM: row})
        assert engine.dream(config=EAGER).looked_at == len(LETTERS)


def test_a_cursor_is_read_as_it_was_written() -> None:
    """A cursor is read back with all its fields."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        cursor = Cursor(2, 4, 3, Phase.ENRICHING, 1, 9)
        batch = cursor_batch(backend_of(engine), cursor, DIGEST)
        backend_of(engine).write(batch)
        assert read_cursor(backend_of(engine), DIGEST, 5) == cursor


def test_verify_passes_the_cursor_over() -> None:
    """Verify ignores the cursor, even a damaged one, but not an unknown row."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        assert engine.verify().ok
        put_rows(backend_of(engine), {DREAM: b"?"})
        assert engine.verify().ok
        put_rows(backend_of(engine), {b"meta/dreams": b"?"})
        assert not engine.verify().ok


def test_the_root_does_not_depend_on_the_cursor() -> None:
    """The root is the same with and without the cursor."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        root = engine.root()
        batch = Batch()
        batch.delete(DREAM)
        backend_of(engine).write(batch)
        assert engine.root() == root


def test_a_rebuild_keeps_the_cursor() -> None:
    """After a rebuild no atom is read again."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        engine.rebuild()
        assert engine.dream(config=EAGER).looked_at == 0


def test_a_copy_has_no_cursor_and_needs_none() -> None:
    """A copy is read from the beginning, and nothing is added to it."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        target = MemoryBackend()
        copy(backend_of(engine), target)
        left, size = left_in(engine), engine.size
    with engine_on(target) as copied:
        assert copied.dream(config=EAGER).looked_at == len(LETTERS)
        assert (left_in(copied), copied.size) == (left, size)


def test_a_replay_needs_no_dreamer() -> None:
    """A rebuild gives the same root without reading a text."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        root = engine.root().root
        assert engine.rebuild().root == root
        assert dreamt(engine)


@pytest.mark.parametrize(
    "options",
    [{"budget": 0}, {"budget": -1}, {"budget": True}, {"seconds": 0}, {"seconds": "1"}, {"config": 1}],
)
def test_bounds_without_sense_are_refused(options: dict[str, object]) -> None:
    """A budget below 1, or seconds that are not above 0, raise an error."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        with pytest.raises(InvalidInputError):
            engine.dream(**options)  # type: ignore[arg-type]
        assert not dreamt(engine)


@pytest.mark.parametrize(
    "limits", [{"hub_share": 2}, {"hub_min": 0}, {"stop": {"x"}}, {"lower_share": True}, {"sample": 1.5}]
)
def test_limits_without_sense_are_refused(limits: dict[str, object]) -> None:
    """A share outside 0 to 1, a count below 1, or a mutable stop list raises an error."""
    with pytest.raises(InvalidInputError):
        EAGER.__class__(**limits)  # type: ignore[arg-type]
