"""Checkpoint notes: the state of a log at one size, as text that can be kept elsewhere and signed.

The formats are defined by C2SP: signed-note v1.0.0, tlog-checkpoint v1.0.0, and cosignature/v1 of
tlog-cosignature. Notes are parsed strictly: any text that `format_note` would write differently is refused,
so each note has exactly one text. Extension lines are refused, because no root covers them. The module does
not implement Ed25519; callers pass a function that verifies a signature.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple
from uuid import UUID

from proofs.errors import ProofError
from proofs.log import DIGEST_BYTES, EMPTY_ROOT, SIZE_MAX
from proofs.vkey import (
    CONTROL,
    COSIGNATURE,
    FORMAT,
    KEY_ID_BYTES,
    NAME_BYTES_MAX,
    VerifierKey,
    checked_name,
    unbase64,
    utf8,
)

NOTE_BYTES_MAX: Final = 65_536
"""The maximum size of a note in bytes; a longer note is refused before it is parsed."""
SIGNATURES_MAX: Final = 100
"""The maximum number of signature lines in a note; C2SP requires support for at least 16."""
SIGNATURE_BYTES: Final = 64
TIME_BYTES: Final = 8
TIME_MAX: Final = (1 << 63) - 1
"""The maximum time of a cosignature. A larger time does not fit into the integers of most programs."""

ORIGIN_PREFIX: Final = "memroot.local/"

Verify = Callable[[bytes, bytes, bytes], bool]
"""A function that returns whether an Ed25519 signature is valid.

Its arguments are the public key, the message and the signature. It never raises an exception.
"""

_DASH = "\u2014 "
_SIZE = re.compile("0|[1-9][0-9]{0,18}")


class Checkpoint(NamedTuple):
    """The contents of the three lines of a checkpoint."""

    origin: str
    size: int
    """The number of leaves of the log."""
    root: bytes
    """The root of the log at that size, 32 bytes."""

    @property
    def text(self) -> str:
        """The three lines as text, which the log's key signs. This text alone is an unsigned checkpoint."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


class Signature(NamedTuple):
    """One signature line of a note, with a signature of any type."""

    name: str
    key_id: bytes
    """The id of the key, 4 bytes."""
    signature: bytes
    """The signature, at least 1 byte."""

    @property
    def line(self) -> str:
        """The text of the line, including the newline."""
        return f"{_DASH}{self.name} {base64.b64encode(self.key_id + self.signature).decode()}\n"


class Note(NamedTuple):
    """A checkpoint with its signatures; an unsigned checkpoint has no signatures."""

    checkpoint: Checkpoint
    signatures: tuple[Signature, ...] = ()


class VerifiedSignature(NamedTuple):
    """The result of verifying a signature line of a known key."""

    key: VerifierKey
    time: int | None
    """The time of signing that a witness states, in seconds since 1970; None for a log's signature."""


def parse_note(data: bytes) -> Note:
    """Parse a note. Signatures are not verified.

    Raises:
        ProofError: `data` is not in the exact form of a note, has more than 65,536 bytes, or has more than
            100 signatures (`note`).
    """
    text = _decoded(data)
    body, empty_line, lines = text.rpartition("\n\n")
    if not empty_line:
        return Note(_checkpoint(text))
    return Note(_checkpoint(body + "\n"), _signatures(lines))


def parse_signatures(data: bytes) -> tuple[Signature, ...]:
    """Parse signature lines without a checkpoint, as a witness returns them.

    Raises:
        ProofError: the text does not consist of signature lines in their exact form (`note`).
    """
    return _signatures(_decoded(data))


def format_note(note: Note) -> bytes:
    """Return the text of `note` as bytes, which `parse_note` parses to an equal note.

    Raises:
        ProofError: the note breaks a rule of the format, so it has no text (`note`).
    """
    try:
        text = note.checkpoint.text
        if note.signatures:
            text += "\n" + "".join(signature.line for signature in note.signatures)
        data = text.encode()
        parsed = parse_note(data)
    except (AttributeError, TypeError, UnicodeEncodeError) as error:
        raise ProofError("note", f"not a checkpoint note: {error}") from None
    if parsed != note:
        raise ProofError("note", "the note cannot be written as a text that is parsed back to the same note")
    return data


def verify_signatures(
    note: Note, keys: Iterable[VerifierKey], verify: Verify
) -> tuple[VerifiedSignature | None, ...]:
    """Verify the signature lines of known keys. Return one item for each line, None for an unknown key.

    A line belongs to a known key if it contains the name and the id of the key. Lines of unknown keys are not
    checked. The caller decides which signatures are required, and how many.

    Args:
        note: The result of `parse_note`.
        keys: The known keys, of logs and of witnesses.
        verify: Verifies one Ed25519 signature.

    Raises:
        ProofError: the signature of a known key does not verify (`signature`); two different keys have the
            same name and key id, or two witnesses have the same public key (`input`).
    """
    verifier_keys: dict[tuple[str, bytes], VerifierKey] = {}
    names: dict[bytes, str] = {}
    for key in keys:
        if verifier_keys.setdefault((key.name, key.key_id), key) != key:
            raise ProofError("input", "two different keys have the same name and key id")
        if key.type == COSIGNATURE and names.setdefault(key.public, key.name) != key.name:
            raise ProofError("input", f"the witness {key.name} has the same public key as another witness")
    signers = ((line, verifier_keys.get((line.name, line.key_id))) for line in note.signatures)
    return tuple(
        None if key is None else VerifiedSignature(key, _verified_time(note.checkpoint, line, key, verify))
        for line, key in signers
    )


