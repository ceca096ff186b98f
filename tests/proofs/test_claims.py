"""A claim that no proof could show, or that is no claim, is refused when it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proofs import claims, limits
from proofs.errors import ProofError
from proofs.leaves import Direction, Group, State

ATOM, OTHER, STORE, ROOT = (bytes([number]) * size for number, size in ((1, 16), (2, 16), (3, 16), (4, 32)))
MEMBERS = [claims.HasTag, claims.LacksTag]
EDGES = [claims.EdgeIs, claims.NoEdge]
SETS = [claims.AtomsTagged, claims.NoneTagged]
TERMS = [claims.AtomsMentioning, claims.NoneMentioning]
ABOUT_ATOMS: list[Callable[[Any], object]] = [
    claims.AtomIs,
    claims.NoAtom,
    claims.EdgesOf,
    claims.TagsOf,
    *(lambda atom, kind=kind: kind(atom, "red") for kind in MEMBERS),
    *(lambda atom, kind=kind: kind(atom, b"\1", OTHER) for kind in EDGES),
    *(lambda atom, kind=kind: kind(OTHER, b"\1", atom) for kind in EDGES),
]
ON_VALUES: list[Callable[..., object]] = [
    *(lambda group, value, kind=kind: kind(ATOM, value, group=group) for kind in MEMBERS),
    *(lambda group, value, kind=kind: kind(value, group=group) for kind in SETS),
]
ON_RANGES: list[Callable[..., object]] = [
    lambda first, last, kind=kind: kind("red", first=first, last=last) for kind in [*SETS, *TERMS]
]
ON_ROOTS: list[Callable[[Any], object]] = [
    claims.RootRecorded,
    claims.BeginsWithRoot,
    lambda root: claims.LogBegins(1, root),
    lambda root: claims.HeadSeen(STORE, 1, root),
]


def refused(make: Callable[..., object], *given: object) -> None:
    """Assert that a claim cannot be made of these arguments."""
    with pytest.raises(ProofError) as caught:
        make(*given)
    assert caught.value.reason == "input"


@pytest.mark.parametrize("make", ABOUT_ATOMS)
@pytest.mark.parametrize("odd", [bytes(16), ATOM[:15], ATOM + b"\1", "1" * 16, bytearray(ATOM), None])
def test_an_id_has_sixteen_bytes_that_are_not_all_zero(make: Callable[..., object], odd: object) -> None:
    """No claim is about something that is not the id of an atom."""
    make(ATOM)
    refused(make, odd)


@pytest.mark.parametrize("make", ON_VALUES)
@pytest.mark.parametrize(
    ("group", "value"),
    [
        (Group.LIVE, ""),
        (Group.TAG.value, "red"),
        (None, "red"),
        (Group.TAG, "Red"),
        (Group.TAG, ""),
        (Group.TAG, b"red"),
        (Group.KIND, b"note"),
        (Group.KIND, None),
        (Group.KIND, "No te"),
        (Group.BUCKET, ""),
        (Group.DAY, "today"),
        (Group.SOURCE, "a\nb"),
        (Group.SOURCE, "x" * (limits.SOURCE_BYTES_MAX + 1)),
        (Group.SOURCE, "\ud800"),
    ],
)
def test_a_set_has_a_group_and_a_value_of_it(
    make: Callable[..., object], group: object, value: object
) -> None:
    """No claim is about a set that no store can have."""
    make(Group.KIND, "note")
    make(Group.SOURCE, "x" * limits.SOURCE_BYTES_MAX)
    refused(make, group, value)


@pytest.mark.parametrize("make", TERMS)
@pytest.mark.parametrize("odd", ["", b"red", None, "Red", "\ud800"])
def test_a_term_has_the_form_that_the_analyzer_returns(make: Callable[..., object], odd: object) -> None:
    """No claim is about a term that the analyzer never returns."""
    make("red")
    refused(make, odd)


@pytest.mark.parametrize("make", ON_RANGES)
@pytest.mark.parametrize(
    ("first", "last"),
    [(-1, 5), (6, 5), (0, limits.ORDINAL_MAX + 1), (True, 5), (0, False), (0.0, 5), (None, 5), ("0", 5)],
)
def test_a_range_of_ordinals_is_in_order(make: Callable[..., object], first: object, last: object) -> None:
    """No list is about a range that is empty or that no store can reach."""
    make(5, 5)
    make(0, limits.ORDINAL_MAX)
    refused(make, first, last)


@pytest.mark.parametrize("make", ON_ROOTS)
@pytest.mark.parametrize("odd", [ROOT[:31], ROOT + b"\4", ROOT.hex(), bytearray(ROOT), None])
def test_a_root_has_thirty_two_bytes(make: Callable[..., object], odd: object) -> None:
    """No claim is about something that is not a root."""
    make(ROOT)
    refused(make, odd)


@pytest.mark.parametrize("state", [State.ERASED, 0, None, "live"])
def test_the_sets_of_an_atom_need_its_content(state: Any) -> None:
    """A claim about the tags or a set of an atom is about one that is live or tombstoned."""
    refused(lambda: claims.TagsOf(ATOM, state))
    for kind in MEMBERS:
        refused(lambda kind=kind: kind(ATOM, "red", state))


@pytest.mark.parametrize("kind", [claims.AtomIs, lambda *rest: claims.EdgeIs(ATOM, b"\1", OTHER, *rest[1:])])
def test_a_state_and_opened_are_of_their_types(kind: Any) -> None:
    """A claim of a state names a state, and opens the payload or does not."""
    kind(ATOM, State.ERASED, False)
    for state, opened in ((0, False), (State.LIVE, 1), (State.LIVE, None), (State.ERASED, True)):
        refused(kind, ATOM, state, opened)


@pytest.mark.parametrize("direction", [0, 1, None, "from"])
def test_a_direction_is_one_of_two(direction: Any) -> None:
    """A list of edges names a direction; a number that equals one is refused."""
    claims.EdgesOf(ATOM, Direction.TO)
    refused(claims.EdgesOf, ATOM, direction)


@pytest.mark.parametrize("code", [b"", b"\0", b"\x80", b"\1\1", b"\x7f" * 8, "a", 1])
def test_a_code_is_that_of_an_edge_type(code: Any) -> None:
    """No claim is about an edge type that no store can have."""
    claims.EdgesOf(ATOM, Direction.TO, b"\x80" * 8)
    refused(claims.EdgesOf, ATOM, Direction.TO, code)
    refused(claims.NoEdge, ATOM, code, OTHER)
    refused(claims.NoEdge, ATOM, b"\1", ATOM)


@pytest.mark.parametrize("store", [STORE[:15], STORE + b"\3", STORE.hex(), bytearray(STORE), None])
def test_a_head_is_of_a_store(store: Any) -> None:
    """A head that was seen names a store by its 16 bytes."""
    claims.HeadSeen(bytes(16), 1, ROOT)
    refused(claims.HeadSeen, store, 1, ROOT)


@pytest.mark.parametrize("size", [0, -1, limits.SEQ_MAX + 2, True, 1.0, None])
def test_a_head_has_a_size(size: Any) -> None:
    """A head that was seen covers at least one event, and no more than a log can have."""
    claims.HeadSeen(STORE, limits.SEQ_MAX + 1, ROOT)
    refused(claims.HeadSeen, STORE, size, ROOT)
