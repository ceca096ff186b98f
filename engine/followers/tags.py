"""The follower `tags`: for each tag, bucket, kind, provenance, source and day, who has it (SPEC: Tags).

A set of ordinals is cut into chunks of 65,536 (`engine.followers.chunks`), each a row and a leaf of the
`tags` tree. Ordinals that a revision made dead stay in every set but `live`; answers are intersected with it.

Erasing an atom takes all its ordinals out of all sets. To find those, it reads every row: measured, less than
0.2 s for twenty thousand rows, the other followers included; erasing is rare.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from backends.base import Batch, Reader
from engine.base.errors import CorruptionError
from engine.followers import chunks
from engine.followers.base import Follower
from engine.ledger.journal import erased_ordinals
from engine.ledger.layout import TAGS, tree_prefix
from engine.ledger.pages import PagedTree
from proofs.events import AtomBody, AtomDetail, Entry, EventKind, TagsBody
from proofs.hashing import key_digest, value_digest
from proofs.sets import CHUNK_BITS, Group, set_prefix, tag_identity

if TYPE_CHECKING:
    from pyroaring import BitMap

_READ_CHUNKS_MAX = 8
"""Measured on LevelDB: reading a row takes 2 µs, beginning a scan 15."""


SetName = tuple[Group, str]
"""A set of ordinals: its group, and which one of the group (empty for `LIVE`)."""

LIVE: SetName = (Group.LIVE, "")

_MICROSECONDS = 1_000_000
_EPOCH = dt.date(1970, 1, 1).toordinal()
_LAST_DAY = dt.date.max.toordinal() - _EPOCH


def day_of(time: int) -> str:
    """The UTC day of a time in µs; times beyond the year 9999 count to its last day."""
    days = min(time // (86_400 * _MICROSECONDS), _LAST_DAY)
    return dt.date.fromordinal(_EPOCH + days).isoformat()


class TagsFollower(Follower):
    """Keeps the sets, and the `tags` tree over their rows."""

    name = "tags"
    version = 1
    prefixes = (TAGS, tree_prefix("tags"))

    def __init__(self) -> None:
        self._tree = PagedTree("tags")

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Work out who joins and leaves which chunk, in order, then rewrite each chunk once."""
        changes: dict[tuple[SetName, int], dict[int, bool]] = {}
        erased: set[int] = set()
        for entry in entries:
            for name, ordinal, member in _changes(entry):
                chunk = changes.setdefault((name, ordinal >> CHUNK_BITS), {})
                chunk[ordinal & 0xFFFF] = member
            if entry.header.kind is EventKind.ERASED:
                erased |= erased_ordinals(rows, entry.header)
        if erased:
            _sweep(erased, rows, changes)
        keys = [_row_key(name, chunk) for name, chunk in changes]
        digests: dict[bytes, bytes | None] = {}
        for key, raw, changed in zip(keys, rows.multi_get(keys), changes.values(), strict=True):
            before = raw or b""
            after = chunks.apply(before, changed, key)
            if after == before:
                continue
            digests[key_digest("tags", key[len(TAGS) :])] = value_digest("tags", after) if after else None
            if after:
                batch.put(key, after)
            else:
                batch.delete(key)
        if digests:
            self._tree.update(rows, batch, digests)

    def root(self, rows: Reader) -> bytes:
        """The root of `tags`."""
        return self._tree.root(rows)


def _changes(entry: Entry) -> Iterator[tuple[SetName, int, bool]]:
    """(set, ordinal, whether it is a member from now on) for all that `entry` changes."""
    detail, body, kind = entry.header.detail, entry.body, entry.header.kind
    if not isinstance(detail, AtomDetail) or kind is EventKind.ERASED or body is None:
        return  # where the payload is gone, the atom is in no set, or about to leave them all
    ordinal = detail.ordinal
    if kind is EventKind.ATOM_TOMBSTONED:
        yield LIVE, ordinal, False
    elif kind is EventKind.ATOM_REVIVED:
        yield LIVE, ordinal, True
    elif isinstance(body, TagsBody):
        for tag in body.tags:
            yield (Group.TAG, tag_identity(tag)), ordinal, kind is EventKind.TAGS_ADDED
    elif kind is EventKind.ATOM_ADDED or kind is EventKind.ATOM_REVISED:
        if detail.replaced is not None:
            yield LIVE, detail.replaced, False
        if isinstance(body, AtomBody):
            yield LIVE, ordinal, True
            created = entry.header.time if body.created is None else body.created
            for name in _sets_of(body, created):
                yield name, ordinal, True


