"""Answers of a service, each with a proof that the client verifies before it returns the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

from engine.base.errors import NotFoundError, RefusedError, VerificationError
from engine.base.model import Atom, State, Tombstone
from engine.base.validation import atom_id, folded_tag, show_id
from engine.clients.verified_proofs import Prover
from engine.ledger.fold import NO_ATOM
from engine.memory.memory_protocol import Memory
from engine.trust.proving.prove import term_of
from proofs.claims import (
    AtomIs,
    AtomsMentioning,
    AtomsTagged,
    Claim,
    EventIs,
    NoAtom,
    NoneMentioning,
    NoneTagged,
    TagsOf,
)
from proofs.leaves import Value, tag_identity
from proofs.note import Checkpoint

T = TypeVar("T")

_FROM_BODY: Final = (
    "content title kind buckets source sequence key provenance trust folder".split()  # noqa: SIM905
)
"""The fields of an atom whose values come from its newest body."""

TRIES: Final = 3
"""How often the proofs of an answer are requested until they agree."""

_FROM_LEAF: Final = ("ordinal", "version", "created_seq", "payload_seq", "last_seq")


class Proved:
    """The questions that a service answers with a proof. It is the attribute `proved` of a client.

    Every value of an answer is read from the proofs, and none from what the service says beside them. So an
    answer follows from the log that the client has followed since its first checkpoint, and from the overall
    root of the present state. docs/remote.md lists what no proof covers.
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

        The proofs show all fields and all tags. A tag that was added after the content was written is spelled
        as its identity, in lower case.

        Args:
            id: The whole id of the atom.

        Raises:
            NotFoundError: The atom was never recorded, which is proved, too.
            VerificationError: The service makes no proof, or its proof does not show the atom.
            InconsistentError: The log does not continue the checkpoint that the client keeps.
        """
        return _repeated(lambda: self._got(atom_id(id)))

    def recall(self, query: str, **options: Any) -> tuple[Atom, ...]:
        """Return the atoms that answer a question best, each as `get` returns it.

        The service names the ids, and the proofs show the atoms. No proof shows that these atoms are the best
        ones.

        Args:
            query: The question, in words.
            options: The keyword arguments of `Engine.recall`.

        Raises:
            InvalidInputError: As for `Engine.recall`.
            VerificationError: As for `get`.
            InconsistentError: As for `get`.
        """
        hits = self._memory.recall(query, **options).hits
        return tuple(self.get(one) for one in dict.fromkeys(hit.id for hit in hits))

    def _got(self, id: bytes) -> Atom:  # noqa: A002
        recorded, tags = self._recorded(id)
        value: Value = recorded.value
        state = State(value.state)
        is_live = state is State.LIVE
        wanted = [EventIs(value.last_seq, opened=not is_live)]
        if value.created_seq != value.last_seq:
            wanted.append(EventIs(value.created_seq, opened=False))
        shown = self._require(wanted, "when the atom was recorded")
        last, created = shown[0], shown[-1]
        if any(getattr(event.header.detail, "id", None) != id for event in shown):
            raise VerificationError(f"the service proves events that are not on atom {show_id(id)}")
        body = NO_ATOM._replace(created=None) if state is State.ERASED else recorded.body
        return Atom(
            id=show_id(id),
            state=state,
            tags=tuple(_spelled(tags, body.tags)),
            meta=dict(body.meta or {}),
            aliases=body.aliases or (),
            created=created.header.time if body.created is None else body.created,
            updated=last.header.time,
            tombstone=None if is_live else Tombstone(last.header.time, last.body.reason, last.header.actor),
            **{name: getattr(body, name) for name in _FROM_BODY},
            **{name: getattr(value, name) for name in _FROM_LEAF},
        )

    def _recorded(self, id: bytes) -> tuple[Any, tuple[str, ...]]:  # noqa: A002
        """Return the fact about an atom in the state that it has, and the identities of all its tags."""
        for state in (State.LIVE, State.TOMBSTONED):
            try:
                atom, tags = self._shown([AtomIs(id, state, opened=True), TagsOf(id, state)])
            except RefusedError:
                continue
            except NotFoundError:
                self._require([NoAtom(id)], "that the atom was never recorded")
                raise
            return atom, tags.tags
        (atom,) = self._require([AtomIs(id, State.ERASED, opened=False)], "any state of the atom")
        return atom, ()

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
            (fact,) = self._shown([some])
        except RefusedError:
            self._require([none], "that the list is empty")
            return ()
        return tuple(show_id(atom.id) for atom in fact.atoms)

    def _shown(self, claims: Sequence[Claim]) -> tuple[Any, ...]:
        """Return the facts that show `claims`, each of the type that its claim has."""
        return self._prover.show(claims).facts

    def _require(self, claims: Sequence[Claim], what: str) -> tuple[Any, ...]:
        """Return the facts that show `claims`; a refusal of the service contradicts its answer."""
        try:
            return self._shown(claims)
        except (RefusedError, NotFoundError) as error:
            raise VerificationError(
                f"the service does not prove {what}: {error}",
                hint="do not trust its answers; report this to the operator of the service",
            ) from error


def _repeated(ask: Callable[[], T]) -> T:
    """Return the result of `ask`.

    If a proof is refused, call it again, because the memory may have changed between two proofs of one
    answer. The refusal remains if the service lies.
    """
    for _ in range(TRIES - 1):
        try:
            return ask()
        except VerificationError:
            continue
    return ask()


def _spelled(identities: Iterable[str], tags: Iterable[str]) -> Iterator[str]:
    """Return each tag as it is spelled in `tags`; one that is not in `tags` is spelled as its identity."""
    spellings = {tag_identity(tag): tag for tag in tags}
    return (spellings.get(identity, identity) for identity in identities)