def cosignature_message(checkpoint: Checkpoint, time: int) -> bytes:
    """Return the message that a witness signs at `time`, in seconds since 1970."""
    return f"cosignature/v1\ntime {time}\n{checkpoint.text}".encode()


def origin_of(store_id: bytes) -> str:
    """Return the origin that the checkpoints of a store have. `store_id` is the id of the store, 16 bytes.

    Raises:
        ProofError: the id does not have 16 bytes (`input`).
    """
    if not isinstance(store_id, bytes) or len(store_id) != 16:
        raise ProofError("input", "a store id has 16 bytes")
    return ORIGIN_PREFIX + str(UUID(bytes=store_id))


def store_id_of(origin: str) -> bytes:
    """Return the id of the store whose checkpoints have this origin.

    Raises:
        ProofError: the text is not the origin of a store (`origin`).
    """
    try:
        store_id = UUID(origin.removeprefix(ORIGIN_PREFIX)).bytes
    except (AttributeError, TypeError, ValueError):
        store_id = b""
    if not store_id or origin_of(store_id) != origin:
        raise ProofError("origin", f"the origin of a store must be {ORIGIN_PREFIX} followed by its id")
    return store_id


def _decoded(data: bytes) -> str:
    if not isinstance(data, bytes):
        raise ProofError("note", "a note must be bytes")
    if len(data) > NOTE_BYTES_MAX:
        raise ProofError("note", f"the note is over {NOTE_BYTES_MAX} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ProofError("note", f"the note is not UTF-8: byte {error.start} is invalid") from None
    if match := CONTROL.search(text):
        raise ProofError("note", f"the note contains control character 0x{ord(match[0]):02x}")
    # Two origins or names that differ only in invisible characters would look the same.
    if match := FORMAT.search(text):
        raise ProofError("note", f"the note contains format character U+{ord(match[0]):04X}")
    if not text.endswith("\n"):
        raise ProofError("note", "the last line has no newline")
    return text


def _checkpoint(text: str) -> Checkpoint:
    lines = text.split("\n")
    if len(lines) != 4 or lines[3]:
        raise ProofError("note", "a checkpoint has exactly three lines: origin, size and root")
    origin, size_line, root_line, _ = lines
    if not origin or len(utf8(origin)) > NAME_BYTES_MAX:
        raise ProofError("note", f"the origin is empty or over {NAME_BYTES_MAX} bytes")
    if not _SIZE.fullmatch(size_line) or int(size_line) > SIZE_MAX:
        raise ProofError("note", "the size is not a decimal number below 2^63 without leading zeros")
    size, root = int(size_line), unbase64(root_line)
    if len(root) != DIGEST_BYTES:
        raise ProofError("note", f"the root has {len(root)} bytes, not {DIGEST_BYTES}")
    if not size and root != EMPTY_ROOT:
        raise ProofError("note", "the root is not that of a log without leaves")
    return Checkpoint(origin, size, root)


def _signatures(text: str) -> tuple[Signature, ...]:
    lines = text.split("\n")[:-1]
    if not lines:
        raise ProofError("note", "no signatures follow the empty line")
    if len(lines) > SIGNATURES_MAX:
        raise ProofError("note", f"the note has over {SIGNATURES_MAX} signatures")
    if len(set(lines)) != len(lines):
        raise ProofError("note", "the same signature line occurs twice")
    return tuple(map(_signature, lines))


def _signature(line: str) -> Signature:
    name, space, data = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not space:
        raise ProofError(
            "note", "a signature line is a dash (U+2014), a name and base64, separated by single spaces"
        )
    raw = unbase64(data)
    if len(raw) <= KEY_ID_BYTES:
        raise ProofError("note", f"with its key id, a signature must have over {KEY_ID_BYTES} bytes")
    return Signature(checked_name(name), raw[:KEY_ID_BYTES], raw[KEY_ID_BYTES:])


def _verified_time(checkpoint: Checkpoint, line: Signature, key: VerifierKey, verify: Verify) -> int | None:
    """Verify a signature and return its time: seconds since 1970 for a witness, None for a log.

    Raises:
        ProofError: the signature has the wrong length or does not verify (`signature`).
    """
    stamp = TIME_BYTES if key.type == COSIGNATURE else 0
    if len(line.signature) != stamp + SIGNATURE_BYTES:
        raise ProofError(
            "signature", f"the signature of {key.name} has a wrong length, {len(line.signature)} bytes"
        )
    time = int.from_bytes(line.signature[:stamp], "big") if stamp else None
    if time is not None and time > TIME_MAX:
        raise ProofError("signature", f"the signature of {key.name} has a time over {TIME_MAX}")
    message = checkpoint.text.encode() if time is None else cosignature_message(checkpoint, time)
    if not verify(key.public, message, line.signature[stamp:]):
        raise ProofError("signature", f"the signature of {key.name} does not verify")
    return time
