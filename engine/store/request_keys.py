"""Request keys: which events a call with a key appended, and which of its commits were made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from backends.base import Reader
from engine.base import limits
from engine.base.errors import (
    ConflictError,
    InvalidInputError,
    RefusedError,
)
from engine.base.validation import line, quoted
from engine.followers.base import check_cursor, read_cursor
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
from engine.ledger.journal import LogState, open_payload, read_header, read_identity
from engine.ledger.layout import (
    cursor_key,
    payload_key,
)
from engine.ledger.records import Lookup
from proofs.events import ERASING_KINDS, Entry

if TYPE_CHECKING:
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
        label_key = read_identity(rows).label_key
        while self._size < log.size:
            entries = read(rows, self._size, log.size)
            self._size += len(entries)
            if self._note(entries, label_key):
                return None
        prefix = row_prefix(label_key, actor, key)
        return Seqs(stored_seqs(rows, actor, key), self._later.get(prefix, ()))

    def _begin(self, rows: Reader, raw: bytes | None, size: int) -> None:
        cursor = read_cursor(rows, RequestsFollower.name)
        start = 0
        if cursor is not None and cursor.version == RequestsFollower.version:
            check_cursor(rows, RequestsFollower.name, cursor, size)
            start = cursor.size
        self._later, self._size, self._cursor, self._erased = {}, start, raw, False

    def _note(self, entries: Sequence[Entry], label_key: bytes) -> bool:
        """Remember the keys of the events; return True if one of the events destroyed payloads."""
        for header, body, _ in entries:
            if body is not None and body.request is not None:
                prefix = prefix_of(label_key, header.actor, body.request)
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
    answer = _part_at(rows, seqs, at, once)
    if answer.first < first or (answer.first == first and answer.stop > stop):
        refuse_other(once.key)
    if answer.first >= stop:
        # Parts are committed in order. So this part was decided, and changed nothing.
        return Recorded(seqs[at : at + 1], appended=False)
    if answer != once.part:
        raise OtherParts((answer.stop if answer.first == first else answer.first) - first)
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
