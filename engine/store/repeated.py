"""Commits that are made once: a commit whose key was used already is answered from the journal.

The events of a commit record its key (`request`). If a key was used, its events are found again, and the
commands are decided a second time, as of the moment before these events, with the recorded times and salts.
A decision depends on nothing else. So either it gives exactly the recorded headers, which commit to every
byte of the events, and its receipts are the receipts of the first time; or the key was used with other
commands. Nothing about the commands is stored for this comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from backends.base import Reader
from engine.base import limits
from engine.base.errors import (
    ConflictError,
    LimitError,
    NotFoundError,
    RefusedError,
)
from engine.base.validation import label
from engine.commands.evidence import Evidence
from engine.followers.requests import KeysBehind, Once
from engine.ledger.appender import Sources
from engine.ledger.journal import LogState, read_header
from engine.ledger.layout import (
    ATOM,
    DESTROYED,
    EARLY_FACT,
    EDGE_FROM,
    TYPE_BY_CODE,
    decode_seq,
    journal_key,
    payload_key,
)
from engine.ledger.records import (
    ORDINAL_KINDS,
    AtomRecord,
    Counters,
    EdgeRecord,
    Lookup,
    read_atom,
    read_counters,
    read_edge,
)
from engine.ledger.subject_history import records_after, subject_history
from engine.store.request_keys import (
    RequestKeys,
    check_unchanged,
    recorded_part,
    refuse_erased,
    refuse_other,
)
from engine.store.views import Views, look_ahead
from proofs.events import ERASING_KINDS, AtomDetail, Header, TypeDetail
from proofs.hashing import SALT_BYTES
from proofs.leaves import ID_BYTES
from proofs.log import DIGEST_BYTES, SIZE_BYTES

if TYPE_CHECKING:
    from engine.base.model import Receipt
    from engine.store.commit import Wanted


def answer(
    store: Views,
    keys: RequestKeys,
    evidence: Evidence,
    rows: Reader,
    log: LogState,
    wanted: Wanted,
    once: Once,
) -> list[Receipt] | None:
    """Return the receipts of the commit that was made with a key already; None if it was not made yet.

    Args:
        store: The store.
        keys: The cache of the keys.
        evidence: The checks of the records in the snapshot.
        rows: A snapshot.
        log: The state of the log in the snapshot.
        wanted: The commit.
        once: The key of the commit.

    Raises:
        KeysBehind: the follower of the keys must be updated first.
        ConflictError: the key was used with other commands.
        RefusedError: content that the commands need has been erased since; or the key looks like a secret.
    """
    from engine.commands.transaction import Transaction

    label(wanted.actor, "actor")
    screen = None if store.secret_filter is None else store.secret_filter.screen()
    check_unchanged(screen, once.request)
    keyed = keys.find(rows, log, store.read, wanted.actor, once.key)
    if keyed is None:
        raise KeysBehind
    part = recorded_part(rows, keyed, once)
    if part is None:
        return None
    seqs, appended = part
    headers = [read_header(rows, seq) for seq in seqs]
    earlier = Earlier(rows, evidence, seqs[0], [header for header, _ in headers])
    times = iter([header.time for header, _ in headers])
    sources = Sources(lambda: next(times, 0), lambda seq: _salt(rows, seq))
    frontier = seqs[0].to_bytes(SIZE_BYTES, "big") + bytes(DIGEST_BYTES * seqs[0].bit_count())
    tx = Transaction(
        earlier,
        LogState(None, 0, seqs[0], frontier),
        EarlierEvidence(earlier),
        store.identity.id_key,
        sources,
        wanted.actor,
        screen,
        request=once.request,
        pipeline=wanted.pipeline,
    )
    try:
        receipts = tx.decide(wanted.commands, None if len(wanted.commands) == 1 else look_ahead())
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


class Earlier:
    """The rows that commands read, as they were when the journal had `size` events.

    The rows of records are computed from the events on their subjects. Journal rows never change.
    """

    def __init__(self, rows: Lookup, evidence: Evidence, size: int, headers: Sequence[Header]) -> None:
        """Begin with the rows of the head, and with the headers of the recorded events from `size` on."""
        self._rows, self._evidence, self._size = rows, evidence, size
        self.present = rows
        """The rows of the head."""
        ordinals = (
            header.detail.ordinal
            for header in headers
            if isinstance(header.detail, AtomDetail) and header.kind in ORDINAL_KINDS
        )
        now = read_counters(rows)
        # Without such events, the decision needs no next ordinal, or it differs.
        self.counters = now._replace(next_ordinal=next(ordinals, limits.ORDINAL_MAX))
        self._new_codes = {header.detail.code for header in headers if isinstance(header.detail, TypeDetail)}
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
        if key.startswith(TYPE_BY_CODE):
            return None if key[len(TYPE_BY_CODE) :] in self._new_codes else raw
        if key.startswith(EARLY_FACT):
            history = subject_history(self._rows, decode_seq(raw, "early fact"))
            return records_after(history, self._size).get(key)
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

    def counters(self) -> Counters:
        """Return the counters that the recorded events show."""
        return self._earlier.counters
