"""Reading notes, and judging their signatures by the keys that a caller trusts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.base.errors import InvalidInputError, LimitError, VerificationError
from engine.trust.notes import ed25519
from engine.trust.notes.files import read_file, refuse_secret
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
    """Whose signatures a note must have."""

    keys: tuple[VerifierKey, ...] = ()
    """Logs' keys; where there are any, one of them must have signed."""
    witnesses: tuple[VerifierKey, ...] = ()
    threshold: int = 0
    """How many of the witnesses must have."""

    @classmethod
    def of(cls, keys: Sequence[str], witnesses: Sequence[str], threshold: int | None = None) -> Trust:
        """Trust in these verifier keys; without a threshold, all of the witnesses must have signed.

        Raises:
            InvalidInputError: one is no verifier key or of the wrong type; there are too few for
                `threshold`, or there are some and it is 0. A private key is never repeated.
        """
        logs = tuple(dict.fromkeys(_key(text, ED25519, "a log's key") for text in keys))
        others = tuple(dict.fromkeys(_key(text, COSIGNATURE, "a witness's key") for text in witnesses))
        least = len(others) if threshold is None else threshold
        if not 0 <= least <= len(others):
            raise InvalidInputError(f"the threshold is {least}, and there are {len(others)} witnesses")
        if others and not least:
            raise InvalidInputError(
                "the threshold is 0, so that no witness is needed",
                hint="at least 1; or leave the witnesses out",
            )
        return cls(logs, others, least)

    @property
    def known(self) -> tuple[VerifierKey, ...]:
        """All keys whose signatures are checked."""
        return *self.keys, *self.witnesses


def _key(text: str, kind: int, what: str) -> VerifierKey:
    refuse_secret(text, "give the verifier key (`engine key show FILE`)")
    try:
        key = parse_vkey(text)
    except ProofError as error:
        raise InvalidInputError(
            f"{text!r} is no verifier key: {str(error).partition(': ')[2]}",
            hint="give the key, not a file's name: `--key $(cat FILE)`; `engine key show KEYFILE` prints it",
        ) from None
    if key.type != kind:
        raise InvalidInputError(f"{key.vkey} is of type {key.type:02x}; {what} is of type {kind:02x}")
    return key


@dataclass(frozen=True, slots=True)
class Judged:
    """A signature line and what is known of it."""

    name: str
    key_id: str
    by: str
    """`key`, `witness`, or `unknown`: not checked, for its key was not given."""
    time: int | None
    """Of a witness: seconds since 1970 as it says."""


def read_note(path: str | Path) -> Note:
    """The note in a file, for `-` on stdin; nothing of it verified but its form.

    Raises:
        NotFoundError: there is no such file.
        VerificationError: it is no checkpoint note.
    """
    try:
        return parse_note(read_file(path, NOTE_BYTES_MAX))
    except ProofError as error:
        raise VerificationError(f"{path} is no checkpoint note: {error}") from None


def judge(note: Note, trust: Trust) -> tuple[Judged, ...]:
    """What is known of each signature line, in their order, once all known ones are right.

    Raises:
        VerificationError: a known key's signature does not verify.
    """
    try:
        found = verify_signatures(note, trust.known, ed25519.verify)
    except ProofError as error:
        raise VerificationError(f"the note is not to be trusted: {error}") from None
    return tuple(
        Judged(line.name, line.key_id.hex(), _by(one), one.time if one else None)
        for line, one in zip(note.signatures, found, strict=True)
    )


def _by(found: VerifiedSignature | None) -> str:
    if found is None:
        return "unknown"
    return "key" if found.key.type == ED25519 else "witness"


def require(judged: Sequence[Judged], trust: Trust) -> None:
    """Make sure that enough of those trusted have signed.

    Raises:
        VerificationError: no key has, or too few witnesses.
    """
    if trust.keys and not any(one.by == "key" for one in judged):
        raise VerificationError("no known key has signed the note")
    witnesses = {(one.name, one.key_id) for one in judged if one.by == "witness"}
    if len(witnesses) < trust.threshold:
        raise VerificationError(
            f"{len(witnesses)} of {len(trust.witnesses)} witnesses have signed; {trust.threshold} are needed"
        )


def added(note: Note, path: str | Path, trust: Trust) -> tuple[Note, tuple[Signature, ...]]:
    """`note` with those lines of another file that keys in `trust` made, and the lines that are left out.

    A line of an unknown key is left out: should it be a wrong one of a key that somebody comes to know,
    they could never use the note again.

    Raises:
        InvalidInputError: no key is given, so that no line could be added.
        VerificationError: the file is no note of the same text nor lines alone; a known key's line is wrong.
        LimitError: together they are more than a note may have.
    """
    if not trust.known:
        raise InvalidInputError(
            "no signature can be added unchecked", hint="give the keys that made them: --witness or --key"
        )
    others = tuple(line for line in _lines(note, path) if line not in note.signatures)
    marks = judge(Note(note.checkpoint, others), trust)
    right = [line for line, mark in zip(others, marks, strict=True) if mark.by != "unknown"]
    unknown = [line for line, mark in zip(others, marks, strict=True) if mark.by == "unknown"]
    return _together(note, right), tuple(unknown)


def merged(note: Note, path: str | Path) -> Note:
    """`note` with all signature lines of the note of the same text that it takes the place of.

    Raises:
        VerificationError: the file is a note of another text, or none.
        LimitError: together they are more than a note may have.
    """
    return _together(note, _lines(note, path))


def _lines(note: Note, path: str | Path) -> tuple[Signature, ...]:
    """The signature lines in a file of the same text, or of lines alone."""
    data = read_file(path, NOTE_BYTES_MAX)
    try:
        if data.startswith("\u2014".encode()):
            return parse_signatures(data)
        other = parse_note(data)
        if other.checkpoint != note.checkpoint:
            raise ProofError("note", "it is a note of another text")
    except ProofError as error:
        raise VerificationError(f"{path} adds nothing to this note: {error}") from None
    return other.signatures


def _together(note: Note, lines: Sequence[Signature]) -> Note:
    together = Note(note.checkpoint, tuple(dict.fromkeys((*note.signatures, *lines))))
    try:
        format_note(together)
    except ProofError as error:
        raise LimitError(
            f"together over {SIGNATURES_MAX} signatures or {NOTE_BYTES_MAX} bytes: {error}"
        ) from None
    return together
