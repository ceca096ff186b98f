"""A stateful Hypothesis test: the engine and the reference agree after any commands and upkeep."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from backends.base import Backend
from backends.memory import MemoryBackend
from engine.base.errors import EngineError
from engine.base.validation import show_id
from engine.engine import Engine
from engine.exchange.backup import export_store
from engine.exchange.journal_import import JournalReader, read_into
from engine.followers.base import drop
from engine.ledger.journal import read_log
from engine.store.maintenance import copy
from engine.store.store import Store
from engine.trust.audit.verify import verify
from proofs.leaves import State
from proofs.log import leaf_hash
from proofs.log import root_of as log_root_of
from tests.model.further import Further
from tests.model.pairs import Op, Pair
from tests.model.relating import RelatingReference
from tests.model.strategies import ANY_OP, ATOMS, MERGING, OPS, SAID, UPKEEP, WEIGHTS
from tests.support.engines import BEGIN, backend_of, copied_rows, projection_rows, rows_of, salt_of


class EngineMachine(Further):
    """An engine over a backend that `renewed` opens again, and the reference for comparison."""

    def __init__(self, opened: Callable[[], Backend], renewed: Callable[[Backend], Backend]) -> None:
        super().__init__()
        self.opened, self.renewed = opened, renewed
        self.now = BEGIN
        self.others: list[Backend] = []
        self.engine = self.start(opened())
        self.model = RelatingReference(salt_of, self.now)

    def start(self, backend: Backend) -> Engine:
        """Open an engine on `backend` with this machine's clock."""
        return Engine(backend, clock=lambda: self.now, salts=salt_of)

    def carry_out(self, pairs: list[Pair]) -> None:
        """Run a command on engine and reference; both must accept, or both refuse and change nothing."""
        request, pipeline = self.model.said
        commands = [command for command, _ in pairs]
        if self.twin is not None:
            self.on_both(lambda one: one.apply(commands, request=request, pipeline=pipeline), self.twin)
            return
        saved, size = self.model.saved(), len(self.model.headers)
        self.model.now = self.now
        refusal: type[EngineError] | None = None
        try:
            for _, reference in pairs:
                reference()
        except EngineError as error:
            refusal = type(error)
            self.model.restore(saved)
        with self.engine.store.view():
            rows = rows_of(backend_of(self.engine)) if refusal else {}
        if refusal is not None:
            with pytest.raises(refusal):
                self.engine.apply(commands)
            assert rows_of(backend_of(self.engine)) == rows
            return
        done = self.engine.apply(commands, request=request, pipeline=pipeline)
        told = [event.seq for receipt in done for event in receipt.events]
        assert told == list(range(size, len(self.model.headers)))

    def begin_twin(self) -> None:
        """Make the twin from the engine's rows."""
        self.twin = self.start(copied_rows(backend_of(self.engine)))

    def root(self) -> str:
        """Return the root that the engine must have."""
        return self.model.root().hex() if self.twin is None else self.twin.root().root

    @initialize(
        atoms=st.integers(0, 6),
        edges=st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6),
        beyond=st.booleans(),
    )
    def begin_with(self, atoms: int, edges: set[tuple[int, int]], beyond: bool) -> None:
        """Start with some atoms and edges, so that commands have targets."""
        self.goes_beyond = beyond and self.may_go_beyond
        for number in range(atoms):
            self.carry_out([self._add(f"atom {number}", None, None, {"tags": ["red"]}, None)])
        for src, dst in sorted(edges):
            if src != dst and max(src, dst) < atoms:
                self.carry_out([self._link(src, "part_of", dst, 1.0, b"")])

    @rule(op=ANY_OP)
    def one_command(self, op: Op) -> None:
        """Run any command."""
        self.carry_out([self.pair(op)])

    @rule(arguments=OPS["add"])
    def add(self, arguments: tuple[Any, ...]) -> None:
        """Add an atom, so that other commands have a target."""
        self.carry_out([self.pair(("add", arguments))])

    @rule(op=ANY_OP)
    def again(self, op: Op) -> None:
        """Run a command twice; the second run changes nothing."""
        pair = self.pair(op)
        self.carry_out([pair])
        self.carry_out([pair])

    @rule(which=st.integers(0, 5), steps=st.lists(st.booleans(), min_size=1, max_size=3), weight=WEIGHTS)
    def edge_comes_and_goes(self, which: int, steps: list[bool], weight: float) -> None:
        """Remove an existing edge and add it again."""
        if not self.model.edges:
            return
        key = list(self.model.edges)[which % len(self.model.edges)]
        kind = next(name for name, code in self.model.types.items() if code == key[16:-16])
        ends = [list(self.model.atoms).index(end) for end in (key[:16], key[-16:])]
        for adds in steps:
            last = (weight, b"") if adds else ("gone",)
            self.carry_out([self.pair(("link" if adds else "unlink", (ends[0], kind, ends[1], *last)))])

    @rule(first=ATOMS, kind=st.sampled_from(["references", "part_of"]), second=ATOMS)
    def link(self, first: int, kind: str, second: int) -> None:
        """Add an edge of a built-in type."""
        self.carry_out([self.pair(("link", (first, kind, second, 1.0, b"")))])

    @rule(arguments=OPS["relate"])
    def relate(self, arguments: tuple[Any, ...]) -> None:
        """Relate two entities by name, which creates or revives what it needs."""
        self.carry_out([self.pair(("relate", arguments))])

    @rule(arguments=OPS["unrelate"])
    def unrelate(self, arguments: tuple[Any, ...]) -> None:
        """Remove a relation between two entities by name, if there is one."""
        self.carry_out([self.pair(("unrelate", arguments))])

    @rule(ops=MERGING)
    def merges(self, ops: list[Op]) -> None:
        """Merge two atoms and undo the merge, with manual changes before, between and after."""
        for op in ops:
            self.carry_out([self.pair(op)])

    @rule(ops=st.lists(ANY_OP, max_size=5))
    def batch(self, ops: list[Op]) -> None:
        """Run several commands in one batch; all of them apply or none."""
        self.carry_out([self.pair(op) for op in ops])

    @rule(ops=st.lists(ANY_OP, min_size=1, max_size=3))
    def failing_batch(self, ops: list[Op]) -> None:
        """Run a batch whose last command fails."""
        self.carry_out([*map(self.pair, ops), self.pair(("tag", (99, ["red"])))])

    @rule(step=st.sampled_from([-5_000_000, 0, 1, 60_000_000]))
    def time_passes(self, step: int) -> None:
        """Move the clock, but at most to one hour after the start, which is on the same day."""
        self.now = min(self.now + step, BEGIN + 3_600_000_000)

    @rule(said=SAID)
    def request_and_pipeline_change(self, said: tuple[str | None, str | None]) -> None:
        """Set another request and pipeline for the next commands."""
        self.model.said = said

    @rule(what=st.sampled_from(UPKEEP))
    def upkeep(self, what: tuple[str, tuple[Any, ...]]) -> None:
        """Run one upkeep operation; a single rule, so that most steps of a history are commands."""
        name, given = what
        getattr(self, name)(*given)

    def checkpoint(self) -> None:
        """Take a checkpoint; directly after another one it adds no event."""
        if self.twin is not None:
            self.on_both(lambda one: one.checkpoint(), self.twin)
            return
        self.model.now = self.now
        said, self.model.said = self.model.said, (None, None)
        self.model.checkpoint()
        self.model.said = said
        self.engine.checkpoint()

    def drop_one(self, which: int) -> None:
        """Mark one projection for rebuilding; the records are among the choices."""
        drop(backend_of(self.engine), [self.engine.store.projections[which]])

    def follow_one(self, which: int) -> None:
        """Update one follower and leave the others behind."""
        self.engine.store.follow(self.engine.store.followers[which])

    def rebuild(self) -> None:
        """Rebuild all rows and compare the root with the reference."""
        assert self.engine.rebuild().root == self.root()

    def compare_root(self) -> None:
        """Compare the root with the reference."""
        assert self.engine.root().root == self.root()

    def reopen(self) -> None:
        """Open the engine again on the same rows."""
        self.engine = self.start(self.renewed(backend_of(self.engine)))

    def exported(self) -> None:
        """An imported export has the same root and exports to the same bytes."""
        lines = bytearray()
        root = export_store(self.engine.store, lines.extend).root
        target = MemoryBackend()
        read_into(target, JournalReader(io.BytesIO(bytes(lines)), "it"))
        again = bytearray()
        assert export_store(Store(target, None), again.extend).root == root == self.root()
        assert again == lines

    def copied(self, stay: bool) -> None:
        """Copy the store to another backend, and continue on either."""
        target = MemoryBackend() if stay else self.opened()
        assert copy(backend_of(self.engine), target).root == self.root()
        self.others.append(target if stay else backend_of(self.engine))
        if not stay:
            self.engine = self.start(target)

    @invariant()
    def journal_is_the_references(self) -> None:
        """The log has the reference's headers after every step."""
        log = read_log(backend_of(self.engine))
        if self.twin is not None:
            assert log.row == read_log(backend_of(self.twin)).row
            return
        assert log.size == len(self.model.headers)
        assert log.frontier.root() == log_root_of([leaf_hash(header) for header in self.model.headers])

    @invariant()
    def last_atom_reads_back(self) -> None:
        """The last recorded atom and an unknown one read as in the reference."""
        if self.twin is not None or not self.model.atoms:
            return
        atom, subject = list(self.model.atoms.items())[-1]
        shown = self.engine.get(show_id(atom))
        kept = {name: getattr(shown, name) for name in subject.body if name not in ("created", "occurrence")}
        said = subject.body | {
            name: subject.body[name] or empty for name, empty in (("meta", {}), ("aliases", ()))
        }
        assert repr(kept) == repr({name: said[name] for name in kept})
        assert (shown.state, shown.version, shown.ordinal) == (
            State(subject.state),
            subject.version,
            subject.ordinal,
        )

    def teardown(self) -> None:
        """Check root, verification and rebuild of the final store."""
        backend = backend_of(self.engine)
        assert self.engine.root().root == self.root()
        for key, subject in self.model.edges.items() if self.twin is None else ():
            src, code, dst = key[:16], key[16:-16], key[-16:]
            name = next(name for name, known in self.model.types.items() if known == code)
            edge = self.engine.get_edge(show_id(src), name, show_id(dst))
            assert (edge.state, edge.weight, edge.data) == (
                subject.state,
                subject.body["weight"],
                subject.body["data"],
            )
        report = verify(backend, expect=self.root())
        assert report.ok, report.differences
        before = projection_rows(backend)
        self.engine.rebuild()
        assert projection_rows(backend) == before
        for left in [*self.others, backend]:
            left.close()
