"""Named rejects x08 to x13: sets, rows, segments and lists of atoms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.soundness.rejects import ATOMS as COUNT
from tests.soundness.rejects import Cases, changed, home, offered, part, put, reject
from tests.soundness.support import items
from tests.soundness.wire import ATOMS, SEGMENTS, WITNESSES, Case, replaced


@reject
def x08_chunks() -> Cases:
    """A chunk that is not canonical, has unknown ordinals, or contradicts the claim is refused."""
    item = home()["tag@root"]
    committed = part(item, WITNESSES, 0, 3)
    salt, chunk = committed[:16], committed[16:]
    few, dense = chunk[:2], bytes(8192)
    for other in (
        chunk[:-1],
        chunk[::-1],
        chunk + chunk[-2:],
        few * 2,
        dense,
        b"\xff" * 8192,
        bytes(8190),
        bytes(8194),
        b"\0" * 8191,
    ):
        reason = "tree|shape|other-leaf" if other == b"\xff" * 8192 else "chunk"
        yield put(reason, item, salt + other, WITNESSES, 0, 3)
    for at in (2, 3):
        yield put("chunk", item, salt, WITNESSES, 0, at)
        yield put("form", item, 0, WITNESSES, 0, at)
    yield put("state", item, None, WITNESSES, 0, 2)
    yield put("tagged", item, None, WITNESSES, 0, 3)
    yield put("tagged", item, salt + chunk[2:], WITNESSES, 0, 3)
    live = part(item, WITNESSES, 0, 2)
    yield put("state", item, live[:16] + live[18:], WITNESSES, 0, 2)
    yield put("tree|shape|other-leaf", item, bytes([salt[0] ^ 1]) + committed[1:], WITNESSES, 0, 3)
    lacks = home()["no-tag-chunk@root"]
    own = part(lacks, WITNESSES, 0, 3)
    yield put("tagged", lacks, own[:16] + b"\0\0" + own[16:], WITNESSES, 0, 3)
    shown = part(item, WITNESSES, 0, 1)
    yield Case(
        "tagged",
        "verify",
        [
            put("", item, 6, WITNESSES, 0, 0).given[0],
            item.basis,
            [["LacksTag", *item.claims[0][1:]]],
        ],
    )
    assert shown == part(home()["no-tag@root"], WITNESSES, 0, 1)
    for name in ("tagged@root", "term@log"):
        place = (WITNESSES, 0, 1, 0) if name[1] == "a" else (WITNESSES, 0, 2)
        for at in range(2 if name[1] == "a" else 1):
            raw = part(home()[name], *place, at) + (COUNT + 1).to_bytes(2, "little")
            yield put("chunk", home()[name], raw, *place, at)


def _listed(name: str, change: Callable[[list[Any]], object], reason: str) -> Case:
    """Return the case of a list whose atoms were changed."""
    last = 2 if name.startswith("tagged") else 3
    return changed(reason, home()[name], lambda parts: change(parts[WITNESSES][0][last]))


def _first_value(atoms: list[Any], value: bytes) -> None:
    replaced(atoms, value, 0, 1)


@reject
def x09_lists() -> Cases:
    """A list that does not name exactly the live atoms of its sets or rows, in order, is refused."""
    for name in ("tagged@root", "term@log"):
        yield _listed(name, lambda atoms: atoms.pop(), "list")
        yield _listed(name, lambda atoms: atoms.append(atoms[0]), "list")
        yield _listed(name, lambda atoms: atoms.reverse(), "list")
        yield _listed(name, lambda atoms: replaced(atoms, atoms[1], 0), "list")
        yield _listed(name, lambda atoms: replaced(atoms, atoms[0][1], 1, 1), "list")
        yield _listed(name, lambda atoms: replaced(atoms, atoms[0][0], 1, 0), "list")
        yield _listed(name, lambda atoms: replaced(atoms, bytes(16), 0, 0), "tree|shape|absent")
        yield _listed(name, lambda atoms: replaced(atoms, bytes(15), 0, 0), "form")
        yield _listed(name, lambda atoms: atoms[0].append(b""), "form")
        dead = part(home()["atom-hidden@root"], WITNESSES, 0, 1)
        live = part(home()["atom@root"], WITNESSES, 0, 1)
        hidden = bytes([live[0], 1]) + live[2:]
        assert hidden != dead
        yield _listed(name, partial(_first_value, value=hidden), "list")
    for one, other, number in (("tagged@root", "NoneTagged", 8), ("term@log", "NoneMentioning", 10)):
        item = home()[one]
        witness = [number, *part(item, WITNESSES, 0)[1:-1]]
        data = put("", item, witness, WITNESSES, 0).given[0]
        yield offered("list", item, data, claims=[[other, item.claims[0][1]]])
    for one, other, number in (("none-tagged@root", "AtomsTagged", 7), ("no-term@log", "AtomsMentioning", 9)):
        item = home()[one]
        witness = [number, *part(item, WITNESSES, 0)[1:], []]
        data = put("", item, witness, WITNESSES, 0).given[0]
        yield offered("list", item, data, claims=[[other, item.claims[0][1]]])
    for sets in ([], [None, None], None):
        for name in ("tagged@root", "none-tagged@log"):
            yield put("form", home()[name], sets, WITNESSES, 0, 1)
    yield put("form", home()["term@root"], [], WITNESSES, 0, 2)
    yield put("form", home()["no-term@root"], [None], WITNESSES, 0, 2)
    yield put("form", home()["term@root"], [], WITNESSES, 0, 1)


@reject
def x10_sets_hidden() -> Cases:
    """An existing set or live chunk is refused as absent."""
    item = home()["tagged@root"]
    data = put("", item, [8, [None]], WITNESSES, 0).given[0]
    yield offered("unneeded", item, data, claims=[["NoneTagged", "kitchen"]])
    data = put("", item._replace(data=data), None, ATOMS).given[0]
    yield offered("shape|absent|other-leaf|tree", item, data, claims=[["NoneTagged", "kitchen"]])
    for name in ("dead-term@root", "dead-term@log"):
        yield put("shape|absent|other-leaf|tree", home()[name], None, WITNESSES, 0, 2, 0)
    term = home()["term@root"]
    witness = part(term, WITNESSES, 0)

    def hide(parts: list[Any]) -> None:
        replaced(parts, [10, witness[1], [None]], WITNESSES, 0)
        replaced(parts, None, ATOMS)

    data = changed("", term, hide).given[0]
    yield offered("shape|absent|other-leaf|tree", term, data, claims=[["NoneMentioning", "kettl"]])


@reject
def x11_segments() -> Cases:
    """Segments that do not follow from the number of ordinals, or do not give the root, are refused."""
    for item in (home()["no-term@root"], items(257)["no-term@log"], items(1000)["tagged@root"]):
        count, rows = part(item, SEGMENTS, 0), part(item, SEGMENTS, 1)
        for other in (0, 1, 255, 256, 257, count - 1, count + 1, count + 256, count * 2):
            if other != count:
                yield put("segments|index|form", item, other, SEGMENTS, 0)
        for listed in ([], rows[:-1], [*rows, rows[0]]):
            yield put("segments", item, listed, SEGMENTS, 1)
        there, total, number, _ = rows[0]
        yield put("index", item, there - 1, SEGMENTS, 1, 0, 0)
        yield put("index", item, total + 1, SEGMENTS, 1, 0, 1)
        yield put("index", item, number + 1, SEGMENTS, 1, 0, 2)
        yield put("index", item, bytes(32), SEGMENTS, 1, 0, 3)
        for at, value in ((0, 1 << 16 | 1), (0, 0), (1, 1 << 62), (2, 0), (2, 1)):
            yield put("segments", item, value, SEGMENTS, 1, 0, at)


@reject
def x12_rows() -> Cases:
    """A row that is not canonical, not the term's, or not at its place in the segment is refused."""
    item = home()["term@root"]
    index, committed, hashes = part(item, WITNESSES, 0, 1, 0)
    salt, value = committed[:16], committed[16:]
    df = int.from_bytes(value[:4], "big")
    count = part(item, SEGMENTS, 0)
    for other in (
        b"",
        bytes(4),
        bytes(5),
        value[:-1],
        value + b"\1",
        (df + 1).to_bytes(4, "big") + value[4:],
        value[:4] + bytes([value[4] + 1]) + value[5:],
        value[:-1] + b"\0",
        value[:5] + value[7:9] + value[5:7] + value[9:],
        value[: 5 + 2 * df - 2] + count.to_bytes(2, "little") + value[5 + 2 * df :],
    ):
        yield put("row", item, salt + other, WITNESSES, 0, 1, 0, 1)
    yield put("row", item, bytes([salt[0] ^ 1]) + committed[1:], WITNESSES, 0, 1, 0, 1)
    for other in (index + 1, index - 1, 0, 1 << 40):
        yield put("row", item, other, WITNESSES, 0, 1, 0, 0)
    for other in (b"", hashes + bytes(32), hashes[:-32], hashes[:-1], hashes[32:], hashes + b"\0"):
        yield put("row", item, other, WITNESSES, 0, 1, 0, 2)
    yield Case("row", "row", [(1).to_bytes(4, "big") + b"\0\0\0\0", 1, 1])
    yield Case("row", "row", [(2).to_bytes(4, "big") + b"\1" + bytes(4) + b"\1\1", 9, 9])
    yield Case("row", "row", [(2).to_bytes(4, "big") + b"\1\0\0\1\0\1\1", 1, 1])
    yield Case("row", "row", [(2).to_bytes(4, "big") + b"\1\0\0\1\0\1\1", 2, 1])
    yield offered("tree|row", item, claims=[["AtomsMentioning", "boiler"]])
    for path in ((WITNESSES, 0, 1, 0), (WITNESSES, 0, 1, 0, 0), (WITNESSES, 0, 1, 0, 2)):
        for other in (None, "x", []):
            yield put("form", item, other, *path)


