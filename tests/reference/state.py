"""SPEC 20: checks of claims about the state. Each check notes keys and values that the trees must confirm."""

from __future__ import annotations

from typing import Any

from tests.reference import claims as c
from tests.reference.forms import HASH, Check, array, chunk, fields, maybe, payload, raw, row, uint, value
from tests.reference.hashes import digest, index_leaves, row_leaf, rows_root, segments_of, tree_root
from tests.reference.refused import Refused, need
from tests.reference.walk import opened_root, taker

Calls = dict[str, dict[bytes, bytes | None]]
"""Namespace → key that a witness refers to → value, or None if the key is absent in the tree."""
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
    c.TAG: (BYTES, BYTES),
    c.NO_TAG: (BYTES, maybe(BYTES)),
    c.TAGGED: (SETS, ATOMS),
    c.NONE_TAGGED: (SETS,),
    c.TERM: (ROWS, LIVES, ATOMS),
    c.NO_TERM: (ROWS, LIVES),
}
LIVE, TAGGED = 1, 2


def call(calls: Calls, namespace: str, key: bytes, found: bytes | None) -> None:
    """Note the value that a witness gives for a key; refuse a second value for the same key."""
    need(calls[namespace].setdefault(key, found) == found, "contradiction")


def set_row(group: int, name: bytes, number: int) -> bytes:
    """Return the key of a set's chunk in the tree `tags`."""
    return bytes([group]) + name + b"\0" + number.to_bytes(2, "big")


def shown(
    calls: Calls, claim: c.Claim, witness: list[Any], size: int, segments: list[Segment] | None
) -> Shown:
    """Return the facts that a witness shows, provided that the trees confirm the keys noted in `calls`."""
    number, subject, state, _ = claim
    found: Shown = {"size": size}
    if number in (c.NO_ATOM, c.NO_EDGE):
        call(calls, "atoms" if number == c.NO_ATOM else "edges", subject, None)
    elif number in (c.ATOM, c.EDGE):
        found |= recorded(calls, number, subject, witness)
        need(found["state"] == state, "state")
    elif number in (c.TAG, c.NO_TAG):
        found |= tag(calls, number == c.TAG, subject, witness)
    else:
        found |= listed(calls, number, subject, witness, segments or [])
    return found


def recorded(calls: Calls, number: int, subject: bytes, witness: list[Any]) -> Shown:
    """Check the witness of a claim `atom` or `edge`. The caller compares the state with the claim."""
    namespace, kind = ("atoms", 1) if number == c.ATOM else ("edges", 8)
    raw_value, raw_payload = witness
    found = value(raw_value, namespace)
    call(calls, namespace, subject, raw_value)
    body = None
    if raw_payload is not None:
        body = payload(raw_payload, kind, found["commitment"])
    if number == c.ATOM:
        return found | {"body": body, "content": body[0] if body else None}
    return found | {"body": body}


def tag(calls: Calls, has: bool, subject: bytes, witness: list[Any]) -> Shown:
    """Check the witness of a claim `tag` or `no-tag`."""
    atom_id, identity = subject[:16], subject[16:]
    raw_value, raw_chunk = witness
    found = value(raw_value, "atoms")
    need(found["state"] == 0, "state")
    call(calls, "atoms", atom_id, raw_value)
    call(calls, "tags", set_row(TAGGED, identity, found["ordinal"] >> 16), raw_chunk)
    members = chunk(raw_chunk) if raw_chunk is not None else frozenset()
    need((found["ordinal"] & 0xFFFF in members) == has, "tagged")
    return {"ordinal": found["ordinal"]}