def _sweep(
    erased: AbstractSet[int], rows: Reader, changes: dict[tuple[SetName, int], dict[int, bool]]
) -> None:
    """Have `erased` leave every set: those in `changes`, and those in the rows."""
    within: dict[int, list[int]] = {}
    for ordinal in erased:
        within.setdefault(ordinal >> CHUNK_BITS, []).append(ordinal & 0xFFFF)
    for (_, chunk), changed in changes.items():
        changed.update(dict.fromkeys(within.get(chunk, ()), False))
    for key, raw in rows.scan_prefix(TAGS):
        chunk = int.from_bytes(key[-2:], "big")
        if chunk not in within:
            continue
        members = chunks.members(raw, chunk, key)
        gone = [low for low in within[chunk] if chunk << CHUNK_BITS | low in members]
        if gone:
            changes.setdefault((_name_of(key), chunk), {}).update(dict.fromkeys(gone, False))


def _name_of(key: bytes) -> SetName:
    """The set that a row belongs to.

    Raises:
        CorruptionError: the key names none.
    """
    try:
        return Group(key[len(TAGS)]), key[len(TAGS) + 1 : -3].decode()
    except ValueError as error:
        raise CorruptionError(f"set row {key.hex()} names no set", family="tags") from error


def _sets_of(body: AtomBody, created: int) -> Iterator[SetName]:
    for tag in body.tags:
        yield Group.TAG, tag_identity(tag)
    for bucket in body.buckets:
        yield Group.BUCKET, bucket
    yield Group.KIND, body.kind
    yield Group.PROVENANCE, body.provenance
    if body.source is not None:
        yield Group.SOURCE, body.source
    yield Group.DAY, day_of(created)


def _row_key(name: SetName, chunk: int) -> bytes:
    return TAGS + set_prefix(*name) + chunk.to_bytes(2, "big")


def members(rows: Reader, name: SetName, below: int | None = None) -> BitMap:
    """All ordinals in a set, dead ones included.

    `below` is how many ordinals there are, if the caller knows: a few reads are cheaper than a scan.

    Raises:
        CorruptionError: a row is not one of this follower's.
    """
    from pyroaring import BitMap

    prefix = TAGS + set_prefix(*name)
    found = BitMap()
    if below is not None and below <= _READ_CHUNKS_MAX << CHUNK_BITS:
        for chunk in range((below >> CHUNK_BITS) + 1):
            key = _row_key(name, chunk)
            raw = rows.get(key)
            if raw is not None:
                found |= chunks.members(raw, chunk, key)
        return found
    for key, raw in rows.scan(prefix, prefix + b"\xff\xff\xff"):
        if len(key) == len(prefix) + 2:
            chunk = int.from_bytes(key[-2:], "big")
            found |= chunks.members(raw, chunk, key)
    return found


def union(rows: Reader, names: Iterable[SetName]) -> BitMap:
    """All ordinals in any of several sets."""
    from pyroaring import BitMap

    return BitMap.union(BitMap(), *(members(rows, name) for name in names))


def values(rows: Reader, group: Group, start: str = "", stop: str | None = None) -> Iterator[str]:
    """The values of a group that have members, ascending, from `start` up to (not with) `stop`."""
    prefix = TAGS + bytes([group])
    end = TAGS + bytes([group + 1]) if stop is None else prefix + stop.encode()
    before = None
    for key, _ in rows.scan(prefix + start.encode(), end):
        value = key[len(prefix) : -3].decode()
        if value != before:
            yield value
        before = value


def tag_counts(rows: Reader) -> dict[str, int]:
    """Every tag that a live atom has, in its caseless form, with the number of live atoms that have it."""
    live = members(rows, LIVE)
    counts = ((tag, len(live & members(rows, (Group.TAG, tag)))) for tag in values(rows, Group.TAG))
    return {tag: count for tag, count in counts if count}
