"""Making a proof from claims: about the present, about an earlier moment, or against a checkpoint.

Claims are given as objects or as lists of words. In words, ids may be shortened, and predicates, tags and
terms are written by name. A proof is assembled from the witnesses of its claims, and verified before it is
returned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple
from uuid import UUID

from backends.base import Reader
from engine.base import validation
from engine.base.errors import CorruptionError, InvalidInputError, RefusedError
from engine.base.validation import instance, several
from engine.commands.edges import known_type
from engine.ledger.journal import read_log
from engine.ledger.layout import type_code_key
from engine.ledger.queries import recorded_type_code, resolve_id
from engine.store.past import AsOf, past_store, size_at, store_at
from engine.store.store import Store
from engine.text.analyzer import index_terms
from engine.trust.proving.log_witnesses import LogWitnesses
from engine.trust.proving.witnesses import ClaimNotTrueError, NeverRecorded, Witnesses, open_tree, opening_of
from proofs import claims as kinds
from proofs.basis import Basis, LogHead, Root
from proofs.claim_words import parse_claim, parse_number
from proofs.claims import ALL, BeginsWithRoot, Claim
from proofs.envelope import encode as encode_envelope
from proofs.errors import ProofError
from proofs.hashing import EDGES
from proofs.note import Checkpoint, Note, origin_of
from proofs.proof_file import TREES, CheckpointLink, Opening, ProofFile, encode, sort_claims
from proofs.verified import Verified
from proofs.verifier import verify

_FROM_HEADERS = (kinds.AtomIs, kinds.NoAtom, kinds.EdgeIs, kinds.NoEdge, kinds.LogClaim)
"""The classes of claims that can be proved from the headers of events alone."""

NO_SIZES: Mapping[bytes, int] = {}


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof, the basis to verify it against, and the facts that it shows."""

    data: bytes
    """The bytes of the proof, without the basis and the claims. `envelope` returns all three as one file."""
    basis: Basis
    claims: tuple[Claim, ...]
    shown: tuple[Verified, ...]
    """The facts that the proof shows: one for each claim, in the order of the claims."""
    size: int
    """The number of events in the journal in the state that the proof is about."""
    replayed: int
    """The number of events that were replayed to make the proof; 0 if no replay was needed."""

    def envelope(self, note: Note | None = None) -> bytes:
        """Return the file that holds the proof, its basis and its claims, as `engine prove` writes it.

        Args:
            note: The checkpoint note from which the basis is, with its signatures. Without it, the note of a
                log head has no signatures.

        Raises:
            RefusedError: The file would be too large.
        """
        head = self.basis
        if isinstance(head, LogHead):
            stated: Root | Note = note or Note(Checkpoint(origin_of(head.store_id), head.size, head.root))
        else:
            stated = head
        try:
            return encode_envelope(stated, self.claims, self.data)
        except ProofError as error:
            raise RefusedError(
                f"the file would be too large: {error}", hint="prove fewer claims in one proof"
            ) from error


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
        return prove_present(store, parsed, sizes=sizes)
    return prove_to(store, parsed, head, sizes=sizes)


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


_IDS = {"edge": (0, 2), "no-edge": (0, 2)} | dict.fromkeys(
    ("atom", "tag", "no-tag", "in", "not-in", "edges-from", "edges-to", "tags"), (0,)
)
"""Name of a claim → the positions of the claim's words that must be ids of recorded atoms."""

_TAGS = {"tag": 1, "no-tag": 1, "tagged": 0, "none-tagged": 0}
"""Name of a claim → the position of the claim's word that is a tag."""


_COMPLETE_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ORDINALS = re.compile("[0-9]+-[0-9]+")
_PREDICATE_CODE = re.compile(r"[89a-f][0-9a-f]{15}")


class ParsedClaim(NamedTuple):
    """A parsed claim, and the number of events that the earlier root in the claim covers."""

    claim: Claim
    size: int | None
    """The number of events that the earlier root covers, or None if the words do not contain this number."""


