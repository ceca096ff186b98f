"""The transaction in which commands are decided: it collects new events and their effects on records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from backends.base import Batch, Reader
from engine.base import limits, validation
from engine.base.errors import LimitError
from engine.base.model import Direction, EventRef, Receipt
from engine.base.validation import label, show_id
from engine.followers.evidence import Evidence
from engine.followers.records import count, seal
from engine.ledger.fold import Overlay, fold
from engine.ledger.journal import Appender, LogState, Sources
from engine.ledger.layout import DESTROYED, atom_key, edge_from_key, type_name_key
from engine.ledger.queries import body_of, edges_at
from engine.ledger.records import AtomRecord, EdgeRecord, Lookup, read_atom, read_edge, type_code
from proofs.events import AtomBody, Body, Detail, EdgeBody, EdgeDetail, Entry, EventKind
from proofs.leaves import State, edge_key

if TYPE_CHECKING:
    from engine.commands.secrets.filter import Screen

Text = TypeVar("Text")


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


class Transaction:
    """A batch of new events that continue the journal. Each event is applied to the records when appended.

    Commands that are decided later read the changed records. The events are not in the journal until
    `batch` is written.
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
        origin: str | None = None,
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
            origin: The producer of the events. It is recorded in every event of the transaction.
            destroyed: False if it is known that no content was ever erased in `rows`, otherwise None.
        """
        self.batch = Batch()
        self.head = rows
        """The rows as they were before this transaction."""
        self.rows = Overlay(rows, self.batch)
        self.id_key = id_key
        self.actor = label(actor, "actor")
        self.screen = screen
        if screen is not None:
            screen.label(self.actor, "actor")
        self._request = self._line(request, "request", limits.REQUEST_BYTES_MAX)
        self._origin = self._line(origin, "origin", limits.ORIGIN_BYTES_MAX)
        self._appender = Appender(self.rows, log, *sources)
        self._evidence = evidence
        self._atoms: dict[bytes, AtomRecord | None] = {}
        self._edges: dict[bytes, EdgeRecord | None] = {}
        self._counters = evidence.counters()
        self._destroyed = destroyed

    @property
    def entries(self) -> list[Entry]:
        """The events that were added to this transaction so far."""
        return self._appender.entries

    def atom(self, atom: bytes) -> AtomRecord | None:
        """Return an atom's record as changed by the transaction's events, or None if there is no record.

        Raises:
            CorruptionError: the record contradicts the journal.
        """
        if atom_key(atom) in self.batch.rows:
            return read_atom(self.rows, atom)
        if atom not in self._atoms:
            self._atoms[atom] = self._evidence.atom(atom)
        return self._atoms[atom]

    def edge(self, src: bytes, code: bytes, dst: bytes) -> EdgeRecord | None:
        """Return an edge's record as changed by the transaction's events, or None if there is no record.

        Raises:
            CorruptionError: the record contradicts the journal.
        """
        key = edge_from_key(src, code, dst)
        if key in self.batch.rows:
            return read_edge(self.rows, src, code, dst)
        if key not in self._edges:
            self._edges[key] = self._evidence.edge(src, code, dst)
        return self._edges[key]

    def recorded_edges(self, edges: Sequence[EdgeDetail]) -> set[EdgeDetail]:
        """Return those of the edges that were ever recorded, in the store or by the transaction's events.

        This takes less time than looking up each edge with `edge`.

        Raises:
            CorruptionError: a record, or its absence, contradicts the journal.
        """
        rows = self.rows.multi_get([edge_from_key(*edge) for edge in edges])
        new = [edge_key(*edge) for edge, row in zip(edges, rows, strict=True) if row is None]
        self.check_unrecorded("edges", new)
        return {
            edge
            for edge, row in zip(edges, rows, strict=True)
            if row is not None and self.edge(*edge) is not None
        }

    def check_unrecorded(self, namespace: str, keys: Sequence[bytes]) -> None:
        """Check that atoms or edges without records are new. No event of this transaction adds one of them.

        Raises:
            CorruptionError: the journal has an event on one of them.
        """
        self._evidence.check_unrecorded(namespace, keys)

    def check_recorded(self, records: Sequence[AtomRecord]) -> None:
        """Check that the atoms of these records are not erased.

        No event of this transaction changed the records.

        Raises:
            CorruptionError: a record contradicts the journal.
        """
        self._evidence.check_recorded(
            [record for record in records if atom_key(record.id) not in self.batch.rows]
        )

    def sure(self, atoms: AbstractSet[bytes]) -> set[bytes]:
        """Return those of `atoms` that are known to be recorded and not erased, without reading their rows.

        The result does not contain atoms that an event of this transaction changed.
        """
        rows = self.batch.rows
        return {atom for atom in self._evidence.sure & atoms if atom_key(atom) not in rows}

    def type_code(self, name: str) -> bytes | None:
        """Return the code of an edge type, or None if there is no edge type with this name.

        Raises:
            CorruptionError: the rows of the predicate contradict each other.
        """
        code = type_code(self.rows, name)
        if type_name_key(name) not in self.batch.rows and (code is None or len(code) > 1):
            self._evidence.check_type(name, code)
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
        found = edges_at(head, atom, Direction.BOTH, (), tombstoned=True)
        edges = {edge_key(*edge[:3]): self.edge(*edge[:3]) for edge in islice(found, most + 1)}
        if len(edges) <= most:
            self._evidence.check_edges(atom, edges)
        return [edge for edge in edges.values() if edge is not None and edge.state is not State.ERASED]

    def body(self, record: AtomRecord) -> AtomBody:
        """Read from the journal an atom's content and the fields that were written with the content."""
        return body_of(self.rows, record)

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
        if self._counters.next_ordinal >= limits.ORDINAL_MAX:
            raise LimitError(f"the store is full: it holds {limits.ORDINAL_MAX} contents, the maximum")
        return self._counters.next_ordinal

    @property
    def next_type(self) -> bytes:
        """The code that the next registered predicate will get.

        Raises:
            LimitError: All codes are in use.
        """
        if self._counters.next_type > 0xFFFF:
            raise LimitError("all 32,768 codes for predicates are in use")
        return self._counters.next_type.to_bytes(2, "big")

    def append(self, kind: EventKind, prev: int | None, detail: Detail, body: Body) -> Entry:
        """Add one event to the batch: its journal rows and the resulting changes of the records."""
        if self.screen is not None:
            body = self.screen.body(kind, body)
        if (body.request, body.origin) != (self._request, self._origin):
            body = body._replace(request=self._request, origin=self._origin)
        entry = self._appender.append(kind, self.actor, prev, detail, body)
        fold(entry, self.rows)
        self._counters = count((entry,), self._counters)
        if kind is EventKind.ERASED:
            self._destroyed = True
        return entry

    @property
    def room(self) -> int:
        """The number of atoms that `add` accepts, if they are small."""
        return min(self._appender.room, limits.ORDINAL_MAX - self._counters.next_ordinal)

    def add(self, atoms: Sequence[bytes], bodies: Sequence[AtomBody]) -> list[Entry]:
        """Add at most `room` atoms that were never recorded. Each atom gets one event, as with `append`.

        Call this only if the transaction has no filter for secrets.
        """
        if self._request is not None or self._origin is not None:
            bodies = [body._replace(request=self._request, origin=self._origin) for body in bodies]
        ordinal = self._counters.next_ordinal
        entries = self._appender.append_added(self.actor, ordinal, atoms, bodies)
        self._counters = self._counters._replace(next_ordinal=ordinal + len(entries))
        return entries

    @property
    def edge_room(self) -> int:
        """The number of edges that `link` accepts, if they are small."""
        return self._appender.room

    def link(self, edges: Sequence[EdgeDetail], bodies: Sequence[EdgeBody]) -> list[Entry]:
        """Add edges that were never recorded. Each edge gets one event, as with `append`.

        There may be at most `edge_room` edges. Call this only if the transaction has no filter for secrets.
        """
        if self._request is not None or self._origin is not None:
            bodies = [body._replace(request=self._request, origin=self._origin) for body in bodies]
        return self._appender.append_linked(self.actor, edges, bodies)

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
        self._appender.finish()
        seal(self.batch, self.entries[-1], self._counters)
        return self.batch


