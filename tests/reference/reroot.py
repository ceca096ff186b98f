"""Computes roots from the changed parts of a proof, as if the store's writer had committed to the changes.

Most changed proofs are refused because a hash does not match. This module recomputes all hashes, so that the
changed proof can be refused only because of the other rules of SPEC 20.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.reference import claims as c
from tests.reference.cbor import read
from tests.reference.claims import Claim
from tests.reference.hashes import (
    NAMESPACES,
    bit,
    digest,
    edge_prefix,
    in_namespace,
    index_leaves,
    keyed,
    log_leaf,
    overall,
    place,
    root_by_path,
    row_leaf,
    rows_root,
    segments_of,
    tree_root,
)
from tests.reference.state import LIVE, leaf

OPENING, LABELS, SEGMENTS, TREES, WITNESSES = 3, 4, 5, {"atoms": 6, "edges": 7, "tags": 8}, 9
ORDINALS_MAX = 1 << 33
Keys = dict[bytes, bytes | None]


class NoRoots(Exception):
    """Raised if the roots cannot be computed from the parts of a proof. No store has such roots."""


def rerooted(parts: list[Any], store_id: bytes, claims: Sequence[Claim]) -> bytes:
    """Compute the roots from the other parts, put them into the opening, and return the overall root.

    Args:
        parts: A proof of `claims`, in any order, against an overall root, with arbitrary changes.
        store_id: The store's id.
        claims: The claims of the proof.

    Raises:
        NoRoots: no roots can be computed from the changed parts.
    """
    ordered = sorted(claims, key=lambda claim: claim[:2])
    try:
        opening = parts[OPENING]
        if parts[SEGMENTS] is not None and parts[SEGMENTS][0] > ORDINALS_MAX:
            raise NoRoots("segments without end")
        called: dict[str, Keys] = {name: {} for name in TREES}
        labels = Keyed(parts[LABELS] or bytes(32))
        for claim, witness in zip(ordered, parts[WITNESSES], strict=True):
            collect(called, claim, witness[1:], parts[SEGMENTS], labels)
        for name, at in TREES.items():
            if parts[at] is not None and called[name]:
                opening[4][NAMESPACES.index(name)][1] = tree(name, called[name], *parts[at])
        if parts[SEGMENTS] is not None:
            found = index(parts[SEGMENTS], ordered, parts[WITNESSES], labels)
            opening[4][NAMESPACES.index("index")][1] = found
        if parts[LABELS] is not None:
            opening[1] = digest("label-key", parts[LABELS])
        opening[3] = log(ordered, parts[WITNESSES], opening)
        return overall(store_id, *opening)
    except (
        TypeError,
        ValueError,
        IndexError,
        KeyError,
        OverflowError,
        AttributeError,
        StopIteration,
    ) as error:
        raise NoRoots(str(error)) from error


class Keyed:
    """The keys of sets and the names of rows under a label key."""

    def __init__(self, label_key: bytes) -> None:
        """Use this label key."""
        self.key = label_key

    def row(self, named: bytes, number: int) -> bytes:
        """Return the key of a chunk of the set with this group and value."""
        return named[:1] + keyed(self.key, named) + number.to_bytes(2, "big")

    def name(self, term: bytes) -> bytes:
        """Return the name of the row of a term."""
        return keyed(self.key, b"\0" + term)


def collect(called: dict[str, Keys], claim: Claim, witness: list[Any], segments: Any, labels: Keyed) -> None:
    """Add the keys that a witness refers to, with their values, to `called`, by namespace."""
    number, subject, _, _ = claim
    if number in (c.ATOM, c.NO_ATOM, c.EDGE, c.NO_EDGE):
        name, key = leaf(number, subject)
        called[name][key] = witness[0] if witness else None
    elif number in (c.TAG, c.NO_TAG, c.TAGS_OF):
        called["atoms"][subject[:16]] = witness[0]
        value: Any = read(witness[0])
        called["tags"][labels.row(LIVE, value[1] >> 16 & 0xFFFF)] = witness[1]
        own = labels.row(subject[16:] or LIVE, value[1] >> 16 & 0xFFFF)
        called["tags"][b"\x08" + value[1].to_bytes(4, "big") if number == c.TAGS_OF else own] = witness[2]
    elif number == c.EDGES_OF:
        start = edge_prefix(subject[:17], subject[17:])
        called["edges"][start + bytes(32 - len(start))] = None
        called["edges"] |= {place("edges", key): value for key, value in witness[0]}
    elif number in (c.TAGGED, c.NONE_TAGGED):
        for at, entry in enumerate(witness[0], int.from_bytes(subject[:4], "big") >> 16):
            called["tags"][labels.row(subject[8:], at)] = entry and entry[0]
            if entry is not None:
                called["tags"][labels.row(LIVE, at)] = entry[1]
    elif number in (c.TERM, c.NO_TERM):
        every = segments_of(segments[0])
        starts = [every[at][1] for at in parts_of(segments, subject)]
        for at, chunk in zip(chunk_numbers(witness[0], starts), witness[1], strict=False):
            called["tags"][labels.row(LIVE, at)] = chunk
    if number in (c.TAGGED, c.TERM):
        called["atoms"] |= {atom: value for atom, value in witness[-1]}  # noqa: C416  lists, not pairs


def parts_of(segments: Any, subject: bytes) -> list[int]:
    """Return the positions of the segments that a list claim is about."""
    first, last = int.from_bytes(subject[:4], "big"), int.from_bytes(subject[4:8], "big")
    each = enumerate(segments_of(segments[0]))
    return [at for at, (_, start, size) in each if start <= last and first < start + size]


def chunk_numbers(shown: list[Any], starts: list[int]) -> list[int]:
    """Return the numbers of the chunks that contain the ordinals in the shown rows."""
    found: set[int] = set()
    for start, (_, committed, _) in zip(starts, shown, strict=False):
        if isinstance(committed, bytes):
            row = committed[16:]
            end = min(5 + 2 * int.from_bytes(row[:4], "big"), len(row))
            found |= {start + int.from_bytes(row[at : at + 2], "little") >> 16 for at in range(5, end, 2)}
    return sorted(found)


def tree(namespace: str, keys: Keys, shape: bytes, hashes: bytes) -> bytes:
    """Compute the root from an opening of any shape; missing hashes count as zeros."""
    named = {
        key if len(key) == 32 else place(namespace, key): None
        if value is None
        else in_namespace("value", namespace, value)
        for key, value in keys.items()
    }
    cases = iter(shape)
    at = 0

    def take(count: int) -> bytes:
        nonlocal at
        at += count
        return hashes[at - count : at].ljust(count, b"\0")

    def walk(some: Keys, depth: int) -> bytes:
        case = next(cases)
        if case == 0 and depth < 256:
            sides = []
            for side in (0, 1):
                below = {key: value for key, value in some.items() if bit(key, depth) == side}
                sides.append(walk(below, depth + 1) if below else take(32))
            return digest("node", *sides)
        if case == 1:
            own = [(key, value) for key, value in some.items() if value is not None]
            return digest("leaf", *own[0])
        return digest("leaf", take(32), take(32)) if case == 2 else bytes(32)

    return walk(named, 0)


def index(segments: list[Any], ordered: list[Claim], witnesses: list[list[Any]], labels: Keyed) -> bytes:
    """Return the root of the `index` tree; the roots of the rows are computed from the witnesses."""
    for claim, witness in zip(ordered, witnesses, strict=True):
        if claim[0] in (c.TERM, c.NO_TERM):
            for at, entry in zip(parts_of(segments, claim[1]), witness[1], strict=False):
                one = segments[1][at]
                one[3] = rows(labels.name(claim[1][8:]), one[2], entry)
    return tree_root(index_leaves(segments[0], segments[1]))


def rows(name: bytes, count: int, entry: list[Any]) -> bytes:
    """Compute the root over a segment's rows from the shown row or from the two shown neighbours."""
    at, shown, hashes = entry
    if isinstance(shown, bytes):
        leaves = {at: row_leaf(name, digest("row-inner", shown))}
    else:
        leaves = {at + n // 2: row_leaf(shown[n], shown[n + 1]) for n in range(0, len(shown), 2)}
    if not 0 < count < 1 << 40:
        raise NoRoots("no tree has so many rows")
    given = iter([hashes[n : n + 32].ljust(32, b"\0") for n in range(0, len(hashes), 32)])
    return rows_root(count, leaves, lambda: next(given, bytes(32)))


def log(ordered: list[Claim], witnesses: list[list[Any]], opening: list[Any]) -> bytes:
    """Compute the log root from the first shown event, or return the log root in the opening."""
    for claim, witness in zip(ordered, witnesses, strict=True):
        if claim[0] in (c.EVENT, c.ROOT, c.SEEN):
            header: Any = read(witness[1])
            path = [witness[-1][at : at + 32] for at in range(0, len(witness[-1]), 32)]
            found = root_by_path(header[1], opening[2], log_leaf(witness[1]), path)
            return opening[3] if found is None else found
    return bytes(opening[3])
