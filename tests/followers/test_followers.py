"""Followers produce the same rows for all batch sizes, crashes and concurrent processes."""

from __future__ import annotations

import threading
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends import open_backend
from backends.base import Backend
from backends.errors import BackendInDoubt
from backends.memory import MemoryBackend
from engine.base import limits
from engine.base.errors import CorruptionError, EngineError
from engine.commands import evidence
from engine.engine import Engine
from engine.followers.base import (
    Follower,
    catch_up,
    catch_up_at_once,
    drop,
    read_cursor,
    sweep,
)
from engine.followers.tags import TagsFollower
from engine.ledger.journal import Cursor, encode_cursor, read_entries, read_log
from engine.ledger.layout import INDEX_SUMMARIES, cursor_key, subtree_key
from engine.store.views import projections
from engine.trust.audit.verify import verify
from tests.support.engines import backend_of, copied_rows, engine_on, fresh_rows, projection_rows, put_rows
from tests.support.faults import Fault, FaultBackend, Overtaken
from tests.support.workloads import commands

pytestmark = [pytest.mark.twins, pytest.mark.slow]

NAMES = ("records", "index", "tags", "trees", "log", "names", "meta-entries", "requests")


def journal_of(count: int, seed: int = 1) -> MemoryBackend:
    """Return a store after some commands, in which only the records are up to date."""
    engine = engine_on()
    engine.apply(commands(count, seed))
    return backend_of(engine)  # type: ignore[return-value]


SMALL = journal_of(120)
SMALL_ROWS = fresh_rows(SMALL)
LARGE = journal_of(900)
"""A store with over 256 ordinals and 512 events, so the index has a segment and the log two subtrees."""
LARGE_ROWS = fresh_rows(LARGE)
assert any(key.startswith(INDEX_SUMMARIES) for key in LARGE_ROWS), "the large history is too small"
assert subtree_key(1, 1) in LARGE_ROWS, "the large history is too small"


def follower(name: str) -> Follower:
    """Return a projection without cached data, as in a process that has just opened the store."""
    return next(projection for projection in projections() if projection.name == name)


