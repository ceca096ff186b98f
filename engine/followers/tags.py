"""The follower `tags`: a set of ordinals for each tag, bucket, kind, provenance, source and day (SPEC: Tags).

A set of ordinals is divided into chunks of 65,536 (`engine.followers.chunks`); each chunk is a row and a leaf
of the `tags` tree. The key of a row contains the label of the set, a hash keyed with the store's label key;
the value begins with the name of the set. Other rows hold the tags of one ordinal each. When a revision
replaces an ordinal, the ordinal is removed only from the set `live`. Therefore, each query intersects its
result with `live`.

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
from engine.ledger.journal import erased_ordinals, identity_for, read_identity
from engine.ledger.layout import TAGS, decode_stored, tree_prefix
from engine.ledger.paged_tree import PagedTree
from proofs.events import AtomBody, AtomDetail, Entry, EventKind, TagsBody
from proofs.hashing import key_digest, value_digest
from proofs.labels import LABEL_BYTES, label_of, salted
from proofs.leaves import CHUNK_BITS, TAGS_OF, Group, decode_tags, encode_tags, tag_identity, tags_row

if TYPE_CHECKING:
    from pyroaring import BitMap

_READ_CHUNKS_MAX = 8
"""The maximum number of chunks that are read one by one. More chunks are read with a scan: on LevelDB one
read takes 2 µs, and starting a scan takes 15 µs (measured)."""


SetName = tuple[Group, str]
"""The name of a set of ordinals: a group (such as tags) and a value (such as one tag; empty for `LIVE`)."""

LIVE: SetName = (Group.LIVE, "")
_LABEL_END = 1 + LABEL_BYTES
"""The length of a group and a label, with which the key of a row in the `tags` tree begins."""
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
    version = 3
    prefixes = (TAGS, tree_prefix("tags"))

    def __init__(self) -> None:
        self._tree = PagedTree("tags")

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Collect the changes of all entries by chunk; then write each changed chunk once.

        Raises:
            CorruptionError: a row or a page is not the one that the seal of the tree commits to.
        """
        identity = identity_for(entries, rows)
        added, new_tags, rest = _added_members(entries)
        others = [entries[at] for at in rest]
        erased: set[int] = set()
        for entry in others:
            if entry.header.kind is EventKind.ERASED:
                erased |= erased_ordinals(rows, entry.header)
        stored = self._all_rows(rows) if erased else {}
        changes = _changes_of(others, erased, stored)
        both = added.keys() & changes.keys()
        before = _read_chunks(rows, identity.label_key, [*added, *changes])
        after = {
            place: chunks.apply(before[place] or b"", changes[place], place)
            for place in changes.keys() - both
        }
        after |= chunks.extend(before, {place: added[place] for place in added if place not in both})
        for place in both:
            joined = chunks.extend(before, {place: added[place]})[place]
            after[place] = chunks.apply(joined, changes[place], place)
        written = {place: raw for place, raw in after.items() if raw != (before[place] or b"")}
        tags_before, tags_after = _tags_of(others, new_tags, erased, rows)
        for place, raw in written.items():
            batch.rows[_row_key(place, identity.label_key)] = _named(place) + raw if raw else None
        for key, raw in tags_after.items():
            batch.rows[TAGS + key] = raw or None
        present = {_tree_key(place, identity.label_key): raw or b"" for place, raw in before.items()}
        present |= tags_before | {key[len(TAGS) :]: _content(key, raw) for key, raw in stored.items()}
        future = {_tree_key(place, identity.label_key): raw for place, raw in written.items()} | tags_after
        known = _digests(present, identity.row_key)
        sizes = entries[0].header.seq, entries[-1].header.seq + 1
        self._tree.advance(rows, batch, sizes, known | _digests(future, identity.row_key), known)

    def _all_rows(self, rows: Reader) -> dict[bytes, bytes]:
        """Return all rows, because each row may contain a member that an erasure must remove.

        Raises:
            CorruptionError: the tree has a leaf without a row, or a row has no leaf.
        """
        stored = dict(rows.scan_prefix(TAGS))
        if self._tree.keys(rows) != {key_digest("tags", key[len(TAGS) :]) for key in stored}:
            raise CorruptionError(
                "the rows of the sets are not those in the tree", hint="run `engine rebuild`", family="tags"
            )
        return stored


