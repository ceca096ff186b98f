"""Invalid proofs: valid proofs that are changed, checked against other claims, or given a matching root."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, islice
from random import Random
from typing import NamedTuple

from tests.reference import claims as c
from tests.reference.both import ask, real_basis, reference_basis, reference_claim
from tests.reference.claims import Basis, Claim
from tests.reference.forged import forged_roots
from tests.soundness.mutations import CLASSES, Seed
from tests.soundness.wire import Item, plain_basis, plain_claim
from tests.vectors import bounds
from tests.vectors.edits import Edit, difference
from tests.vectors.golden import golden
from tests.vectors.valid import Valid, valid

LONGEST = 4_000
"""All changes are applied only to proofs of fewer bytes."""
SHORT, OTHERS = 800, 4
"""The bytes of the other proofs whose parts and claims are used, and their number for one proof."""
TRIED = 40
"""The number of changes of each class that are tried on a valid proof."""
STEP = 8
"""Of the changes that a class makes in order, one of so many is tried."""
EACH = 4
"""The maximum number of invalid proofs in the file for one valid proof and one reason."""
FORGED = 300
"""The number of changes with a matching root that are tried on a valid proof."""
FORGERIES_EACH = 3
"""The maximum number of invalid proofs with a matching root for one valid proof and one reason."""
SHALLOW = ("form", "encoding", "kind", "missing", "unneeded", "root")
"""Reasons that do not depend on the hashes; forgeries with these reasons are not listed."""
CHANGES = {
    "M1": "a bit flipped",
    "M2": "a field with another value or of another type",
    "M3": "items or hashes dropped, repeated, inserted or in another order",
    "M4": "too short or too long",
    "M5": "a part of another proof",
    "M6": "checked for another basis or other claims",
    "M7": "checked for the claims of another proof",
    "M8": "an item in another encoding",
}
"""Class of changes in `tests/soundness/mutations.py` → what it does."""


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
    data: bytes
    basis: Basis
    claims: list[Claim]


def invalid() -> list[Invalid]:
    """Return all invalid proofs in the order of the file."""
    found: list[Invalid] = []
    for n in sorted(first_of_each()):
        one, rng = valid()[n], Random(f"invalid {n}")
        found += listed(n, chain(changed(n, rng), too_large(one), other_questions(one)), EACH, rng)
        if one.basis[0] == "root":
            own = listed(n, forged(one, rng), FORGERIES_EACH, rng)
            found += [made for made in own if made.reason not in SHALLOW]
    of = next(n for n, one in enumerate(valid()) if one.store == "bounds")
    beyond = (Candidate(made.what, made.data, made.basis, made.claims) for made in bounds.refused())
    return [*found, *listed(of, beyond, 1 << 10, Random(0))]


def listed(n: int, candidates: Iterator[Candidate], each: int, rng: Random) -> list[Invalid]:
    """Return at most `each` invalid proofs for each reason, made from valid proof `n`.

    Proofs that are accepted are left out, and those that the two verifiers refuse for different reasons.
    """
    by_reason: dict[str, dict[object, Candidate]] = {}
    for one in candidates:
        answers = ask(one.data, one.basis, one.claims)
        assert answers.agree, one.change
        if isinstance(answers.real, str) and answers.real == answers.reference:
            by_reason.setdefault(answers.real, {}).setdefault((one.data, one.basis, tuple(one.claims)), one)
    return [
        Invalid(n, one.change, difference(valid()[n].data, one.data), one.basis, one.claims, reason)
        for reason, own in by_reason.items()
        for one in rng.sample(list(own.values()), min(each, len(own)))
    ]


def first_of_each() -> set[int]:
    """Return the numbers of the valid proofs that are changed.

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


@cache
def seeds() -> list[Seed]:
    """Return the valid proofs in the form that the classes of changes take."""
    found = []
    for one in valid():
        basis, claims = real_basis(one.basis), one.real_claims
        item = Item(one.store, one.data, plain_basis(basis), [plain_claim(claim) for claim in claims])
        found.append(Seed(item, basis, claims))
    return found


