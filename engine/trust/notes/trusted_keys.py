"""Reading checkpoint notes, and checking their signatures with trusted keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.base.errors import InvalidInputError, LimitError, VerificationError
from engine.base.outside_files import read_file, refuse_secret
from engine.trust.notes.signing import verify_ed25519
from proofs.errors import ProofError
from proofs.note import (
    NOTE_BYTES_MAX,
    SIGNATURES_MAX,
    Note,
    Signature,
    VerifiedSignature,
    format_note,
    parse_note,
    parse_signatures,
    verify_signatures,
)
from proofs.vkey import COSIGNATURE, ED25519, VerifierKey, parse_vkey


@dataclass(frozen=True, slots=True)
class Trust:
    """The keys that must have signed a note for the note to be trusted."""

    keys: tuple[VerifierKey, ...] = ()
    """The verifier keys of logs. If any are given, at least one of these keys must have signed the note."""
    witnesses: tuple[VerifierKey, ...] = ()
    threshold: int = 0
    """The minimum number of witnesses that must have signed the note."""

    @classmethod
    def of(cls, keys: Sequence[str], witnesses: Sequence[str], threshold: int | None = None) -> Trust:
        """Return a `Trust` for the given verifier keys. Without a threshold, every witness must have signed.

        Raises:
            InvalidInputError: A text is not a verifier key, or is a key of the wrong type; two witnesses have
                the same public key; there are fewer witnesses than `threshold`; or there are witnesses and
                `threshold` is 0. If the text is a private key, the message does not repeat it.
        """
        logs = tuple(dict.fromkeys(_key(text, ED25519, "a log's key") for text in keys))
        others = tuple(dict.fromkeys(_key(text, COSIGNATURE, "a witness's key") for text in witnesses))
        if len({key.public for key in others}) < len(others):
            raise InvalidInputError(
                "two of the witnesses have the same public key, and one signer does not count as two",
                hint="give the key of each witness once",
            )
        least = len(others) if threshold is None else threshold
        if not 0 <= least <= len(others):
            raise InvalidInputError(
                f"the threshold is {least}, but must be from 0 to the number of witnesses, {len(others)}"
            )
        if others and not least:
            raise InvalidInputError(
                "the threshold is 0, so no witness would be required",
                hint="give a threshold of at least 1, or leave out the witnesses",
            )
        return cls(logs, others, least)

    @property
    def known(self) -> tuple[VerifierKey, ...]:
        """All keys whose signatures are checked: the keys of the logs and the keys of the witnesses."""
        return *self.keys, *self.witnesses


def _key(text: str, kind: int, what: str) -> VerifierKey:
    refuse_secret(text, "give the verifier key (`engine key show FILE`)")
    try:
        key = parse_vkey(text)
    except ProofError as error:
        raise InvalidInputError(
            f"{text!r} is not a verifier key: {str(error).partition(': ')[2]}",
            hint="give the key, not the name of its file (`--key $(cat FILE)`); "
            "`engine key show KEYFILE` prints the key",
        ) from None
    if key.type != kind:
        raise InvalidInputError(
            f"{key.vkey} is a key of type {key.type:02x}, but {what} must be of type {kind:02x}"
        )
    return key


@dataclass(frozen=True, slots=True)
class Judged:
    """A signature line of a note, and the result of checking the signature."""

    name: str
    key_id: str
    by: str
    """`key`, `witness`, or `unknown` for a line that was not checked, because its key is not trusted."""
    time: int | None
    """The time in the signature of a witness, in seconds since 1970; None for other signatures."""


def read_note(path: str | Path) -> Note:
    """Return the note in a file; `-` stands for standard input. Signatures are not checked.

    Raises:
        NotFoundError: There is no such file.
        VerificationError: The content is not a checkpoint note.
    """
    try:
        return parse_note(read_file(path, NOTE_BYTES_MAX))
    except ProofError as error:
        raise VerificationError(f"{path} is not a checkpoint note: {error}") from None


def judge(note: Note, trust: Trust) -> tuple[Judged, ...]:
    """Check the signatures of all keys in `trust`; return the result for each signature line, in order.

    Raises:
        VerificationError: The signature of a known key does not verify.
    """
    try:
        verified = verify_signatures(note, trust.known, verify_ed25519)
    except ProofError as error:
        raise VerificationError(f"the note cannot be trusted: {error}") from None
    return tuple(
        Judged(line.name, line.key_id.hex(), _by(one), one.time if one else None)
        for line, one in zip(note.signatures, verified, strict=True)
    )


def _by(verified: VerifiedSignature | None) -> str:
    if verified is None:
        return "unknown"
    return "key" if verified.key.type == ED25519 else "witness"


def require(judged: Sequence[Judged], trust: Trust) -> None:
    """Check that enough trusted keys have signed.

    Raises:
        VerificationError: No key of a log has signed, or too few witnesses have signed.
    """
    if trust.keys and not any(one.by == "key" for one in judged):
        raise VerificationError("the note is not signed by any of the given keys")
    witnesses = {(one.name, one.key_id) for one in judged if one.by == "witness"}
    if len(witnesses) < trust.threshold:
        raise VerificationError(
            f"{len(witnesses)} of {len(trust.witnesses)} witnesses have signed; {trust.threshold} are needed"
        )


def added(note: Note, path: str | Path, trust: Trust) -> tuple[Note, tuple[Signature, ...]]:
    """Add the signature lines in a file to `note`. Return the new note and the lines that were not added.

    Only lines of keys in `trust` are added. If the line of an unknown key were added and its signature were
    wrong, anyone who later checks the note with that key would reject the whole note.

    Raises:
        InvalidInputError: No key is given, so no line could be added.
        VerificationError: The file is neither a note with the same text nor a list of signature lines, or the
            signature of a known key is wrong.
        LimitError: The note would have too many signatures or bytes.
    """
    if not trust.known:
        raise InvalidInputError(
            "signatures cannot be added without checking them",
            hint="give the keys that made the signatures (--witness or --key)",
        )
    others = tuple(line for line in _lines(note, path) if line not in note.signatures)
    marks = judge(Note(note.checkpoint, others), trust)
    right = [line for line, mark in zip(others, marks, strict=True) if mark.by != "unknown"]
    unknown = [line for line, mark in zip(others, marks, strict=True) if mark.by == "unknown"]
    return _together(note, right), tuple(unknown)


def merged(note: Note, path: str | Path) -> Note:
    """Return a note with all signature lines of `note` and of another note that has the same text.

    Raises:
        VerificationError: The file is not a note of the same text.
        LimitError: The note would have too many signatures or bytes.
    """
    return _together(note, _lines(note, path))


def _lines(note: Note, path: str | Path) -> tuple[Signature, ...]:
    """Return the signature lines in a file: a note of the same text, or only signature lines."""
    data = read_file(path, NOTE_BYTES_MAX)
    try:
        if data.startswith("\u2014".encode()):
            return parse_signatures(data)
        other = parse_note(data)
        if other.checkpoint != note.checkpoint:
            raise ProofError("note", "the texts of the two notes differ")
    except ProofError as error:
        raise VerificationError(f"the signatures in {path} cannot be added to this note: {error}") from None
    return other.signatures


def _together(note: Note, lines: Sequence[Signature]) -> Note:
    united = Note(note.checkpoint, tuple(dict.fromkeys((*note.signatures, *lines))))
    try:
        format_note(united)
    except ProofError as error:
        raise LimitError(
            f"the note would have more than {SIGNATURES_MAX} signatures or {NOTE_BYTES_MAX} bytes: {error}"
        ) from None
    return united