def receipt(subject: bytes | str, state: State, *entries: Entry) -> Receipt:
    """Return the receipt of a command that concerns `subject` (an atom, an edge or a predicate)."""
    name = show_id(subject) if isinstance(subject, bytes) else subject
    return Receipt(name, tuple(map(event_ref, entries)), state)


def receipts(subjects: Iterable[bytes], state: State, entries: Iterable[Entry]) -> list[Receipt]:
    """Return the receipts of commands that appended one event each.

    `subjects` are the atoms that the commands concern, or the atoms at which their edges begin.

    Measured: half of the time of `receipt`; the constructors of frozen classes set each field with two calls.
    """
    made = []
    new, shown, subject = object.__new__, None, b""
    for raw, (header, _, _) in zip(subjects, entries, strict=True):
        if raw != subject or shown is None:
            subject, shown = raw, show_id(raw)
        event = new(EventRef)
        _set_seq(event, header[0])
        _set_kind(event, header[2])
        _set_event_id(event, header[4].hex())
        one = new(Receipt)
        _set_subject(one, shown)
        _set_events(one, (event,))
        _set_state(one, state)
        _set_held(one, None)
        made.append(one)
    return made


_set_seq, _set_kind, _set_event_id = (getattr(EventRef, name).__set__ for name in ("seq", "kind", "event_id"))
_set_subject, _set_events, _set_state, _set_held = (
    getattr(Receipt, name).__set__ for name in ("subject", "events", "state", "held")
)


def event_ref(entry: Entry) -> EventRef:
    """Return a reference to the event, in the form that is used in receipts."""
    return EventRef(entry.header.seq, entry.header.kind, entry.header.commitment.hex())
