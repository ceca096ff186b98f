"""From claims, as objects or in words, to a proof: of now, of a moment, or against a checkpoint.

In words, ids may be shortened, and names of predicates, tags and terms are as people write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from backends.base import Reader
from engine.base import validation
from engine.base.errors import InvalidInputError, RefusedError
from engine.base.validation import instance, several
from engine.commands.edges import known_type
from engine.ledger.journal import read_log
from engine.ledger.queries import resolve_id
from engine.store.past import AsOf, past_store, size_at
from engine.store.store import Store
from engine.text.analyzer import index_terms
from engine.trust.proving import prover
from engine.trust.proving.prover import Proof
from proofs.basis import LogHead
from proofs.claims import ALL, BeginsWithRoot, Claim, EventIs
from proofs.errors import ProofError
from proofs.words import parse_claim, parse_number


def prove(
    store: Store,
    claims: Iterable[Claim | Sequence[str]],
    as_of: AsOf | None = None,
    checkpoint: str | LogHead | None = None,
) -> Proof:
    """A proof of all of `claims`, objects or words, at the head, at a moment, or against a checkpoint.

    Raises:
        RefusedError: a claim does not hold, or the checkpoint is not of this store's log.
        NotFoundError: a claim is about what was never recorded.
    """
    head = None if checkpoint is None else _head(checkpoint)
    if head is not None and as_of is not None:
        raise InvalidInputError("a checkpoint says of when it is: give that or as_of")
    if as_of is not None and not _is_head(store, as_of):
        with store.backend.snapshot() as rows, past_store(rows, size_at(rows, as_of)) as past:
            return replace(prove(past, claims), replayed=read_log(past.backend).size)
    understood, sizes = _understood(store, several(claims, "claims"))
    if head is None:
        return prover.prove(store, understood, sizes=sizes)
    return prover.prove_to(store, understood, head, sizes=sizes)


def _is_head(store: Store, moment: AsOf) -> bool:
    """Whether nothing has happened since, so that nothing need be replayed."""
    with store.view() as rows:
        return size_at(rows, moment) == read_log(rows).size


def _head(checkpoint: str | LogHead) -> LogHead:
    if not isinstance(checkpoint, str):
        instance(checkpoint, LogHead, "checkpoint")
        return checkpoint
    try:
        return LogHead.of(checkpoint)
    except ProofError as error:
        raise InvalidInputError(f"the checkpoint is no note of a store: {error}") from error


def _understood(store: Store, claims: Iterable[object]) -> tuple[list[Claim], dict[bytes, int]]:
    """The claims, and how many events the earlier roots among them cover, where their words say so."""
    found: list[Claim] = []
    sizes: dict[bytes, int] = {}
    with store.view() as rows:
        for given in claims:
            if type(given) in ALL.values():
                found.append(given)  # type: ignore[arg-type]  # one of the classes of Claim
                continue
            words = [str(word) for word in several(given, "the words of a claim")]
            claim, size = claim_of(rows, words)
            found.append(claim)
            if size is not None and isinstance(claim, BeginsWithRoot):
                sizes[claim.root] = size
    return found, sizes


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
        given[-1] = validation.folded_tag(given[-1])
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
        f"{validation.quoted(word)} is found by {len(terms)} terms, and a claim is about one",
        hint=f"choose among: {' '.join(terms)}" if terms else "give a word",
    )