def own(rows: dict[bytes, bytes], one: Follower) -> dict[bytes, bytes]:
    """Return the rows and the cursor of a follower."""
    return {
        key: value
        for key, value in rows.items()
        if key.startswith(one.prefixes) or key == cursor_key(one.name)
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cut", [1, 7, 64])
def test_rows_do_not_depend_on_the_size_of_batches(
    name: str, cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With FOLLOW_EVENTS_MAX at 1, 7 or 64 the rows equal those of a single batch."""
    store = copied_rows(SMALL)
    one = follower(name)
    drop(store, [one])
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", cut)
    catch_up(store, one, read_entries)
    assert own(dict(store.scan()), one) == own(SMALL_ROWS, one)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_rows_do_not_depend_on_random_batches(name: str, data: st.DataObject) -> None:
    """Batches of random sizes give the rows of a single batch, including those of segments."""
    store = copied_rows(LARGE)
    drop(store, [follower(name)])
    working = follower(name)

    def source(rows, start, stop):  # type: ignore[no-untyped-def]
        return read_entries(rows, start, min(stop, start + data.draw(st.integers(1, 700))))

    while (cursor := read_cursor(store, name)) is None or cursor.size < read_log(store).size:
        catch_up(store, working, source)
    assert own(dict(store.scan()), working) == own(LARGE_ROWS, working)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10, deadline=None)
@given(when=st.lists(st.integers(0, 39), max_size=4), reopened=st.sets(st.integers(0, 39), max_size=4))
def test_a_follower_may_be_dropped_at_any_time(name: str, when: list[int], reopened: set[int]) -> None:
    """Dropping a follower between commands does not affect its final rows."""
    engine = engine_on()
    for at, command in enumerate(commands(40, seed=5)):
        engine.apply([command])
        if at % 3 == 0:
            engine.catch_up()
        for _ in range(when.count(at)):
            drop(backend_of(engine), [follower(name)])
        if at in reopened:
            engine = engine_on(backend_of(engine))
    engine.root()
    assert dict(backend_of(engine).scan()) == fresh_rows(backend_of(engine))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["before", "after"])
def test_a_follower_may_be_killed_at_any_write(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A follower that is killed before or after any of its writes ends with the same rows."""
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 16)
    monkeypatch.setattr("engine.followers.base.SWEEP_ROWS", 40)
    for at in range(1, 100):
        store = copied_rows(SMALL)
        catch_up(store, follower(name), read_entries)
        drop(store, [follower(name)])
        faulty = FaultBackend(store, Fault(kind, at, mode="crash"))  # type: ignore[arg-type]
        try:
            catch_up(faulty, follower(name), read_entries)
        except Exception:  # noqa: BLE001  whichever it is: the process is dead
            catch_up(store, follower(name), read_entries)
        else:
            assert at > 4
            return
        assert own(dict(store.scan()), follower(name)) == own(SMALL_ROWS, follower(name)), at
    raise AssertionError("there was no end to the writes")


def overtaken(inner: Backend, name: str, nth: int) -> Backend:
    """Return a handle whose n-th write waits until another process has rebuilt the rows and voided them."""
    writes = count(1)

    def act(backend: Backend) -> None:
        catch_up(backend, follower(name), read_entries)
        drop(backend, [follower(name)])

    return Overtaken(inner, lambda _: next(writes) == nth, act)


@pytest.mark.parametrize("cut", [1, 7, 64])
def test_events_that_do_not_fit_into_one_batch_are_not_processed_at_once(
    cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then nothing is written. If they fit, the rows are those of a follower that catches up alone."""
    store, one = copied_rows(SMALL), follower("tags")
    catch_up(store, one, read_entries, stop=20)
    before = dict(store.scan())
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", cut)
    assert not catch_up_at_once(store, follower("records"), [one], read_entries)
    assert dict(store.scan()) == before
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 1000)
    assert catch_up_at_once(store, follower("records"), [one], read_entries)
    assert own(dict(store.scan()), one) == own(SMALL_ROWS, one)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["sweep", "catch up"])
@pytest.mark.parametrize("void", ["without rows", "with rows"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_restart_that_was_overtaken_leaves_no_rows_behind(
    name: str, how: str, void: str, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that found void rows does not keep the rows that others wrote and dropped meanwhile."""
    monkeypatch.setattr("engine.followers.base.SWEEP_ROWS", 8)
    store, one = copied_rows(SMALL), follower(name)
    catch_up(store, one, read_entries)
    drop(store, [one])
    if void == "without rows":
        sweep(store, [one])
        drop(store, [one])
    handle = overtaken(store, name, nth)
    if how == "sweep":
        sweep(handle, [one])
        if nth == 1:
            rows = own(dict(store.scan()), one)
            assert list(rows) == [cursor_key(name)]
    catch_up(handle, one, read_entries)
    assert own(dict(store.scan()), one) == own(SMALL_ROWS, one)


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_an_older_version_are_rebuilt(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the version of a follower increases, all its old rows are deleted and rebuilt."""
    store = copied_rows(SMALL)
    catch_up(store, follower(name), read_entries)
    before = own(dict(store.scan()), follower(name))
    put_rows(store, {follower(name).prefixes[0] + b"old": b"of an earlier version"})
    raised = follower(name).version + 1
    monkeypatch.setattr(type(follower(name)), "version", raised)
    catch_up(store, follower(name), read_entries)
    after = own(dict(store.scan()), follower(name))
    cursor = read_cursor(store, name)
    assert cursor is not None
    assert cursor.version == raised
    key = cursor_key(name)
    assert {**after, key: b""} == {**before, key: b""}


@pytest.mark.parametrize("name", ["records", "index", "tags", "trees"])
def test_rows_that_were_deleted_in_part_are_not_taken_for_current(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a newer installation is killed while it deletes the rows, an older one rebuilds them."""
    monkeypatch.setattr("engine.followers.base.SWEEP_ROWS", 8)
    store = copied_rows(SMALL)
    catch_up(store, follower(name), read_entries)
    with monkeypatch.context() as newer:
        newer.setattr(type(follower(name)), "version", follower(name).version + 1)
        killed = FaultBackend(store, Fault("before", 2, mode="crash"))
        with pytest.raises(BackendInDoubt):
            catch_up(killed, follower(name), read_entries)
    assert own(dict(store.scan()), follower(name)) != own(SMALL_ROWS, follower(name))
    catch_up(store, follower(name), read_entries)
    assert own(dict(store.scan()), follower(name)) == own(SMALL_ROWS, follower(name))


def lying(size: int, leaf: bytes | None) -> dict[bytes, bytes | None]:
    """Return the row of a `tags` cursor with `size` events and this leaf of the last one."""
    return {cursor_key("tags"): encode_cursor(Cursor(TagsFollower.version, size, leaf or bytes([7] * 32)))}


@pytest.mark.parametrize("lie", ["middle", "head", "beyond", "beginning"])
def test_a_wrong_cursor_is_corruption(lie: str) -> None:
    """A cursor that does not match the journal, or is beyond its end, raises CorruptionError."""
    engine = engine_on(copied_rows(SMALL))
    engine.catch_up()
    size = read_log(backend_of(engine)).size
    put_rows(
        backend_of(engine), lying({"middle": 50, "head": size, "beyond": size + 1, "beginning": 0}[lie], None)
    )
    with pytest.raises(CorruptionError):
        engine.root()


@pytest.mark.parametrize("lie", ["middle", "head", "beyond", "beginning"])
def test_a_wrong_cursor_is_reported_by_verify(lie: str) -> None:
    """`verify` reports the family of a cursor that does not match the journal."""
    store = MemoryBackend()
    put_rows(store, dict(SMALL_ROWS))
    size = read_log(store).size
    put_rows(store, lying({"middle": 50, "head": size, "beyond": size + 1, "beginning": 0}[lie], None))
    report = verify(store)
    assert not report.ok
    assert "meta" in {difference.family for difference in report.differences}


@pytest.mark.parametrize("name", NAMES)
def test_a_malformed_cursor_is_corruption(name: str) -> None:
    """A malformed cursor row raises CorruptionError and is not treated as a missing one."""
    engine = engine_on(copied_rows(SMALL))
    put_rows(backend_of(engine), {cursor_key(name): b"\x83\x01\x02"})
    with pytest.raises(CorruptionError):
        engine.root()


def test_a_record_cursor_beyond_the_head_is_corruption() -> None:
    """A cursor of the records beyond the head raises CorruptionError on opening or at the next command."""
    store = copied_rows(SMALL)
    cursor = read_cursor(store, "records")
    assert cursor is not None
    put_rows(store, {cursor_key("records"): encode_cursor(cursor._replace(size=cursor.size + 5))})
    with pytest.raises(CorruptionError):
        engine_on(store).add("one more")


def test_two_engines_follow_one_store_at_once(tmp_path: Path) -> None:
    """Two engines that write and read one SQLite file leave the rows of a single batch."""
    url = f"sqlite:{tmp_path / 'store'}"
    problems: list[BaseException] = []

    def work(engine: Engine, part: int) -> None:
        try:
            for number in range(15):
                engine.add(f"text {part} {number}", tags=[f"t{part}"])
                engine.root()
        except BaseException as problem:  # noqa: BLE001  whatever it is, it fails the test
            problems.append(problem)

    with Engine.open(url) as first, Engine.open(url) as second:
        threads = [threading.Thread(target=work, args=pair) for pair in ((first, 1), (second, 2))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems
        assert first.root() == second.root()
        rows = dict(backend_of(first).scan())
        assert rows == fresh_rows(backend_of(first))
    with open_backend(url) as backend:
        assert verify(backend).ok


def test_a_read_never_returns_rows_of_an_intermediate_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read returns rows of the head only, even if catching up takes many batches."""
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 3)
    engine = engine_on(copied_rows(SMALL))
    assert engine.root() == engine_on(copied_rows(SMALL)).root()
    assert set(engine.status().followers.values()) == {read_log(SMALL).size}


def test_following_again_changes_no_row() -> None:
    """A follower at the head writes nothing."""
    engine = engine_on(copied_rows(SMALL))
    engine.catch_up()
    before = projection_rows(backend_of(engine))
    faulty = FaultBackend(backend_of(engine), Fault("before", 1))
    engine_on(faulty).catch_up()
    assert projection_rows(backend_of(engine)) == before
    assert faulty.counts["write"] == 0


def test_a_failure_while_following_changes_no_answer() -> None:
    """A read whose catching up fails gives the same answer and says why; the next read catches up."""
    store = copied_rows(SMALL)
    expected = engine_on(copied_rows(SMALL)).root()
    engine = engine_on(FaultBackend(store, Fault("before", 2)))
    assert engine.root() == expected
    assert "fault" in str(engine.behind)
    assert engine.root() == expected
    assert engine.behind is None


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_a_newer_version_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older installation does not rebuild the rows of a newer one. The message says what to do."""
    store = copied_rows(SMALL)
    catch_up(store, follower(name), read_entries)
    before = dict(store.scan())
    monkeypatch.setattr(type(follower(name)), "version", follower(name).version - 1)
    with pytest.raises(EngineError, match="this installation writes") as raised:
        catch_up(store, follower(name), read_entries)
    assert "engine rebuild" in raised.value.hint
    assert dict(store.scan()) == before


def test_a_command_brings_trees_that_were_dropped_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command checks records against the trees. If these lack too many events, it updates them first."""
    monkeypatch.setattr(evidence, "UNREAD_MAX", 10)
    store = copied_rows(SMALL)
    catch_up(store, follower("trees"), read_entries)
    drop(store, [follower("trees")])
    with engine_on(store) as memory:
        assert memory.add("The kettle is descaled on Mondays.").changed
        memory.catch_up()
        assert memory.verify().ok
