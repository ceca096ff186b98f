"""Builds correct proofs from a journal in the simplest way, with whole trees in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.reference import claims as c
from tests.reference.cbor import read, write
from tests.reference.claims import Basis, Claim
from tests.reference.hashes import NAMESPACES, digest, edge_prefix, log_leaf, row_leaf
from tests.reference.state import LIVE, Calls, call, leaf
from tests.reference.world import World, beside, consistency, inclusion, walked
from tests.spec.spec_naive import (
    Rows,
    opened,
    place,
    salted_rows,
    segments,
    summary,
    tag_changes,
    term_rows,
    tree_leaves,
    u,
)


def opening(of: World) -> list[Any]:
    """Return the opening of an overall root."""
    named = [[name, of.roots[name]] for name in NAMESPACES]
    return [of.rules, of.label_commitment, len(of.rows), of.roots["log"], named]


def log_leaves(rows: Rows) -> list[bytes]:
    """Return the leaves of a log."""
    return [log_leaf(header) for header, _ in rows]


def build(rows: Rows, basis: Basis, claims: Sequence[Claim], worlds: dict[int, World]) -> bytes:
    """Return a proof of true claims.

    `rows` holds the events of the basis's log. `worlds` maps a size of the log to the values that are derived
    at that size. It must contain the sizes that the claims name. For an overall root, it must also contain
    the size of the whole log; for a log head, the size before the last event, which must be a checkpoint.
    """
    ordered = sorted(claims, key=lambda claim: claim[:2])
    leaves = log_leaves(rows)
    link, at = None, worlds[len(rows) - (basis[0] == "log")]
    if basis[0] == "log":
        link = [rows[-1][0], inclusion(len(rows) - 1, leaves)]
    labelled = any(number in c.LABELLED for number, *_ in ordered)
    calls = Calls(at.keys.labels if labelled else None)
    witnesses: list[Any] = []
    for number, subject, _, opens in ordered:
        if number in c.STATE_CLAIMS:
            witnesses.append([number, *of_state(at, calls, number, subject, opens)])
        else:
            witnesses.append([number, *of_log(rows, leaves, number, subject, worlds, opens)])
    listed = any(number in c.LIST_CLAIMS for number, *_ in ordered)
    whole: list[Any] = ["memroot-proof", 3, link, opening(at), at.keys.labels if labelled else None]
    whole.append(summaries(at) if listed else None)
    whole += [opened_tree(at, name, calls) for name in ("atoms", "edges", "tags")]
    return write([*whole, witnesses])


def of_log(
    rows: Rows, leaves: list[bytes], number: int, subject: bytes, worlds: dict[int, World], opens: bool
) -> list[Any]:
    """Return the witness of a claim about the log."""
    if number == c.PREFIX:
        return [consistency(int.from_bytes(subject[:8], "big"), leaves)]
    if number == c.PREFIX_ROOT:
        old = next(one for one in worlds.values() if one.roots["overall"] == subject)
        return [opening(old), consistency(len(old.rows), leaves)]
    if number == c.EVENT:
        seq = int.from_bytes(subject, "big")
        return [rows[seq][0], rows[seq][1] if opens else None, inclusion(seq, leaves)]
    if number == c.SEEN:
        detail = [subject[:16], int.from_bytes(subject[16:24], "big"), subject[24:]]
        seq = next(
            s for s, row in enumerate(rows) if (f := opened(*row)[0])[3] == 14 and [*f[7:9], f[10]] == detail
        )
        return [rows[seq][0], inclusion(seq, leaves)]
    seq = next(s for s, row in enumerate(rows) if (f := opened(*row)[0])[3] == 10 and f[7] == subject)
    return [rows[seq][0], inclusion(seq, leaves)]


def of_state(at: World, calls: Calls, number: int, subject: bytes, opens: bool) -> list[Any]:
    """Return the witness of a claim about the state, and add the keys that it refers to to `calls`."""
    if number in (c.ATOM, c.NO_ATOM, c.EDGE, c.NO_EDGE):
        namespace, key = leaf(number, subject)
        value = look(at, calls, namespace, key)
        if value is None:
            return []
        payload_seq = at.values[namespace][subject][4]
        return [value, at.rows[payload_seq][1] if opens else None]
    if number in (c.TAG, c.NO_TAG, c.TAGS_OF):
        ordinal = at.values["atoms"][subject[:16]][1]
        shown = [
            look(at, calls, "atoms", subject[:16]),
            look(at, calls, "tags", set_row(at, LIVE, ordinal >> 16)),
        ]
        own = u(8, 1) + u(ordinal, 4) if number == c.TAGS_OF else set_row(at, subject[16:], ordinal >> 16)
        return [*shown, look(at, calls, "tags", own)]
    if number == c.EDGES_OF:
        return [of_edges(at, calls, subject)]
    first, last = int.from_bytes(subject[:4], "big"), int.from_bytes(subject[4:8], "big")
    of_list = of_set if number in (c.TAGGED, c.NONE_TAGGED) else of_term
    witness, ordinals = of_list(at, calls, subject[8:], first, last)
    alive = [ordinal for ordinal in sorted(ordinals) if first <= ordinal <= last and is_live(at, ordinal)]
    atoms = [[at.ids[ordinal], look(at, calls, "atoms", at.ids[ordinal])] for ordinal in alive]
    return [*witness, atoms] if number in (c.TAGGED, c.TERM) else witness


def look(at: World, calls: Calls, namespace: str, key: bytes) -> bytes | None:
    """Return the value of a key or None, and note in `calls` that the witness refers to the key."""
    found = at.leaves[namespace].get(key)
    call(calls, namespace, key, found)
    return found


def set_row(at: World, named: bytes, number: int) -> bytes:
    """Return the key of a chunk of the set with this group and value."""
    return named[:1] + at.keys.label(named[0], named[1:]) + u(number, 2)


def of_edges(at: World, calls: Calls, subject: bytes) -> list[list[bytes]]:
    """Return the key and value of each leaf in the subtree of an atom's edges."""
    start = edge_prefix(subject[:17], subject[17:])
    calls.complete.append(start)
    inside = sorted(key for key in at.leaves["edges"] if place("edges", key).startswith(start))
    return [[key, look(at, calls, "edges", key) or b""] for key in inside]


