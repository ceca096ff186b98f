"""The follower `tags`: a set of ordinals for each tag, bucket, kind, provenance, source and day (SPEC: Tags).

A set of ordinals is divided into chunks of 65,536 (`engine.followers.chunks`); each chunk is a row and a leaf
of the `tags` tree. When a revision replaces an ordinal, the ordinal is removed only from the set `live`.
Therefore, each query intersects its result with `live`.

Erasing an atom removes all its ordinals from all sets. To find the sets, every row is read. With twenty
thousand rows, this work and the work of the other followers take less than 0.2 s (measured). Erasing is rare.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import TYPE_CHECKING

from backends.base import Batch, Reader
from engine.base.errors import CorruptionError
from engine.base.native import NATIVE
from engine.followers import chunks
from engine.followers.base import Follower
from engine.ledger.journal import erased_ordinals
from engine.ledger.layout import TAGS, tree_prefix
from engine.ledger.paged_tree import PagedTree
from proofs.events import AtomBody, AtomDetail, Entry, EventKind, TagsBody
from proofs.hashing import key_digest, value_digest
from proofs.leaves import CHUNK_BITS, Group, set_prefix, tag_identity

if TYPE_CHECKING:
    from pyroaring import BitMap

_READ_CHUNKS_MAX = 8
"""The maximum number of chunks that are read one by one. More chunks are read with a scan: on LevelDB one
read takes 2 µs, and starting a scan takes 15 µs (measured)."""


SetName = tuple[Group, str]
"""The name of a set of ordinals: a group (such as tags) and a value (such as one tag; empty for `LIVE`)."""

LIVE: SetName = (Group.LIVE, "")
SUPERSEDED = "superseded"
"""The tag of an atom that was replaced by a different atom. Queries return such atoms only on request."""

_MICROSECONDS = 1_000_000
_EPOCH = dt.date(1970, 1, 1).toordinal()
_LAST_DAY = dt.date.max.toordinal() - _EPOCH


def day_of(time: int) -> str:
    """Return the UTC day of a time in µs, as YYYY-MM-DD. For times after the year 9999, return 9999-12-31."""
    return _day(time // (86_400 * _MICROSECONDS))


@lru_cache(maxsize=64)
def _day(days: int) -> str:
    return dt.date.fromordinal(_EPOCH + min(days, _LAST_DAY)).isoformat()


class TagsFollower(Follower):
    """Maintains the sets and the `tags` tree over their rows."""

    name = "tags"
    version = 2
    prefixes = (TAGS, tree_prefix("tags"))

    def __init__(self) -> None:
        self._tree = PagedTree("tags")

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Collect the changes of all entries by chunk; then write each changed chunk once.

        Raises:
            CorruptionError: a row or a page is not the one that the seal of the tree commits to.
        """
        added, rest = _added_members(entries)
        others = [entries[at] for at in rest]
        changes = _changes_of(others, rows)
        both = added.keys() & changes.keys()
        before = dict(zip(keys := [*added, *changes], rows.multi_get(keys), strict=True))
        after = {key: chunks.apply(before[key] or b"", changes[key], key) for key in changes.keys() - both}
        after |= chunks.extend(before, {key: added[key] for key in added if key not in both})
        for key in both:
            joined = chunks.extend(before, {key: added[key]})[key]
            after[key] = chunks.apply(joined, changes[key], key)
        written = {key: raw for key, raw in after.items() if raw != (before[key] or b"")}
        batch.rows.update((key, raw or None) for key, raw in written.items())
        if any(entry.header.kind is EventKind.ERASED for entry in others):
            before |= self._all_rows(rows)
        stored = _digests({key: raw or b"" for key, raw in before.items()})
        sizes = entries[0].header.seq, entries[-1].header.seq + 1
        self._tree.advance(rows, batch, sizes, stored | _digests(written), stored)

    def _all_rows(self, rows: Reader) -> dict[bytes, bytes]:
        """Return the rows of all sets, because each row may contain a member that an erasure must remove.

        Raises:
            CorruptionError: the tree has a leaf without a row, or a row has no leaf.
        """
        stored = dict(rows.scan_prefix(TAGS))
        if self._tree.keys(rows) != {key_digest("tags", key[len(TAGS) :]) for key in stored}:
            raise CorruptionError(
                "the rows of the sets are not those in the tree", hint="run `engine rebuild`", family="tags"
            )
        return stored