def _read_chunks(rows: Reader, label_key: bytes, places: Sequence[bytes]) -> dict[bytes, bytes | None]:
    """Return the stored chunk at each of `places`, None where the set has no such chunk."""
    keys = [_row_key(place, label_key) for place in places]
    read = zip(places, keys, rows.multi_get(keys), strict=True)
    return {place: None if raw is None else _content(key, raw, _named(place)) for place, key, raw in read}


def _content(key: bytes, raw: bytes, named: bytes | None = None) -> bytes:
    """Return what a row holds besides the name of its set: the bytes that the tree commits to.

    Raises:
        CorruptionError: the row does not begin with `named` or, if that is None, with the name of any set.
    """
    if key[len(TAGS)] == TAGS_OF:
        return raw
    end = 2 + int.from_bytes(raw[:2], "big")
    if len(raw) <= end or (named is not None and raw[:end] != named):
        raise CorruptionError(f"the row {key.hex()} does not hold a chunk of its set", family="tags")
    return raw[end:]


def _tags_of(
    entries: Iterable[Entry], added: Mapping[bytes, bytes], erased: AbstractSet[int], rows: Reader
) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """Return the rows of the tags of ordinals that change, before and after; empty for no row.

    They change by `entries`, which follow upon the rows `added`.
    """
    before: dict[bytes, bytes] = {}
    tags: dict[bytes, set[str]] = {}

    def current(ordinal: int) -> set[str]:
        key = tags_row(ordinal)
        if key not in tags:
            raw = added.get(key)
            if raw is None:
                raw = before[key] = rows.get(TAGS + key) or b""
            tags[key] = set(decode_stored(decode_tags, raw)) if raw else set()
        return tags[key]

    for header, body, _ in entries:
        detail = header.detail
        if not isinstance(detail, AtomDetail):
            continue
        if isinstance(body, TagsBody):
            changed = set(map(tag_identity, body.tags))
            now = current(detail.ordinal)
            now |= changed if header.kind is EventKind.TAGS_ADDED else set()
            now -= changed if header.kind is EventKind.TAGS_REMOVED else set()
        elif isinstance(body, AtomBody) and body.tags:
            tags[tags_row(detail.ordinal)] = set(map(tag_identity, body.tags))
    for ordinal in erased:
        current(ordinal).clear()
    changed_rows = {key: encode_tags(some) if some else b"" for key, some in tags.items()}
    after = {**added, **changed_rows}
    return before, {key: raw for key, raw in after.items() if raw != before.get(key, b"")}


def _digests(written: Mapping[bytes, bytes], row_key: bytes) -> dict[bytes, bytes | None]:
    """Return the leaves of the tree for rows with these bytes. Empty bytes stand for a removed row."""
    digests: dict[bytes, bytes | None] = {
        key_digest("tags", key): None for key, raw in written.items() if not raw
    }
    members = {key: raw for key, raw in written.items() if raw}
    if NATIVE is not None:
        return digests | NATIVE.salted_leaves("tags", row_key, list(members), list(members.values()))  # type: ignore[no-any-return]
    for key, raw in members.items():
        digests[key_digest("tags", key)] = value_digest("tags", salted(row_key, "tags", key, raw))
    return digests


Added = tuple[dict[bytes, bytes], dict[bytes, bytes], Sequence[int]]
"""What newly added atoms add to each row of a set, the rows of their tags, and the positions of all other
entries."""


def _added_members(entries: Sequence[Entry]) -> Added:
    """Return what newly added atoms add.

    The other entries can be applied after these additions, because an event on the first ordinal of an atom
    follows the event that adds the atom. If the order is different (in a forged journal), or if atoms are
    erased, all positions are returned.
    """
    everything = range(len(entries))
    if any(entry.header.kind is EventKind.ERASED for entry in entries):
        return {}, {}, everything
    members = None if NATIVE is None else NATIVE.added_members(list(entries))
    return members or _added_members_twin(entries) or ({}, {}, everything)


