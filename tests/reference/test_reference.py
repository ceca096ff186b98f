"""The second verifier accepts every honest proof and refuses all other bytes."""

from __future__ import annotations

import pytest

from tests.reference import claims as c
from tests.reference import truths
from tests.reference.cases import CASES, ONE_EACH, example_case, refused, small_case
from tests.reference.cbor import read, write
from tests.reference.claims import Basis, Claim
from tests.reference.journals import STORE, atom_id, edge_key
from tests.reference.verifier import check
from tests.spec.spec_page import example_values

pytestmark = pytest.mark.slow

ABSENCES = (c.NO_ATOM, c.NO_EDGE, c.NO_TAG, c.NONE_TAGGED, c.NO_TERM)
"""Claims of absence. Many absent keys lie in one gap, so the same proof may show several such claims."""


def test_the_example_has_the_root_of_the_page() -> None:
    """The overall root computed for the worked example is the root in SPEC."""
    assert example_case().at("root").roots["overall"].hex() == example_values()["root overall"]


@pytest.mark.parametrize("kind", ["root", "log"])
@pytest.mark.parametrize("name", ["small", "example"])
def test_every_true_claim_has_a_proof_of_its_own(name: str, kind: str) -> None:
    """The second verifier accepts a proof of each true claim alone."""
    case = CASES[name]()
    for claim in case.truths(kind):
        assert len(case.shown(kind, [claim])) == 1


@pytest.mark.parametrize("kind", ["root", "log"])
@pytest.mark.parametrize("name", ["small", "large", "example"])
def test_all_true_claims_have_a_proof_together(name: str, kind: str) -> None:
    """A proof of all true claims lists the live atoms, with answers in the order of the claims."""
    case = CASES[name]()
    at = case.at(kind)
    live, asked = truths.texts(at), list(reversed(case.truths(kind)))
    for (number, subject, state, opens), found in zip(asked, case.shown(kind, asked), strict=True):
        if number == c.TAGGED:
            assert sorted(found["ids"]) == sorted(truths.with_tag(live, subject))
        elif number == c.TERM:
            assert sorted(found["ids"]) == sorted(truths.with_term(live, subject))
        elif number == c.ATOM:
            assert found["state"] == state
            assert found["content"] == (found["body"][0] if opens else None)
        assert number not in c.STATE_CLAIMS or found["size"] == len(at.rows)


def test_all_kinds_of_claims_are_among_the_true_ones() -> None:
    """The true claims include every kind of claim."""
    assert {number for number, *_ in small_case().truths("root")} == set(range(1, 15))


@pytest.mark.parametrize("kind", ["root", "log"])
@pytest.mark.parametrize("name", ONE_EACH)
def test_a_changed_byte_is_refused(name: str, kind: str) -> None:
    """A proof with one byte changed, cut off at any byte, or one byte longer is refused."""
    case, claims = small_case(), ONE_EACH[name]
    data, basis = case.proof(kind, claims), case.basis(kind)
    check(data, basis, claims)
    for at in range(len(data)):
        for change in (0x01, 0xFF):
            refused(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :], basis, claims)
        refused(data[:at], basis, claims)
    refused(data + b"\0", basis, claims)


@pytest.mark.parametrize("name", ONE_EACH)
def test_an_item_too_many_or_too_few_is_refused(name: str) -> None:
    """A proof is refused if any of its arrays has one item too many or too few."""
    case, claims = small_case(), ONE_EACH[name]
    data = case.proof("log", claims)

    def changed(item: object) -> list[object]:
        if not isinstance(item, list):
            return [[], b"", 0, None] if item is not None else [[], b"", 0]
        whole: list[object] = [item[:-1], [*item, None], [*item, b""], [*item, *item[-1:]], None]
        return whole + [
            [*item[:at], other, *item[at + 1 :]] for at in range(len(item)) for other in changed(item[at])
        ]

    for other in changed(read(data)):
        bytes_of = write(other)  # type: ignore[arg-type]  # made of what was read
        if bytes_of != data:
            refused(bytes_of, case.basis("log"), claims)


@pytest.mark.parametrize("kind", ["root", "log"])
@pytest.mark.parametrize("name", ONE_EACH)
def test_a_proof_is_refused_against_another_basis(name: str, kind: str) -> None:
    """A proof is refused against a different root or store.

    Against a log head, a different store is tried only for claims about the state.
    """
    case, claims = small_case(), ONE_EACH[name]
    data = case.proof(kind, claims)
    store_id, root, size = c.parts_of(case.basis(kind))
    others: list[Basis]
    if kind == "root":
        check(data, ("root", store_id, root, None), claims)
        others = [
            ("root", store_id, bytes(32), None),
            ("root", bytes(16), root, None),
            ("root", store_id, root, 3),
        ]
    else:
        others = [("log", store_id, size or 0, bytes(32)), ("log", store_id, 1, root)]
        if claims[0][0] in c.STATE_CLAIMS:
            others.append(("log", bytes(16), size or 0, root))
    for basis in others:
        refused(data, basis, claims)


@pytest.mark.parametrize("name", ONE_EACH)
def test_a_proof_is_refused_for_other_claims(name: str) -> None:
    """A proof is refused for claims other than its own."""
    case, claims = small_case(), ONE_EACH[name]
    data, basis = case.proof("root", claims), case.basis("root")
    for other in ONE_EACH.values():
        if other != claims:
            refused(data, basis, other)
    for claim in case.truths("root"):
        if [claim] != claims and not (claim[0] == claims[0][0] and claim[0] in ABSENCES):
            refused(data, basis, [claim])
    for number, subject, state, opens in claims:
        if state is not None:
            whole = case.proof("root", [(number, subject, state, opens)])
            assert refused(whole, basis, [(number, subject, 1 - state, opens)]) == "state"
            reason = "unneeded" if opens else "missing"
            assert refused(whole, basis, [(number, subject, state, not opens)]) == reason


def test_invalid_claims_are_refused() -> None:
    """Invalid claims are refused: wrong widths, no claims, a claim twice, invalid words, invalid states."""
    case = small_case()
    data, basis = case.proof("root", ONE_EACH["atom"]), case.basis("root")
    one: Claim = (c.ATOM, atom_id(0), 0, True)
    asked: list[list[Claim]] = [[], [one, (c.ATOM, atom_id(0), 1, True)], [(c.ATOM, atom_id(0), 2, True)]]
    asked += [[(c.ATOM, subject, state, False)] for subject, state in ((bytes(16), 0), (atom_id(0), 3))]
    asked += [[(c.ATOM, atom_id(0), None, False)], [(c.NO_ATOM, atom_id(0), 0, False)]]
    bare = [
        (c.NO_EDGE, edge_key(1, 1)),
        (c.NO_EDGE, edge_key(1, 0, b"\0")),
        (c.NO_EDGE, edge_key(1, 0, b"\x7f\0")),
        (c.TAGGED, b"Port"),
        (c.TAGGED, b"\xff"),
        (c.TAGGED, b""),
        (c.TERM, b"\1a"),
        (c.TERM, b"a" * 65),
        (c.EVENT, b"\0"),
        (c.PREFIX, bytes(40)),
        (15, b""),
    ]
    asked += [[(number, subject, None, False)] for number, subject in bare]
    asked += [[(c.NO_ATOM, atom_id(99), None, True)]]
    assert {refused(data, basis, claims) for claims in asked} == {"input"}
    assert refused(data, ("root", b"", bytes(32), None), [one]) == "input"
    assert refused(data, ("log", STORE, 0, bytes(32)), [one]) == "input"