def listed(
    calls: Calls, number: int, subject: bytes, witness: list[Any], segments: list[Segment]
) -> dict[str, Any]:
    """Check the witness of a claim 7 to 10, and return the ids of the live atoms, ordered by ordinal."""
    if number in (c.TAGGED, c.NONE_TAGGED):
        live = tagged(calls, subject, witness[0], segments)
    else:
        live = with_term(calls, subject, witness[0], witness[1], segments)
    need((len(live) > 0) == (number in (c.TAGGED, c.TERM)), "list")
    return {"ids": atoms(calls, live, witness[-1])} if live else {}


def count_of(segments: list[Segment]) -> int:
    """Return N, the number of ordinals of the index."""
    return sum(int(one["size"]) for one in segments)


def members_of(raw_chunk: bytes | None, number: int, count: int) -> set[int]:
    """Return the ordinals of a chunk; refuse ordinals that the index does not have."""
    ordinals = {(number << 16) + member for member in (chunk(raw_chunk) if raw_chunk is not None else ())}
    need(all(ordinal < count for ordinal in ordinals), "chunk")
    return ordinals


def tagged(calls: Calls, identity: bytes, sets: list[Any], segments: list[Segment]) -> list[int]:
    """Return the ordinals of the live atoms that have the tag."""
    count = count_of(segments)
    need(len(sets) == count + 0xFFFF >> 16, "list")
    live: list[int] = []
    for number, entry in enumerate(sets):
        own, all_live = entry or (None, None)
        call(calls, "tags", set_row(TAGGED, identity, number), own)
        if entry is not None:
            call(calls, "tags", set_row(LIVE, b"", number), all_live)
            live += sorted(members_of(own, number, count) & members_of(all_live, number, count))
    return live


def with_term(
    calls: Calls, term: bytes, rows: list[Any], lives: list[Any], segments: list[Segment]
) -> list[int]:
    """Return the ordinals of the live atoms whose text contains the term."""
    need(len(rows) == len(segments), "row")
    found: dict[int, set[int]] = {}
    for entry, segment in zip(rows, segments, strict=True):
        for offset in row_of(term, entry, segment):
            ordinal = int(segment["start"]) + offset
            found.setdefault(ordinal >> 16, set()).add(ordinal)
    need(len(lives) == len(found), "list")
    live: list[int] = []
    for number, raw_chunk in zip(sorted(found), lives, strict=True):
        call(calls, "tags", set_row(LIVE, b"", number), raw_chunk)
        live += sorted(found[number] & members_of(raw_chunk, number, count_of(segments)))
    return live


def row_of(term: bytes, entry: list[Any], segment: Segment) -> list[int]:
    """Return the offsets in the row of a term, or no offsets if the entry shows that there is no row."""
    index, shown_row, hashes = entry
    rows = int(segment["rows"])
    need(uint(rows - 1)(index) and isinstance(hashes, bytes), "row")
    if isinstance(shown_row, bytes):
        offsets = row(shown_row, int(segment["size"]), int(segment["documents"]))
        leaves = {index: row_leaf(term, digest("row-inner", shown_row))}
    else:
        offsets = []
        leaves = neighbours(term, index, rows, shown_row)
    take, ended = taker(hashes, "row")
    need(rows_root(rows, leaves, lambda: take(32)) == segment["root"] and ended(), "row")
    return offsets


def neighbours(term: bytes, index: int, rows: int, pair: Any) -> dict[int, bytes]:
    """Return the leaves of the rows between which the term's row would be, or the leaf of the last row."""
    need(isinstance(pair, list) and len(pair) == (2 if index == rows - 1 else 4), "neighbours")
    one = fields((raw(1, 65), HASH))
    need(one(pair[:2]) and pair[0] < term, "neighbours")
    leaves = {index: row_leaf(*pair[:2])}
    if len(pair) == 4:
        need(one(pair[2:]) and term < pair[2], "neighbours")
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
    for namespace, keys in calls.items():
        opening = openings[namespace]
        if not keys:
            need(opening is None, "unneeded")
            continue
        need(opening is not None, "missing")
        if opened_root(namespace, keys, *opening) != roots[namespace]:
            raise Refused("tree")
