"""Real stores that play the histories of the model beside it, and are compared with it after each step."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from backends.memory import MemoryBackend
from engine.base.errors import ConflictError, RefusedError
from engine.base.model import EventRef
from engine.base.validation import show_id
from engine.engine import Engine
from engine.ledger.journal import read_header
from engine.ledger.merging import Known, known_of
from engine.ledger.records import read_atom, read_edge
from engine.store.store import FamilySecrets
from engine.sync.originals import Written, written
from engine.sync.taking_in import Taken, foreign_heads, take_in
from engine.trust.audit.verify import verify
from proofs.events import EdgeDetail
from proofs.leaves import EdgeType, tag_identity
from proofs.leaves import State as RealState
from tests.model.merge.history import ATOMS, EDGES, Family
from tests.model.merge.law import ERASED, LIVE, TOMBSTONED, Body, Dot, State, Subject
from tests.model.merge.store import Event, Store
from tests.support.engines import BEGIN, fresh_rows

SECRETS: Final = FamilySecrets(bytes([1] * 32), bytes([2] * 32))
SECOND: Final = 1_000_000
_WEIGHTS: Final = {"x": 1.0, "y": 2.0, "z": 3.0}
_WORDS: Final = {weight: word for word, weight in _WEIGHTS.items()}
_STATES: Final = {RealState.LIVE: LIVE, RealState.TOMBSTONED: TOMBSTONED, RealState.ERASED: ERASED}


def id_of(atom: int) -> str:
    """Return the id of an atom of the model."""
    return show_id(bytes([0x77] * 15 + [atom + 1]))


class Device:
    """A real store, with a clock and salts that the test decides."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.now = 0
        self.backend = MemoryBackend()
        self.engine = self.opened()
        self.id = self.engine.store.identity.store_id

    def opened(self) -> Engine:
        """Open the store."""
        return Engine(self.backend, clock=lambda: self.now, salts=self._salt, family=SECRETS)

    def _salt(self, seq: int) -> bytes:
        if seq == -1:
            return bytes([self.number + 1] * 32)
        return hashlib.sha256(b"salt %d %d" % (self.number, seq)).digest()

    def pull(self, other: Device, stop: int | None = None, size: int = 1 << 20) -> Taken:
        """Take in what the other store has written, up to a size, in parts of about some bytes."""
        self.now = 0
        start = foreign_heads(self.engine.store).size(other.id)
        return take_in(self.engine.store, parts(other, start, stop, size))


def parts(other: Device, at: int, stop: int | None, size: int) -> Iterator[Written]:
    """Yield the parts of the journal of a store."""
    while True:
        part = written(other.engine.store, at, size, stop)
        yield part
        at = part.stop
        if not part.records:
            return