def is_live(at: World, ordinal: int) -> bool:
    """Return True if the ordinal belongs to the content of a live atom."""
    value: list[Any] = at.values["atoms"][at.ids[ordinal]]
    return value[:2] == [0, ordinal]


def of_set(at: World, calls: Calls, named: bytes, first: int, last: int) -> tuple[list[Any], set[int]]:
    """Return the part of the witness with the chunks of a set, and the ordinals in this set."""
    sets: list[Any] = []
    end = min(last + 1, len(at.documents))
    for number in range(first >> 16, end + 0xFFFF >> 16) if first < end else ():
        own = look(at, calls, "tags", set_row(at, named, number))
        sets.append(own and [own, look(at, calls, "tags", set_row(at, LIVE, number))])
    return [sets], members(at.events, named)


def members(events: list[tuple[list[Any], list[Any]]], named: bytes) -> set[int]:
    """Return the ordinals in a set, including dead ordinals."""
    found: set[int] = set()
    for fields, body in events:
        leaving, joining = tag_changes(fields, body)
        found -= {ordinal for name, ordinal in leaving if name == (named[0], named[1:].decode())}
        found |= {ordinal for name, ordinal in joining if name == (named[0], named[1:].decode())}
    return found


def of_term(at: World, calls: Calls, term: bytes, first: int, last: int) -> tuple[list[Any], set[int]]:
    """Return the part of the witness with the term's rows and live chunks, and the ordinals in these rows."""
    shown, found = [], set()
    for key, documents in segments(at.documents):
        start = int.from_bytes(key[1:], "big")
        if start > last or first >= start + len(documents):
            continue
        rows = salted_rows(key, term_rows(documents, at.stop_words, at.keys), at.keys)
        shown.append(row_shown(rows, at.keys.label(0, term)))
        found |= {start + n for n, one in enumerate(documents) if term.decode() in one.text}
    numbers = sorted({ordinal >> 16 for ordinal in found})
    return [shown, [look(at, calls, "tags", set_row(at, LIVE, number)) for number in numbers]], found


def row_shown(rows: list[tuple[bytes, bytes]], term: bytes) -> list[Any]:
    """Return the row of a term or, if the segment has no such row, the rows between which it would be."""
    leaves = [row_leaf(t, digest("row-inner", value)) for t, value in rows]
    index = max(at for at, (t, _) in enumerate(rows) if t <= term)
    if rows[index][0] == term:
        return [index, rows[index][1], beside(leaves, {index})]
    near = rows[index : index + 2]
    pair = [item for t, value in near for item in (t, digest("row-inner", value))]
    return [index, pair, beside(leaves, {index + n for n in range(len(near))})]


def summaries(at: World) -> list[Any]:
    """Return the part `segments` of a proof."""
    found: list[Any] = [
        read(summary(key, some, at.stop_words, at.keys)) for key, some in segments(at.documents)
    ]
    return [len(at.documents), found]


def opened_tree(at: World, namespace: str, calls: Calls) -> Any:
    """Return the opening of a namespace's tree at the keys in `calls`, or None if there are no keys."""
    keys = {place(namespace, key) for key in calls.keys[namespace]}
    if namespace == "edges":
        keys |= {start + bytes(32 - len(start)) for start in calls.complete}
    return list(walked(keys, tree_leaves(namespace, at.leaves[namespace]), 0)) if keys else None
