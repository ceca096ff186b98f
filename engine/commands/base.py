"""The transaction that commands decide in: the records as they will be, and the events so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from backends.base import Batch
from engine.base import limits, validation
from engine.base.errors import LimitError
from engine.base.model import EventRef, Receipt
from engine.base.validation import label, show_id
from engine.followers.records import count, seal
from engine.ledger.fold import Overlay, fold
from engine.ledger.journal import Appender, LogState, Sources
from engine.ledger.queries import body_of
from engine.ledger.records import AtomRecord, EdgeRecord, Lookup, read_atom, read_counters, read_edge
from proofs.events import AtomBody, Body, Detail, Entry, EventKind
from proofs.leaves import State

if TYPE_CHECKING:
    from engine.secrets.filter import Screen

Text = TypeVar("Text")


@runtime_checkable
class Command(Protocol):
    """Something a caller wants to be true. Deciding it twice appends nothing the second time."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append to `tx` what it takes.

        Raises:
            InvalidInputError: the command breaks a rule; nothing is written.
            NotFoundError: it names what was never recorded.
            ConflictError: it contradicts what is recorded.
        """


class Transaction:
    """Events being decided on top of one head, folded as they come.

    The next decision sees them; the journal does not until `batch` is written.
    """

    def __init__(
        self,
        rows: Lookup,
        log: LogState,
        id_key: bytes,
        sources: Sources,
        actor: str,
        screen: Screen | None = None,
        *,
        request: str | None = None,
        origin: str | None = None,
    ) -> None:
        """Begin on the head that `log` tells; texts pass `screen`, if there is one.

        `request` and `origin` are said by every event of the transaction.
        """
        self.batch = Batch()
        self.head = rows
        """The rows that all of this is decided on top of."""
        self.rows = Overlay(rows, self.batch)
        self.id_key = id_key
        self.actor = label(actor, "actor")
        self.screen = screen
        self._request = self._line(request, "request", limits.REQUEST_BYTES_MAX)
        self._origin = self._line(origin, "origin", limits.ORIGIN_BYTES_MAX)
        self._appender = Appender(self.rows, log, *sources)
        self._counters = read_counters(rows)

    @property
    def entries(self) -> list[Entry]:
        """The events decided so far."""
        return self._appender.entries

    def atom(self, atom: bytes) -> AtomRecord | None:
        """The record of an atom as of here."""
        return read_atom(self.rows, atom)

    def edge(self, src: bytes, code: bytes, dst: bytes) -> EdgeRecord | None:
        """The record of an edge as of here."""
        return read_edge(self.rows, src, code, dst)

    def body(self, record: AtomRecord) -> AtomBody:
        """The content of an atom and all that came with it, from the journal."""
        return body_of(self.rows, record)

    def screened(self, given: Text, place: str) -> Text:
        """Texts as they may be written; ids are worked out from these.

        Raises:
            RefusedError: one holds a secret, and those are refused.
        """
        return given if self.screen is None else self.screen.value(given, place)

    def _line(self, given: str | None, what: str, most: int) -> str | None:
        return validation.optional_line(
            self.screened(validation.optional_line(given, what, most), what), what, most
        )

    @property
    def next_ordinal(self) -> int:
        """The ordinal that the next content gets."""
        if self._counters.next_ordinal >= limits.ORDINAL_MAX:
            raise LimitError(f"the store is full: {limits.ORDINAL_MAX} contents were recorded")
        return self._counters.next_ordinal

    @property
    def next_type(self) -> bytes:
        """The code that the next predicate gets."""
        if self._counters.next_type > 0xFFFF:
            raise LimitError("all 32,768 codes for predicates are taken")
        return self._counters.next_type.to_bytes(2, "big")

    def append(self, kind: EventKind, prev: int | None, detail: Detail, body: Body) -> Entry:
        """Decide one event: journal it and fold it, both in this batch."""
        if self.screen is not None:
            body = self.screen.body(kind, body)
        body = body._replace(request=self._request, origin=self._origin)
        entry = self._appender.append(kind, self.actor, prev, detail, body)
        fold(entry, self.rows)
        self._counters = count((entry,), self._counters)
        return entry

    def finish(self) -> Batch:
        """The batch to write under `head_guards`: journal, records and both their heads."""
        self._appender.finish()
        seal(self.batch, self.entries[-1], self._counters)
        return self.batch


def receipt(subject: bytes | str, state: State, *entries: Entry) -> Receipt:
    """What became of a command on `subject`."""
    name = show_id(subject) if isinstance(subject, bytes) else subject
    return Receipt(name, tuple(map(event_ref, entries)), state)


def event_ref(entry: Entry) -> EventRef:
    """How a receipt names an event."""
    return EventRef(entry.header.seq, entry.header.kind, entry.header.commitment.hex())