@reject
def x13_neighbours() -> Cases:
    """Absence of a term is refused unless two adjacent rows, or the last row, leave no place for it."""
    item = home()["no-term@root"]
    index, shown, _ = part(item, WITNESSES, 0, 1, 0)
    yield offered("kind", item, claims=[["AtomsMentioning", "zzzz"]])
    for term in ("a", "aaa", "boiler", "kettl", "note"):
        yield offered("neighbours", item, claims=[["NoneMentioning", term]])
    for lie in (b"", b"\0" * 66, shown[0] + b"\xff" * 66):
        yield put("neighbours", item, lie, WITNESSES, 0, 1, 0, 1, 0)
    for lie in (b"\xff" * 16, b"\xff", b"v" * 17):
        yield put("neighbours", item, lie, WITNESSES, 0, 1, 0, 1, 0)
    yield put("row", item, b"t", WITNESSES, 0, 1, 0, 1, 0)
    yield put("row", item, bytes(32), WITNESSES, 0, 1, 0, 1, 1)
    for other in (index + 1, index - 1, 0):
        yield put("row|neighbours", item, other, WITNESSES, 0, 1, 0, 0)
    for path, other in (((1,), []), ((1,), [b"a"]), ((1, 1), b""), ((0,), b""), ((2,), None), ((1, 0), 7)):
        yield put("form", item, other, WITNESSES, 0, 1, 0, *path)
