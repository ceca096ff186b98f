"""SPEC 20: checks of claims about the state. Each check notes keys and values that the trees must confirm."""

from __future__ import annotations

from typing import Any

from tests.reference import claims as c
from tests.reference.forms import (
    HASH,
    Check,
    array,
    ascending,
    chunk,
    code,
    fields,
    item_of,
    maybe,
    payload,
    raw,
    row,
    uint,
    value,
)
from tests.reference.hashes import (
    digest,
    edge_prefix,
    index_leaves,
    keyed,
    place,
    row_leaf,
    rows_root,
    segments_of,
    tree_root,
)
from tests.reference.refused import Refused, need
from tests.reference.walk import opened_root, taker

Segment = dict[str, int | bytes]
Shown = dict[str, Any]

BYTES = raw(0, 1 << 24)
SETS = array(maybe(fields((BYTES, maybe(BYTES)))), 1 << 16)
ATOMS = array(fields((raw(16), BYTES)), 1 << 24)
LIVES = array(maybe(BYTES), 1 << 16)
ROWS = array(lambda item: isinstance(item, list) and len(item) == 3, 1 << 17)
FORMS: dict[int, tuple[Check, ...]] = {
    c.ATOM: (BYTES, maybe(BYTES)),
    c.NO_ATOM: (),
    c.EDGE: (BYTES, maybe(BYTES)),
    c.NO_EDGE: (),
    c.TAG: (BYTES, maybe(BYTES), maybe(BYTES)),
    c.NO_TAG: (BYTES, maybe(BYTES), maybe(BYTES)),
    c.TAGGED: (SETS, ATOMS),
    c.NONE_TAGGED: (SETS,),
    c.TERM: (ROWS, LIVES, ATOMS),
    c.NO_TERM: (ROWS, LIVES),
    c.EDGES_OF: (array(fields((BYTES, BYTES)), 1 << 24),),
    c.TAGS_OF: (BYTES, maybe(BYTES), maybe(BYTES)),
}
LIVE = b"\1"
"""The group of the live ordinals; the value is empty."""


class Calls:
    """What the trees must confirm, and the label key with which keys are made."""

    def __init__(self, label_key: bytes | None) -> None:
        """Begin without a key of any namespace."""
        self.label_key = label_key or bytes(32)
        self.keys: dict[str, dict[bytes, bytes | None]] = {"atoms": {}, "edges": {}, "tags": {}}
        self.complete: list[bytes] = []
        self.listed: list[tuple[bytes, int]] = []


def call(calls: Calls, namespace: str, key: bytes, found: bytes | None) -> None:
    """Note the value that a witness gives for a key; refuse a second value for the same key."""
    need(calls.keys[namespace].setdefault(key, found) == found, "contradiction")


def members(calls: Calls, named: bytes, number: int, committed: bytes | None) -> frozenset[int]:
    """Note the chunk of a set, given by its group and value, behind its salt; return its members."""
    key = named[:1] + keyed(calls.label_key, named) + number.to_bytes(2, "big")
    call(calls, "tags", key, committed)
    if committed is None:
        return frozenset()
    need(len(committed) > 16, "chunk")
    return chunk(committed[16:])


def shown(
    calls: Calls, claim: c.Claim, witness: list[Any], size: int, segments: list[Segment] | None
) -> Shown:
    """Return the facts that a witness shows, provided that the trees confirm the keys noted in `calls`."""
    number, subject, state, _ = claim
    found: Shown = {"size": size}
    if number in (c.NO_ATOM, c.NO_EDGE):
        call(calls, *leaf(number, subject), None)
    elif number in (c.ATOM, c.EDGE):
        found |= recorded(calls, number, subject, witness)
        need(found["state"] == state, "state")
    elif number in (c.TAG, c.NO_TAG):
        found |= tag(calls, number == c.TAG, subject, state, witness)
    elif number == c.TAGS_OF:
        found |= all_tags(calls, subject, state, witness)
    elif number == c.EDGES_OF:
        found["edges"] = all_edges(calls, subject, witness[0])
    else:
        found |= listed(calls, number, subject, witness, segments or [])
    return found


def leaf(number: int, subject: bytes) -> tuple[str, bytes]:
    """Return the namespace and key of the leaf that a claim 1 to 4 is about."""
    return ("atoms", subject) if number in (c.ATOM, c.NO_ATOM) else ("edges", b"\0" + subject)


def recorded(calls: Calls, number: int, subject: bytes, witness: list[Any]) -> Shown:
    """Check the witness of a claim `atom` or `edge`. The caller compares the state with the claim."""
    namespace, kind = ("atoms", 1) if number == c.ATOM else ("edges", 8)
    raw_value, raw_payload = witness
    found = value(raw_value, namespace)
    call(calls, *leaf(number, subject), raw_value)
    body = None
    if raw_payload is not None:
        body = payload(raw_payload, kind, found["commitment"])
    if number == c.ATOM:
        return found | {"body": body, "content": body[0] if body else None}
    return found | {"body": body}


