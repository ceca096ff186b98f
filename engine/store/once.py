"""Commits that are made once: a commit whose key was used already is answered from the journal.

The events of a commit record its key (`request`). If a key was used, its events are found again, and the
commands are decided a second time, as of the moment before these events, with the recorded times and salts.
A decision depends on nothing else. So either it gives exactly the recorded headers, which commit to every
byte of the events, and its receipts are the receipts of the first time; or the key was used with other
commands. Nothing about the commands is stored for this comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from backends.base import Reader
from engine.base import limits
from engine.base.errors import (
    ConflictError,
    InvalidInputError,
    LimitError,
    NotFoundError,
    RefusedError,
)
from engine.base.validation import line, quoted
from engine.followers.base import check_cursor, read_cursor
from engine.followers.evidence import Evidence
from engine.followers.requests import (
    Once,
    OtherParts,
    Part,
    RequestsFollower,
    Seqs,
    prefix_of,
    row_prefix,
    separated,
    stored_seqs,
)
from engine.ledger.journal import LogState, Sources, decode_seq, open_payload, read_header
from engine.ledger.layout import (
    ATOM,
    DESTROYED,
    EDGE_FROM,
    TYPE_BY_CODE,
    TYPE_BY_NAME,
    cursor_key,
    journal_key,
    payload_key,
)
from engine.ledger.records import AtomRecord, Counters, EdgeRecord, Lookup, read_atom, read_edge
from engine.ledger.subject_history import records_after, subject_history
from proofs.events import ERASING_KINDS, AtomDetail, Entry, EventKind, Header, TypeDetail
from proofs.hashing import SALT_BYTES
from proofs.leaves import ID_BYTES
from proofs.log import DIGEST_BYTES, SIZE_BYTES, Frontier

if TYPE_CHECKING:
    from engine.base.model import Receipt
    from engine.commands.base import Transaction
    from engine.commands.secrets.filter import Screen

KEY_BYTES_MAX: Final = limits.REQUEST_BYTES_MAX - len("#999999999999+9999")
"""The maximum length of a key in bytes. The rest of the bytes of a request are for the part."""

UNREAD_MAX: Final = 1024
"""The maximum number of events, and of keys, after the follower's rows. If there are more, it is updated."""


def once_of(key: str) -> Once:
    """Return the key of a call after checking it.

    Raises:
        InvalidInputError: the key is empty, is not one line, or ends like the name of a part.
        LimitError: the key has more than 110 bytes.
    """
    key = line(key, "request", KEY_BYTES_MAX)
    if not key or separated(key)[1] is not None:
        raise InvalidInputError(f"a request key must not be empty or end with #1+1, as {quoted(key)} does")
    return Once(key)


class Recorded(NamedTuple):
    """The events of a commit that was made already."""

    seqs: Sequence[int]
    """If the commit appended nothing, the seq of the next event of the call."""
    appended: bool


class RequestKeys:
    """Finds the events of a key: in the rows of the follower `requests`, and in the events after them.

    One thread at a time may use the object.
    """

    def __init__(self) -> None:
        self._cursor: bytes | None = b""
        self._start = self._size = 0
        self._later: dict[bytes, list[int]] = {}
        """The seqs of each key, in the events from `_start` up to `_size`, which the rows lack."""
        self._erased = False

    def find(
        self,
        rows: Reader,
        log: LogState,
        read: Callable[[Reader, int, int], Sequence[Entry]],
        actor: str,
        key: str,
    ) -> Seqs | None:
        """Return the events of a key; None if the follower must be updated first.

        Raises:
            CorruptionError: a row, the cursor or an event is damaged.
        """
        raw = rows.get(cursor_key(RequestsFollower.name))
        if raw != self._cursor or log.size < self._size:
            self._begin(rows, raw, log.size)
        if self._erased or len(self._later) > UNREAD_MAX or log.size - self._size > UNREAD_MAX:
            return None
        while self._size < log.size:
            entries = read(rows, self._size, log.size)
            self._size += len(entries)
            if self._note(entries):
                return None
        prefix = row_prefix(actor, key)
        return Seqs(stored_seqs(rows, actor, key), self._later.get(prefix, ()))

    def _begin(self, rows: Reader, raw: bytes | None, size: int) -> None:
        cursor = read_cursor(rows, RequestsFollower.name)
        start = 0
        if cursor is not None and cursor.version == RequestsFollower.version:
            check_cursor(rows, RequestsFollower.name, cursor, size)
            start = cursor.size
        self._later, self._size, self._cursor, self._erased = {}, start, raw, False

    def _note(self, entries: Sequence[Entry]) -> bool:
        """Remember the keys of the events; return True if one of the events destroyed payloads."""
        for header, body, _ in entries:
            if body is not None and body.request is not None:
                prefix = prefix_of(header.actor, body.request)
                self._later.setdefault(prefix, []).append(header.seq)
            self._erased = self._erased or header.kind in ERASING_KINDS
        return self._erased


