"""Proofs of a service, verified by the client against the checkpoint that it keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

from engine.base.errors import (
    EngineError,
    InconsistentError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    VerificationError,
    system_failure,
)
from engine.base.outside_files import PUBLIC, read_file, replace_file
from engine.base.times import microseconds
from engine.base.validation import folded_tag, several
from engine.clients.wire.json_calls import SentProof
from engine.store.past import AsOf
from engine.trust.notes.known_checkpoints import check_pair
from engine.trust.proving.prove import Proof, term_of
from proofs.basis import Basis, LogHead, Root
from proofs.claim_words import parse_claim, words_of
from proofs.claims import (
    ALL,
    AtomsMentioning,
    BeginsWithRoot,
    Claim,
    EdgeIs,
    EventIs,
    LogBegins,
    NoEdge,
    NoneMentioning,
)
from proofs.errors import ProofError
from proofs.note import NOTE_BYTES_MAX, Checkpoint, Note, format_note, origin_of, parse_note
from proofs.proof_file import decode, sort_claims
from proofs.verified import LoggedEvent, LogPrefix, Verified
from proofs.verifier import verify

Call = Callable[..., Any]
"""`call(operation, **arguments)` returns the result of an operation."""

_IDS: Final = {
    **dict.fromkeys(("atom", "tag", "no-tag", "in", "not-in", "tags", "edges-from", "edges-to"), (0,)),
    **dict.fromkeys(("edge", "no-edge"), (0, 2)),
}
"""Name of a claim → the positions of the words that may be shortened ids."""


NO_SIZES: Final[Mapping[Claim, int]] = {}


class Shown(NamedTuple):
    """A verified proof."""

    facts: tuple[Verified, ...]
    """One fact for each claim."""
    proof: Proof


class Prover:
    """Asks a service for proofs, and verifies them."""

    def __init__(self, call: Call, trusted: Trusted) -> None:
        self._call, self._trusted = call, trusted

    def show(self, claims: Sequence[Claim], sizes: Mapping[Claim, int] = NO_SIZES) -> Shown:
        """Return a proof of `claims` about the present, which also shows that the log continues.

        `sizes` maps claims about earlier roots to the numbers of events that these roots cover.

        Raises:
            RefusedError: A claim is false, according to the service.
            NotFoundError: A claim is about something that was never recorded, according to the service.
            VerificationError: The proof does not show the claims.
            InconsistentError: The log of the service does not continue the checkpoint that the client keeps.
        """
        basis = self._trusted.known()
        wanted = list(dict.fromkeys((*claims, *map(claim_of, basis or (self._stated(),)))))
        try:
            sent = self._call("prove", claims=[_sent_words(claim, sizes) for claim in wanted])
        except (RefusedError, NotFoundError):
            # A server that was rolled back refuses as well, because it cannot show that its log continues.
            self.check()
            raise
        return self._verified(sent, wanted, basis, len(claims))

    def check(self) -> Checkpoint:
        """Check that the log continues the checkpoint that the client keeps, and keep the new checkpoint.

        Raises:
            InconsistentError: It does not.
            VerificationError: The proof of the service does not show it.
        """
        basis = self._trusted.known()
        wanted: list[Claim] = list(dict.fromkeys(map(claim_of, basis or (self._stated(),))))
        try:
            sent = self._call("prove", claims=[_sent_words(claim) for claim in wanted])
        except (RefusedError, NotFoundError, InvalidInputError) as refused:
            raise self._inconsistent(basis, refused) from refused
        self._verified(sent, wanted, basis, 0)
        return self._trusted.known()[-1]

    def _stated(self) -> Checkpoint:
        """Return the present checkpoint according to the service. The client trusts the first one."""
        try:
            store_id = UUID(self._call("status").store_id).bytes
            roots = self._call("root")
            return Checkpoint(origin_of(store_id), roots.size, bytes.fromhex(roots.log_root))
        except ValueError as error:
            raise VerificationError(f"the service returned no valid checkpoint: {error}") from error

    def _verified(
        self, sent: SentProof, wanted: list[Claim], known: Sequence[Checkpoint], shown: int
    ) -> Shown:
        basis = claimed_basis(sent)
        if not isinstance(basis, Root):
            raise VerificationError("the service proved the claims against a log head, not a root")
        stated = _head_in(sent, basis, wanted)
        try:
            facts = verify(sent.data, basis, wanted)
        except ProofError as error:
            raise self._judged(error, known, stated) from error
        self._trusted.accept(stated, basis.root)
        proof = Proof(sent.data, basis, tuple(wanted), facts, sent.size, sent.replayed)
        return Shown(facts[:shown], proof)

    def _judged(self, error: ProofError, known: Sequence[Checkpoint], stated: Checkpoint) -> EngineError:
        if error.reason == "consistency" and known:
            problem = f"fork: the log does not begin with the {known[0].size} events of the known checkpoint"
            return InconsistentError(problem, known=known[0].text, found=(stated.text,))
        return VerificationError(
            f"the proof of the service does not show the requested claim: {error}",
            hint="do not trust its answers; report this to the operator of the service",
        )

    def _inconsistent(self, known: Sequence[Checkpoint], refused: EngineError) -> EngineError:
        """Return the error for a service that cannot show that its log continues."""
        stated = self._stated()
        for one in known:
            check_pair(one, stated)
        if not known:
            return refused
        problem = (
            f"fork: the service cannot show that its log begins with the {known[0].size} events of the "
            f"known checkpoint: {refused}"
        )
        return InconsistentError(problem, known=known[0].text, found=(stated.text,))

    def show_at(self, claims: Sequence[Claim], moment: AsOf, sent_moment: Any) -> Shown:
        """Return a proof of `claims` about an earlier moment, which is `sent_moment` as JSON.

        A second proof shows that the present log begins with the log of that moment. If the moment is a time,
        it also shows that the last event of that log is not later, and that the next event is later.

        Raises:
            EngineError: As for `show`.
        """
        sent = self._call("prove", claims=[_sent_words(claim) for claim in claims], as_of=sent_moment)
        basis = claimed_basis(sent)
        facts = _facts(sent, basis, claims)
        try:
            self._check_moment(sent.size, basis, moment)
        except (RefusedError, NotFoundError) as refused:
            raise VerificationError(
                f"the service does not prove that its log continues the log of that moment: {refused}",
                hint="do not trust its answers; report this to the operator of the service",
            ) from refused
        return Shown(facts, Proof(sent.data, basis, tuple(claims), facts, sent.size, sent.replayed))

    def _check_moment(self, size: int, basis: Basis, moment: AsOf) -> None:
        """Check that the present log had `size` events at `moment`, and that it begins with that log."""
        begins, last = BeginsWithRoot(basis.root), EventIs(max(size, 1) - 1, opened=False)
        prefix, ending = cast(
            "tuple[LogPrefix, LoggedEvent]", self.show([begins, last], {begins: size}).facts
        )
        if isinstance(moment, int):
            is_right = size == moment + 1
        else:
            until = microseconds(moment, "as_of")
            is_right = ending.header.time <= until
            if is_right and size < prefix.into:
                (following,) = cast("tuple[LoggedEvent]", self.show([EventIs(size, opened=False)]).facts)
                is_right = following.header.time > until
        if not is_right:
            raise VerificationError(
                f"the service proved the claims about another moment: after event {size - 1}"
            )

    def show_to(self, claims: Sequence[Claim], note: str | LogHead) -> Shown:
        """Return a proof of `claims` against a checkpoint that the caller trusts.

        Raises:
            InvalidInputError: `note` is not a checkpoint note.
            VerificationError: The proof does not lead to this checkpoint, or does not show the claims.
            RefusedError: A claim is false, or the checkpoint is not of this log, according to the service.
        """
        if isinstance(note, LogHead):
            head, text = note, Checkpoint(origin_of(note.store_id), note.size, note.root).text
        else:
            text = note
            try:
                head = LogHead.of(note)
            except ProofError as error:
                raise InvalidInputError(f"the checkpoint is not a note of a store: {error}") from error
        sent = self._call("prove", claims=[_sent_words(claim) for claim in claims], checkpoint=text)
        facts = _facts(sent, head, claims)
        size = decode(sent.data, sort_claims(claims)).opening.size
        return Shown(facts, Proof(sent.data, head, tuple(claims), facts, size, sent.replayed))

    def parsed(self, claims: Iterable[Claim | Sequence[str]]) -> list[Claim]:
        """Return claims as objects. Ids may be shortened; a word stands for its term, a tag for its identity.

        Raises:
            InvalidInputError: The words are not a claim.
        """
        parsed = [self._parsed(one) for one in several(claims, "claims")]
        try:
            sort_claims(parsed)
        except ProofError as error:
            raise InvalidInputError(str(error)) from error
        return parsed

    def _parsed(self, given: Any) -> Claim:
        if type(given) in ALL.values():
            claim: Claim = given
            return claim
        name, *arguments = [str(word) for word in several(given, "the words of a claim")] or [""]
        for at in _IDS.get(name, ()):
            digits = arguments[at].replace("-", "") if at < len(arguments) else ""
            if 0 < len(digits) < 32:
                arguments[at] = self._call("resolve", id=arguments[at])
                if not arguments[at].replace("-", "").startswith(digits.lower()):
                    raise VerificationError(
                        f"the service returned another id than one that begins with {digits}"
                    )
        if name in {"tag", "no-tag", "tagged", "none-tagged"} and arguments:
            arguments[-1] = folded_tag(arguments[-1])
        if name in {"term", "no-term"} and arguments:
            arguments = [term_of(" ".join(arguments))]
        try:
            return parse_claim([name, *arguments])
        except ProofError as error:
            raise InvalidInputError(
                str(error).partition(": ")[2],
                hint="give the type of an edge as one of the built-in types, or the claim as an object",
            ) from error


def claimed_basis(sent: SentProof) -> Basis:
    """Return the root that the service names as the root of its proof.

    Raises:
        VerificationError: It is not a root.
    """
    try:
        return sent.claimed_basis()
    except (ProofError, ValueError) as error:
        raise VerificationError(f"the service does not name the root of its proof: {error}") from error


def _facts(sent: SentProof, basis: Basis, claims: Sequence[Claim]) -> tuple[Verified, ...]:
    try:
        return verify(sent.data, basis, claims)
    except ProofError as error:
        raise VerificationError(
            f"the proof of the service does not show the requested claim: {error}",
            hint="do not trust its answers; report this to the operator of the service",
        ) from error


def _head_in(sent: SentProof, basis: Root, claims: Sequence[Claim]) -> Checkpoint:
    """Return the log head that a proof opens. It is verified together with the proof."""
    try:
        opening = decode(sent.data, sort_claims(claims)).opening
    except ProofError as error:
        raise VerificationError(f"the service sent no proof of the requested claim: {error}") from error
    if opening is None or opening.size != sent.size:
        raise VerificationError("the proof of the service does not open the root that it names")
    return Checkpoint(origin_of(basis.store_id), opening.size, opening.log_root)


def _sent_words(claim: Claim, sizes: Mapping[Claim, int] = NO_SIZES) -> list[str]:
    """Return the words of a claim in the syntax of `Engine.prove`.

    Raises:
        RefusedError: The claim cannot be written so: it is about an edge with a predicate.
    """
    words = words_of(claim)
    if claim in sizes:
        return [*words, str(sizes[claim])]
    if isinstance(claim, (AtomsMentioning, NoneMentioning)):
        return [words[0], f"={claim.term}"]
    if isinstance(claim, (EdgeIs, NoEdge)) and len(claim.code) > 1:
        raise RefusedError(
            "a client cannot claim an edge whose type is a predicate: its code is not known to the client",
            hint="use a built-in type, or prove it on the server",
        )
    return words


class Trusted:
    """The newest checkpoint that was verified, in a file or only for the life of this object.

    The checkpoint at the first use is trusted, unless the file already contains one. Every later one must
    continue it. Several clients may share the file: each continues what the others have verified.
    """

    def __init__(self, path: str | Path | None) -> None:
        """Read the checkpoint that the file holds, if the file exists.

        Raises:
            VerificationError: The file is not a checkpoint note.
        """
        self._path = None if path is None else Path(path)
        self._lock = Lock()
        self._newest: Checkpoint | None = None
        self._root: tuple[int, bytes] | None = None
        self.known()

    def known(self) -> tuple[Checkpoint, ...]:
        """Return the checkpoints that the log must continue: none, one, or also one of another client.

        Raises:
            InconsistentError: Another client has verified a contradicting checkpoint.
            VerificationError: The file is not a checkpoint note.
        """
        with self._lock:
            note = self._read()
            if self._newest is None:
                self._newest = note
            if note is None or self._newest is None or note == self._newest:
                return () if self._newest is None else (self._newest,)
            check_pair(*sorted((self._newest, note), key=lambda one: one.size))
            return self._newest, note

    def accept(self, verified: Checkpoint, root: bytes) -> None:
        """Keep a checkpoint that was shown to continue the known ones, and the overall root of its state.

        Raises:
            VerificationError: The state of this size had another overall root before.
            SystemFailureError: The file cannot be written.
        """
        with self._lock:
            if self._root is not None and self._root[0] == verified.size and self._root[1] != root:
                raise VerificationError(
                    f"the service gave two different overall roots for the same {verified.size} events",
                    hint="keep both roots and report them to the operator of the service: "
                    f"{self._root[1].hex()} and {root.hex()}",
                )
            if self._root is None or self._root[0] <= verified.size:
                self._root = verified.size, root
            if self._newest is None or self._newest.size < verified.size:
                self._newest = verified
            self._write(self._newest)

    def _read(self) -> Checkpoint | None:
        if self._path is None or not self._path.exists():
            return None
        try:
            return parse_note(read_file(self._path, NOTE_BYTES_MAX)).checkpoint
        except ProofError as error:
            raise VerificationError(
                f"{self._path} is not a checkpoint note: {error}",
                hint="give trust=FILE with a note that `engine checkpoint` prints, or a new file",
            ) from error

    def _write(self, newest: Checkpoint) -> None:
        if self._path is None:
            return
        note = self._read()
        if note is not None and note.size >= newest.size:
            return
        try:
            replace_file(self._path, format_note(Note(newest)), PUBLIC)
        except OSError as error:
            raise system_failure(error, f"{self._path} cannot be written") from error


def claim_of(checkpoint: Checkpoint) -> LogBegins:
    """Return the claim that a log begins with the log of a checkpoint."""
    return LogBegins(checkpoint.size, checkpoint.root)
