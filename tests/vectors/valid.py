"""Valid proofs of all claims against both bases, over stores of several sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from engine.trust.proving.prove import prove_present, prove_to
from proofs.basis import LogHead
from proofs.claims import Claim as RealClaim
from tests.reference import claims as c
from tests.reference import truths
from tests.reference.both import real_basis, real_claim, reference_basis
from tests.reference.build import build, log_leaves
from tests.reference.claims import Basis, Claim
from tests.reference.world import mth
from tests.spec.spec_naive import opened, u
from tests.vectors import bounds
from tests.vectors.golden import golden
from tests.vectors.stores import SHARED, WIDE_CODE, WIDE_ID, Made, plain, wide, wide_id

EVERY = b"\0\0\0\0\xff\xff\xff\xff"
"""The range of all ordinals, with which the subject of a list claim begins."""


class Valid(NamedTuple):
    """A basis, claims, and the proof of them."""

    store: str
    data: bytes
    basis: Basis
    claims: list[Claim]

    @property
    def real_claims(self) -> list[RealClaim]:
        """The claims in the form that the project's verifier takes."""
        return [real_claim(*claim) for claim in self.claims]


EACH = {"golden": 3, "plain-0": 1, "plain-1": 1, "plain-3": 1, "plain-300": 1, "plain-1300": 1}
OF_SEGMENTS = (c.NONE_TAGGED, c.TERM, c.NO_TERM)
"""Store name → the number of proofs for each kind of claim."""


@cache
def valid() -> tuple[Valid, ...]:
    """Return all valid proofs in the order of the file."""
    stores = [golden(), *(plain(atoms) for atoms in (0, 1, 3, 300, 1300))]
    found = [one for store in stores for kind in ("root", "log") for one in proved(store, kind)]
    return (*found, *of_wide(), *of_bounds(), *with_dead_atoms_only())


def proved(store: Made, kind: str) -> Iterator[Valid]:
    """Yield a proof of each claim alone, then one of several claims together."""
    single = sampled(claims_of(store, kind), EACH[store.name], Random(f"{store.name} {kind}"))
    if store.name == "plain-1300":
        # Only these are about the segments of several levels, which this store has more than the others.
        single = [claim for claim in single if claim[0] in OF_SEGMENTS]
    for claim in single:
        yield prove_one(store, kind, [claim])
    yield prove_one(store, kind, [claim for claim in reversed(single[:40]) if claim[0] != c.PREFIX])
    if store.name == "golden":
        for number in (c.ATOM, c.TAG, c.EVENT, c.NO_ATOM):
            yield prove_one(store, kind, [claim for claim in single if claim[0] == number])


def prove_one(store: Made, kind: str, claims: Sequence[Claim]) -> Valid:
    """Return a proof that the engine makes. Proofs against a log head are made at the last checkpoint."""
    asked = [real_claim(*claim) for claim in claims]
    sizes = {store.worlds[len(store.rows)].roots["overall"]: len(store.rows)}
    if kind == "root":
        proof = prove_present(store.engine.store, asked, sizes=sizes)
    else:
        size = store.checkpoint + 1
        head = LogHead(store.engine.store.identity.store_id, size, mth(log_leaves(store.rows[:size])))
        proof = prove_to(store.past, asked, head)
    basis = reference_basis(proof.basis)
    if kind == "root" and len(claims) % 2 == 0:
        basis = ("root", basis[1], c.parts_of(basis)[1], None)
    return Valid(store.name, proof.data, basis, list(claims))


