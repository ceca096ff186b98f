"""Finds the true claims about a journal by examining all of it."""

from __future__ import annotations

from tests.reference import claims as c
from tests.reference.build import log_leaves
from tests.reference.claims import Claim
from tests.reference.world import World, mth
from tests.spec.spec_naive import Rows, identity, opened, u

UNKNOWN = 1 << 40
Texts = dict[bytes, tuple[set[bytes], set[bytes]]]
"""Key of each live atom → the identities of its tags, and the terms of its text."""


def atom_id(number: int) -> bytes:
    """Return the id of the n-th atom."""
    return u(number + 1, 16)


def edge_key(source: int, target: int, code: bytes = b"\1") -> bytes:
    """Return the key of an edge."""
    return atom_id(source) + code + atom_id(target)


def texts(at: World) -> Texts:
    """Return the tags and terms of each live atom, from the bodies of its events."""
    tags: dict[bytes, set[bytes]] = {}
    for fields, body in at.events:
        if body is None:
            continue
        if fields[3] in (1, 2):
            tags[fields[7]] = {identity(tag).encode() for tag in body[3]}
        elif fields[3] in (5, 6):
            named = {identity(tag).encode() for tag in body[0]}
            tags[fields[7]] = tags[fields[7]] | named if fields[3] == 5 else tags[fields[7]] - named
    return {
        key: (tags[key], {term.encode() for term in at.documents[value[1]].text})
        for key, value in at.values["atoms"].items()
        if value[0] == 0
    }


def of_state(at: World) -> list[Claim]:
    """Return true claims of every kind about the state, positive and negative."""
    known, live = at.values, texts(at)
    tags = {b"never"}.union(*(some for some, _ in live.values())) | {b"net", b"even"}
    terms = {b"aaa", b"zzzz", b"daemon"}.union(*(some for _, some in live.values()))
    found: list[Claim] = []
    for number, namespace in ((c.ATOM, "atoms"), (c.EDGE, "edges")):
        each = enumerate(known[namespace].items())
        found += [(number, key, value[0], n % 2 == 0 and value[0] != 2) for n, (key, value) in each]
    bare = [(c.NO_ATOM, atom_id(UNKNOWN + n)) for n in range(3)]
    bare += [(c.NO_EDGE, edge_key(0, 1)), (c.NO_EDGE, edge_key(1, 0, b"\x80\0"))]
    for key, (own, _) in live.items():
        bare += [(c.TAG if tag in own else c.NO_TAG, key + tag) for tag in tags]
    bare += [(c.TAGGED if with_tag(live, tag) else c.NONE_TAGGED, tag) for tag in tags]
    bare += [(c.TERM if with_term(live, term) else c.NO_TERM, term) for term in terms]
    return found + [(number, subject, None, False) for number, subject in sorted(bare)]


def of_log(worlds: dict[int, World], rows: Rows) -> list[Claim]:
    """Return true claims of every kind about a log."""
    leaves = log_leaves(rows)
    found: list[Claim] = [
        (c.EVENT, u(seq, 8), None, seq % 2 == 0 and bool(row[1])) for seq, row in enumerate(rows)
    ]
    bare = [(c.PREFIX, u(n, 8) + mth(leaves[:n])) for n in range(1, len(rows) + 1)]
    events = [opened(header, payload)[0] for header, payload in rows]
    bare += [(c.ROOT, fields[7]) for fields in events if fields[3] == 10]
    bare += [(c.PREFIX_ROOT, one.roots["overall"]) for size, one in worlds.items() if size <= len(rows)]
    return found + [(number, subject, None, False) for number, subject in bare]


def with_tag(live: Texts, tag: bytes) -> list[bytes]:
    """Return the live atoms that have a tag."""
    return [key for key, (tags, _) in live.items() if tag in tags]


def with_term(live: Texts, term: bytes) -> list[bytes]:
    """Return the live atoms that have a term in their text."""
    return [key for key, (_, terms) in live.items() if term in terms]
