"""Claims as people write them: shortened ids, names of predicates, tags and words as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from backends.base import Reader
from engine.base import validation as border
from engine.base.errors import InvalidInputError, RefusedError
from engine.commands.edges import known_type
from engine.ledger.queries import resolve_id
from engine.text.analyzer import index_terms
from proofs.claims import Claim, EventIs
from proofs.errors import ProofError
from proofs.sets import tag_identity
from proofs.words import parse_claim, parse_number

_IDS = {"atom": (0,), "no-atom": (), "edge": (0, 2), "no-edge": (0, 2), "tag": (0,), "no-tag": (0,)}
"""Claim → which of its words are ids of recorded atoms."""


class Asked(NamedTuple):
    """A claim, and what a claim in words may say beside it."""

    claim: Claim
    size: int | None
    """Of how many events an earlier root is; None if nobody said, or for another claim."""


def claim_of(rows: Reader, words: Sequence[str]) -> Asked:
    """The claim that `words` make: those of `proofs.words`, and more freely written.

    Ids may be shortened to 4 digits, predicates go by their names, a tag may have its `#`, a word stands
    for its analysed term (behind `=` stands the term itself), and behind `prefix-root ROOT` may stand how
    many events that root covers.

    Raises:
        InvalidInputError: the words make no claim.
        RefusedError: they would give away the key of the ids.
        NotFoundError, ConflictError: no atom's id begins so, or several do; no such edge type.
    """
    name, *given = words or [""]
    size = None
    for at in _IDS.get(name, ()):
        if at < len(given):
            given[at] = str(UUID(bytes=resolve_id(rows, given[at])))
    if name in {"edge", "no-edge"} and len(given) > 1:
        given[1] = known_type(rows, given[1]).hex()
    if name in {"tag", "no-tag", "tagged", "none-tagged"} and given:
        given[-1] = tag_identity(border.tag(given[-1]))
    if name in {"term", "no-term"} and given:
        given = [term_of(" ".join(given))]
    try:
        if name == "prefix-root" and len(given) == 2:
            size = parse_number(given.pop())
        claim = parse_claim([name, *given])
    except ProofError as error:
        raise InvalidInputError(
            str(error).partition(": ")[2], hint="`engine prove --help` lists them"
        ) from error
    if isinstance(claim, EventIs) and claim.opened and not claim.seq:
        raise RefusedError(
            "the payload of event 0 is the key of this store's ids, by which contents could be guessed",
            hint="claim `event 0 sealed`",
        )
    return Asked(claim, size)


def term_of(word: str) -> str:
    """The one term that a word is found by; behind `=` stands a term itself.

    Raises:
        InvalidInputError: it has none, or several of which it is not one itself.
    """
    if word.startswith("="):
        return word[1:]
    terms = list(dict.fromkeys(index_terms(word)))
    own = [term for term in terms if term in {word, word.casefold()}]
    if len(terms) == 1 or own:
        return own[0] if own else terms[0]
    raise InvalidInputError(
        f"{border.quoted(word)} is found by {len(terms)} terms, and a claim is about one",
        hint=f"choose among: {' '.join(terms)}" if terms else "give a word",
    )
