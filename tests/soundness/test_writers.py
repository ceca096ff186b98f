"""Limits of a lying writer: claims that a wrong store can show, and claims that no store can show."""

from __future__ import annotations

from itertools import product

import pytest

from proofs.leaves import Group, Value, encode_value, set_row
from tests.soundness.rejects import atom
from tests.soundness.rejects_forged import ALL_LIVE, KEY, LIVE, SALT, Forged, label, row
from tests.soundness.wire import refusal

MEMBER = b"\1\0"
TAG = set_row(KEY, Group.TAG, "a", 0)


def value(ordinal: int, state: int = 0) -> bytes:
    """Return the value of an atom."""
    return encode_value(Value(state, ordinal, 1, 1, 1, 1, bytes(32)))


def store(*rows: tuple[str, bytes]) -> Forged:
    """Return a store with one atom, of ordinal 1, and these rows of terms after the two of every segment."""
    tags = {LIVE: MEMBER, TAG: MEMBER}
    named = [(label(term, KEY), one) for term, one in rows]
    return Forged({atom(0): value(1)}, tags, [(b"\0", b"lengths"), (b"\0\1", b"facts"), *named])


def shown(given: Forged, at: int, term: str = "ant") -> str | None:
    """Return the reason if row `at` is refused as that of the term, else None."""
    witness = [9, [given.entry(at)], [SALT + MEMBER], [[atom(0), value(1)]]]
    case = given.case("", ["AtomsMentioning", term], witness, [atom(0)], [LIVE])
    return refusal(case.call, case.given)


def absent(given: Forged, at: int, count: int = 2, term: str = "ant") -> str | None:
    """Return the reason if rows from `at` on are refused as neighbours of the absent term, else None."""
    case = given.case("", ["NoneMentioning", term], [10, [given.between(at, count)], []], [], [])
    return refusal(case.call, case.given)


ONE = row([1], [1])
SORTED = store(("ant", ONE), ("sea", ONE))


def test_sorted_rows_show_a_term_present_or_absent() -> None:
    """If rows are sorted and unique, no rows show an existing term to be absent."""
    assert shown(SORTED, 2) is None
    assert {absent(SORTED, at) for at in range(3)} | {absent(SORTED, 3, 1)} == {"neighbours"}
    assert absent(SORTED, 2, term="bee") is None
    assert [shown(SORTED, at, "bee") for at in range(4)] == ["row"] * 4


def test_only_a_replay_detects_unsorted_rows() -> None:
    """Unsorted rows can show a term both present and absent; only a replay detects that."""
    turned = store(("sea", ONE), ("ant", ONE))
    assert shown(turned, 3) is None
    assert absent(turned, 1) is None


def test_only_a_replay_detects_a_term_with_two_rows() -> None:
    """A term with two rows can be shown with either; only a replay detects that."""
    twice = store(("ant", ONE), ("ant", row([1], [7])))
    assert [shown(twice, at) for at in (2, 3)] == [None, None]


@pytest.mark.parametrize("state", [1, 2])
def test_no_list_is_accepted_if_sets_and_values_disagree(state: int) -> None:
    """If sets and values contradict each other, no list is accepted."""
    given = Forged({atom(0): value(1, state)}, {LIVE: MEMBER, TAG: MEMBER}, SORTED.rows)
    witness = [7, [[SALT + MEMBER, SALT + MEMBER]], [[atom(0), value(1, state)]]]
    case = given.case("", ["AtomsTagged", "a"], witness, [atom(0)], [LIVE, TAG])
    assert refusal(case.call, case.given) == "list"


def test_an_atom_is_not_shown_with_and_without_a_tag() -> None:
    """Against one root an atom is shown with a tag or without it, but never both."""
    claims = {"HasTag": 5, "LacksTag": 6}
    for tags, right in (({TAG: MEMBER}, "HasTag"), ({TAG: b"\2\0"}, "LacksTag"), ({}, "LacksTag")):
        given = Forged({atom(0): value(1)}, tags | {LIVE: ALL_LIVE}, SORTED.rows)
        for name, number in claims.items():
            accepted = set()
            for chunk in (SALT + MEMBER, SALT + b"\2\0", None):
                witness = [number, value(1), SALT + ALL_LIVE, chunk]
                case = given.case("", [name, atom(0), "a"], witness, [atom(0)], [TAG, LIVE])
                accepted.add(refusal(case.call, case.given))
            assert (None in accepted) is (name == right)


def test_an_atom_is_not_shown_live_in_a_set_without_live_atoms() -> None:
    """Against no root are an atom shown live with a tag and the tag shown unused."""
    chunks = (MEMBER, b"\2\0", b"\1\0\2\0", None)
    for own, lives in product(chunks, chunks):
        tags = {key: chunk for key, chunk in ((TAG, own), (LIVE, lives)) if chunk is not None}
        given = Forged({atom(0): value(1)}, tags, SORTED.rows)
        shown = set()
        for tagged, live in product([None, *(SALT + chunk for chunk in chunks if chunk)], repeat=2):
            for name, claim, witness, atoms in (
                ("live", ["HasTag", atom(0), "a"], [5, value(1), live, tagged], [atom(0)]),
                ("unused", ["NoneTagged", "a"], [8, [tagged and [tagged, live]]], []),
            ):
                keys = [TAG] if name == "unused" and tagged is None else [TAG, LIVE]
                case = given.case("", claim, witness, atoms, keys)
                if refusal(case.call, case.given) is None:
                    shown.add(name)
        assert shown != {"live", "unused"}
        member = own is not None and own[:2] == MEMBER, lives is not None and lives[:2] == MEMBER
        assert ("live" in shown) is all(member)
