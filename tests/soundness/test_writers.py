"""Limits of a lying writer: claims that a wrong store can show, and claims that no store can show."""

from __future__ import annotations

import pytest

from proofs.leaves import Group, Value, encode_value, set_row
from tests.soundness.rejects import atom
from tests.soundness.rejects_forged import ALL_LIVE, LIVE, Forged, row
from tests.soundness.wire import refusal

MEMBER = b"\1\0"
TAG = set_row(Group.TAG, "a", 0)


def value(ordinal: int, state: int = 0) -> bytes:
    """Return the value of an atom."""
    return encode_value(Value(state, ordinal, 1, 1, 1, 1, bytes(32)))


def store(*rows: tuple[bytes, bytes]) -> Forged:
    """Return a store with one atom, of ordinal 1, and these rows of terms after the two of every segment."""
    tags = {LIVE: MEMBER, TAG: MEMBER}
    return Forged({atom(0): value(1)}, tags, [(b"\0", b"lengths"), (b"\0\1", b"facts"), *rows])


def shown(given: Forged, at: int, term: str = "ant") -> str | None:
    """Return the reason if row `at` is refused as that of the term, else None."""
    witness = [9, [given.entry(at)], [MEMBER], [[atom(0), value(1)]]]
    case = given.case("", ["AtomsMentioning", term], witness, [atom(0)], [LIVE])
    return refusal(case.call, case.given)


def absent(given: Forged, at: int, count: int = 2, term: str = "ant") -> str | None:
    """Return the reason if rows from `at` on are refused as neighbours of the absent term, else None."""
    case = given.case("", ["NoneMentioning", term], [10, [given.between(at, count)], []], [], [])
    return refusal(case.call, case.given)


ONE = row([1], [1])
SORTED = store((b"ant", ONE), (b"sea", ONE))


def test_sorted_rows_show_a_term_present_or_absent() -> None:
    """If rows are sorted and unique, no rows show an existing term to be absent."""
    assert shown(SORTED, 2) is None
    assert {absent(SORTED, at) for at in range(3)} | {absent(SORTED, 3, 1)} == {"neighbours"}
    assert absent(SORTED, 2, term="bee") is None
    assert [shown(SORTED, at, "bee") for at in range(4)] == ["row"] * 4


def test_only_a_replay_detects_unsorted_rows() -> None:
    """Unsorted rows can show a term both present and absent; only a replay detects that."""
    turned = store((b"sea", ONE), (b"ant", ONE))
    assert shown(turned, 3) is None
    assert absent(turned, 1) is None


def test_only_a_replay_detects_a_term_with_two_rows() -> None:
    """A term with two rows can be shown with either; only a replay detects that."""
    twice = store((b"ant", ONE), (b"ant", row([1], [7])))
    assert [shown(twice, at) for at in (2, 3)] == [None, None]


@pytest.mark.parametrize("state", [1, 2])
def test_no_list_is_accepted_if_sets_and_values_disagree(state: int) -> None:
    """If sets and values contradict each other, no list is accepted."""
    given = Forged({atom(0): value(1, state)}, {LIVE: MEMBER, TAG: MEMBER}, SORTED.rows)
    witness = [7, [[MEMBER, MEMBER]], [[atom(0), value(1, state)]]]
    case = given.case("", ["AtomsTagged", "a"], witness, [atom(0)], [LIVE, TAG])
    assert refusal(case.call, case.given) == "list"


def test_an_atom_is_not_shown_with_and_without_a_tag() -> None:
    """Against one root an atom is shown with a tag or without it, but never both."""
    claims = {"HasTag": 5, "LacksTag": 6}
    for tags, right in (({TAG: MEMBER}, "HasTag"), ({TAG: b"\2\0"}, "LacksTag"), ({}, "LacksTag")):
        given = Forged({atom(0): value(1)}, tags | {LIVE: ALL_LIVE}, SORTED.rows)
        for name, number in claims.items():
            accepted = set()
            for chunk in (MEMBER, b"\2\0", None):
                case = given.case("", [name, atom(0), "a"], [number, value(1), chunk], [atom(0)], [TAG])
                accepted.add(refusal(case.call, case.given))
            assert (None in accepted) is (name == right)
