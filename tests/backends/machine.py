"""Hypothesis against a backend: any order of operations, compared with a plain dict."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from backends.base import Backend, Batch, Guard, Row, Snapshot
from backends.errors import GuardFailed

KEYS = st.binary(min_size=1, max_size=3) | st.sampled_from([b"a", b"b", b"ab", b"\xff", b"\xff\xff"])
VALUES = st.binary(max_size=8)
CHANGES = st.dictionaries(KEYS, st.none() | VALUES, max_size=8)
Model = dict[bytes, bytes]


def machine_for(
    opened: Callable[[Path], Backend], folder: Path, *, persistent: bool
) -> type[RuleBasedStateMachine]:
    """Return a state machine over the stores that `opened` creates in new folders under `folder`."""
    numbers = itertools.count()

    class Machine(_Machine):
        def __init__(self) -> None:
            self.folder = folder / f"machine-{next(numbers)}"
            self.folder.mkdir()
            self.opened = lambda: opened(self.folder)
            self.persistent = persistent
            super().__init__()

    return Machine


def expected(model: Model, start: bytes, end: bytes | None) -> list[Row]:
    """Return the rows that a scan must yield."""
    return sorted(row for row in model.items() if row[0] >= start and (end is None or row[0] < end))


class _Machine(RuleBasedStateMachine):
    folder: Path
    opened: Callable[[], Backend]
    persistent: bool

    def __init__(self) -> None:
        super().__init__()
        self.backend = self.opened()
        self.model: Model = {}
        self.snapshots: list[tuple[Snapshot, Model]] = []

    def change(self, changes: dict[bytes, bytes | None]) -> None:
        for key, value in changes.items():
            if value is None:
                self.model.pop(key, None)
            else:
                self.model[key] = value

    @rule(changes=CHANGES, durable=st.booleans())
    def write(self, changes: dict[bytes, bytes | None], durable: bool) -> None:
        batch = Batch()
        batch.rows |= changes
        self.backend.write(batch, durable=durable)
        self.change(changes)

    @rule(changes=CHANGES, facts=st.lists(st.tuples(KEYS, st.none() | VALUES, st.booleans()), max_size=3))
    def guarded(
        self, changes: dict[bytes, bytes | None], facts: list[tuple[bytes, bytes | None, bool]]
    ) -> None:
        guards = [Guard(key, self.model.get(key) if right else value) for key, value, right in facts]
        batch = Batch()
        batch.rows |= changes
        holds = all(self.model.get(guard.key) == guard.expected for guard in guards)
        try:
            self.backend.write(batch, guard=guards[0] if len(guards) == 1 else guards, durable=False)
        except GuardFailed:
            assert not holds
        else:
            assert holds
            self.change(changes)

    @rule()
    def take_snapshot(self) -> None:
        self.snapshots.append((self.backend.snapshot(), dict(self.model)))

    @precondition(lambda self: self.snapshots)
    @rule(which=st.integers(min_value=0))
    def drop_snapshot(self, which: int) -> None:
        self.snapshots.pop(which % len(self.snapshots))[0].close()

    @precondition(lambda self: self.snapshots)
    @rule(which=st.integers(min_value=0), start=st.just(b"") | KEYS, end=st.none() | KEYS, back=st.booleans())
    def read_snapshot(self, which: int, start: bytes, end: bytes | None, back: bool) -> None:
        snapshot, model = self.snapshots[which % len(self.snapshots)]
        rows = list(snapshot.scan(start, end, reverse=back))
        assert rows == expected(model, start, end)[:: -1 if back else 1]
        assert snapshot.get(start) == model.get(start)

    @rule(start=st.just(b"") | KEYS, end=st.none() | KEYS, back=st.booleans())
    def scan(self, start: bytes, end: bytes | None, back: bool) -> None:
        rows = list(self.backend.scan(start, end, reverse=back))
        assert rows == expected(self.model, start, end)[:: -1 if back else 1]

    @rule(keys=st.lists(KEYS, max_size=12))
    def multi_get(self, keys: list[bytes]) -> None:
        assert self.backend.multi_get(keys) == [self.model.get(key) for key in keys]

    @precondition(lambda self: self.persistent)
    @rule()
    def reopen(self) -> None:
        self.backend.close()
        self.snapshots.clear()
        self.backend = self.opened()

    @invariant()
    def same_rows(self) -> None:
        assert list(self.backend.scan()) == sorted(self.model.items())

    def teardown(self) -> None:
        self.backend.close()