def recorded_part(rows: Lookup, seqs: Seqs, once: Once) -> Recorded | None:
    """Return the events of a commit, among the events of its key; None if the commit was not made yet.

    Raises:
        OtherParts: the commands of the call were divided in another way.
        ConflictError: the key was used for another call.
    """
    if not seqs:
        return None
    if once.part is None:
        return Recorded(seqs[:], appended=True)
    first, stop = once.part.first, once.part.stop
    if _part_at(rows, seqs, len(seqs) - 1, once).stop <= first:
        return None
    at = _position(rows, seqs, once, lambda part: part.stop > first)
    found = _part_at(rows, seqs, at, once)
    if found.first < first or (found.first == first and found.stop > stop):
        refuse_other(once.key)
    if found.first >= stop:
        # Parts are committed in order. So this part was decided, and changed nothing.
        return Recorded(seqs[at : at + 1], appended=False)
    if found != once.part:
        raise OtherParts((found.stop if found.first == first else found.first) - first)
    return Recorded(seqs[at : _position(rows, seqs, once, lambda part: part.first > first)], appended=True)


def _position(rows: Lookup, seqs: Seqs, once: Once, holds: Callable[[Part], bool]) -> int:
    """Return the position of the first event whose part fulfils `holds`. Parts are in order."""
    low, high = 0, len(seqs)
    while low < high:
        middle = (low + high) // 2
        if holds(_part_at(rows, seqs, middle, once)):
            high = middle
        else:
            low = middle + 1
    return low


def _part_at(rows: Lookup, seqs: Seqs, at: int, once: Once) -> Part:
    header, _ = read_header(rows, seqs[at])
    raw = rows.get(payload_key(seqs[at]))
    if raw is None:
        refuse_erased(once.key)
    request = open_payload(header, raw).request
    key, part = separated(request or "")
    if key != once.key or part is None:
        refuse_other(once.key)
    return part


def answer(
    rows: Reader,
    evidence: Evidence,
    id_key: bytes,
    screen: Screen | None,
    actor: str,
    once: Once,
    origin: str | None,
    found: Recorded,
    decide: Callable[[Transaction], list[Receipt]],
) -> list[Receipt]:
    """Return the receipts of the commit that made the events `found`.

    Args:
        rows: A snapshot.
        evidence: The checks of the records in the snapshot.
        id_key: As for `Transaction`.
        screen: As for `Transaction`.
        actor: The author of the events.
        once: The key of the commit.
        origin: The producer of the events.
        found: The events of the commit.
        decide: Decides the commands in a transaction.

    Raises:
        ConflictError: the key was used with other commands.
        RefusedError: content that the commands need has been erased since.
    """
    from engine.commands.base import Transaction

    seqs, appended = found
    headers = [read_header(rows, seq) for seq in seqs]
    earlier = Earlier(rows, evidence, seqs[0], [header for header, _ in headers])
    times = iter([header.time for header, _ in headers])
    sources = Sources(lambda: next(times, 0), lambda seq: _salt(rows, seq))
    subtrees = bytes(DIGEST_BYTES * seqs[0].bit_count())
    frontier = Frontier.from_bytes(seqs[0].to_bytes(SIZE_BYTES, "big") + subtrees)
    tx = Transaction(
        earlier,
        LogState(None, 0, frontier),
        EarlierEvidence(earlier),
        id_key,
        sources,
        actor,
        screen,
        request=once.request,
        origin=origin,
    )
    try:
        receipts = decide(tx)
    except (ConflictError, LimitError, NotFoundError, RefusedError):
        earlier.refuse(once.key, seqs)
    if not appended:
        return [replace(one, events=()) for one in receipts]
    leaves = [leaf for _, leaf in headers]
    if seqs[-1] - seqs[0] + 1 != len(seqs) or [entry.leaf for entry in tx.entries] != leaves:
        earlier.refuse(once.key, seqs)
    return receipts


def _salt(rows: Lookup, seq: int) -> bytes:
    """Return the salt of a recorded event; 32 zero bytes if there is no such event or no payload."""
    raw = rows.get(payload_key(seq))
    return bytes(SALT_BYTES) if raw is None else raw[:SALT_BYTES]


def check_unchanged(screen: Screen | None, request: str) -> None:
    """Check that the filter for secrets leaves a key as it is. Otherwise different keys could become equal.

    Raises:
        RefusedError: the key looks like a secret.
    """
    if screen is not None and screen.value(request, "request") != request:
        raise RefusedError("the request key looks like a secret", hint="use a random UUID as the key")


