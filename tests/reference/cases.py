"""Journals and the values derived from them, for the tests of the second verifier."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import pytest

from tests.reference import claims as c
from tests.reference import truths
from tests.reference.build import build
from tests.reference.claims import Basis, Claim
from tests.reference.journals import (
    STOP,
    STORE,
    atom_id,
    edge_key,
    example,
    example_terms,
    large,
    small,
    terms,
)
from tests.reference.refused import Refused
from tests.reference.state import Shown
from tests.reference.verifier import check
from tests.reference.world import World, world
from tests.spec.spec_naive import Rows, log_root, opened, u
from tests.spec.spec_page import stop_words, table

REASONS = {row[0] for row in table("reasons")}


class Case(NamedTuple):
    """A journal and the values derived from it, at its end and at its last checkpoint."""

    rows: Rows
    worlds: dict[int, World]

    def log(self, kind: str) -> Rows:
        """Return the events that a basis covers.

        An overall root covers all events, and a log head the events up to the last checkpoint.
        """
        return self.rows if kind == "root" else self.rows[: last_checkpoint(self.rows) + 1]

    def at(self, kind: str) -> World:
        """Return the values of the state that can be verified against this kind of basis."""
        return self.worlds[len(self.rows) if kind == "root" else last_checkpoint(self.rows)]

    def basis(self, kind: str) -> Basis:
        """Return the basis of this kind: an overall root (`root`) or a log head (`log`)."""
        rows = self.log(kind)
        if kind == "log":
            return "log", STORE, len(rows), log_root([header for header, _ in rows])
        return "root", STORE, self.at(kind).roots["overall"], len(rows)

    def proof(self, kind: str, claims: Sequence[Claim]) -> bytes:
        """Return a correct proof of true claims."""
        return build(self.log(kind), self.basis(kind), claims, self.worlds)

    def shown(self, kind: str, claims: Sequence[Claim]) -> list[Shown]:
        """Return the facts that a correct proof of true claims shows."""
        return check(self.proof(kind, claims), self.basis(kind), claims)

    def truths(self, kind: str) -> list[Claim]:
        """Return all true claims that can be verified against this kind of basis."""
        return truths.of_state(self.at(kind)) + truths.of_log(self.worlds, self.log(kind))


def last_checkpoint(rows: Rows) -> int:
    """Return the seq of the last checkpoint event."""
    return max(seq for seq, (header, payload) in enumerate(rows) if opened(header, payload)[0][3] == 10)


def case_of(rows: Rows) -> Case:
    """Return a case with the values at the end of the journal and before each checkpoint."""
    sizes = {len(rows), last_checkpoint(rows)}
    return Case(rows, {size: world(rows[:size], terms, STOP) for size in sorted(sizes)})


@cache
def small_case() -> Case:
    """Return a journal with a few events of many kinds."""
    return case_of(small().rows)


@cache
def large_case() -> Case:
    """Return a journal with more than 256 ordinals."""
    return case_of(large().rows)


@cache
def example_case() -> Case:
    """Return the worked example."""
    rows = example()
    return Case(rows, {size: world(rows[:size], example_terms, stop_words()) for size in (5, 6)})


CASES = {"small": small_case, "large": large_case, "example": example_case}
SMALL = small().rows
PREFIX = u(5, 8) + log_root([header for header, _ in SMALL[:5]])
COMMITTED = opened(*SMALL[last_checkpoint(SMALL)])[0][7]
ONE_EACH: dict[str, list[Claim]] = {
    "atom": [(c.ATOM, atom_id(0), 0, True)],
    "hidden": [(c.ATOM, atom_id(1), 1, False)],
    "no-atom": [(c.NO_ATOM, atom_id(99), None, False)],
    "edge": [(c.EDGE, edge_key(1, 0), 1, True)],
    "no-edge": [(c.NO_EDGE, edge_key(0, 1), None, False)],
    "tag": [(c.TAG, atom_id(0) + b"net", None, False)],
    "no-tag": [(c.NO_TAG, atom_id(0) + b"port", None, False)],
    "tagged": [(c.TAGGED, b"net", None, False)],
    "none-tagged": [(c.NONE_TAGGED, b"never", None, False)],
    "term": [(c.TERM, b"daemon", None, False)],
    "no-term": [(c.NO_TERM, b"listens", None, False)],
    "never-term": [(c.NO_TERM, b"zzz", None, False)],
    "event": [(c.EVENT, u(5, 8), None, True)],
    "prefix": [(c.PREFIX, PREFIX, None, False)],
    "root": [(c.ROOT, COMMITTED, None, False)],
    "prefix-root": [(c.PREFIX_ROOT, COMMITTED, None, False)],
    "several": [
        (c.TAGGED, b"net", None, False),
        (c.ATOM, atom_id(0), 0, True),
        (c.EVENT, u(1, 8), None, False),
    ],
}


def refused(data: bytes, basis: Basis, claims: Sequence[Claim]) -> str:
    """Return the reason for which the second verifier refuses a proof."""
    with pytest.raises(Refused) as why:
        check(data, basis, claims)
    assert why.value.reason in REASONS
    return why.value.reason