def tag(calls: Calls, has: bool, subject: bytes, state: int | None, witness: list[Any]) -> Shown:
    """Check the witness of a claim `tag` or `no-tag`."""
    ordinal = kept(calls, subject[:16], state, witness)
    need((ordinal & 0xFFFF in members(calls, subject[16:], ordinal >> 16, witness[2])) == has, "tagged")
    return {"ordinal": ordinal}


def kept(calls: Calls, atom_id: bytes, state: int | None, witness: list[Any]) -> int:
    """Check the state of an atom, by its value and by the live ordinals, and return its ordinal."""
    found = value(witness[0], "atoms")
    need(found["state"] == state, "state")
    call(calls, "atoms", atom_id, witness[0])
    ordinal: int = found["ordinal"]
    alive = ordinal & 0xFFFF in members(calls, LIVE, ordinal >> 16, witness[1])
    need(alive == (state == 0), "state")
    return ordinal


def all_tags(calls: Calls, subject: bytes, state: int | None, witness: list[Any]) -> Shown:
    """Check the witness of a claim `tags`."""
    ordinal = kept(calls, subject, state, witness)
    call(calls, "tags", b"\x08" + ordinal.to_bytes(4, "big"), witness[2])
    tags = [] if witness[2] is None else item_of(witness[2][16:], "chunk")
    need(isinstance(tags, list) and all(isinstance(tag, str) for tag in tags), "chunk")
    need(ascending([tag.encode() for tag in tags]) and (bool(tags) or witness[2] is None), "chunk")
    return {"ordinal": ordinal, "tags": tags}


def all_edges(calls: Calls, subject: bytes, listed_edges: list[Any]) -> list[Any]:
    """Check the witness of a claim 15, and return [code, other end, state] of each edge."""
    start = edge_prefix(subject[:17], subject[17:])
    calls.complete.append(start)
    keys = [key for key, _ in listed_edges]
    calls.listed.append((start, len(keys)))
    need(ascending(keys) and all(len(key) > 33 for key in keys), "list")
    found = []
    for key, raw_value in listed_edges:
        need(code(key[17:-16]) and place("edges", key).startswith(start), "list")
        state = value(raw_value, "edges")["state"]
        call(calls, "edges", key, raw_value)
        if key[:17] == subject[:17] and subject[17:] in (b"", key[17:-16]):
            found.append([key[17:-16], key[-16:], state])
    return found


def listed(
    calls: Calls, number: int, subject: bytes, witness: list[Any], segments: list[Segment]
) -> dict[str, Any]:
    """Check the witness of a claim 7 to 10, and return the ids of the live atoms, ordered by ordinal."""
    first, last = int.from_bytes(subject[:4], "big"), int.from_bytes(subject[4:8], "big")
    if number in (c.TAGGED, c.NONE_TAGGED):
        live = tagged(calls, subject[8:], witness[0], segments, first, last)
    else:
        within = [one for one in segments if int(one["start"]) <= last and first < end_of(one)]
        live = with_term(calls, subject[8:], witness[0], witness[1], within, count_of(segments), first, last)
    need((len(live) > 0) == (number in (c.TAGGED, c.TERM)), "list")
    return {"ids": atoms(calls, live, witness[-1])} if live else {}


def count_of(segments: list[Segment]) -> int:
    """Return N, the number of ordinals of the index."""
    return sum(int(one["size"]) for one in segments)


def end_of(segment: Segment) -> int:
    """Return the first ordinal after a segment."""
    return int(segment["start"]) + int(segment["size"])


def ordinals_of(found: frozenset[int], number: int, count: int) -> set[int]:
    """Return the ordinals of the members of a chunk; refuse ordinals that the index does not have."""
    ordinals = {(number << 16) + member for member in found}
    need(all(ordinal < count for ordinal in ordinals), "chunk")
    return ordinals


def tagged(
    calls: Calls, named: bytes, sets: list[Any], segments: list[Segment], first: int, last: int
) -> list[int]:
    """Return the live ordinals from `first` to `last` in the set with this group and value."""
    count = count_of(segments)
    end = min(last + 1, count)
    numbers = range(first >> 16, end + 0xFFFF >> 16) if first < end else range(0)
    need(len(sets) == len(numbers), "list")
    live: list[int] = []
    for number, entry in zip(numbers, sets, strict=True):
        own, all_live = entry or (None, None)
        inside = members(calls, named, number, own)
        if entry is not None:
            alive = members(calls, LIVE, number, all_live)
            live += sorted(ordinals_of(inside, number, count) & ordinals_of(alive, number, count))
    return [ordinal for ordinal in live if first <= ordinal <= last]