def claim_of(rows: Reader, words: Sequence[str]) -> ParsedClaim:
    """Return the claim that `words` describe, in the syntax of `proofs.claim_words` or in an extended syntax.

    In the extended syntax, ids may be shortened to 4 digits, predicates are given by name or by code, and a
    tag may begin with `#`. If a word is the name of one predicate and the code of another, it stands for the
    name. A word stands for its analyzed term; a word that begins with `=` is an exact term. The number of
    events that a root covers may follow `prefix-root ROOT`.

    Raises:
        InvalidInputError: The words are not a claim.
        NotFoundError: No atom's id begins with the given digits, or there is no such edge type.
        ConflictError: The ids of several atoms begin with the given digits.
    """
    name, *arguments = words or [""]
    size = None
    for at in _IDS.get(name, ()):
        if at < len(arguments) and not _COMPLETE_ID.fullmatch(arguments[at]):
            arguments[at] = str(UUID(bytes=resolve_id(rows, arguments[at])))
    if name in {"edge", "no-edge"} and len(arguments) > 1:
        arguments[1] = _code_in_hex(rows, arguments[1])
    if name in {"edges-from", "edges-to"} and len(arguments) == 2:
        arguments[1] = _code_in_hex(rows, arguments[1])
    if name in _TAGS and len(arguments) > _TAGS[name]:
        arguments[_TAGS[name]] = validation.folded_tag(arguments[_TAGS[name]])
    if name in {"term", "no-term"} and arguments:
        ordinals = [arguments.pop()] if len(arguments) > 1 and _ORDINALS.fullmatch(arguments[-1]) else []
        arguments = [term_of(" ".join(arguments)), *ordinals]
    try:
        if name == "prefix-root" and len(arguments) == 2:
            size = parse_number(arguments.pop())
        claim = parse_claim([name, *arguments])
    except ProofError as error:
        raise InvalidInputError(
            str(error).partition(": ")[2], hint="`engine prove --help` lists the claims"
        ) from error
    return ParsedClaim(claim, size)


def _code_in_hex(rows: Reader, word: str) -> str:
    if _PREDICATE_CODE.fullmatch(word) and recorded_type_code(rows, word) is None:
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
    spelled = [term for term in terms if term in {word, word.casefold()}]
    if len(terms) == 1 or spelled:
        return spelled[0] if spelled else terms[0]
    raise InvalidInputError(
        f"{validation.quoted(word)} has {len(terms)} terms, but a claim is about exactly one term",
        hint=f"choose one of: {' '.join(terms)}" if terms else "give a word",
    )


class _Foundation(NamedTuple):
    """The basis of a proof, and the parts of the proof that all claims share."""

    basis: Basis
    log: Callable[[], LogWitnesses]
    """A function that returns the reader of witnesses about the log, always the same one."""
    link: CheckpointLink | None
    opening: Opening


def prove_present(store: Store, claims: Iterable[Claim], *, sizes: Mapping[bytes, int] = NO_SIZES) -> Proof:
    """Return one proof of all `claims` against the present overall root.

    `sizes` maps each earlier overall root in a claim to the number of events that the root covers. An earlier
    root that is not in `sizes` must be recorded in a checkpoint.

    Raises:
        InvalidInputError: There are no claims, or a claim occurs twice.
        NotFoundError: A claim is about something that was never recorded.
        RefusedError: A claim does not hold, or the proof would be too large.
        CorruptionError: The root cannot be computed from the stored rows.
    """
    wanted = _ordered(claims)
    with store.view(*store.followers) as rows:
        roots = store.roots(rows)
        opening = opening_of(roots)
        basis = Root(roots.store_id, roots.overall, roots.size)
        log = cache(partial(LogWitnesses, store, rows, roots.size, sizes, {basis.root: opening}))
        return _assemble(wanted, _Foundation(basis, log, None, opening), Witnesses(store, rows))