def changed(n: int, rng: Random) -> Iterator[Candidate]:
    """Yield changes of each class of a valid proof."""
    own = valid()[n].data
    short = [seed for seed in seeds() if len(seed.item.data) < SHORT]
    for name, change in CHANGES.items():
        others = rng.sample(short, OTHERS) if name in ("M5", "M6", "M7") else []
        attempts = CLASSES[name]([seeds()[n], *others], rng)
        of_own = (one for one in attempts if own in (one.data, one.honest))
        for attempt in islice(of_own, 0, STEP * TRIED, STEP):
            claims = [reference_claim(claim) for claim in attempt.claims]
            yield Candidate(change, attempt.data, reference_basis(attempt.basis), claims)


def too_large(one: Valid) -> Iterator[Candidate]:
    """Yield proofs with more bytes than a proof may have."""
    if one.basis[0] == "root" and one.claims[0][0] in (c.ATOM, c.TAGGED):
        for count in (65_537, 16_777_217):
            yield Candidate(f"{count:,} zero bytes after it", one.data + bytes(count), one.basis, one.claims)


def other_questions(one: Valid) -> Iterator[Candidate]:
    """Yield the same proof with bases or claims that no proof has, or that contradict its own."""
    store_id, root, size = c.parts_of(one.basis)
    bases: dict[str, Basis] = {
        "a root of 31 bytes": ("root", store_id, root[:31], size),
        "a store id of 15 bytes": ("root", store_id[:15], root, size),
        "the other kind of root": ("log", store_id, size or 1, root),
        "a root with its last bit flipped": (("root", store_id, root[:31] + bytes([root[31] ^ 1]), size)),
    }
    if one.basis[0] == "log":
        bases["a log of no events"] = ("log", store_id, 0, root)
        bases["a log of one event more"] = ("log", store_id, (size or 1) + 1, root)
        bases["the other kind of root"] = ("root", store_id, root, size)
    elif one.store == "golden":
        older = golden().worlds[golden().checkpoint].roots["overall"]
        bases["an older root of the store"] = ("root", store_id, older, None)
        bases["the root of another number of events"] = ("root", store_id, root, (size or 0) + 1)
    for what, basis in bases.items():
        yield Candidate(f"checked against {what}", one.data, basis, one.claims)
    (number, subject, state, opens), *others = one.claims
    sibling = number + 1 if number % 2 else number - 1
    claims: dict[str, list[Claim]] = {
        "no claims": [],
        "a claim twice": [*one.claims, one.claims[0]],
        "one more claim": [*one.claims, (c.EVENT, bytes(7) + b"\1", None, False)],
        "a claim that does not exist": [(18, subject, None, False), *others],
        "the contradictory claim": [
            (sibling, subject, 0 if sibling in c.STATES else None, False),
            *others,
        ],
        "a claim of another state": [
            (number, subject, None if state is None else (state + 1) % 3, False),
            *others,
        ],
        "a state that does not exist": [(number, subject, 3, False), *others],
        "another opening": [(number, subject, state, not opens), *others],
        "a subject that no claim has": [(number, subject[:-1] + b" ", state, opens), *others],
    }
    for what, asked in claims.items():
        if asked != one.claims:
            yield Candidate(f"checked for {what}", one.data, one.basis, asked)


def forged(one: Valid, rng: Random) -> Iterator[Candidate]:
    """Yield changes of a proof, each with the overall root of the changed proof as the basis.

    Those that are accepted show what the writer of such a root committed to.
    """
    honest = [(one.data, one.basis[1], one.claims)]
    for data, store_id, root, claims in islice(forged_roots(rng, honest), FORGED):
        change = "one or two items changed, with a matching root"
        yield Candidate(change, data, ("root", store_id, root, None), claims)