def claims_of(store: Made, kind: str) -> list[Claim]:
    """Return true claims about a store: all about its state, and some about its log."""
    size = len(store.rows) if kind == "root" else store.checkpoint
    at, rows = store.worlds[size], store.rows[: size if kind == "root" else size + 1]
    bare = [
        (c.PREFIX, u(n, 8) + mth(log_leaves(rows[:n]))) for n in sorted({1, len(rows) // 2 + 1, len(rows)})
    ]
    kinds = [opened(*row)[0] for row in rows]
    bare += [(c.ROOT, fields[7]) for fields in kinds if fields[3] == 10]
    bare += [(c.PREFIX_ROOT, one.roots["overall"]) for n, one in store.worlds.items() if n <= size]
    heads = [fields for fields in kinds if fields[3] == 14 and fields[10]]
    bare += [(c.SEEN, fields[7] + u(fields[8], 8) + fields[10]) for fields in heads]
    events: list[Claim] = [
        (c.EVENT, u(seq, 8), None, seq % 3 > 0 and bool(row[1])) for seq, row in enumerate(rows)
    ]
    state = truths.of_state(at) if at.values["atoms"] else of_nothing()
    if not at.values["edges"]:
        state = [claim for claim in state if claim[0] != c.NO_EDGE] + of_nothing()[1:2]
    # `truths` takes the ids of absent edges from numbers that this store does not use, so its claims hold.
    return state + events + [(number, subject, None, False) for number, subject in bare]


def of_nothing() -> list[Claim]:
    """Return true claims about a store without atoms."""
    pair = bytes([0x77]) * 16 + b"\6" + bytes([0x88]) * 16
    bare = [(c.NO_ATOM, pair[:16]), (c.NO_EDGE, pair), (c.NONE_TAGGED, EVERY + b"\2never")]
    bare += [(c.NO_TERM, EVERY + b"unicorn"), (c.EDGES_OF, b"\0" + pair[:16])]
    return [(number, subject, None, False) for number, subject in bare]


def sampled(claims: list[Claim], each: int, rng: Random) -> list[Claim]:
    """Return some claims of each number.

    Of claims with a state, return some of each state, with and without an opened payload.
    """
    groups: dict[tuple[object, ...], list[Claim]] = {}
    for number, subject, state, opens in claims:
        groups.setdefault((number, state, opens), []).append((number, subject, state, opens))
        if number in c.WITH_PAYLOAD[:2] and state != 2:
            groups.setdefault((number, state, not opens), []).append((number, subject, state, not opens))
    found: dict[tuple[int, bytes], Claim] = {}
    for key in sorted(groups, key=str):
        some = sorted(groups[key], key=lambda claim: claim[:2])
        for claim in sorted(rng.sample(some, min(each, len(some))), key=lambda claim: claim[:2]):
            found.setdefault(claim[:2], claim)
    return sorted(found.values(), key=lambda claim: claim[:2])


def of_wide() -> Iterator[Valid]:
    """Yield proofs over the store of 65,540 ordinals, made by the reference builder."""
    first, hidden, erased, other = (wide_id(at) for at in (5, 70, 256, 65_537))
    edge = first + WIDE_CODE + hidden
    rare, never = b"\2rare", b"\2never"
    asked: list[list[Claim]] = [
        [(c.TAGGED, EVERY + rare, None, False)],
        [(c.NONE_TAGGED, EVERY + never, None, False)],
        [(c.TERM, EVERY + b"rare", None, False)],
        [(c.NO_TERM, EVERY + b"never", None, False)],
        [(c.TAGGED, u(65_536, 4) + u(1 << 20, 4) + rare, None, False)],
        [(c.TAGGED, u(0, 4) + u(69, 4) + rare, None, False)],
        [(c.NONE_TAGGED, u(6, 4) + u(65_534, 4) + rare, None, False)],
        [(c.TERM, u(65_535, 4) + u(65_537, 4) + b"rare", None, False)],
        [(c.NO_TERM, u(65_540, 4) + u(70_000, 4) + b"rare", None, False)],
        [(c.TAG, other + rare, 0, False)],
        [(c.TAG, hidden + rare, 1, False)],
        [(c.NO_TAG, first + never, 0, False)],
        [(c.TAGS_OF, other, 0, False)],
        [(c.EDGES_OF, b"\0" + first, None, False)],
        [(c.EDGES_OF, b"\1" + hidden + WIDE_CODE, None, False)],
        [(c.EDGES_OF, b"\0" + hidden, None, False)],
        [(c.EDGES_OF, b"\0" + SHARED[0][0].to_bytes(16), None, False)],
        [(c.EDGES_OF, b"\1" + SHARED[1][1].to_bytes(16) + WIDE_CODE, None, False)],
        [(c.ATOM, first, 0, False)],
        [(c.ATOM, hidden, 1, False)],
        [(c.ATOM, erased, 2, False)],
        [(c.EDGE, edge, 2, False)],
        [(c.NO_EDGE, hidden + WIDE_CODE + first, None, False)],
        [(c.TAG, other + rare, 0, False), (c.TAG, first + rare, 0, False)],
    ]
    basis: Basis = ("root", WIDE_ID, wide().roots["overall"], None)
    for claims in asked:
        real_basis(basis)
        yield Valid("wide", build([], basis, claims, {0: wide()}), basis, claims)


def of_bounds() -> Iterator[Valid]:
    """Yield proofs of events whose fields are at their bounds."""
    for made in bounds.accepted():
        yield Valid("bounds", made.data, made.basis, made.claims)


DEAD: Sequence[Claim] = (
    (c.NONE_TAGGED, EVERY + b"\2kkelvin", None, False),
    (c.NO_TERM, EVERY + b"snake_case", None, False),
)
"""Claims about a tag and a term that only tombstoned atoms have. Their proofs show a chunk and a row."""


def with_dead_atoms_only() -> Iterator[Valid]:
    """Yield proofs of absence for a tag and a term that exist, but that no live atom has."""
    for claims in ([DEAD[0]], [DEAD[1]], list(DEAD)):
        yield prove_one(golden(), "root", claims)