def _added_members_twin(entries: Sequence[Entry]) -> Added | None:
    """Do the work of `_added_members` in Python; return None if the new ordinals do not ascend."""
    sets: dict[SetName, list[int]] = {}
    tags: dict[bytes, bytes] = {}
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
            created = entries[at].time if body.created is None else body.created
            for name in dict.fromkeys((LIVE, *_sets_of(body, created))):
                sets.setdefault(name, []).append(ordinal)
            if body.tags:
                tags[tags_row(ordinal)] = encode_tags(set(map(tag_identity, body.tags)))
        last = max(last, ordinal)
    return dict(_packed_members(sets)), tags, rest


def _packed_members(sets: Mapping[SetName, list[int]]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the key of each row that `sets` extend, with its new members. The ordinals in each set ascend."""
    for name, ordinals in sets.items():
        start = 0
        while start < len(ordinals):
            chunk = ordinals[start] >> CHUNK_BITS
            stop = bisect_left(ordinals, (chunk + 1) << CHUNK_BITS, start)
            base = chunk << CHUNK_BITS
            yield _place(name, chunk), chunks.packed([ordinal - base for ordinal in ordinals[start:stop]])
            start = stop


def _changes_of(
    entries: Iterable[Entry], erased: AbstractSet[int], stored: Mapping[bytes, bytes]
) -> dict[bytes, dict[int, bool]]:
    """Return the changes of each chunk by `entries`: low 16 bits of an ordinal → True if it is a member."""
    changes: dict[tuple[SetName, int], dict[int, bool]] = {}
    for entry in entries:
        for name, ordinal, member in _changes(entry):
            chunk = changes.setdefault((name, ordinal >> CHUNK_BITS), {})
            chunk[ordinal & 0xFFFF] = member
    if erased:
        _remove_from_all(erased, stored, changes)
    return {_place(name, chunk): changed for (name, chunk), changed in changes.items()}


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
    elif isinstance(body, AtomBody):
        if detail.replaced is not None:
            yield LIVE, detail.replaced, False
        if kind is not EventKind.VERSION_NOTED:
            yield LIVE, ordinal, True
        created = entry.time if body.created is None else body.created
        for name in _sets_of(body, created):
            yield name, ordinal, True


def _remove_from_all(
    erased: AbstractSet[int],
    stored: Mapping[bytes, bytes],
    changes: dict[tuple[SetName, int], dict[int, bool]],
) -> None:
    """Update `changes`: remove the ordinals `erased` from all stored sets, and add them to no set."""
    within: dict[int, list[int]] = {}
    for ordinal in erased:
        within.setdefault(ordinal >> CHUNK_BITS, []).append(ordinal & 0xFFFF)
    for (_, chunk), changed in changes.items():
        changed.update(dict.fromkeys(within.get(chunk, ()), False))
    for key, raw in stored.items():
        chunk = int.from_bytes(key[-2:], "big")
        if key[len(TAGS)] == TAGS_OF or chunk not in within:
            continue
        members = chunks.members(_content(key, raw), chunk, key)
        removed = [low for low in within[chunk] if chunk << CHUNK_BITS | low in members]
        if removed:
            changes.setdefault((_name_of(key, raw), chunk), {}).update(dict.fromkeys(removed, False))


def _name_of(key: bytes, raw: bytes) -> SetName:
    """Return the name of the set to which a row belongs.

    Raises:
        CorruptionError: no set can have this row.
    """
    try:
        return Group(key[len(TAGS)]), raw[2 : 2 + int.from_bytes(raw[:2], "big")].decode()
    except ValueError as error:
        raise CorruptionError(f"the row {key.hex()} belongs to no set", family="tags") from error


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


# Chunks are collected by their *place*: group u8 ‖ name ‖ 0x00 ‖ chunk number u16.
def _place(name: SetName, chunk: int) -> bytes:
    return bytes([name[0]]) + name[1].encode() + b"\x00" + chunk.to_bytes(2, "big")


@lru_cache(maxsize=4096)
def _labelled(named: bytes, label_key: bytes) -> bytes:
    """Return the group and the label of a set, whose group and name are `named`."""
    return named[:1] + label_of(label_key, named[0], named[1:])


def _tree_key(place: bytes, label_key: bytes) -> bytes:
    return _labelled(place[:-3], label_key) + place[-2:]


def _row_key(place: bytes, label_key: bytes) -> bytes:
    return TAGS + _tree_key(place, label_key)


def _named(place: bytes) -> bytes:
    """Return how the row of a chunk begins: the length of the name of its set, and the name."""
    return (len(place) - 4).to_bytes(2, "big") + place[1:-3]


def chunk_row(rows: Reader, name: SetName, chunk: int) -> tuple[bytes, bytes | None]:
    """Return the key of a chunk in the `tags` tree, and what its leaf commits to, or None."""
    identity, place = read_identity(rows), _place(name, chunk)
    key = _tree_key(place, identity.label_key)
    raw = rows.get(TAGS + key)
    if raw is None:
        return key, None
    return key, salted(identity.row_key, "tags", key, _content(TAGS + key, raw, _named(place)))


def tags_of(rows: Reader, ordinal: int) -> tuple[bytes, bytes | None]:
    """Return the key of the tags of an ordinal in the tree, and what its leaf commits to."""
    key = tags_row(ordinal)
    raw = rows.get(TAGS + key)
    return key, None if raw is None else salted(read_identity(rows).row_key, "tags", key, raw)


def members(rows: Reader, name: SetName, below: int | None = None) -> BitMap:
    """Return all ordinals in a set, including ordinals that are no longer live.

    `below` is the number of all ordinals, if the caller knows it. If the number is small, the rows are read
    one by one instead of with a scan.

    Raises:
        CorruptionError: a row is malformed.
    """
    from pyroaring import BitMap

    label_key, named = read_identity(rows).label_key, _named(_place(name, 0))
    ordinals = BitMap()
    if below is not None and below <= _READ_CHUNKS_MAX << CHUNK_BITS:
        for chunk in range((below >> CHUNK_BITS) + 1):
            key = _row_key(_place(name, chunk), label_key)
            raw = rows.get(key)
            if raw is not None:
                ordinals |= chunks.members(_content(key, raw, named), chunk, key)
        return ordinals
    prefix = _row_key(_place(name, 0), label_key)[:-2]
    for key, raw in rows.scan_prefix(prefix):
        chunk = int.from_bytes(key[-2:], "big")
        ordinals |= chunks.members(_content(key, raw, named), chunk, key)
    return ordinals


def nonempty(rows: Reader, names: Sequence[SetName], below: int) -> list[bool]:
    """Return, for each set, whether it has an ordinal below `below`. All rows are read together."""
    label_key, count = read_identity(rows).label_key, (below >> CHUNK_BITS) + 1
    keys = [_row_key(_place(name, chunk), label_key) for name in names for chunk in range(count)]
    stored = [raw is not None for raw in rows.multi_get(keys)]
    return [any(stored[at : at + count]) for at in range(0, len(stored), count)]


def union(rows: Reader, names: Iterable[SetName]) -> BitMap:
    """Return all ordinals that are in at least one of the named sets."""
    from pyroaring import BitMap

    return BitMap.union(BitMap(), *(members(rows, name) for name in names))


def values(rows: Reader, group: Group, start: str = "", stop: str | None = None) -> Iterator[str]:
    """Yield the values of a group's nonempty sets in ascending order. `start` is included, `stop` is not.

    The rows are in the order of labels, so those of the whole group are read.
    """
    begin = len(TAGS) + _LABEL_END
    names = {key[:begin]: raw for key, raw in rows.scan_prefix(TAGS + bytes([group]))}
    for _, name in sorted(_name_of(key, raw) for key, raw in names.items()):
        if start <= name and (stop is None or name < stop):
            yield name


def tag_counts(rows: Reader) -> dict[str, int]:
    """Return the tags of live atoms, in caseless form, each with the number of live atoms with this tag."""
    live = members(rows, LIVE)
    counts = ((tag, len(live & members(rows, (Group.TAG, tag)))) for tag in values(rows, Group.TAG))
    return {tag: count for tag, count in counts if count}