def refuse_other(key: str) -> NoReturn:
    """Raise ConflictError, because a key was used for something else."""
    raise ConflictError(
        f"the request key {quoted(key)} was used already, with other commands",
        hint="use a new key for each call, and repeat a call with exactly the same arguments",
    )


def refuse_erased(key: str) -> NoReturn:
    """Raise RefusedError, because the receipts of a call cannot be given again."""
    raise RefusedError(
        f"the call with the request key {quoted(key)} was carried out, and content that it concerned has "
        "been erased since, so its receipts are not known any more",
        hint="nothing was changed now; do not repeat the call",
    )


class Earlier:
    """The rows that commands read, as they were when the journal had `size` events.

    The rows of records are computed from the events on their subjects. Journal rows never change.
    """

    def __init__(self, rows: Lookup, evidence: Evidence, size: int, headers: Sequence[Header]) -> None:
        """Begin with the rows of the head, and with the headers of the recorded events from `size` on."""
        self._rows, self._evidence, self._size = rows, evidence, size
        ordinals = (
            header.detail.ordinal
            for header in headers
            if isinstance(header.detail, AtomDetail) and header.kind in _NUMBERING
        )
        codes = (
            int.from_bytes(header.detail.code, "big")
            for header in headers
            if isinstance(header.detail, TypeDetail)
        )
        # Without such events, the decision needs no next ordinal or code, or it differs.
        self.counters = Counters(next(ordinals, limits.ORDINAL_MAX), next(codes, 0x10000))
        self._erased = False
        """True if content that was read has been erased since."""
        self._known: dict[bytes, bytes | None] = {}

    def get(self, key: bytes) -> bytes | None:
        """Return the value that the row had."""
        if key not in self._known:
            self._known[key] = self._read(key)
        return self._known[key]

    def _read(self, key: bytes) -> bytes | None:
        if key.startswith(ATOM):
            return self._record(key, self._evidence.atom(key[len(ATOM) :]))
        if key.startswith(EDGE_FROM):
            src, code, dst = (
                key[len(EDGE_FROM) :][:ID_BYTES],
                key[len(EDGE_FROM) + ID_BYTES + 1 : -ID_BYTES - 1],
                key[-ID_BYTES:],
            )
            return self._record(key, self._evidence.edge(src, code, dst))
        raw = self._rows.get(key)
        if raw is None:
            return None
        if key.startswith(DESTROYED):
            return None if decode_seq(raw, "destroyed") >= self._size else raw
        if key.startswith((TYPE_BY_NAME, TYPE_BY_CODE)):
            code = raw if key.startswith(TYPE_BY_NAME) else key[len(TYPE_BY_CODE) :]
            return raw if int.from_bytes(code, "big") < self.counters.next_type else None
        return raw

    def _record(self, key: bytes, now: AtomRecord | EdgeRecord | None) -> bytes | None:
        if now is None:
            return None
        history = subject_history(self._rows, now.last_seq)
        self._erased |= any(
            header.seq >= self._size and header.kind in ERASING_KINDS for header, _, _ in history
        )
        return records_after(history, self._size).get(key)

    def refuse(self, key: str, seqs: Sequence[int]) -> NoReturn:
        """Raise the error for a key whose events `seqs` are not what the commands give.

        Raises:
            RefusedError: content of these events, or of a neighbouring event, has been erased since.
            ConflictError: the commands differ.
        """
        around = range(max(0, seqs[0] - 1), seqs[-1] + 2)
        get = self._rows.get
        if self._erased or any(
            get(payload_key(seq)) is None and get(journal_key(seq)) is not None for seq in around
        ):
            refuse_erased(key)
        refuse_other(key)


class EarlierEvidence(Evidence):
    """The records as they were earlier. They were computed from checked records, so nothing is checked."""

    def __init__(self, earlier: Earlier) -> None:
        super().__init__()
        self._earlier = earlier

    def atom(self, atom: bytes) -> AtomRecord | None:
        """Return the record that an atom had, or None."""
        return read_atom(self._earlier, atom)

    def edge(self, src: bytes, code: bytes, dst: bytes) -> EdgeRecord | None:
        """Return the record that an edge had, or None."""
        return read_edge(self._earlier, src, code, dst)

    def check_recorded(self, records: Sequence[AtomRecord]) -> None:
        """Accept the records."""

    def check_unrecorded(self, namespace: str, keys: Sequence[bytes]) -> None:
        """Accept that there are no records."""

    def check_type(self, name: str, code: bytes | None) -> None:
        """Accept the code."""

    def counters(self) -> Counters:
        """Return the counters that the recorded events show."""
        return self._earlier.counters


_NUMBERING = frozenset({EventKind.ATOM_ADDED, EventKind.ATOM_REVISED})