def _digests(written: Mapping[bytes, bytes]) -> dict[bytes, bytes | None]:
    """Return the changes of the tree for rows with new bytes. Empty bytes stand for a row that is removed."""
    members = [key[len(TAGS) :] for key, raw in written.items() if raw]
    digests: dict[bytes, bytes | None] = {
        key_digest("tags", key[len(TAGS) :]): None for key, raw in written.items() if not raw
    }
    values = [raw for raw in written.values() if raw]
    if NATIVE is not None:
        return digests | NATIVE.leaf_digests("tags", members, values)  # type: ignore[no-any-return]
    for key, raw in zip(members, values, strict=True):
        digests[key_digest("tags", key)] = value_digest("tags", raw)
    return digests


def _added_members(entries: Sequence[Entry]) -> tuple[dict[bytes, bytes], Sequence[int]]:
    """Return the members that newly added atoms add to each row, and the positions of all other entries.

    The other entries can be applied after these additions, because an event on the first ordinal of an atom
    follows the event that adds the atom. If the order is different (in a forged journal), or if atoms are
    erased, all positions are returned.
    """
    everything = range(len(entries))
    if any(entry.header.kind is EventKind.ERASED for entry in entries):
        return {}, everything
    members = None if NATIVE is None else NATIVE.added_members(list(entries))
    return members or _added_members_twin(entries) or ({}, everything)


