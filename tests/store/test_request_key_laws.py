"""Laws of request keys: repeated and interrupted calls give the journal of the calls made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine import Add, Link, Receipt, RegisterType, Relate, Revise, Revive, Tag, Tombstone, Unlink, Untag
from engine.base.errors import EngineError, InDoubtError
from engine.commands.merge import Merge, Supersede
from engine.commands.transaction import Command
from engine.engine import Engine
from tests.query.recall.support import id_of
from tests.support.engines import BEGIN, engine_on, rows_of
from tests.support.faults import Fault, FaultBackend, Kind

IDS = [id_of(number) for number in range(3)]
TEXTS = ["the sea is calm today", "the ship left the harbour", "a storm is coming"]

ids, texts = st.sampled_from(IDS), st.sampled_from(TEXTS)
commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(Add, texts),
    st.builds(Add, texts, source=st.just("s"), tags=st.just(["red"])),
    st.builds(lambda text, one: Add(text, id=one), texts, ids),
    st.builds(Revise, ids, texts),
    st.builds(Tombstone, ids),
    st.builds(Revive, ids),
    st.builds(Tag, ids, st.just(["red", "blue"])),
    st.builds(Untag, ids, st.just(["red"])),
    st.builds(Link, ids, st.sampled_from(["related_to", "near"]), ids),
    st.builds(Unlink, ids, st.just("related_to"), ids),
    st.builds(RegisterType, st.just("near")),
    st.builds(Relate, st.sampled_from("AB"), st.sampled_from(["near", "far"]), st.sampled_from("BC")),
    st.builds(lambda one, other: Merge(one, other, force=True), ids, ids),
    st.builds(Supersede, ids, ids),
)


class Call(NamedTuple):
    """A call with a key of its own."""

    actor: str
    commands: Sequence[Command]


class Attempt(NamedTuple):
    """One attempt to make a call: its number, and what becomes of its write."""

    number: int
    fault: str
    """`none`; `before` or `after`: the write fails before or after it is applied, and the process dies."""
    catches_up: bool


calls = st.lists(
    st.builds(Call, st.sampled_from(["ann", "bob"]), st.lists(commands, min_size=1, max_size=3)),
    min_size=1,
    max_size=6,
)
attempts = st.lists(
    st.builds(
        Attempt, st.integers(0, 5), st.sampled_from(["none", "none", "before", "after"]), st.booleans()
    ),
    max_size=16,
)


def opened(backend: FaultBackend | MemoryBackend) -> Engine:
    """Return an engine whose clock stands still, because a call that is decided twice reads it twice."""
    return engine_on(backend, clock=lambda: BEGIN)


def begun() -> MemoryBackend:
    """Return a store with two of the three atoms."""
    backend = MemoryBackend()
    opened(backend).apply([Add(TEXTS[0], id=IDS[0]), Add(TEXTS[1], id=IDS[1], tags=["red"])])
    return backend


class Run:
    """A store on which calls are attempted, and a store on which each call is made once."""

    def __init__(self, made: list[Call]) -> None:
        self.made, self.rows, self.once = made, begun(), opened(begun())
        self.done: dict[int, list[Receipt]] = {}
        self.engine = opened(FaultBackend(self.rows))

    def attempt(self, number: int, fault: str) -> None:
        """Make a call, with a fault, and compare what it returns."""
        actor, wanted = self.made[number]
        backend = self.engine.store.backend
        assert isinstance(backend, FaultBackend)
        if fault != "none":
            kind: Kind = "before" if fault == "before" else "after"
            backend.fault = Fault(kind, backend.counts["write"] + 1, mode="crash")
        keyed = self.engine.acting_as(actor, request=f"key {number}")
        got = outcome(lambda: keyed.apply(wanted))
        expected: object = self.done.get(number)
        if expected is None and not (fault == "before" and got is InDoubtError):
            expected = outcome(lambda: self.once.apply(wanted, actor=actor, request=f"key {number}"))
        assert got == expected or (got is InDoubtError and fault != "none")
        if isinstance(expected, list) and any(one.events for one in expected):
            self.done[number] = expected
        backend.fault = None
        self.engine = opened(backend.reopen()) if fault != "none" else self.engine


def outcome(act: Callable[[], object]) -> object:
    """Return the result of a call, or the type of its error."""
    try:
        return act()
    except EngineError as error:
        return type(error)


@settings(max_examples=150, deadline=None)
@given(calls, attempts)
def test_any_attempts_give_the_journal_of_the_calls_made_once(
    made: list[Call], attempts: list[Attempt]
) -> None:
    """Attempts in any order, with any crashes, append what the first attempts that changed something append.

    The receipts of every later attempt are those of the first.
    """
    run = Run(made)
    for number, fault, catches_up in attempts:
        run.attempt(number % len(made), fault)
        if catches_up:
            run.engine.catch_up()
    journals = [rows_of(rows, "journal", "payload") for rows in (run.rows, run.once.store.backend)]
    assert journals[0] == journals[1]


bulks = st.lists(commands, min_size=1, max_size=12)


@settings(max_examples=80, deadline=None)
@given(bulks, st.lists(st.tuples(st.integers(1, 6), st.sampled_from(["before", "after"])), max_size=3))
def test_a_bulk_that_is_broken_off_continues_where_it_ended(
    made: list[Command], faults: list[tuple[int, str]]
) -> None:
    """However often a call of several commits is cut, its repetition completes it, with the same receipts."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("engine.store.bulk.COMMIT_CHUNK", 3)
        once = opened(begun())
        expected, error = bulk(once, made)
        backend = FaultBackend(begun())
        for write, kind in faults:
            backend.fault = Fault("before" if kind == "before" else "after", write, mode="crash")
            bulk(opened(backend), made)
            backend = backend.reopen()
        engine = opened(backend)
        for _ in range(2):
            receipts, raised = bulk(engine, made)
            assert (receipts, raised) == (expected, error)
        assert rows_of(backend, "journal", "payload") == rows_of(once.store.backend, "journal", "payload")


def bulk(engine: Engine, made: Sequence[Command]) -> tuple[list[Receipt], type[EngineError] | None]:
    """Return the receipts of a bulk call, and the type of the error that ended it, if any."""
    receipts: list[Receipt] = []
    try:
        for receipt in engine.acting_as("ann", request="bulk").apply_many(made):
            receipts.append(receipt)  # noqa: PERF402 (the receipts before an error count, too)
    except EngineError as error:
        return receipts, type(error)
    return receipts, None


@settings(max_examples=80, deadline=None)
@given(
    bulks, st.lists(st.tuples(st.integers(1, 6), st.sampled_from(["before", "after"]), commands), max_size=3)
)
def test_a_bulk_between_which_others_write_is_made_once(
    made: list[Command], faults: list[tuple[int, str, Command]]
) -> None:
    """Each event of the call is in one receipt, and a further repetition has the same receipts."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("engine.store.bulk.COMMIT_CHUNK", 3)
        backend = FaultBackend(begun())
        for write, kind, between in faults:
            backend.fault = Fault("before" if kind == "before" else "after", write, mode="crash")
            bulk(opened(backend), made)
            backend = backend.reopen()
            outcome(lambda: opened(backend).apply([between], actor="bob"))  # noqa: B023  called at once
        engine = opened(backend)
        told = bulk(engine, made)
        size = engine.size
        assert bulk(engine, made) == told
        assert engine.size == size
        recorded = [
            item.seq for item in engine.log() if str(item.detail.get("request", "")).startswith("bulk#")
        ]
        assert recorded == [event.seq for receipt in told[0] for event in receipt.events]
