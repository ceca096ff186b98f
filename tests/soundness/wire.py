"""Questions to the verifier as plain data, so that another process can put them to another verifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from enum import IntEnum
from typing import Any, Final, NamedTuple

import cbor2

from proofs import claims as kinds
from proofs.basis import Basis, LogHead, Root
from proofs.claim_words import parse_claim
from proofs.claims import Claim
from proofs.errors import ProofError
from proofs.leaves import Direction, Group, State
from proofs.log import check_consistency, check_inclusion
from proofs.rows import read_postings, shown_root
from proofs.smt import opening_root
from proofs.verifier import verify

LINK, OPENING, LABEL_KEY, SEGMENTS, ATOMS, EDGES, TAGS, WITNESSES = range(2, 10)
"""The positions of the parts of a proof in its array."""
RULES, LABEL_COMMITMENT, SIZE, LOG_ROOT, ROOTS = range(5)
"""The positions of the parts of an opening in its array."""

Plain = list[Any]


class Asked(NamedTuple):
    """A proof, the basis and the claims that it is put to a verifier with."""

    data: bytes
    basis: Basis
    claims: Sequence[Claim]


class Item(NamedTuple):
    """An honest proof with its basis and its claims."""

    name: str
    data: bytes
    basis: Plain
    claims: list[Plain]


class Case(NamedTuple):
    """A call of the verifier that must be refused."""

    reason: str
    """The reason, or several separated by `|` if it depends on the hashes which one applies."""
    call: str
    given: Plain

    @property
    def reasons(self) -> list[str]:
        """The reasons for which the case may be refused."""
        return self.reason.split("|")


def _field_names(kind: type[Claim]) -> list[str]:
    """Return the names of a claim's fields; those that can only be given by name come last."""
    return [field.name for field in sorted(fields(kind), key=lambda field: bool(field.kw_only))]


def plain_claim(claim: Claim) -> Plain:
    """Return a claim as the name of its class and its fields."""
    return [type(claim).__name__, *(getattr(claim, name) for name in _field_names(type(claim)))]


def plain_basis(basis: Basis) -> Plain:
    """Return a basis as the name of its class and its fields."""
    return [type(basis).__name__, *(getattr(basis, field.name) for field in fields(basis))]


_ENUMS: Final[dict[str, type[IntEnum]]] = {"state": State, "group": Group, "direction": Direction}


def claim_of(plain: Sequence[Any]) -> Claim:
    """Return the claim that `plain_claim` converted; an invalid state is left as it is.

    Fields that are left out at the end have the values that they have if a caller leaves them out.
    """
    kind = {made.__name__: made for made in kinds.ALL.values()}[plain[0]]
    given = dict(zip(_field_names(kind), plain[1:], strict=False))
    for name, enum in _ENUMS.items():
        if type(given.get(name)) is int and given[name] in set(enum):
            given[name] = enum(given[name])
    return kind(**given)


def basis_of(plain: Sequence[Any]) -> Basis:
    """Return the basis that `plain_basis` converted."""
    return LogHead(*plain[1:]) if plain[0] == "LogHead" else Root(*plain[1:])


def show(data: bytes, basis: Plain, claims: list[Plain]) -> None:
    """Verify a proof.

    Raises:
        ProofError: the proof is refused.
    """
    verify(data, basis_of(basis), [claim_of(claim) for claim in claims])


def open_tree(keys: list[list[Any]], shape: bytes, hashes: bytes, root: bytes) -> None:
    """Open a tree at key digests.

    Raises:
        ProofError: the opening is refused, or gives another root.
    """
    if opening_root({key: value for key, value in keys}, shape, hashes) != root:  # noqa: C416  lists, not pairs
        raise ProofError("tree", "another root")


CALLS: Final[dict[str, Callable[..., object]]] = {
    "verify": show,
    "ask claims": lambda data, basis, claims: verify(data, basis_of(basis), claims),
    "ask basis": lambda data, basis, claims: verify(data, basis, [claim_of(claim) for claim in claims]),
    "ask claim": lambda data, basis, claim: verify(data, basis_of(basis), [claim]),
    "opening": open_tree,
    "inclusion": check_inclusion,
    "consistency": check_consistency,
    "claim": lambda *plain: claim_of(plain),
    "words": lambda *words: parse_claim(words),
    "lone surrogate": lambda name, *before: claim_of([name, *before, "\ud800"]),
    "basis": lambda *plain: basis_of(plain),
    "row": read_postings,
    "rows": shown_root,
}
"""The functions of the verifier that a case may call."""


def refusal(call: str, given: Plain) -> str | None:
    """Return the reason of the refusal, or None if the call is accepted; other exceptions propagate."""
    try:
        CALLS[call](*given)
    except ProofError as error:
        return error.reason
    return None


def parts_of(data: bytes) -> Plain:
    """Return the array of a proof."""
    parts: Plain = cbor2.loads(data)
    return parts


def packed(parts: object) -> bytes:
    """Return the canonical bytes of an array."""
    return cbor2.dumps(parts, canonical=True)


def edited(item: Item, change: Callable[[Plain], object]) -> bytes:
    """Return the proof with its array changed in place by `change`."""
    parts = parts_of(item.data)
    change(parts)
    return packed(parts)


def replaced(parts: Plain, value: object, *path: int) -> None:
    """Return a change that puts `value` at `path`."""
    place = parts
    for at in path[:-1]:
        place = place[at]
    place[path[-1]] = value


def places(parts: object, path: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Return the paths to everything in nested arrays, with the arrays themselves."""
    found = [path] if path else []
    if isinstance(parts, list):
        for at, one in enumerate(parts):
            found += places(one, (*path, at))
    return found


def at_path(parts: Any, path: tuple[int, ...]) -> Any:
    """Return the item at a path."""
    for at in path:
        if not isinstance(parts, list):
            raise TypeError("only arrays have places in them")
        parts = parts[at]
    return parts