def _added_members_twin(entries: Sequence[Entry]) -> tuple[dict[bytes, bytes], Sequence[int]] | None:
    """Do the work of `_added_members` in Python; return None if the new ordinals do not ascend."""
    # By group and name: measured, a dict for each group takes a third of the time of keys with a `Group`.
    sets: dict[Group, dict[str, list[int]]] = {group: {} for group in Group}
    live = sets[Group.LIVE].setdefault("", [])
    tagged, buckets, kinds, provenances, sources, days = (sets[group] for group in list(Group)[1:])
    rest, last = [], -1
    for at, (header, body, _) in enumerate(entries):
        detail = header.detail
        if not isinstance(detail, AtomDetail):
            rest.append(at)
            continue
        ordinal = detail.ordinal
        if header.kind is not EventKind.ATOM_ADDED or detail.replaced is not None:
            rest.append(at)
        elif ordinal <= last:
            return None
        elif isinstance(body, AtomBody):
            live.append(ordinal)
            for tag in set(map(tag_identity, body.tags)):
                tagged.setdefault(tag, []).append(ordinal)
            for bucket in set(body.buckets):
                buckets.setdefault(bucket, []).append(ordinal)
            kinds.setdefault(body.kind, []).append(ordinal)
            provenances.setdefault(body.provenance, []).append(ordinal)
            if body.source is not None:
                sources.setdefault(body.source, []).append(ordinal)
            created = header.time if body.created is None else body.created
            days.setdefault(_day(created // (86_400 * _MICROSECONDS)), []).append(ordinal)
        last = max(last, ordinal)
    return dict(_packed_members(sets)), rest


def _packed_members(sets: Mapping[Group, Mapping[str, list[int]]]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the key of each row that `sets` extend, with its new members. The ordinals in each set ascend."""
    for group, by_name in sets.items():
        for name, ordinals in by_name.items():
            start = 0
            while start < len(ordinals):
                chunk = ordinals[start] >> CHUNK_BITS
                stop = bisect_left(ordinals, (chunk + 1) << CHUNK_BITS, start)
                base = chunk << CHUNK_BITS
                members = chunks.packed([ordinal - base for ordinal in ordinals[start:stop]])
                yield _row_key((group, name), chunk), members
                start = stop


def _changes_of(entries: Iterable[Entry], rows: Reader) -> dict[bytes, dict[int, bool]]:
    """Return the changes of each row by `entries`: low 16 bits of an ordinal → True if it is a member."""
    changes: dict[tuple[SetName, int], dict[int, bool]] = {}
    erased: set[int] = set()
    for entry in entries:
        for name, ordinal, member in _changes(entry):
            chunk = changes.setdefault((name, ordinal >> CHUNK_BITS), {})
            chunk[ordinal & 0xFFFF] = member
        if entry.header.kind is EventKind.ERASED:
            erased |= erased_ordinals(rows, entry.header)
    if erased:
        _remove_from_all(erased, rows, changes)
    return {_row_key(name, chunk): changed for (name, chunk), changed in changes.items()}


def _changes(entry: Entry) -> Iterator[tuple[SetName, int, bool]]:
    """Yield (set, ordinal, True to add or False to remove) for each membership that `entry` changes."""
    detail, body, kind = entry.header.detail, entry.body, entry.header.kind
    if not isinstance(detail, AtomDetail) or kind is EventKind.ERASED or body is None:
        return  # if the payload is destroyed, a later event removes the atom from all sets
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


def _remove_from_all(
    erased: AbstractSet[int], rows: Reader, changes: dict[tuple[SetName, int], dict[int, bool]]
) -> None:
    """Update `changes`: remove the ordinals `erased` from all stored sets, and add them to no set."""
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
        removed = [low for low in within[chunk] if chunk << CHUNK_BITS | low in members]
        if removed:
            changes.setdefault((_name_of(key), chunk), {}).update(dict.fromkeys(removed, False))


def _name_of(key: bytes) -> SetName:
    """Return the name of the set to which a row belongs.

    Raises:
        CorruptionError: no set can have this key.
    """
    try:
        return Group(key[len(TAGS)]), key[len(TAGS) + 1 : -3].decode()
    except ValueError as error:
        raise CorruptionError(
            f"the row {key.hex()} of the sets has a key that no set can have", family="tags"
        ) from error


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
    """Return all ordinals in a set, including ordinals that are no longer live.

    `below` is the number of all ordinals, if the caller knows it. If the number is small, the rows are read
    one by one instead of with a scan.

    Raises:
        CorruptionError: a row is malformed.
    """
    from pyroaring import BitMap

    prefix = TAGS + set_prefix(*name)
    ordinals = BitMap()
    if below is not None and below <= _READ_CHUNKS_MAX << CHUNK_BITS:
        for chunk in range((below >> CHUNK_BITS) + 1):
            key = _row_key(name, chunk)
            raw = rows.get(key)
            if raw is not None:
                ordinals |= chunks.members(raw, chunk, key)
        return ordinals
    for key, raw in rows.scan(prefix, prefix + b"\xff\xff\xff"):
        if len(key) == len(prefix) + 2:
            chunk = int.from_bytes(key[-2:], "big")
            ordinals |= chunks.members(raw, chunk, key)
    return ordinals


def union(rows: Reader, names: Iterable[SetName]) -> BitMap:
    """Return all ordinals that are in at least one of the named sets."""
    from pyroaring import BitMap

    return BitMap.union(BitMap(), *(members(rows, name) for name in names))


def values(rows: Reader, group: Group, start: str = "", stop: str | None = None) -> Iterator[str]:
    """Yield the values of a group's nonempty sets in ascending order. `start` is included, `stop` is not."""
    prefix = TAGS + bytes([group])
    end = TAGS + bytes([group + 1]) if stop is None else prefix + stop.encode()
    previous = None
    for key, _ in rows.scan(prefix + start.encode(), end):
        value = key[len(prefix) : -3].decode()
        if value != previous:
            yield value
        previous = value


def tag_counts(rows: Reader) -> dict[str, int]:
    """Return the tags of live atoms, in caseless form, each with the number of live atoms with this tag."""
    live = members(rows, LIVE)
    counts = ((tag, len(live & members(rows, (Group.TAG, tag)))) for tag in values(rows, Group.TAG))
    return {tag: count for tag, count in counts if count}
