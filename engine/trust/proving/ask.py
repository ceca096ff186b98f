"""Making a proof from claims: about the present, about an earlier moment, or against a checkpoint.

Claims are given as objects or as lists of words. In words, ids may be shortened, and predicates, tags and
terms are written by name.
"""

from __future__ import annotations

import re
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
from engine.ledger.layout import type_code_key
from engine.ledger.queries import resolve_id
from engine.ledger.records import type_code
from engine.store.past import AsOf, size_at, store_at
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
    """Return a proof of all of `claims`. They are about the present, an earlier moment or a checkpoint.

    Args:
        store: The store.
        claims: The claims, as objects or as lists of words.
        as_of: An earlier moment, up to which the memory is replayed; None for the present.
        checkpoint: A checkpoint note, or the log head in a note.

    Raises:
        InvalidInputError: Both `as_of` and `checkpoint` are given, or `checkpoint` is not a note of a store.
        RefusedError: A claim does not hold, or the checkpoint is not of this store's log.
        NotFoundError: A claim is about something that was never recorded.
    """
    head = None if checkpoint is None else _head(checkpoint)
    if head is not None and as_of is not None:
        raise InvalidInputError(
            "as_of and checkpoint cannot be combined: the checkpoint already determines the moment"
        )
    if as_of is not None and not _is_head(store, as_of):
        with store_at(store, as_of) as past:
            return replace(prove(past, claims), replayed=read_log(past.backend).size)
    parsed, sizes = _parse_claims(store, several(claims, "claims"))
    if head is None:
        return prover.prove(store, parsed, sizes=sizes)
    return prover.prove_to(store, parsed, head, sizes=sizes)


def _is_head(store: Store, moment: AsOf) -> bool:
    """Return True if there is no event after `moment`, so that no replay is needed."""
    with store.view() as rows:
        return size_at(rows, moment) == read_log(rows).size


def _head(checkpoint: str | LogHead) -> LogHead:
    if not isinstance(checkpoint, str):
        instance(checkpoint, LogHead, "checkpoint")
        return checkpoint
    try:
        return LogHead.of(checkpoint)
    except ProofError as error:
        raise InvalidInputError(f"the checkpoint is not a note of a store: {error}") from error


def _parse_claims(store: Store, claims: Iterable[object]) -> tuple[list[Claim], dict[bytes, int]]:
    """Return the parsed claims, and a mapping from earlier roots to the numbers of events that they cover."""
    parsed: list[Claim] = []
    sizes: dict[bytes, int] = {}
    with store.view() as rows:
        for claim_or_words in claims:
            if type(claim_or_words) in ALL.values():
                parsed.append(claim_or_words)  # type: ignore[arg-type]  # one of the classes of Claim
                continue
            words = [str(word) for word in several(claim_or_words, "the words of a claim")]
            claim, size = claim_of(rows, words)
            parsed.append(claim)
            if size is not None and isinstance(claim, BeginsWithRoot):
                sizes[claim.root] = size
    return parsed, sizes


_IDS = {"atom": (0,), "no-atom": (), "edge": (0, 2), "no-edge": (0, 2), "tag": (0,), "no-tag": (0,)}
"""Name of a claim → the positions of the claim's words that must be ids of recorded atoms."""


_PREDICATE_CODE = re.compile(r"[89a-f][0-9a-f]{3}")


class ParsedClaim(NamedTuple):
    """A parsed claim, and the number of events that the earlier root in the claim covers."""

    claim: Claim
    size: int | None
    """The number of events that the earlier root covers, or None if the words do not contain this number."""


def claim_of(rows: Reader, words: Sequence[str]) -> ParsedClaim:
    """Return the claim that `words` describe, in the syntax of `proofs.words` or in an extended syntax.

    In the extended syntax, ids may be shortened to 4 digits, predicates are given by name or by code, and a
    tag may begin with `#`. If a word is the name of one predicate and the code of another, it stands for the
    name. A word stands for its analyzed term; a word that begins with `=` is an exact term. The number of
    events that a root covers may follow `prefix-root ROOT`.

    Raises:
        InvalidInputError: The words are not a claim.
        RefusedError: The proof would disclose the key from which ids are derived.
        NotFoundError: No atom's id begins with the given digits, or there is no such edge type.
        ConflictError: The ids of several atoms begin with the given digits.
    """
    name, *arguments = words or [""]
    size = None
    for at in _IDS.get(name, ()):
        if at < len(arguments):
            arguments[at] = str(UUID(bytes=resolve_id(rows, arguments[at])))
    if name in {"edge", "no-edge"} and len(arguments) > 1:
        arguments[1] = _code_in_hex(rows, arguments[1])
    if name in {"tag", "no-tag", "tagged", "none-tagged"} and arguments:
        arguments[-1] = validation.folded_tag(arguments[-1])
    if name in {"term", "no-term"} and arguments:
        arguments = [term_of(" ".join(arguments))]
    try:
        if name == "prefix-root" and len(arguments) == 2:
            size = parse_number(arguments.pop())
        claim = parse_claim([name, *arguments])
    except ProofError as error:
        raise InvalidInputError(
            str(error).partition(": ")[2], hint="`engine prove --help` lists the claims"
        ) from error
    if isinstance(claim, EventIs) and claim.opened and not claim.seq:
        raise RefusedError(
            "the payload of event 0 contains the key of this store's ids; whoever has this key can check "
            "guesses of contents",
            hint="claim `event 0 sealed` instead",
        )
    return ParsedClaim(claim, size)


def _code_in_hex(rows: Reader, word: str) -> str:
    if _PREDICATE_CODE.fullmatch(word) and type_code(rows, word) is None:
        registered = rows.get(type_code_key(bytes.fromhex(word))) is not None
        if registered:
            return word
    return known_type(rows, word).hex()


def term_of(word: str) -> str:
    """Return the single term under which a word is indexed. If the word begins with `=`, return the rest.

    Raises:
        InvalidInputError: The word is indexed under no term, or under several terms that do not include the
            word itself.
    """
    if word.startswith("="):
        return word[1:]
    terms = list(dict.fromkeys(index_terms(word)))
    own = [term for term in terms if term in {word, word.casefold()}]
    if len(terms) == 1 or own:
        return own[0] if own else terms[0]
    raise InvalidInputError(
        f"{validation.quoted(word)} has {len(terms)} terms, but a claim is about exactly one term",
        hint=f"choose one of: {' '.join(terms)}" if terms else "give a word",
    )