class Played(Store):
    """A store of the model that does everything on a real store, too."""

    def __init__(self, device: Device, stores: int, journal: Iterable[Event] = ()) -> None:
        super().__init__(device.number, stores, journal)
        self.device = device
        self.real: dict[int, int] = {}
        """By the seq of an original or a registration in the model, its seq in the real store."""

    def rebuilt(self) -> Played:
        """Return a store that is built from the journal of this one alone."""
        again = Played(self.device, self.stores, self.journal)
        again.real, again.modelled = self.real, self.modelled  # type: ignore[method-assign]
        return again

    def _both(
        self, time: int, real: Callable[[Engine], tuple[EventRef, ...]], model: Callable[[], None]
    ) -> None:
        size = len(self.journal)
        model()
        self.device.now = BEGIN + time * SECOND
        try:
            events = real(self.device.engine)
        except (ConflictError, RefusedError):
            events = ()
        assert bool(events) is (len(self.journal) > size), (events, self.journal[size:])
        if events:
            self.real[len(self.journal) - 1] = events[-1].seq

    def add(self, atom: int, body: Body, time: int, *, force: bool) -> None:
        """Add an atom. The model knows no hashes of destroyed contents, so they are no obstacle here."""
        wanted = force or not self._state(atom)
        created = None if body.created is None else BEGIN + body.created * SECOND
        self._both(
            time,
            lambda engine: (
                engine.add(body.text, id=id_of(atom), tags=body.tags, created=created, force=wanted).events
            ),
            lambda: super(Played, self).add(atom, body, time, force=force),
        )

    def revise(self, atom: int, text: str, tags: tuple[str, ...], time: int) -> None:
        """Revise an atom."""
        self._both(
            time,
            lambda engine: engine.revise(id_of(atom), text, tags=tags, force=True).events,
            lambda: super(Played, self).revise(atom, text, tags, time),
        )

    def hide(self, subject: Subject, reason: str, time: int) -> None:
        """Hide an atom or an edge."""

        def hide(engine: Engine) -> tuple[EventRef, ...]:
            if isinstance(subject, int):
                return engine.tombstone(id_of(subject), reason).events
            return engine.unlink(id_of(subject[0]), EdgeType.RELATED_TO, id_of(subject[1]), reason).events

        self._both(time, hide, lambda: super(Played, self).hide(subject, reason, time))

    def revive(self, atom: int, time: int) -> None:
        """Revive an atom."""
        self._both(
            time,
            lambda engine: engine.revive(id_of(atom), force=True).events,
            lambda: super(Played, self).revive(atom, time),
        )

    def tag(self, atom: int, tag: str, time: int, *, there: bool) -> None:
        """Add a tag, or remove it."""
        self._both(
            time,
            lambda engine: (engine.tag if there else engine.untag)(id_of(atom), tag).events,
            lambda: super(Played, self).tag(atom, tag, time, there=there),
        )

    def link(self, edge: tuple[int, int], weight: str, time: int) -> None:
        """Add an edge."""

        def link(engine: Engine) -> tuple[EventRef, ...]:
            if any(self._state(end) == "" for end in edge):
                return ()
            ends = id_of(edge[0]), EdgeType.RELATED_TO, id_of(edge[1])
            return engine.link(*ends, weight=_WEIGHTS[weight]).events

        self._both(time, link, lambda: super(Played, self).link(edge, weight, time))

    def erase(self, atom: int, time: int) -> None:
        """Erase an atom."""
        self._both(
            time,
            lambda engine: engine.erase(id_of(atom), "why", probe=False).events,
            lambda: super(Played, self).erase(atom, time),
        )

    def register(self, name: str, time: int) -> None:
        """Register a predicate."""
        self._both(
            time,
            lambda engine: engine.register_type(name).events,
            lambda: super(Played, self).register(name, time),
        )

    def pull(self, other: Store, most: int) -> bool:
        """Pull the same originals in both."""
        assert isinstance(other, Played)
        found = super().pull(other, most)
        end = self.seen[self.number][other.number]
        stop = max((real + 1 for seq, real in other.real.items() if seq < end), default=0)
        whole = most >= len(other.journal)
        size = len(self.journal)
        taken = self.device.pull(other.device, None if whole else stop, 1 + 97 * (size % 7))
        assert bool(taken.events) is found, (taken, found)
        assert taken.size == stop, (taken, stop)
        return found

    def real_state(self, subject: Subject) -> State | None:
        """Return the state of a subject in the real store, in the words of the model."""
        rows = self.device.backend
        if isinstance(subject, tuple):
            edge = read_edge(rows, *detail_of(subject))
            if edge is None or edge.state is RealState.ERASED:
                return edge and State(ERASED)
            weight = _WORDS[self.device.engine.edges(id_of(subject[0]), tombstoned=True)[0].weight]
            hidden = _hidden(edge.tombstoned_at, edge.tombstoned_reason)
            return State(_STATES[edge.state], self._dot(edge.payload_seq), weight, hidden=hidden)
        record = read_atom(rows, bytes.fromhex(id_of(subject).replace("-", "")))
        if record is None or record.state is RealState.ERASED:
            return record and State(ERASED)
        return State(
            _STATES[record.state],
            self._dot(record.payload_seq),
            self.device.engine.get(id_of(subject)).content,
            (record.created - BEGIN) // SECOND,
            (record.updated - BEGIN) // SECOND,
            tuple((tag_identity(tag), tag) for tag in record.tags),
            _hidden(record.tombstoned_at, record.tombstoned_reason),
        )

    def _dot(self, seq: int) -> Dot:
        header, _ = read_header(self.device.backend, seq)
        if header.origin is None:
            return self.modelled(self.device.id, seq)
        return self.modelled(header.origin.store_id, header.origin.seq)

    def modelled(self, store: bytes, seq: int) -> Dot:
        """Return the dot of the model for a real one."""
        raise NotImplementedError

    def known_here(self, subject: Subject) -> Known:
        """Return what the real store knows about a subject."""
        heads = foreign_heads(self.device.engine.store)
        if isinstance(subject, tuple):
            return known_of(self.device.backend, heads, detail_of(subject))
        return known_of(self.device.backend, heads, bytes.fromhex(id_of(subject).replace("-", "")))


