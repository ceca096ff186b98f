"""The transaction in which commands are decided: it collects new events and their effects on records."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from backends.base import Batch, Reader
from engine.base import limits, validation
from engine.base.errors import CorruptionError, LimitError
from engine.base.model import Direction, EventRef, Receipt
from engine.base.validation import label, show_id
from engine.commands.evidence import HINT, Evidence
from engine.ledger.appender import Appender, DraftRows, Sources
from engine.ledger.journal import LogState, read_header, subject_key
from engine.ledger.layout import (
    ATOM,
    DESTROYED,
    EDGE_FROM,
    decode_seq,
    early_fact_key,
    edge_from_key,
    type_code_key,
)
from engine.ledger.queries import bodies_of, body_of, edges_at
from engine.ledger.records import (
    AtomRecord,
    Counters,
    EdgeRecord,
    Lookup,
    decode_atoms,
    read_atom,
    read_edge,
    type_code,
)
from proofs.events import AtomBody, AtomDetail, Body, Detail, EdgeDetail, Entry, EventKind, FactDetail, Origin
from proofs.leaves import State, edge_key

if TYPE_CHECKING:
    from engine.commands.secrets.filter import Screen

Text = TypeVar("Text")

_TOGETHER_MIN = 4
"""If at least this many of the atoms are recorded, their bodies are read together."""


@runtime_checkable
class Command(Protocol):
    """A change that a caller requests. Deciding the same command a second time appends no event."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that the change requires to `tx`.

        Raises:
            InvalidInputError: A field of the command is not valid. Nothing is written.
            NotFoundError: The command names an atom, edge or predicate that was never recorded.
            ConflictError: The command contradicts the recorded state.
        """


class LookAhead(Protocol):
    """A function that reads together what many commands need (`engine.commands.look_ahead`)."""

    def __call__(self, tx: Transaction, commands: Sequence[Command], start: int, /) -> int:
        """Prepare the commands from `start` on; return how many they are, at least 1."""


class Transaction:
    """A batch of new events that continue the journal.

    Commands that are decided later read the records as changed by these events. The events are not in the
    journal until the batch that `finish` returns is written.
    """

    def __init__(
        self,
        rows: Lookup,
        log: LogState,
        evidence: Evidence,
        id_key: bytes,
        sources: Sources,
        actor: str,
        screen: Screen | None = None,
        *,
        request: str | None = None,
        pipeline: str | None = None,
        destroyed: bool | None = None,
    ) -> None:
        """Begin a transaction that continues the journal from its present end, `log`.

        Args:
            rows: The rows of the store at that end of the journal.
            log: The state of the log at that end of the journal.
            evidence: The checks of the records in these rows.
            id_key: The store's key for deriving ids.
            sources: The functions that provide time and random bytes.
            actor: The author of the events.
            screen: The filter for secrets that is applied to texts, or None for no filter.
            request: The caller's key for the request. It is recorded in every event of the transaction.
            pipeline: What made the events. It is recorded in every event of the transaction.
            destroyed: False if it is known that no content was ever erased in `rows`, otherwise None.
        """
        self.head = rows
        """The rows as they were before this transaction."""
        self.id_key = id_key
        self.actor = label(actor, "actor")
        self.screen = screen
        if screen is not None:
            screen.label(self.actor, "actor")
        self._request = self._line(request, "request", limits.REQUEST_BYTES_MAX)
        self.pipeline = self._line(pipeline, "pipeline", limits.PIPELINE_BYTES_MAX)
        """What made the events: a program that works by itself, such as the dreamer; None for people."""
        self._appender = Appender(rows, log, self.actor, sources)
        self.rows = DraftRows(self._appender)
        """The rows as changed by the transaction's events."""
        self.events = self._appender.events
        """References to the events of this transaction so far, for receipts.

        The id of an event (`event_id`) may be missing until the transaction has decided all of its commands.
        """
        self.ahead: dict[int, tuple[AtomBody, bytes]] = {}
        """The validated body and the atom of each `Add` that was looked at ahead, by the `Add`'s identity."""
        self._changed = self._appender.changed
        self._evidence = evidence
        self._sure = evidence.sure
        self._atoms: dict[bytes, AtomRecord | None] = {}
        self._edges: dict[tuple[bytes, bytes, bytes], EdgeRecord | None] = {}
        self._bodies: dict[tuple[bytes, int], AtomBody] = {}
        """The bodies of atoms that were read ahead, by the atom and the seq of the body."""
        self._next_ordinal, self._predicates, self._early_facts = evidence.counters()
        self._destroyed = destroyed

    @property
    def batch(self) -> Batch:
        """The rows that the events so far change."""
        self._appender.settle()
        return self._appender.batch

    @property
    def entries(self) -> list[Entry]:
        """The events that were added to this transaction so far."""
        self._appender.settle()
        return self._appender.entries

    def decide(self, commands: Sequence[Command], look_ahead: LookAhead | None) -> list[Receipt]:
        """Decide `commands` in order, and return their receipts.

        `look_ahead` prepares several commands together; None if there is only one command.

        Raises:
            EngineError: The error that the first failing command raises.
        """
        receipts: list[Receipt] = []
        try:
            while len(receipts) < len(commands):
                start = len(receipts)
                count = 1 if look_ahead is None else look_ahead(self, commands, start)
                receipts += [command.decide(self) for command in commands[start : start + count]]
        except Exception:
            # An event of an earlier command may be too large. Its error comes first.
            self._appender.settle()
            raise
        self._appender.settle()
        return receipts

    def atom(self, atom: bytes) -> AtomRecord | None:
        """Return an atom's record as changed by the transaction's events, or None if there is no record.

        Raises:
            CorruptionError: the record contradicts the journal.
        """
        if atom in self._changed:
            return read_atom(self.rows, atom)
        if atom in self._atoms:
            return self._atoms[atom]
        record = self._atoms[atom] = self._evidence.atom(atom)
        if record is None:
            self._appender.overlay.known[ATOM + atom] = None
        return record

    def edge(self, src: bytes, code: bytes, dst: bytes) -> EdgeRecord | None:
        """Return an edge's record as changed by the transaction's events, or None if there is no record.

        Raises:
            CorruptionError: the record contradicts the journal.
        """
        edge = (src, code, dst)
        if edge in self._changed:
            return read_edge(self.rows, src, code, dst)
        if edge in self._edges:
            return self._edges[edge]
        record = self._edges[edge] = self._evidence.edge(src, code, dst)
        if record is None:
            self._appender.overlay.known[edge_from_key(src, code, dst)] = None
        return record

    def last_event(self, atom: bytes) -> int | None:
        """Return the seq of the last event on an atom, which may be a fact about an unrecorded atom, or None.

        Raises:
            CorruptionError: the record, or the row of the fact, contradicts the journal.
        """
        record = self.atom(atom)
        if record is not None:
            return record.last_seq
        raw = self.rows.get(early_fact_key(atom)) if self._early_facts else None
        if raw is None:
            return None
        seq = decode_seq(raw, "early fact")
        if subject_key(read_header(self.rows, seq)[0].detail) != atom:
            raise CorruptionError(
                f"the row of the facts on atom {show_id(atom)} names event {seq} on another subject",
                hint=HINT,
                family="early-facts",
            )
        return seq

    def is_linkable(self, atom: bytes) -> bool:
        """Return True if an atom is recorded and not erased, so that an edge may join it.

        Raises:
            CorruptionError: the record contradicts the journal.
        """
        if atom in self._sure and atom not in self._changed:
            return True
        record = self.atom(atom)
        return record is not None and record.state is not State.ERASED

    def read_ahead(
        self, atoms: Sequence[bytes], edges: Sequence[EdgeDetail], ends: AbstractSet[bytes]
    ) -> None:
        """Read together what `atom`, `edge`, `is_linkable` and `body` would read one by one.

        Args:
            atoms: The atoms whose records will be read, and their bodies if they are recorded.
            edges: The edges whose records will be read.
            ends: The atoms that edges will join.

        Raises:
            CorruptionError: a record, or its absence, contradicts the journal.
        """
        self._read_records(atoms)
        self._read_edges(edges)
        if unsure := list(ends - self._sure):
            stored = self._stored(unsure, self._atom_rows(unsure))
            self._evidence.check_recorded([one for one in stored if one.state is not State.ERASED])

    def _read_records(self, atoms: Sequence[bytes]) -> None:
        rows = self._atom_rows(atoms)
        new = [atom for atom, raw in zip(atoms, rows, strict=True) if raw is None]
        self._evidence.check_unrecorded("atoms", new)
        self._atoms.update(dict.fromkeys(new))
        if len(atoms) - len(new) < _TOGETHER_MIN or not isinstance(self.head, Reader):
            return
        live = [record for record in self._stored(atoms, rows) if record.state is State.LIVE]
        for record, body in zip(live, bodies_of(self.head, live), strict=True):
            self._bodies[record.id, record.payload_seq] = body

    def _atom_rows(self, atoms: Sequence[bytes]) -> list[bytes | None]:
        return self._appender.overlay.multi_get(list(map(ATOM.__add__, atoms)))

    def _stored(self, atoms: Sequence[bytes], rows: Sequence[bytes | None]) -> list[AtomRecord]:
        """Return the unchecked records of those atoms that are recorded and that no event here changed."""
        stored = [
            (raw, atom)
            for raw, atom in zip(rows, atoms, strict=True)
            if raw is not None and atom not in self._changed
        ]
        return decode_atoms([raw for raw, _ in stored], [atom for _, atom in stored])

    def _read_edges(self, edges: Sequence[EdgeDetail]) -> None:
        rows = self._appender.overlay.multi_get(
            [EDGE_FROM + src + b"/" + code + b"/" + dst for src, code, dst in edges]
        )
        new = [at for at, raw in enumerate(rows) if raw is None]
        self._evidence.check_unrecorded("edges", [b"".join(edges[at]) for at in new])
        self._edges.update(dict.fromkeys([edges[at] for at in new]))

    def recorded_edges(self, edges: Sequence[EdgeDetail]) -> set[EdgeDetail]:
        """Return those of the edges that were ever recorded, in the store or by the transaction's events.

        This takes less time than looking up each edge with `edge`.

        Raises:
            CorruptionError: a record, or its absence, contradicts the journal.
        """
        self._read_edges(edges)
        return {edge for edge in edges if self.edge(*edge) is not None}

    def type_code(self, name: str) -> bytes | None:
        """Return the code of an edge type, or None if there is no edge type with this name.

        Raises:
            CorruptionError: the row of the predicate's code holds another name.
        """
        code = type_code(self.rows, self.id_key, name)
        if code is not None and len(code) > 1 and self.rows.get(type_code_key(code)) != name.encode():
            raise CorruptionError(
                f"the row of the predicate {name!r} holds another name", hint=HINT, family="types-by-code"
            )
        return code

    def unerased_edges(self, atom: bytes, most: int) -> list[EdgeRecord]:
        """Return those edges of an atom that are not erased.

        If there are more than `most`, the result may be incomplete, but has more than `most` edges.

        Call this before the transaction changes an edge.

        Raises:
            CorruptionError: the record of an edge is missing or contradicts the journal.
        """
        head = self.head
        if not isinstance(head, Reader):
            raise TypeError("the transaction's rows cannot be scanned")
        records = edges_at(head, atom, Direction.BOTH, (), tombstoned=True)
        edges = {edge_key(*edge[:3]): self.edge(*edge[:3]) for edge in islice(records, most + 1)}
        if len(edges) <= most:
            self._evidence.check_edges(atom, edges)
        return [edge for edge in edges.values() if edge is not None and edge.state is not State.ERASED]

    def body(self, record: AtomRecord) -> AtomBody:
        """Return from the journal an atom's content and the fields that were written with the content."""
        body = self._bodies.get((record.id, record.payload_seq))
        return body_of(self.rows, record) if body is None else body

    def screened(self, value: Text, place: str) -> Text:
        """Apply the filter for secrets to `value` and return the result. Ids are derived from filtered texts.

        Raises:
            RefusedError: A text contains a secret, and the policy refuses secrets.
        """
        return value if self.screen is None else self.screen.value(value, place)

    def _line(self, value: str | None, what: str, most: int) -> str | None:
        return validation.optional_line(
            self.screened(validation.optional_line(value, what, most), what), what, most
        )

    @property
    def next_ordinal(self) -> int:
        """The ordinal (position in the indexes) that the next added or revised atom will get.

        Raises:
            LimitError: All ordinals are in use.
        """
        if self._next_ordinal >= limits.ORDINAL_MAX:
            raise LimitError(f"the store is full: it holds {limits.ORDINAL_MAX} contents, the maximum")
        return self._next_ordinal

    @property
    def counters(self) -> Counters:
        """The counters of the records after the events of this transaction."""
        return Counters(self._next_ordinal, self._predicates, self._early_facts)

    def append(
        self, kind: EventKind, prev: int | None, detail: Detail, body: Body, origin: Origin | None = None
    ) -> EventRef:
        """Append one event, and return a reference to it (`events`).

        An event that holds a version of an atom takes `next_ordinal`. `origin` is the event of another store
        that this event takes in or restates. The rows of the event are computed later,
        together with those of other events: when a command reads one of them, or when all commands are
        decided.
        """
        if self.screen is not None:
            body = self.screen.body(kind, body)
        if body.request != self._request or body.pipeline != self.pipeline:
            body = body._replace(request=self._request, pipeline=self.pipeline)
        return self._append(kind, prev, detail, body, origin)

    def take_in(
        self, actor: str, kind: EventKind, prev: int | None, detail: Detail, body: Body, origin: Origin | None
    ) -> EventRef:
        """Append one event with the actor and the body that another store gave it; no filter applies."""
        self._appender.set_actor(actor)
        return self._append(kind, prev, detail, body, origin)

    def _append(
        self, kind: EventKind, prev: int | None, detail: Detail, body: Body, origin: Origin | None
    ) -> EventRef:
        if isinstance(detail, AtomDetail) and detail.ordinal == self._next_ordinal:
            self._next_ordinal += 1
        elif kind is EventKind.EDGE_TYPE_REGISTERED:
            self._predicates += 1
        elif prev is None and isinstance(detail, FactDetail) and detail.id is not None:
            self._early_facts += 1
        elif kind is EventKind.ERASED:
            self._destroyed = True
        return self._appender.append(kind, prev, detail, body, origin)

    @property
    def nothing_destroyed(self) -> bool:
        """True if it is known that no content was ever erased, in this transaction or before."""
        return self._destroyed is False

    def may_be_destroyed(self) -> bool:
        """Return False if no content was ever erased, so that no content needs to be looked up."""
        if self._destroyed is None:
            head = self.head
            self._destroyed = (
                not isinstance(head, Reader) or next(head.scan_prefix(DESTROYED), None) is not None
            )
        return self._destroyed

    def finish(self) -> Batch:
        """Return the batch: the rows of the journal and records, the log row and the cursor of the records.

        The batch must be written with the guards that `head_guards` returns.
        """
        return self._appender.finish(self.counters)


def receipt(subject: bytes | str, state: State, *events: EventRef) -> Receipt:
    """Return the receipt of a command that concerns `subject` (an atom, an edge or a predicate)."""
    return Receipt(show_id(subject) if isinstance(subject, bytes) else subject, events, state)


def event_ref(entry: Entry) -> EventRef:
    """Return a reference to the event, in the form that is used in receipts."""
    return EventRef(entry.header.seq, entry.header.kind, entry.header.commitment.hex())
