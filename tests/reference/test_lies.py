"""The second verifier refuses each proof of a lying prover with the reason of the lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.reference import claims as c
from tests.reference.build import build, row_shown
from tests.reference.cases import ONE_EACH, PREFIX, refused, small_case
from tests.reference.cbor import read, write
from tests.reference.claims import Basis, Claim
from tests.reference.hashes import EMPTY, in_namespace
from tests.reference.journals import STOP, STORE, atom_id, small
from tests.spec.spec_naive import log_root, segments, term_rows, u

LINK, OPENING, SEGMENTS, ATOMS, EDGES, TAGS, WITNESSES = range(2, 9)
Lie = Callable[[Any], None]

NO_ATOM: Claim = (c.NO_ATOM, atom_id(99), None, False)
ATOM: Claim = (c.ATOM, atom_id(0), 0, True)
TAG: Claim = (c.TAG, atom_id(0) + b"net", None, False)
NO_TAG: Claim = (c.NO_TAG, atom_id(0) + b"port", None, False)
TAGGED: Claim = (c.TAGGED, b"net", None, False)
NONE_TAGGED: Claim = (c.NONE_TAGGED, b"never", None, False)
TERM: Claim = (c.TERM, b"daemon", None, False)
NO_TERM: Claim = (c.NO_TERM, b"of3", None, False)
EVENT: Claim = (c.EVENT, u(5, 8), None, True)


def set_to(*path: int, to: object) -> Lie:
    """Return a change that replaces the item at `path`."""
    return with_bytes(*path, change=lambda _: to)


def with_bytes(*path: int, change: Callable[[bytes], object]) -> Lie:
    """Return a change that applies `change` to the bytes at `path`."""

    def lie(proof: Any) -> None:
        for at in path[:-1]:
            proof = proof[at]
        proof[path[-1]] = change(proof[path[-1]])

    return lie


def value_with(at: int, to: int) -> Callable[[bytes], bytes]:
    """Return a function that replaces one field of an encoded value."""

    def change(data: bytes) -> bytes:
        fields: Any = read(data)
        return write([*fields[:at], to, *fields[at + 1 :]])

    return change


def shape_of(shape: bytes, hashes: bytes) -> Lie:
    """Return a change that replaces the opening of the `atoms` tree."""
    return set_to(ATOMS, to=[shape, hashes])


def own_as_other(proof: Any) -> None:
    """Show the leaf of the claimed key as if it were the leaf of a different key."""
    value = proof[WITNESSES][0][1]
    leaf = in_namespace("key", "atoms", atom_id(0)) + in_namespace("value", "atoms", value)
    proof[ATOMS] = [proof[ATOMS][0].replace(b"\1", b"\2"), proof[ATOMS][1] + leaf]


def of_rows(index: int, *shown: int) -> Lie:
    """Return a change that shows these rows of the only segment as if they began at position `index`."""

    def lie(proof: Any) -> None:
        rows = term_rows(segments(small_case().at("root").documents)[0][1], STOP)
        pair = [item for at in shown for item in row_shown([rows[at]], b"\xff")[1]]
        proof[WITNESSES][0][1][0][:2] = [index, pair]

    return lie


def without_last_atom(proof: Any) -> None:
    """Remove the last atom of a list."""
    proof[WITNESSES][0][-1].pop()


def atoms_reversed(proof: Any) -> None:
    """Reverse the atoms of a list."""
    proof[WITNESSES][0][-1].reverse()


def one_segment_less(proof: Any) -> None:
    """Replace the segments by an index of no ordinals."""
    proof[SEGMENTS] = [0, []]
    proof[WITNESSES][0][1:] = [[]]


LIES: dict[str, tuple[list[Claim], Lie, str]] = {
    "nothing there": ([NO_ATOM], shape_of(b"\3", b""), "tree"),
    "two empty sides": ([NO_ATOM], shape_of(b"\0\3", EMPTY), "shape"),
    "a leaf one too deep": ([ATOM], shape_of(b"\0\1", EMPTY), "shape"),
    "deeper than keys are": ([NO_ATOM], shape_of(bytes(300), b"\1" * 32 * 300), "shape"),
    "an unknown case": ([NO_ATOM], shape_of(b"\4", b""), "shape"),
    "hashes left over": ([NO_ATOM], with_bytes(ATOMS, 1, change=lambda data: data + EMPTY), "shape"),
    "hashes too few": ([NO_ATOM], with_bytes(ATOMS, 1, change=lambda data: data[:-1]), "shape"),
    "cases left over": ([NO_ATOM], with_bytes(ATOMS, 0, change=lambda data: data + b"\3"), "shape"),
    "own leaf of no value": ([NO_ATOM], shape_of(b"\1", b""), "other-leaf"),
    "another's leaf elsewhere": ([ATOM], shape_of(b"\2", bytes(64)), "absent"),
    "own leaf as another's": ([ATOM], own_as_other, "absent"),
    "an older version": ([ATOM], with_bytes(WITNESSES, 0, 1, change=value_with(2, 1)), "tree"),
    "no such state": ([ATOM], with_bytes(WITNESSES, 0, 1, change=value_with(0, 3)), "value"),
    "another state": ([ATOM], with_bytes(WITNESSES, 0, 1, change=value_with(0, 1)), "state"),
    "another payload": ([ATOM], set_to(WITNESSES, 0, 2, to=small().rows[1][1]), "payload"),
    "a hidden atom's tag": ([TAG], with_bytes(WITNESSES, 0, 1, change=value_with(0, 1)), "state"),
    "a chunk without it": ([TAG], set_to(WITNESSES, 0, 2, to=b"\1\0"), "tagged"),
    "a chunk with it": ([NO_TAG], set_to(WITNESSES, 0, 2, to=b"\3\0"), "tagged"),
    "a chunk where none is": ([NO_TAG], set_to(WITNESSES, 0, 2, to=b"\1\0"), "tree"),
    "a chunk of nobody": ([TAG], set_to(WITNESSES, 0, 2, to=b""), "chunk"),
    "a chunk of half a member": ([TAG], set_to(WITNESSES, 0, 2, to=b"\1\0\2"), "chunk"),
    "a chunk out of order": ([TAG], set_to(WITNESSES, 0, 2, to=b"\3\0\1\0"), "chunk"),
    "a chunk twice the same": ([TAG], set_to(WITNESSES, 0, 2, to=b"\3\0\3\0"), "chunk"),
    "bits of too few members": ([TAG], set_to(WITNESSES, 0, 2, to=b"\xff" * 511 + bytes(7681)), "chunk"),
    "two values of one atom": (
        [ATOM, TAG],
        with_bytes(WITNESSES, 1, 1, change=value_with(2, 9)),
        "contradiction",
    ),
    "a list cut short": ([TAGGED], without_last_atom, "list"),
    "a list turned round": ([TERM], atoms_reversed, "list"),
    "a live atom hidden": ([TAGGED], set_to(WITNESSES, 0, 1, 0, 1, to=b"\2\0"), "list"),
    "nobody alive": ([TAGGED], set_to(WITNESSES, 0, 1, 0, 1, to=None), "list"),
    "no set": ([TAGGED], set_to(WITNESSES, 0, 1, 0, to=None), "list"),
    "a chunk number too many": ([NONE_TAGGED], set_to(WITNESSES, 0, 1, to=[None, None]), "list"),
    "an ordinal beyond": ([TAGGED], set_to(WITNESSES, 0, 1, 0, 1, to=b"\3\0\4\0"), "chunk"),
    "no segments": ([NONE_TAGGED], one_segment_less, "index"),
    "an ordinal less": ([NONE_TAGGED], set_to(SEGMENTS, 0, to=3), "segments"),
    "an ordinal more": ([NONE_TAGGED], set_to(SEGMENTS, 0, to=5), "index"),
    "a document less": ([NONE_TAGGED], set_to(SEGMENTS, 1, 0, 0, to=3), "index"),
    "more documents than ordinals": ([NONE_TAGGED], set_to(SEGMENTS, 1, 0, 0, to=5), "segments"),
    "segments beyond": ([NONE_TAGGED], set_to(SEGMENTS, 0, to=257), "segments"),
    "a segment too long": ([NONE_TAGGED], set_to(SEGMENTS, 1, 0, 1, to=4 * 65_535 + 1), "segments"),
    "a segment of one row": ([NONE_TAGGED], set_to(SEGMENTS, 1, 0, 2, to=1), "segments"),
    "no index of that many": ([NONE_TAGGED], set_to(SEGMENTS, 0, to=(1 << 32) + 1), "form"),
    "rows not beside each other": ([NO_TERM], of_rows(8, 8, 10), "row"),
    "the term not between": ([NO_TERM], of_rows(4, 4, 5), "neighbours"),
    "not the last row": ([NO_TERM], of_rows(4, 4), "neighbours"),
    "rows of another place": ([NO_TERM], of_rows(3, 1, -1), "row"),
    "no row": ([NO_TERM], set_to(WITNESSES, 0, 1, 0, 0, to=1000), "row"),
    "a row of fewer": (
        [TERM],
        with_bytes(WITNESSES, 0, 1, 0, 1, change=lambda _: b"\0\0\0\1\1\0\0\1"),
        "row",
    ),
    "a row of nobody": ([TERM], set_to(WITNESSES, 0, 1, 0, 1, to=bytes(5)), "row"),
    "a row with another tf": (
        [TERM],
        with_bytes(WITNESSES, 0, 1, 0, 1, change=lambda d: d[:-1] + b"\2"),
        "row",
    ),
    "another event's header": ([EVENT], set_to(WITNESSES, 0, 1, to=small().rows[4][0]), "header"),
    "a path of half a hash": ([EVENT], with_bytes(WITNESSES, 0, 3, change=lambda d: d[:-1]), "inclusion"),
    "a path with a hash more": (
        [EVENT],
        with_bytes(WITNESSES, 0, 3, change=lambda d: EMPTY + d),
        "inclusion",
    ),
    "a row's hashes left over": (
        [TERM],
        with_bytes(WITNESSES, 0, 1, 0, 2, change=lambda data: data + EMPTY),
        "row",
    ),
    "a hidden atom listed": ([TAGGED], with_bytes(WITNESSES, 0, 2, 0, 1, change=value_with(0, 1)), "list"),
    "another size": ([NO_ATOM], set_to(OPENING, 0, to=4), "root"),
    "no opening": ([NO_ATOM], set_to(OPENING, to=None), "missing"),
    "a link without need": ([NO_ATOM], set_to(LINK, to=[b"", b""]), "unneeded"),
    "segments without need": ([NO_ATOM], set_to(SEGMENTS, to=[0, []]), "unneeded"),
    "a tree without need": ([NO_ATOM], set_to(EDGES, to=[b"\3", b""]), "unneeded"),
    "a tree not opened": ([NO_ATOM], set_to(ATOMS, to=None), "missing"),
    "witnesses of others": ([NO_ATOM], set_to(WITNESSES, 0, 0, to=4), "kind"),
    "another format": ([NO_ATOM], set_to(1, to=1), "version"),
    "more than one claim needs": ([NO_ATOM], set_to(ATOMS, 1, to=bytes(65_537)), "size"),
}


@pytest.mark.parametrize("name", LIES)
def test_each_lie_is_refused_with_its_reason(name: str) -> None:
    """Each lie, made from an honest proof, is refused with its reason."""
    claims, lie, reason = LIES[name]
    case = small_case()
    proof = read(case.proof("root", claims))
    lie(proof)
    assert refused(write(proof), case.basis("root"), claims) == reason


def test_a_state_is_not_shown_by_an_older_checkpoint() -> None:
    """A link to an event that is not the last event of the log is refused."""
    case, rows = small_case(), small().rows
    older = rows[:6]
    basis: Basis = ("log", STORE, len(older), log_root([header for header, _ in older]))
    worlds = {5: case.worlds[11]}
    assert refused(build(older, basis, [NO_ATOM], worlds), basis, [NO_ATOM]) == "log-size"
    basis = case.basis("log")
    proof: Any = read(case.proof("log", [NO_ATOM]))
    proof[LINK][0] = rows[5][0]
    assert refused(write(proof), basis, [NO_ATOM]) == "log-size"
    proof[LINK][0] = rows[4][0]
    assert refused(write(proof), basis, [NO_ATOM]) == "header"


@pytest.mark.parametrize(
    ("name", "number", "subject", "reason"),
    [
        ("prefix", c.PREFIX, u(5, 8) + EMPTY, "consistency"),
        ("prefix", c.PREFIX, u(6, 8) + PREFIX[8:], "consistency"),
        ("prefix", c.PREFIX, u(99, 8) + PREFIX[8:], "consistency"),
        ("root", c.ROOT, EMPTY, "root"),
        ("prefix-root", c.PREFIX_ROOT, EMPTY, "root"),
        ("event", c.EVENT, u(4, 8), "header"),
    ],
)
def test_a_log_claim_about_another_log_is_refused(
    name: str, number: int, subject: bytes, reason: str
) -> None:
    """The proof of a true claim is refused for a false claim of its kind."""
    case, opens = small_case(), number == c.EVENT
    data = case.proof("log", ONE_EACH[name])
    assert refused(data, case.basis("log"), [(number, subject, None, opens)]) == reason


def test_a_path_is_refused_against_another_root() -> None:
    """A path is refused against a log head with a different root."""
    case = small_case()
    for name, reason in (("event", "inclusion"), ("root", "inclusion"), ("no-atom", "inclusion")):
        basis: Basis = ("log", STORE, 12, EMPTY)
        assert refused(case.proof("log", ONE_EACH[name]), basis, ONE_EACH[name]) == reason
    for name in ("prefix", "prefix-root"):
        assert refused(case.proof("log", ONE_EACH[name]), basis, ONE_EACH[name]) == "consistency"
    assert (
        refused(case.proof("log", [NO_ATOM]), ("log", bytes(16), *case.basis("log")[2:]), [NO_ATOM]) == "root"
    )


def test_a_recorded_atom_is_not_absent_behind_its_own_leaf() -> None:
    """A claim that an atom is absent is refused if the proof shows the leaf of this atom."""
    case = small_case()
    proof: Any = read(case.proof("root", [ATOM]))
    own_as_other(proof)
    proof[WITNESSES] = [[c.NO_ATOM]]
    asked: list[Claim] = [(c.NO_ATOM, atom_id(0), None, False)]
    assert refused(write(proof), case.basis("root"), asked) == "other-leaf"