def detail_of(edge: tuple[int, int]) -> EdgeDetail:
    """Return the subject of an edge of the model."""
    src, dst = (bytes.fromhex(id_of(end).replace("-", "")) for end in edge)
    return EdgeDetail(src, bytes([EdgeType.RELATED_TO]), dst)


def _hidden(at: int | None, reason: str) -> tuple[int, str] | None:
    return None if at is None else ((at - BEGIN) // SECOND, reason)


class RealFamily(Family):
    """A family of the model whose stores are played on real ones."""

    def new_store(self, number: int, stores: int) -> Store:
        """Return a store that has written nothing."""
        played = Played(Device(number), stores)
        played.modelled = self.modelled  # type: ignore[method-assign]
        return played

    @property
    def played(self) -> list[Played]:
        """The stores."""
        return self.stores  # type: ignore[return-value]

    def modelled(self, store: bytes, seq: int) -> Dot:
        """Return the dot of the model for a real one."""
        number = store[0] - 1
        real = self.played[number].real
        return number, next(model for model, at in real.items() if at == seq)

    def check(self, store: Store) -> None:
        """Compare the real store with the model, too."""
        super().check(store)
        assert isinstance(store, Played)
        for subject in (*ATOMS, *EDGES):
            ours, model = store.real_state(subject), store.state(subject)
            assert ours == model, (store.number, subject, ours, model)
            known = store.known_here(subject)
            dots = [self.modelled(*one.dot) for one in known.conflict()]
            assert dots == store.known.conflict(subject)
            assert known.awaits_erasure() is store.known.awaits_erasure(subject)
            if isinstance(subject, int):
                assert [self.modelled(*dot) for dot in known.lost()] == store.known.lost(subject)

    def check_rebuild(self, store: Store) -> None:
        """Reopen the real store, too."""
        super().check_rebuild(store)
        assert isinstance(store, Played)
        store.device.engine = store.device.opened()

    def exchange(self, history: bytes) -> None:
        """Exchange everything, and compare the real stores with each other."""
        super().exchange(history)
        there = [store for store in self.played if store.number not in self.left]
        for store in there:
            store.device.engine.catch_up()
            backend = store.device.backend
            assert fresh_rows(backend) == dict(backend.scan())
        engines = [store.device.engine for store in there]
        assert len({engine.root(state=True).state for engine in engines}) == 1
        first = engines[0]
        for engine in engines[1:]:
            assert engine.concurrent_edits() == first.concurrent_edits()
            assert answers(engine) == answers(first)
        report = verify(there[len(history) % len(there)].device.backend)
        assert report.ok, report.differences


def answers(engine: Engine) -> object:
    """Return what a store answers, without its own seqs and times."""
    return [
        (hit.id, hit.score, hit.content, hit.tags, hit.created)
        for word in ("0x", "1y", "0z 1x")
        for hit in engine.recall(word).hits
    ]


def play(history: bytes) -> None:
    """Play a history, as the function of the model with this name does, on real stores."""
    stores = 3 + history[0] % 3
    RealFamily(stores, history[1] % (2 * stores)).run(history[2:])
