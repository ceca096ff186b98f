"""The second verifier refuses arbitrary bytes and items, and accepts the proofs of arbitrary journals."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import claims as c
from tests.reference.cases import ONE_EACH, case_of, refused, small_case
from tests.reference.cbor import read, write
from tests.reference.claims import Claim
from tests.reference.journals import Journal, edge_key


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    """The second verifier refuses random bytes and raises nothing but Refused."""
    refused(data, small_case().basis("log"), ONE_EACH["several"])


ITEMS = st.recursive(
    st.none() | st.integers(0, 2**64 - 1) | st.binary(max_size=40) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=9),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_items_in_the_place_of_others_are_refused(data: st.DataObject) -> None:
    """The second verifier refuses a proof in which a part is replaced by an arbitrary item."""
    case = small_case()
    claims = ONE_EACH[data.draw(st.sampled_from(sorted(ONE_EACH)))]
    proof = case.proof("log", claims)
    whole = place = read(proof)
    while isinstance(place, list) and place:
        at = data.draw(st.integers(0, len(place) - 1))
        if not isinstance(place[at], list) or not place[at] or data.draw(st.booleans()):
            place[at] = data.draw(ITEMS)
            break
        place = place[at]
    if write(whole) != proof:
        refused(write(whole), case.basis("log"), claims)


STEPS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.sampled_from(["net", "Net", "été"])), max_size=25
)


@settings(max_examples=25, deadline=None)
@given(STEPS, st.sampled_from(["root", "log"]))
def test_all_that_is_true_of_any_journal_has_a_proof(steps: list[tuple[int, int, str]], kind: str) -> None:
    """Every true claim about a random journal has a proof that the second verifier accepts."""
    journal, state, edges = Journal(), dict[int, int](), dict[tuple[int, int], int]()
    for what, number, tag in steps:
        now = state.get(number)
        if what == 0 and now in (None, 0):
            journal.write(number, f"text of {tag}", (tag,))
            state[number] = 0
        elif what == 1 and now is not None:
            journal.on(3 if now == 0 else 4, number, [""])
            state[number] = 1 - now
        elif what in (2, 3) and now == 0:
            journal.on(3 + what, number, [[tag]])
        elif what == 4 and now is not None and (other := (number + 1) % 5) in state:
            live = edges.get((number, other)) == 0
            journal.link(number, other, 9 if live else 8)
            edges[number, other] = 1 if live else 0
    journal.checkpoint()
    journal.write(9, "behind the checkpoint")
    case = case_of(journal.rows)
    asked = [claim for claim in case.truths(kind) if not denies_an_existing_edge(claim, edges)]
    assert len(case.shown(kind, asked)) == len(asked)


def denies_an_existing_edge(claim: Claim, edges: dict[tuple[int, int], int]) -> bool:
    """Return True if the claim denies an edge that exists."""
    return claim[0] == c.NO_EDGE and claim[1] in {edge_key(*ends) for ends in edges}
