"""The follower `trees`: the trees `atoms` and `edges`, and the values of their leaves (SPEC: Trees).

The value of a leaf is computed from headers alone, so the roots of both trees stay reproducible after
payloads are destroyed. To prove the content, the title or another field, a proof opens the commitment in the
value.

A value has a row only after a second event on its subject. Before that event, the value follows from the
header of the event that created the subject (`first_value`), so most atoms do not need a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from backends.base import Batch, Reader, Row
from engine.base.errors import CorruptionError
from engine.base.native import NATIVE
from engine.followers.base import Follower
from engine.ledger.journal import read_header
from engine.ledger.layout import VALUE, cursor_key, decode_stored, tree_prefix, value_key
from engine.ledger.paged_tree import PagedTree
from engine.ledger.pages import Pages
from engine.ledger.records import Lookup, read_atom, read_edge
from proofs.events import ERASING_KINDS, AtomDetail, EdgeDetail, Entry, EventKind, FactDetail, Header
from proofs.hashing import position, value_digest
from proofs.leaves import Direction, State, Value, decode_value, edge_key, edge_leaf, encode_value

_CONTENT_KINDS = frozenset({EventKind.ATOM_ADDED, EventKind.ATOM_REVISED, EventKind.EDGE_ADDED})
_ADDING_KINDS = frozenset({EventKind.ATOM_ADDED, EventKind.EDGE_ADDED})
CREATING_KINDS = _ADDING_KINDS | ERASING_KINDS
"""The kinds of events that may be the first on an atom or edge. Another store may have erased it before."""
_STATES_AFTER = {
    EventKind.ATOM_TOMBSTONED: State.TOMBSTONED,
    EventKind.EDGE_REMOVED: State.TOMBSTONED,
    EventKind.ATOM_REVIVED: State.LIVE,
}

PAGES_MAX = 1 << 14
"""The maximum number of pages that `holds` keeps for the next update. The pages take about 10 MB."""

Digests = dict[bytes, bytes | None]
"""Changes of a tree, or leaves of a tree: key digest → value digest."""


class PagesRead(Reader):
    """A reader of rows.

    Pages that were read before are returned from a dict. Another thread may add pages to the dict at any
    time.
    """

    def __init__(self, rows: Reader, pages: Pages) -> None:
        self._rows = rows
        self._pages = pages

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None if there is no row."""
        pages = self._pages
        return pages[key] if key in pages else self._rows.get(key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in the same order."""
        pages = self._pages
        cached = {key: pages[key] for key in keys if key in pages}
        unread = [key for key in keys if key not in cached]
        read = iter(self._rows.multi_get(unread))
        return [cached[key] if key in cached else next(read) for key in keys]

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Yield the rows with start <= key < end."""
        return self._rows.scan(start, end, reverse=reverse)


class TreesFollower(Follower):
    """Maintains the trees over the digests of the values, and the values that have a row."""

    name = "trees"
    version = 4
    prefixes = (VALUE, tree_prefix("atoms"), tree_prefix("edges"))

    def __init__(self) -> None:
        self._trees = {name: PagedTree(name) for name in ("atoms", "edges")}
        self._read: tuple[bytes | None, Pages] = (None, {})
        """A value of the cursor, and the pages that `holds` read while the cursor had this value."""

    def holds(self, rows: Reader, cursor: bytes, namespace: str, keys: Sequence[bytes]) -> list[bool]:
        """Return, for each of `keys`, whether the tree has this leaf; `cursor` is this follower's cursor row.

        The pages that are read are kept for the next update, which needs most of them.

        Raises:
            CorruptionError: a page is missing.
        """
        trees_read, pages = self._read
        if trees_read != cursor or len(pages) > PAGES_MAX:
            pages = {}
            self._read = cursor, pages
        leaves = [leaf_keys(namespace, key)[0] for key in keys]
        return self._trees[namespace].holds(rows, leaves, pages)

    def batch_size(self, entries: Sequence[Entry], rows: Reader, *, more: bool) -> int:
        """Wait for a whole batch if more entries follow: one batch changes fewer pages than several."""
        return 0 if more else len(entries)

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Compute the values after `entries`, then update each tree once.

        Raises:
            CorruptionError: a value or a page does not match the seal of its tree.
        """
        atoms, edges, rest = added_leaves(entries)
        digests = {"atoms": atoms, "edges": edges}
        before: dict[str, Digests] = {"atoms": {}, "edges": {}}
        stored, values = _changed_values(entries, rest, rows)
        for (namespace, key), value in stored.items():
            for place in _places(namespace, key):
                before[namespace][place] = None if value is None else _digest(namespace, value)
                digests[namespace].setdefault(place, before[namespace][place])
        for (namespace, key), value in values.items():
            if not _follows_from_header(value):
                batch.put(value_key(namespace, key), encode_value(value))
            digests[namespace] |= dict.fromkeys(_places(namespace, key), _digest(namespace, value))
        sizes = entries[0].header.seq, entries[-1].header.seq + 1
        trees_read, pages = self._read
        if pages and trees_read == rows.get(cursor_key(self.name)):
            rows = PagesRead(rows, pages)
        for namespace, tree in self._trees.items():
            tree.advance(rows, batch, sizes, digests[namespace], before[namespace])


def leaf_keys(namespace: str, key: bytes) -> list[bytes]:
    """Return the keys of the leaves of an atom or edge: an edge has two, that of its source first."""
    if namespace == "atoms":
        return [key]
    src, code, dst = key[:16], key[16:-16], key[-16:]
    return [edge_leaf(Direction.FROM, src, code, dst), edge_leaf(Direction.TO, dst, code, src)]


def _places(namespace: str, key: bytes) -> list[bytes]:
    return [position(namespace, leaf) for leaf in leaf_keys(namespace, key)]


def _digest(namespace: str, value: Value) -> bytes:
    return value_digest(namespace, encode_value(value))


def added_leaves(entries: Sequence[Entry]) -> tuple[Digests, Digests, list[int]]:
    """Return the leaves of the atoms and of the edges that `entries` create.

    The third result lists the positions of the other entries, whose subjects may have earlier events.
    """
    if NATIVE is not None:
        return NATIVE.added_leaves(list(entries))  # type: ignore[no-any-return]
    leaves: dict[str, Digests] = {"atoms": {}, "edges": {}}
    rest = []
    for at, (header, _, _) in enumerate(entries):
        if header.prev is None and header.kind in _ADDING_KINDS:
            namespace, key = subject_of(header)
            raw = encode_value(first_value(header))
            leaves[namespace] |= dict.fromkeys(_places(namespace, key), value_digest(namespace, raw))
        else:
            rest.append(at)
    return leaves["atoms"], leaves["edges"], rest


Subject = tuple[str, bytes]
"""The namespace and key of a leaf."""


def _changed_values(
    entries: Sequence[Entry], places: Sequence[int], rows: Reader
) -> tuple[Mapping[Subject, Value | None], Mapping[Subject, Value]]:
    """Return the values of leaves before and after `entries`.

    Only the entries at `places` count. None stands for a leaf that does not exist.
    """
    stored: dict[Subject, Value | None] = {}
    changed: dict[Subject, Value] = {}
    first = entries[0].header.seq
    for place in places:
        header = entries[place].header
        subject = subject_of(header)
        if not subject[0]:
            continue
        before = changed.get(subject)
        if before is None and header.prev is not None:
            before = stored_value(rows, *subject)
            if before is not None:
                _check_order(header, before)
                stored[subject] = before
            elif header.prev < header.seq:
                at = header.prev - first
                earlier = entries[at].header if at >= 0 else read_header(rows, header.prev)[0]
                if subject_of(earlier) == subject:
                    before = first_value(earlier) if earlier.kind in CREATING_KINDS else None
                    if at < 0:
                        stored[subject] = before
        after = value_after(header, before)
        if after is not None:
            changed[subject] = after
    return stored, changed


def _check_order(header: Header, before: Value) -> None:
    # Otherwise the event would be applied twice.
    if before.last_seq >= header.seq:
        raise CorruptionError(
            f"the values include event {header.seq}, but the cursor of the trees does not",
            hint="run `engine rebuild`",
            family="values",
        )


def subject_of(header: Header) -> tuple[str, bytes]:
    """Return the namespace and key of the leaf that an event changes, or ("", b"") if it changes no leaf."""
    detail = header.detail
    if isinstance(detail, AtomDetail):
        return "atoms", detail.id
    if isinstance(detail, EdgeDetail):
        return "edges", edge_key(*detail)
    return ("atoms", detail.id) if isinstance(detail, FactDetail) and detail.id else ("", b"")


def read_value(rows: Lookup, namespace: str, key: bytes) -> Value | None:
    """Return the value of a leaf, or None if the atom or edge of the leaf was never recorded.

    The rows must hold the records and the values of the same moment.

    Raises:
        CorruptionError: a row is missing or malformed.
    """
    value = stored_value(rows, namespace, key)
    if value is not None:
        return value
    record = (
        read_atom(rows, key) if namespace == "atoms" else read_edge(rows, key[:16], key[16:-16], key[-16:])
    )
    if record is None:
        return None
    header, _ = read_header(rows, record.last_seq)
    if header.kind not in CREATING_KINDS or subject_of(header) != (namespace, key):
        raise CorruptionError(
            f"the value of {namespace} {key.hex()} is missing",
            hint="run `engine verify-root`, then `engine rebuild`",
            family="values",
        )
    return first_value(header)


def stored_value(rows: Lookup, namespace: str, key: bytes) -> Value | None:
    """Return the value of a leaf from its row, or None if there is no row.

    Raises:
        CorruptionError: the row is malformed.
    """
    raw = rows.get(value_key(namespace, key))
    return None if raw is None else decode_stored(decode_value, raw, f"value of {namespace} {key.hex()}")


def first_value(header: Header) -> Value:
    """Return the value of a leaf after the event that created its atom or edge."""
    ordinal = header.detail.ordinal if isinstance(header.detail, AtomDetail) else 0
    state = State.ERASED if header.kind in ERASING_KINDS else State.LIVE
    return Value(state, ordinal, 1, header.seq, header.seq, header.seq, header.commitment)


def _follows_from_header(value: Value) -> bool:
    return value.last_seq == value.created_seq


def value_after(header: Header, before: Value | None) -> Value | None:
    """Return the value of a leaf after an event, or None if the event does not change it.

    `before` is the value before the event, or None if the leaf had no value yet.
    """
    kind = header.kind
    if before is None:
        return first_value(header) if kind in CREATING_KINDS else None
    erased = before.state == State.ERASED
    if kind is EventKind.ATOM_ADDED and not erased:
        return None
    after = before._replace(last_seq=header.seq)
    if kind in _CONTENT_KINDS:
        return after._replace(
            state=State.LIVE,
            ordinal=header.detail.ordinal if isinstance(header.detail, AtomDetail) else 0,
            version=before.version + 1,
            payload_seq=header.seq,
            commitment=header.commitment,
        )
    if kind in ERASING_KINDS:
        return after._replace(state=State.ERASED)
    return after if erased else after._replace(state=_STATES_AFTER.get(kind, before.state))
