"""The follower `trees`: the trees `atoms` and `edges`, and the values of their leaves (SPEC: Trees).

The value of a leaf is computed from headers alone, so the roots of both trees stay reproducible after
payloads are destroyed. Content, title and the other fields are proved by opening the commitment in the value.
"""

from __future__ import annotations

from collections.abc import Sequence

from backends.base import Batch, Reader
from engine.followers.base import Follower
from engine.ledger.codec import decode_stored
from engine.ledger.fold import Overlay
from engine.ledger.layout import VALUE, tree_prefix, value_key
from engine.ledger.pages import PagedTree
from engine.ledger.records import Lookup
from proofs.events import ERASING_KINDS, AtomDetail, EdgeDetail, Entry, EventKind
from proofs.hashing import key_digest, value_digest
from proofs.leaves import State, Value, decode_value, edge_key, encode_value

_CONTENT_KINDS = frozenset({EventKind.ATOM_ADDED, EventKind.ATOM_REVISED, EventKind.EDGE_ADDED})
_CREATING_KINDS = frozenset({EventKind.ATOM_ADDED, EventKind.EDGE_ADDED})
_STATES_AFTER = {
    EventKind.ATOM_TOMBSTONED: State.TOMBSTONED,
    EventKind.EDGE_REMOVED: State.TOMBSTONED,
    EventKind.ATOM_REVIVED: State.LIVE,
}


class TreesFollower(Follower):
    """Maintains the plain value of each leaf, and the trees over the digests of the values."""

    name = "trees"
    version = 1
    prefixes = (VALUE, tree_prefix("atoms"), tree_prefix("edges"))

    def __init__(self) -> None:
        self._trees = {name: PagedTree(name) for name in ("atoms", "edges")}

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Compute the values after `entries`, then update each tree once."""
        overlay = Overlay(rows, batch)
        values: dict[str, dict[bytes, Value]] = {name: {} for name in self._trees}
        for entry in entries:
            namespace, key = subject_of(entry)
            if namespace:
                changed = values[namespace]
                before = changed.get(key) or read_value(overlay, namespace, key)
                after = value_after(entry, before)
                if after is not None:
                    changed[key] = after
        for namespace, changed in values.items():
            digests: dict[bytes, bytes | None] = {}
            for key, value in changed.items():
                raw = encode_value(value)
                batch.put(value_key(namespace, key), raw)
                digests[key_digest(namespace, key)] = value_digest(namespace, raw)
            if digests:
                self._trees[namespace].update(rows, batch, digests)

    def root(self, rows: Reader, namespace: str) -> bytes:
        """Return the root of the tree `atoms` or `edges`."""
        return self._trees[namespace].root(rows)


def subject_of(entry: Entry) -> tuple[str, bytes]:
    """Return the namespace and key of the leaf that an event changes, or ("", b"") if it changes no leaf."""
    detail = entry.header.detail
    if isinstance(detail, AtomDetail):
        return "atoms", detail.id
    if isinstance(detail, EdgeDetail):
        return "edges", edge_key(*detail)
    return "", b""


def read_value(rows: Lookup, namespace: str, key: bytes) -> Value | None:
    """Return the value of a leaf, or None if the atom or edge of the leaf was never recorded.

    Raises:
        CorruptionError: the row is malformed.
    """
    raw = rows.get(value_key(namespace, key))
    return None if raw is None else decode_stored(decode_value, raw, f"value of {namespace} {key.hex()}")


def value_after(entry: Entry, before: Value | None) -> Value | None:
    """Return the value of a leaf after `entry`, or None if the event does not change it.

    `before` is the value before the event, or None if the leaf had no value yet.
    """
    header, kind = entry.header, entry.header.kind
    ordinal = header.detail.ordinal if isinstance(header.detail, AtomDetail) else 0
    if before is None:
        if kind not in _CREATING_KINDS:
            return None
        return Value(State.LIVE, ordinal, 1, header.seq, header.seq, header.seq, header.commitment)
    erased = before.state == State.ERASED
    if kind is EventKind.ATOM_ADDED and not erased:
        return None
    after = before._replace(last_seq=header.seq)
    if kind in _CONTENT_KINDS:
        return after._replace(
            state=State.LIVE,
            ordinal=ordinal,
            version=before.version + 1,
            payload_seq=header.seq,
            commitment=header.commitment,
        )
    if kind in ERASING_KINDS:
        return after._replace(state=State.ERASED)
    return after if erased else after._replace(state=_STATES_AFTER.get(kind, before.state))
