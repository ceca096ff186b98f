"""Invalid proofs: valid proofs that are changed, checked against other claims, or given a matching root."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from random import Random
from typing import NamedTuple

from proofs.errors import ProofError
from proofs.verifier import verify
from tests.reference import claims as c
from tests.reference.both import ask, real_basis, real_claim
from tests.reference.cbor import UINT, head
from tests.reference.claims import Basis, Claim
from tests.vectors import bounds, codings, mutations
from tests.vectors.forgeries import forgeries
from tests.vectors.golden import golden
from tests.vectors.items import Edit, difference, dropped, edited, replaced, spans
from tests.vectors.reasons import ambiguous
from tests.vectors.stores import plain
from tests.vectors.valid import Valid, valid

LONGEST = 4_000
"""All mutations are applied only to proofs of fewer bytes."""
EACH = 7
"""The maximum number of invalid proofs in the file for one valid proof and one reason."""
FORGERIES_EACH = 3
"""The maximum number of invalid proofs with a matching root for one valid proof and one reason."""
SHALLOW = ("form", "encoding", "kind", "missing", "unneeded", "root")
"""Reasons that do not depend on the hashes; forgeries with these reasons are not listed."""


class Invalid(NamedTuple):
    """A basis, claims, and a proof that the verifier refuses for them."""

    of: int
    """The number of the valid proof from which the invalid proof is made."""
    change: str
    edits: list[Edit]
    basis: Basis
    claims: list[Claim]
    reason: str


class Candidate(NamedTuple):
    """An `Invalid` whose reason is not known yet."""

    change: str
    edits: list[Edit]
    basis: Basis
    claims: list[Claim]


def invalid() -> list[Invalid]:
    """Return all invalid proofs in the order of the file.

    Raises:
        AssertionError: the verifier accepts one of the proofs.
    """
    found: list[Invalid] = []
    seen: set[object] = set()
    whole = first_of_each()
    for n, one in enumerate(valid()):
        rng = Random(f"invalid {n}")
        own: list[Invalid] = []
        questions = other_questions(one, rng) if n in whole else ()
        for candidate in chain(mutated(one, rng, n in whole), questions):
            data = edited(one.data, candidate.edits)
            key = (data, candidate.basis, tuple(candidate.claims))
            if key not in seen and key != (one.data, one.basis, tuple(one.claims)):
                seen.add(key)
                own.append(Invalid(n, *candidate, refusal(data, candidate)))
        found += sampled_by_reason(own, rng)
        if n in whole and one.basis[0] == "root":
            found += forged(n, one, rng)
    return [*found, *beyond_bounds(), *of_two_reasons()]


def sampled_by_reason(given: list[Invalid], rng: Random) -> list[Invalid]:
    """Return at most EACH invalid proofs for each reason, in the given order."""
    by_reason: dict[str, list[int]] = {}
    for at, one in enumerate(given):
        by_reason.setdefault(one.reason, []).append(at)
    kept = [rng.sample(some, min(EACH, len(some))) for some in by_reason.values()]
    return [given[at] for at in sorted(chain.from_iterable(kept))]


def refusal(data: bytes, candidate: Candidate) -> str:
    """Return the reason for which the verifier refuses the proof."""
    try:
        verify(data, real_basis(candidate.basis), [real_claim(*claim) for claim in candidate.claims])
    except ProofError as error:
        return error.reason
    raise AssertionError(f"accepted: {candidate.change} of {candidate.claims}")


def first_of_each() -> set[int]:
    """Return the numbers of the valid proofs to which all mutations are applied.

    They include one proof for each combination of claim, basis and state.
    """
    firsts: dict[object, int] = {}
    for n, one in enumerate(valid()):
        if one.store == "golden" and len(one.claims) == 1 and len(one.data) < LONGEST:
            number, _, state, opens = one.claims[0]
            firsts.setdefault((one.basis[0], number, state, opens), n)
    several = [n for n, one in enumerate(valid()) if one.store == "plain-3" and len(one.claims) > 1]
    wide = [n for n, one in enumerate(valid()) if one.store == "wide" and len(one.data) < LONGEST][:2]
    return {*firsts.values(), *several, *wide}


def mutated(one: Valid, rng: Random, whole: bool) -> Iterator[Candidate]:
    """Yield changed proofs of the same claims."""
    found = spans(one.data)
    mutators = mutations.ALL if whole and one.basis[0] == "root" else (codings.flipped, codings.lengths)
    if whole and one.basis[0] == "log":
        mutators = (codings.flipped, mutations.parts, mutations.hashes)
    made = chain.from_iterable(mutate(one.data, found, rng) for mutate in mutators)
    for change, edits in list(made) if whole else rng.sample(list(made), 2):
        yield Candidate(change, edits, one.basis, one.claims)
    if whole and one.basis[0] == "root" and one.claims[0][0] in (c.ATOM, c.TAGGED):
        for change, edits in codings.sizes(one.data, found, rng):
            yield Candidate(change, edits, one.basis, one.claims)


def other_questions(one: Valid, rng: Random) -> Iterator[Candidate]:
    """Yield the same proof with other bases or claims."""
    for change, basis in other_bases(one):
        yield Candidate(change, [], basis, one.claims)
    for change, claims in other_claims(one):
        yield Candidate(change, [], one.basis, claims)
    if len(one.claims) == 1 and one.claims[0][0] in (c.TAG, c.NO_TAG, c.TAGGED, c.TERM):
        number, subject, _, _ = one.claims[0]
        found, sibling = spans(one.data), number + 1 if number % 2 else number - 1
        edits = replaced(found[8, 0, 0], head(UINT, sibling))
        yield Candidate(
            f"checked as claim {sibling}, with its number in the witness",
            edits,
            one.basis,
            [opposite(one.claims[0])],
        )
        if number in (c.TAGGED, c.TERM):
            last = found[8, 0].number - 1
            less = dropped(found, (8, 0, last))
            edits = [less[0], *edits, less[1]]
            change = f"checked as claim {sibling}, with its number in the witness and without the list"
            yield Candidate(change, edits, one.basis, [(sibling, subject, None, False)])


def opposite(claim: Claim) -> Claim:
    """Return the claim that contradicts a claim."""
    number, subject, _, _ = claim
    sibling = number + 1 if number % 2 else number - 1
    return sibling, subject, 0 if sibling in c.WITH_STATE else None, False


def other_bases(one: Valid) -> Iterator[tuple[str, Basis]]:
    """Yield bases with a different root, store or size than the basis of the proof."""
    store_id, root, size = c.parts_of(one.basis)
    of_state = any(claim[0] in c.STATE_CLAIMS for claim in one.claims)
    names_store = of_state or any(claim[0] == c.PREFIX_ROOT for claim in one.claims)
    other = root[:31] + bytes([root[31] ^ 1])
    if one.basis[0] == "root":
        yield "against a root with its last bit flipped", ("root", store_id, other, size)
        yield "against a root of zeros", ("root", store_id, bytes(32), None)
        if size is not None:
            yield "against the root of one event more", ("root", store_id, root, size + 1)
        yield "against the root as of a log", ("log", store_id, size or 1, root)
        if one.store == "golden":
            older = golden().worlds[golden().checkpoint].roots["overall"]
            yield "against an older root of the store", ("root", store_id, older, None)
        yield "against another store's root", ("root", store_id, plain(1).worlds[2].roots["overall"], None)
        yield "against a root of 31 bytes", ("root", store_id, root[:31], size)
        yield "against a store id of 15 bytes", ("root", store_id[:15], root, size)
    else:
        yield "against a log root with its last bit flipped", ("log", store_id, size or 1, other)
        yield "against a log of no events", ("log", store_id, 0, root)
        if of_state:
            yield "against a log of one event more", ("log", store_id, (size or 1) + 1, root)
            yield "against a log of one event less", ("log", store_id, (size or 1) - 1, root)
        yield "against the log root as an overall root", ("root", store_id, root, size)
    if one.basis[0] == "root" or names_store:
        basis: Basis = (one.basis[0], store_id[:15] + bytes([store_id[15] ^ 1]), *one.basis[2:])
        yield "against another store's id", basis


def other_claims(one: Valid) -> Iterator[tuple[str, list[Claim]]]:
    """Yield claims other than those of the proof."""
    first, *others = one.claims
    number, subject, state, opens = first
    yield "no claims", []
    yield "the first claim twice", [first, *one.claims]
    yield "one more claim", [*one.claims, (c.EVENT, bytes(7) + b"\1", None, False)]
    if others:
        yield "one claim fewer", others
    yield (
        f"claim {opposite(first)[0]} of the same subject"
        if number < 11
        else "claim 15, which does not exist",
        [
            opposite(first) if number < 11 else (15, subject, None, False),
            *others,
        ],
    )
    if state is not None:
        for other in {0, 1, 2} - {state}:
            yield f"state {other} in the claim", [(number, subject, other, opens and other != 2), *others]
        yield "state 3 in the claim", [(number, subject, 3, False), *others]
        yield "the payload of an erased atom or edge to be opened", [(number, subject, 2, True), *others]
    if number in c.WITH_PAYLOAD and state != 2:
        yield (
            "the claim sealed" if opens else "the claim opened",
            [
                (number, subject, state, not opens),
                *others,
            ],
        )
    if number in (c.TAG, c.NO_TAG, c.TAGGED, c.NONE_TAGGED):
        yield "a tag that is not an identity", [(number, subject + b"Q", None, False), *others]
    elif number in (c.TERM, c.NO_TERM):
        yield "a term of 65 bytes", [(number, b"a" * 65, None, False), *others]
        yield "a term that begins with 01", [(number, b"\1" + subject[:60], None, False), *others]
    else:
        yield "a subject one byte too short", [(number, subject[:-1], state, opens), *others]
    if number in (c.ATOM, c.NO_ATOM):
        yield "an id of zeros", [(number, bytes(16), state, opens), *others]
    for same in recorded(one, number):
        if same != subject and (number, same) not in {claim[:2] for claim in others}:
            yield (
                "another subject for which the claim "
                + ("also holds" if number in POSITIVE else "does not hold"),
                [(number, same, state, opens), *others],
            )
            break


POSITIVE = (c.ATOM, c.EDGE, c.TAG, c.TAGGED, c.TERM, c.EVENT, c.PREFIX, c.ROOT, c.PREFIX_ROOT)


def recorded(of: Valid, number: int) -> list[bytes]:
    """Return subjects for which claim `number` or, if this claim denies something, its opposite is true."""
    asked = number if number in POSITIVE else number - 1
    return [
        claim[1]
        for one in valid()
        if one.store == of.store and one.basis[0] == of.basis[0]
        for claim in one.claims
        if claim[0] == asked
    ]


def forged(n: int, one: Valid, rng: Random) -> Iterator[Invalid]:
    """Yield the changed proofs with matching roots that the verifier refuses.

    Accepted proofs are left out: they show what the writer of such a root committed to.
    """
    listed: dict[str, int] = {}
    for change, edits, basis in forgeries(one, rng):
        answers = ask(edited(one.data, edits), basis, one.claims)
        if isinstance(answers.real, str) and answers.real not in SHALLOW:
            listed[answers.real] = listed.get(answers.real, 0) + 1
            if listed[answers.real] <= FORGERIES_EACH:
                yield Invalid(n, change, edits, basis, one.claims, answers.real)


def beyond_bounds() -> Iterator[Invalid]:
    """Yield proofs of events with fields out of bounds, as changes of the first valid proof in `bounds`."""
    of = next(n for n, one in enumerate(valid()) if one.store == "bounds")
    for made in bounds.refused():
        edits = difference(valid()[of].data, made.data)
        candidate = Candidate(made.what, edits, made.basis, made.claims)
        yield Invalid(of, *candidate, refusal(made.data, candidate))


def of_two_reasons() -> Iterator[Invalid]:
    """Yield proofs that two checks could refuse, so that the reason depends on the order of the checks."""
    for number, change, edits in ambiguous():
        one = valid()[number]
        candidate = Candidate(change, edits, one.basis, one.claims)
        yield Invalid(number, *candidate, refusal(edited(one.data, edits), candidate))