def prove_to(
    store: Store, claims: Iterable[Claim], head: LogHead, *, sizes: Mapping[bytes, int] = NO_SIZES
) -> Proof:
    """Return a proof of `claims` against the log head in a checkpoint note of any age.

    If atoms, edges, tags or index have changed since the checkpoint, the events up to the checkpoint are
    replayed into a temporary store.

    Raises:
        RefusedError: As for `prove_present`. Also, the log head is of a different log or covers more events
            than the store has, or the last event that it covers is not a checkpoint.
        InvalidInputError: As for `prove_present`.
        NotFoundError: As for `prove_present`.
        CorruptionError: As for `prove_present`.
    """
    wanted = _ordered(claims)
    with store.view(*store.followers) as rows:
        _check_head(store, rows, head)
        log = LogWitnesses(store, rows, head.size, sizes)
        if log.paths.root(head.size) != head.root:
            log.check_rows(head.size, head.root)
            raise RefusedError(
                f"at {head.size} events, this store's log and the checkpoint have different roots"
            )
        seq = head.size - 1
        ground = _Foundation(head, lambda: log, log.link(seq), opening := log.recorded(seq))
        about_state = any(isinstance(claim, kinds.StateClaim) for claim in wanted)
        if not about_state or opening_of(store.roots(rows)).roots == opening.roots:
            return _assemble(wanted, ground, Witnesses(store, rows))
        with past_store(rows, seq) as past, past.view(*past.followers) as past_rows:
            if past.erased_since is not None and not all(
                isinstance(claim, _FROM_HEADERS) for claim in wanted
            ):
                raise RefusedError(
                    f"claims about tags and terms at {seq} events cannot be proved any more: "
                    f"event {past.erased_since} erased content that they depend on",
                    hint="claims about the state of atoms and edges, and about the log, can be proved",
                )
            return _assemble(wanted, ground, Witnesses(past, past_rows), seq)


def _check_head(store: Store, rows: Reader, head: LogHead) -> None:
    if head.store_id != store.identity.store_id:
        raise RefusedError("the checkpoint belongs to a different store")
    size = read_log(rows).size
    if head.size > size:
        raise RefusedError(f"the checkpoint covers {head.size} events, but this store has only {size}")


def _ordered(claims: Iterable[Claim]) -> list[Claim]:
    wanted = list(claims)
    try:
        sort_claims(wanted)
    except ProofError as error:
        raise InvalidInputError(str(error)) from error
    return wanted


def _assemble(claims: list[Claim], ground: _Foundation, state: Witnesses, replayed: int = 0) -> Proof:
    witnesses: list[list[Any]] = []
    for claim in sort_claims(claims):
        try:
            fields = ground.log().of(claim) if isinstance(claim, kinds.LogClaim) else state.of(claim)
        except (ClaimNotTrueError, NeverRecorded) as error:
            _check_refusal(error, ground, state)
            raise
        witnesses.append([claim.number, *fields])
    segments = state.index.table() if any(isinstance(claim, kinds.LISTS) for claim in claims) else None
    trees = {
        name: open_tree(state.rows, name, keys, complete=state.complete if name == EDGES else ())
        if (keys := state.keys[name]) or (name == EDGES and state.complete)
        else None
        for name in TREES
    }
    labelled = any(isinstance(claim, kinds.LABELLED) for claim in claims)
    label_key = state.label_key if labelled else None
    basis, opening = ground.basis, ground.opening
    data = encode(ProofFile(ground.link, opening, label_key, segments, trees, witnesses))
    about_state = any(isinstance(claim, kinds.StateClaim) for claim in claims)
    size = opening.size if about_state else ground.log().size
    return Proof(data, basis, tuple(claims), _verified(data, basis, claims), size, replayed)


def _check_refusal(error: ClaimNotTrueError | NeverRecorded, ground: _Foundation, state: Witnesses) -> None:
    """Check that `error.instead`, which the error suggests in place of a false claim, can be proved.

    Raises:
        CorruptionError: The suggested claim cannot be proved, so stored rows are damaged.
    """
    try:
        _assemble([error.instead], ground, state.fresh())
    except (ClaimNotTrueError, NeverRecorded) as contradiction:
        raise CorruptionError(
            f"stored rows contradict each other: {contradiction}", hint="run `engine verify-root`"
        ) from contradiction


def _verified(data: bytes, basis: Basis, claims: list[Claim]) -> tuple[Verified, ...]:
    """Verify the proof and return the facts that it shows. Verification fails if stored rows were changed."""
    try:
        return verify(data, basis, claims)
    except ProofError as error:
        if error.reason == "size":
            raise RefusedError(
                f"the proof would be too large: {len(data):,} bytes",
                hint="prove fewer claims in one proof",
            ) from error
        raise CorruptionError(
            f"the root cannot be computed from the stored rows: {error}", hint="run `engine verify-root`"
        ) from error
