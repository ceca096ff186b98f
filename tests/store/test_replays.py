"""The results of replaying the journal: the past, a rebuild and a copy (I7 and I8)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import Batch
from backends.errors import BackendInDoubt
from backends.memory import MemoryBackend
from engine.base.errors import ConflictError, NotFoundError, RefusedError, VerificationError
from engine.commands import Add
from engine.followers.tags import TagsFollower
from engine.ledger.journal import read_header, read_log
from engine.ledger.layout import JOURNAL, PAYLOAD, TAGS, TREE
from engine.store.maintenance import check_copy, copy, rebuild
from engine.trust.audit.verify import verify
from tests.support.engines import (
    BEGIN,
    after,
    backend_of,
    copied_rows,
    engine_on,
    projection_rows,
    put_rows,
)
from tests.support.faults import Fault, FaultBackend, flip_bit
from tests.support.workloads import commands, id_of

few = settings(max_examples=15, deadline=None)
SEEDS = st.integers(0, 10_000)


@few
@given(SEEDS)
def test_i7_the_state_at_n_is_that_of_the_first_n_events(seed: int) -> None:
    """The root and every atom as of an event are those that were read directly after it."""
    engine, seen = engine_on(), []
    for command in commands(18, seed):
        engine.apply([command])
        size = read_log(backend_of(engine)).size
        seen.append((size - 1, engine.root(), engine.get(id_of(0))))
    for seq, root, atom in seen:
        assert engine.root(as_of=seq) == root
        assert engine.get(id_of(0), as_of=seq) == atom


def test_i7_a_time_names_the_last_event_up_to_it() -> None:
    """`as_of` a time includes all events up to it, and is NotFoundError before the first."""
    engine = after(commands(10))
    times = [read_header(backend_of(engine), seq)[0].time for seq in range(read_log(backend_of(engine)).size)]
    for seq, time in enumerate(times):
        moment = datetime.fromtimestamp(time // 1_000_000, UTC).replace(microsecond=time % 1_000_000)
        assert engine.root(as_of=moment).size == seq + 1
    with pytest.raises(NotFoundError):
        engine.root(as_of=datetime.fromtimestamp(BEGIN // 1_000_000 - 1, UTC))


def test_i7_the_past_takes_no_commands() -> None:
    """A view of the past answers queries and refuses commands."""
    engine = after(commands(5))
    with engine.as_of(3) as past:
        assert past.root().size == 4
        with pytest.raises(RefusedError):
            past.add("text")
        with pytest.raises(RefusedError):
            past.checkpoint()
        assert past.root().size == 4


@few
@given(SEEDS, st.integers(1, 9))
def test_i8_a_rebuild_gives_the_same_rows(seed: int, size: int) -> None:
    """A rebuild gives the same rows, cursors and root, byte for byte."""
    engine = after(commands(40, seed), size)
    root = engine.root()
    before = projection_rows(backend_of(engine))
    assert engine.rebuild() == root
    assert projection_rows(backend_of(engine)) == before


def test_i8_a_rebuild_is_not_lost_with_the_power() -> None:
    """When `rebuild` returns, all that it computed is durable."""
    engine = after(commands(40), 5)
    engine.catch_up()
    backend = FaultBackend(copied_rows(backend_of(engine)))
    rebuild(backend)
    backend.fault = Fault("drop_unsynced", backend.counts["write"] + 1)
    with pytest.raises(BackendInDoubt):
        backend.write(Batch())
    assert dict(backend.inner.scan()) == dict(backend_of(engine).scan())


def test_a_copy_has_the_root_and_rows_of_its_original() -> None:
    """A copy has equal rows in every family; copying again changes nothing; another store is refused."""
    engine = after(commands(40), 5)
    engine.checkpoint()
    target = MemoryBackend()
    assert copy(backend_of(engine), target) == engine.root()
    assert dict(target.scan()) == dict(backend_of(engine).scan())
    assert copy(backend_of(engine), target) == engine.root()
    assert verify(target, expect=engine.root().root).ok
    with pytest.raises(ConflictError):
        copy(backend_of(engine), backend_of(after([Add("another store")])))


@pytest.mark.parametrize("prefix", [JOURNAL, PAYLOAD, TREE])
def test_a_copy_that_has_other_rows_is_found(prefix: bytes) -> None:
    """A copy is checked after it was opened again: every event, and the roots."""
    engine = after(commands(40), 5)
    target = MemoryBackend()
    found = copy(backend_of(engine), target)
    check_copy(target, found)
    for key, row in list(target.scan_prefix(prefix)):
        put_rows(target, {key: flip_bit(row, 8 * len(row) - 1)})
    with pytest.raises(VerificationError):
        check_copy(target, found)


def test_a_copy_that_has_another_event_is_found() -> None:
    """The roots of a copy that was changed since are not those of the original."""
    engine = after(commands(10), 5)
    target = MemoryBackend()
    found = copy(backend_of(engine), target)
    engine_on(target).add("one more")
    with pytest.raises(VerificationError, match="after opening it again"):
        check_copy(target, found)


def test_an_original_with_other_tags_than_its_journal_is_found() -> None:
    """The copy computes the trees from the journal: if their roots differ, copying is an error."""
    engines = [after([Add("The kettle is descaled.", id=id_of(1), tags=[tag])]) for tag in ("chores", "tea")]
    for engine in engines:
        engine.catch_up()
    original, other = map(backend_of, engines)
    put_rows(original, {key: row for key, row in other.scan() if key.startswith(TagsFollower.prefixes)})
    put_rows(original, {key: None for key, _ in original.scan_prefix(TAGS) if other.get(key) is None})
    with pytest.raises(VerificationError, match="the copy has the root"):
        copy(original, MemoryBackend())