def with_term(
    calls: Calls,
    term: bytes,
    rows: list[Any],
    lives: list[Any],
    segments: list[Segment],
    count: int,
    first: int,
    last: int,
) -> list[int]:
    """Return the live ordinals from `first` to `last` whose text contains the term."""
    need(len(rows) == len(segments), "row")
    found: dict[int, set[int]] = {}
    for entry, segment in zip(rows, segments, strict=True):
        for offset in row_of(keyed(calls.label_key, b"\0" + term), entry, segment):
            ordinal = int(segment["start"]) + offset
            found.setdefault(ordinal >> 16, set()).update({ordinal} if first <= ordinal <= last else ())
    need(len(lives) == len(found), "list")
    live: list[int] = []
    for number, raw_chunk in zip(sorted(found), lives, strict=True):
        alive = members(calls, LIVE, number, raw_chunk)
        live += sorted(found[number] & ordinals_of(alive, number, count))
    return live


def row_of(name: bytes, entry: list[Any], segment: Segment) -> list[int]:
    """Return the offsets in the row of this name, or no offsets if the entry shows that there is no row."""
    index, shown_row, hashes = entry
    rows = int(segment["rows"])
    need(uint(rows - 1)(index) and isinstance(hashes, bytes), "row")
    if isinstance(shown_row, bytes):
        offsets = row(shown_row[16:], int(segment["size"]), int(segment["documents"]))
        leaves = {index: row_leaf(name, digest("row-inner", shown_row))}
    else:
        offsets = []
        leaves = neighbours(name, index, rows, shown_row)
    take, ended = taker(hashes, "row")
    need(rows_root(rows, leaves, lambda: take(32)) == segment["root"] and ended(), "row")
    return offsets


def neighbours(name: bytes, index: int, rows: int, pair: Any) -> dict[int, bytes]:
    """Return the leaves of the rows between which the term's row would be, or the leaf of the last row."""
    need(isinstance(pair, list) and len(pair) == (2 if index == rows - 1 else 4), "neighbours")
    one = fields((raw(1, 16), HASH))
    need(one(pair[:2]) and pair[0] < name, "neighbours")
    leaves = {index: row_leaf(*pair[:2])}
    if len(pair) == 4:
        need(one(pair[2:]) and name < pair[2], "neighbours")
        leaves[index + 1] = row_leaf(*pair[2:])
    return leaves


def atoms(calls: Calls, live: list[int], listed_atoms: list[Any]) -> list[bytes]:
    """Check that the listed atoms are those of the live ordinals, and return the ids of the atoms."""
    need([value(raw_value, "atoms")["ordinal"] for _, raw_value in listed_atoms] == live, "list")
    for atom_id, raw_value in listed_atoms:
        need(value(raw_value, "atoms")["state"] == 0, "list")
        call(calls, "atoms", atom_id, raw_value)
    ids = [atom_id for atom_id, _ in listed_atoms]
    need(len(set(ids)) == len(ids), "list")
    return ids


def summaries(part: Any, index_root: bytes) -> list[Segment]:
    """Check the segments of an index against the root of the `index` tree, and return them."""
    four = fields((uint(), uint(), uint(), HASH))
    need(fields((uint(1 << 32), array(four, 1 << 17)))(part), "form")
    expected = segments_of(part[0])
    need(len(part[1]) == len(expected), "segments")
    leaves, found = index_leaves(part[0], part[1]), []
    for (_, start, size), (documents, total, rows, root) in zip(expected, part[1], strict=True):
        need(documents <= size and total <= 65_535 * documents and rows >= 2, "segments")
        found.append({"start": start, "size": size, "documents": documents, "rows": rows, "root": root})
    need(tree_root(leaves) == index_root, "index")
    return found


def opened(calls: Calls, openings: dict[str, Any], roots: dict[str, bytes]) -> None:
    """Refuse the proof unless each opened tree has the root of its namespace and confirms its keys."""
    for namespace, keys in calls.keys.items():
        opening = openings[namespace]
        complete = calls.complete if namespace == "edges" else []
        if not keys and not complete:
            need(opening is None, "unneeded")
            continue
        need(opening is not None, "missing")
        shape, hashes = opening
        there = [place(namespace, key) for key, found in keys.items() if found is not None]
        for start, count in calls.listed if namespace == "edges" else []:
            need(sum(one.startswith(start) for one in there) == count, "list")
        if opened_root(namespace, keys, shape, hashes, complete) != roots[namespace]:
            raise Refused("tree")
