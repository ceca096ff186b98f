"""Answers of a service, each with a proof that the client verifies before it returns the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar
from uuid import UUID

from engine.base.errors import NotFoundError, RefusedError, VerificationError
from engine.base.model import Atom, State
from engine.base.validation import atom_id, folded_tag
from engine.clients.verified_proofs import Prover
from engine.memory.memory_protocol import Memory
from engine.trust.proving.prove import term_of
from proofs.claims import (
    AtomIs,
    AtomsMentioning,
    AtomsTagged,
    Claim,
    EventIs,
    HasTag,
    NoAtom,
    NoneMentioning,
    NoneTagged,
)
from proofs.events import AtomBody
from proofs.leaves import Value, tag_identity
from proofs.note import Checkpoint
from proofs.verified import AllMentioning, AllTagged, LoggedEvent

T = TypeVar("T")

_FROM_BODY: Final = (
    "content title kind buckets source sequence key provenance trust folder".split()  # noqa: SIM905
)
"""The fields of an atom whose values come from its newest body."""

TRIES: Final = 3
"""How often an answer and its proof are requested until they agree."""

_FROM_LEAF: Final = ("state", "ordinal", "version", "created_seq", "payload_seq", "last_seq")


class Proved:
    """The questions that a service answers with a proof. It is the attribute `proved` of a client.

    The client need not trust an answer: it follows from the log that the client has followed since its first
    checkpoint, and from the overall root of the present state. docs/remote.md lists the values that no proof
    covers.
    """

    def __init__(self, memory: Memory, prover: Prover) -> None:
        self._memory, self._prover = memory, prover

    def check(self) -> Checkpoint:
        """Check that the log continues the checkpoint that the client keeps, and return the new checkpoint.

        Raises:
            InconsistentError: The memory was rolled back or forked, or is another memory.
            VerificationError: The proof of the service does not show it.
        """
        return self._prover.check()

    def get(self, id: str) -> Atom:  # noqa: A002
        """Return an atom, as `Engine.get` does.

        The proof shows the state, the content and all other fields, with these exceptions: a tag may be
        missing if the tags were changed since the content was written; the tags of a hidden atom and the
        reason of a tombstone are not shown.

        Args:
            id: The whole id of the atom.

        Raises:
            NotFoundError: The atom was never recorded, which is proved, too.
            VerificationError: The answer of the service contradicts its proof, or there is no proof.
            InconsistentError: The log does not continue the checkpoint that the client keeps.
        """
        return _repeated(lambda: self._got(atom_id(id)))

    def recall(self, query: str, **options: Any) -> tuple[Atom, ...]:
        """Return the atoms that answer a question best, each as `get` returns it.

        The proofs show the atoms. No proof shows that these atoms are the best ones.

        Args:
            query: The question, in words.
            options: The keyword arguments of `Engine.recall`.

        Raises:
            InvalidInputError: As for `Engine.recall`.
            VerificationError: As for `get`.
            InconsistentError: As for `get`.
        """
        return tuple(self.get(hit.id) for hit in self._memory.recall(query, **options).hits)

    def _got(self, id: bytes) -> Atom:  # noqa: A002
        whole = str(UUID(bytes=id))
        try:
            atom = self._memory.get(whole)
        except NotFoundError:
            self._require([NoAtom(id)], "that the atom was never recorded")
            raise
        if atom.id != whole:
            raise _contradiction(whole, "id")
        self._compare(atom, id)
        return atom

    def _compare(self, atom: Atom, id: bytes) -> None:  # noqa: A002
        is_erased = atom.state is State.ERASED
        claims: list[Claim] = [AtomIs(id, atom.state, opened=not is_erased)]
        claims += [EventIs(seq, opened=False) for seq in sorted({atom.created_seq, atom.last_seq})]
        if atom.state is State.LIVE:
            claims += [HasTag(id, identity) for identity in dict.fromkeys(map(tag_identity, atom.tags))]
        shown: tuple[Any, ...] = self._require(claims, "what it answered")
        value: Value = shown[0].value
        events = {one.claim.seq: one for one in shown if isinstance(one, LoggedEvent)}
        for name in _FROM_LEAF:
            if getattr(atom, name) != getattr(value, name):
                raise _contradiction(atom.id, name)
        if atom.updated != events[value.last_seq].header.time:
            raise _contradiction(atom.id, "updated")
        created = events[value.created_seq].header.time
        if is_erased:
            _compare_nothing(atom, created)
        else:
            _compare_body(atom, shown[0].body, created, value)
        _compare_tombstone(atom, events[value.last_seq])

    def tagged(self, tag: str) -> tuple[str, ...]:
        """Return the ids of all live atoms that have a tag, in the order of writing.

        The proof shows that no atom is missing, or that no live atom has the tag.

        Args:
            tag: The tag, in any case, with or without `#`.

        Raises:
            VerificationError: There is no such proof.
            InconsistentError: The log does not continue the checkpoint that the client keeps.
        """
        identity = folded_tag(tag)
        return _repeated(lambda: self._listed(AtomsTagged(identity), NoneTagged(identity)))

    def mentioning(self, word: str) -> tuple[str, ...]:
        """Return the ids of all live atoms whose text contains a word, in the order of writing.

        The proof shows that no atom is missing, or that nothing mentions the word. Texts are compared by
        terms (`engine terms`), so other forms of the word count, too.

        Args:
            word: The word; `=` before it makes it an exact term.

        Raises:
            InvalidInputError: The word is indexed under no term, or under several.
            VerificationError: There is no such proof.
            InconsistentError: The log does not continue the checkpoint that the client keeps.
        """
        term = term_of(word)
        return _repeated(lambda: self._listed(AtomsMentioning(term), NoneMentioning(term)))

    def _listed(self, some: Claim, none: Claim) -> tuple[str, ...]:
        try:
            (fact,) = self._prover.show([some]).facts
        except RefusedError:
            self._require([none], "that the list is empty")
            return ()
        if not isinstance(fact, (AllTagged, AllMentioning)):
            raise VerificationError("the proof of the service shows no list")
        return tuple(str(UUID(bytes=atom.id)) for atom in fact.atoms)

    def _require(self, claims: Sequence[Claim], what: str) -> tuple[Any, ...]:
        """Return the facts that show `claims`; a refusal of the service contradicts its answer."""
        try:
            return self._prover.show(claims).facts
        except (RefusedError, NotFoundError) as error:
            raise VerificationError(
                f"the service does not prove {what}: {error}",
                hint="do not trust its answers; report this to the operator of the service",
            ) from error


def _repeated(ask: Callable[[], T]) -> T:
    """Return the result of `ask`.

    If an answer and its proof contradict each other, call it again, because the memory may have changed
    between the two. The contradiction remains if the service lies.
    """
    for _ in range(TRIES - 1):
        try:
            return ask()
        except VerificationError:
            continue
    return ask()


def _compare_body(atom: Atom, body: AtomBody, created: int, value: Value) -> None:
    for name in _FROM_BODY:
        if getattr(atom, name) != getattr(body, name):
            raise _contradiction(atom.id, name)
    if atom.meta != dict(body.meta or {}):
        raise _contradiction(atom.id, "meta")
    if atom.aliases != (body.aliases or ()):
        raise _contradiction(atom.id, "aliases")
    if atom.created != (created if body.created is None else body.created):
        raise _contradiction(atom.id, "created")
    # Without an event after the content, the tags are those that it was written with.
    if value.last_seq == value.payload_seq and set(atom.tags) != set(body.tags):
        raise _contradiction(atom.id, "tags")


def _compare_nothing(atom: Atom, created: int) -> None:
    """Check that nothing is left of the content of an erased atom."""
    for name in (*_FROM_BODY, "tags", "meta", "aliases"):
        if getattr(atom, name):
            raise _contradiction(atom.id, name)
    if atom.created != created:
        raise _contradiction(atom.id, "created")


def _compare_tombstone(atom: Atom, last: LoggedEvent) -> None:
    """Check that an atom has a tombstone unless it is live. The last event on the atom made the tombstone."""
    tombstone, header = atom.tombstone, last.header
    expected = None if atom.state is State.LIVE else (header.time, header.actor)
    if expected != (None if tombstone is None else (tombstone.at, tombstone.by)):
        raise _contradiction(atom.id, "tombstone")


def _contradiction(id: str, field: str) -> VerificationError:  # noqa: A002
    return VerificationError(
        f"the service returned a {field} of atom {id} that differs from the proved one",
        hint="do not trust its answers; report this to the operator of the service",
    )
