"""Finds the true claims about a journal by examining all of it."""

from __future__ import annotations

from tests.reference import claims as c
from tests.reference.build import log_leaves
from tests.reference.claims import Claim
from tests.reference.world import World, mth
from tests.spec.spec_naive import Rows, opened, tag_sets, u

UNKNOWN = 1 << 40
MOST = (1 << 32) - 1
FOREIGN_HEAD = 14


def atom_id(number: int) -> bytes:
    """Return the id of the n-th atom."""
    return u(number + 1, 16)


def edge_key(source: int, target: int, code: bytes = b"\1") -> bytes:
    """Return the key of an edge."""
    return atom_id(source) + code + atom_id(target)


def of_state(at: World) -> list[Claim]:
    """Return true claims of every kind about the state, positive and negative."""
    known, found = at.values, list[Claim]()
    for number, namespace in ((c.ATOM, "atoms"), (c.EDGE, "edges")):
        each = enumerate(known[namespace].items())
        found += [(number, key, value[0], n % 2 == 0 and value[0] != 2) for n, (key, value) in each]
    bare = [(c.NO_ATOM, atom_id(UNKNOWN + n)) for n in range(3)]
    bare += [(c.NO_EDGE, edge_key(0, 1)), (c.NO_EDGE, edge_key(1, 0, b"\x80" + bytes(7)))]
    codes = {edge[16:-16] for edge in known["edges"]} | {b"\4"}
    for atom in known["atoms"]:
        ends = [direction + atom for direction in (b"\0", b"\1")]
        bare += [(c.EDGES_OF, end + code) for end in ends for code in (b"", *codes)]
    found += [(number, subject, None, False) for number, subject in sorted(bare)]
    return found + of_sets(at) + of_terms(at)


def of_sets(at: World) -> list[Claim]:
    """Return true claims about the sets, the tags and the lists of atoms."""
    sets = tag_sets(at.events)
    live = sets.get((1, ""), set())
    names = sorted(
        {*sets, (2, "never"), (2, "net"), (3, "nowhere"), (6, "no such file.md"), (7, "1999-12-31")}
    )
    found: list[Claim] = []
    for atom, (state, ordinal, *_) in sorted(at.values["atoms"].items()):
        if state == 2:
            continue
        found.append((c.TAGS_OF, atom, state, False))
        for group, value in names[1:]:
            number = c.TAG if ordinal in sets.get((group, value), ()) else c.NO_TAG
            found.append((number, atom + u(group, 1) + value.encode(), state, False))
    for group, value in names[1:]:
        members = sorted(live & sets.get((group, value), set()))
        for first, last in ranges(members, len(at.documents)):
            inside = any(first <= ordinal <= last for ordinal in members)
            subject = u(first, 4) + u(last, 4) + u(group, 1) + value.encode()
            found.append((c.TAGGED if inside else c.NONE_TAGGED, subject, None, False))
    return found


def of_terms(at: World) -> list[Claim]:
    """Return true claims about the terms of the texts of live atoms."""
    live = tag_sets(at.events).get((1, ""), set())
    terms = {"aaa", "zzzz", "daemon"}.union(*(at.documents[ordinal].text for ordinal in live))
    found: list[Claim] = []
    for term in sorted(terms):
        members = sorted(ordinal for ordinal in live if term in at.documents[ordinal].text)
        for first, last in ranges(members, len(at.documents)):
            inside = any(first <= ordinal <= last for ordinal in members)
            subject = u(first, 4) + u(last, 4) + term.encode()
            found.append((c.TERM if inside else c.NO_TERM, subject, None, False))
    return found


def ranges(members: list[int], count: int) -> list[tuple[int, int]]:
    """Return ranges for lists: all ordinals, one member, those after it, and ordinals that are not there."""
    middle = members[len(members) // 2] if members else 0
    return [(0, MOST), (middle, middle), (middle + 1, MOST), (count, MOST)]


def of_log(worlds: dict[int, World], rows: Rows) -> list[Claim]:
    """Return true claims of every kind about a log."""
    leaves = log_leaves(rows)
    found: list[Claim] = [
        (c.EVENT, u(seq, 8), None, seq > 0 and seq % 2 == 0 and bool(row[1])) for seq, row in enumerate(rows)
    ]
    bare = [(c.PREFIX, u(n, 8) + mth(leaves[:n])) for n in range(1, len(rows) + 1)]
    events = [opened(header, payload)[0] for header, payload in rows]
    bare += [(c.ROOT, fields[7]) for fields in events if fields[3] == 10]
    bare += [(c.PREFIX_ROOT, one.roots["overall"]) for size, one in worlds.items() if size <= len(rows)]
    bare += [
        (c.SEEN, fields[7] + u(fields[8], 8) + fields[10])
        for fields in events
        if fields[3] == FOREIGN_HEAD and fields[10]
    ]
    return found + [(number, subject, None, False) for number, subject in bare]
