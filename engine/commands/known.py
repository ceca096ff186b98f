"""What a store knows of the originals on a subject, for commands that depend on more than the records."""

from __future__ import annotations

from typing import Final

from backends.base import Reader
from engine.base.errors import RefusedError
from engine.commands.transaction import Transaction
from engine.followers.base import read_cursor
from engine.followers.log import header_runs
from engine.followers.requests import RequestsFollower, Seqs, stored_seqs
from engine.ledger.heads import of_kinds
from engine.ledger.journal import earlier_headers, read_header, read_identity, read_log
from engine.ledger.layout import decode_header
from engine.ledger.merging import ForeignHeads, Known, Subject, known_of
from proofs.events import EventKind

ACTOR: Final = "sync"
REQUEST: Final = "foreign heads"
"""The actor and the request of all foreign heads. The follower of requests finds the heads by them."""


def read_foreign_heads(rows: Reader) -> ForeignHeads:
    """Return what each store of the family had seen of the others, as far as this store knows.

    Raises:
        CorruptionError: a row does not have the bytes that were written.
    """
    heads = ForeignHeads(read_identity(rows).store_id)
    cursor = read_cursor(rows, RequestsFollower.name)
    start = 0 if cursor is None or cursor.version != RequestsFollower.version else cursor.size
    for seq in Seqs(stored_seqs(rows, ACTOR, REQUEST), ()) if start else ():
        heads.note(read_header(rows, seq)[0])
    # Commits without a key do not update the follower.
    for first, run in header_runs(rows, read_log(rows).size, start):
        for at in of_kinds(run, (EventKind.FOREIGN_HEAD,)):
            header = decode_header(run[at], first + at)
            if header.actor == ACTOR:
                heads.note(header)
    return heads


def known_before(tx: Transaction, subject: Subject, last: int) -> Known | None:
    """Return what the store knows about a subject; None if only this store has changed it.

    `last` is the last event on the subject.

    Raises:
        CorruptionError: a row does not have the bytes that were written.
    """
    header, _ = read_header(tx.rows, last)
    ours = header.origin is None and all(one.origin is None for one in earlier_headers(tx.rows, header))
    # A repeated call is decided against earlier records, and reads the heads that there are now.
    rows = getattr(tx.head, "present", tx.head)
    if ours or not isinstance(rows, Reader):
        return None
    return known_of(tx.rows, read_foreign_heads(rows), subject)


def is_in_conflict(tx: Transaction, atom: bytes, last: int) -> bool:
    """Return True if devices wrote different versions of an atom without knowing of each other."""
    known = known_before(tx, atom, last)
    return known is not None and bool(known.conflict())


def refuse_awaited(tx: Transaction, subject: Subject, last: int) -> None:
    """Raise RefusedError if another store erased the subject in an event that is not known here yet."""
    known = known_before(tx, subject, last)
    if known is not None and known.awaits_erasure():
        raise RefusedError(
            "another device has erased this, and its erasure has not arrived here yet",
            hint="take in what the other devices have written (`engine sync`), then try again",
        )
