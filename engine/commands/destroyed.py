"""Contents that were destroyed: they come back only when somebody insists (SPEC: Records and the fold)."""

from __future__ import annotations

from engine.base.errors import RefusedError
from engine.base.validation import show_id
from engine.commands.base import Transaction
from engine.ledger.layout import destroyed_key
from engine.ledger.records import AtomRecord, Lookup
from proofs.hashing import destroyed_hash
from proofs.leaves import State

ERASED = "this content was erased from the memory"
INSIST = "have it all the same: --force"


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def alike(content: str) -> bytes:
    """What a content has in common with its copies: white space as single spaces, A to Z as a to z, UTF-8.

    No further, because the bytes are hashed for ever: other scripts' cases differ by version of Unicode.
    """
    return " ".join(content.split()).translate(_LOWER).encode()


def was_destroyed(tx: Transaction, content: str) -> bool:
    """Whether an atom with such a content was erased, of whatever id; `alike` says how like it must be."""
    return is_destroyed(tx.rows, tx.id_key, content)


def is_destroyed(rows: Lookup, id_key: bytes, content: str) -> bool:
    """The same, for whoever asks before a command is decided."""
    return rows.get(destroyed_key(destroyed_hash(id_key, alike(content)))) is not None


def refuse_destroyed(tx: Transaction, content: str, *, force: bool) -> None:
    """Refuse a content that was erased.

    Raises:
        RefusedError: it was, and `force` is not set.
    """
    if not force and was_destroyed(tx, content):
        raise RefusedError(ERASED, hint=INSIST)


def refuse_erased(record: AtomRecord, *, force: bool) -> None:
    """Refuse to give an erased atom a new content.

    Raises:
        RefusedError: `force` is not set.
    """
    if not force:
        raise RefusedError(f"atom {show_id(record.id)} was erased at event {record.last_seq}", hint=INSIST)


def refuse_revival(tx: Transaction, record: AtomRecord, *, force: bool) -> None:
    """Refuse to bring back an atom that is erased, or whose content is.

    Raises:
        RefusedError: nothing is left of it; or one of the same content was erased, and `force` is not set.
    """
    if record.state is State.ERASED:
        raise RefusedError(
            f"atom {show_id(record.id)} was erased at event {record.last_seq}; nothing is left of it"
        )
    refuse_destroyed(tx, tx.body(record).content, force=force)
