"""Checkpoint notes: what a log said of itself at one size, as text to keep elsewhere and to sign.

The formats are those of C2SP: signed-note v1.0.0, tlog-checkpoint v1.0.0, and cosignature/v1 of
tlog-cosignature. A note is read strictly: whatever would be written otherwise is refused, so that one
statement has one text. Extension lines are refused, for no root covers them. Ed25519 itself is the
caller's: these functions are handed the one that checks a signature.
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
"""A longer note is refused unread."""
SIGNATURES_MAX: Final = 100
"""Signature lines of one note; C2SP asks for 16 at least."""
SIGNATURE_BYTES: Final = 64
TIME_BYTES: Final = 8

ORIGIN_PREFIX: Final = "memroot.local/"

Verify = Callable[[bytes, bytes, bytes], bool]
"""Whether (public key, message, signature) is a signature of Ed25519; it raises nothing."""

_DASH = "\u2014 "
_SIZE = re.compile("0|[1-9][0-9]{0,18}")


class Checkpoint(NamedTuple):
    """What the three lines of a checkpoint say."""

    origin: str
    size: int
    """Leaves of the log."""
    root: bytes
    """The log's root at that size, 32 bytes."""

    @property
    def text(self) -> str:
        """The three lines: what a log's key signs, and by themselves an unsigned checkpoint."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


class Signature(NamedTuple):
    """One signature line, of whatever type."""

    name: str
    key_id: bytes
    """4 bytes."""
    signature: bytes
    """At least 1 byte."""

    @property
    def line(self) -> str:
        """The line, with its end."""
        return f"{_DASH}{self.name} {base64.b64encode(self.key_id + self.signature).decode()}\n"


class Note(NamedTuple):
    """A checkpoint with its signatures, none where it is unsigned."""

    checkpoint: Checkpoint
    signatures: tuple[Signature, ...] = ()


class Verified(NamedTuple):
    """A signature line that a known key made."""

    key: VerifierKey
    time: int | None
    """Seconds since 1970, as a witness says; None for a log's signature."""


def parse_note(data: bytes) -> Note:
    """The note that `data` is, nothing of it verified but its form.

    Raises:
        ProofError: `note`: not in its exact form, over 65,536 bytes or over 100 signatures.
    """
    text = _decoded(data)
    body, empty_line, lines = text.rpartition("\n\n")
    if not empty_line:
        return Note(_checkpoint(text))
    return Note(_checkpoint(body + "\n"), _signatures(lines))


def parse_signatures(data: bytes) -> tuple[Signature, ...]:
    """Signature lines alone, as a witness answers with them.

    Raises:
        ProofError: `note`: not signature lines in their exact form.
    """
    return _signatures(_decoded(data))


def format_note(note: Note) -> bytes:
    """The bytes that `parse_note` gives `note` back for.

    Raises:
        ProofError: `note`: there are no such bytes; the note breaks a rule.
    """
    try:
        text = note.checkpoint.text
        if note.signatures:
            text += "\n" + "".join(signature.line for signature in note.signatures)
        data = text.encode()
        parsed = parse_note(data)
    except (AttributeError, TypeError, UnicodeEncodeError) as error:
        raise ProofError("note", f"this is no note: {error}") from None
    if parsed != note:
        raise ProofError("note", "this note would not be read as it is written")
    return data


def verify_signatures(note: Note, keys: Iterable[VerifierKey], verify: Verify) -> tuple[Verified | None, ...]:
    """For each signature line, in order, the known key that made it; None: no known key's, and unchecked.

    A line is a known key's if both name and key id are. How many are enough, and of whom, is the
    caller's to say.

    Args:
        note: What `parse_note` gave.
        keys: The keys that are known, logs' and witnesses'.
        verify: Checks one signature of Ed25519.

    Raises:
        ProofError: `signature`: a known key's line does not verify. `input`: two keys share name and key id.
    """
    known: dict[tuple[str, bytes], VerifierKey] = {}
    for key in keys:
        if known.setdefault((key.name, key.key_id), key) != key:
            raise ProofError("input", "two different keys have the same name and key id")
    signers = ((line, known.get((line.name, line.key_id))) for line in note.signatures)
    return tuple(
        None if key is None else Verified(key, _signed_at(note.checkpoint, line, key, verify))
        for line, key in signers
    )


def cosignature_message(checkpoint: Checkpoint, time: int) -> bytes:
    """What a witness signs at `time`, in seconds since 1970."""
    return f"cosignature/v1\ntime {time}\n{checkpoint.text}".encode()


def origin_of(store_id: bytes) -> str:
    """The origin of the checkpoints of a store, by its id of 16 bytes.

    Raises:
        ProofError: `input`: it has another width.
    """
    if not isinstance(store_id, bytes) or len(store_id) != 16:
        raise ProofError("input", "a store id is 16 bytes")
    return ORIGIN_PREFIX + str(UUID(bytes=store_id))


def store_id_of(origin: str) -> bytes:
    """The id of the store whose checkpoints have this origin.

    Raises:
        ProofError: `origin`: it is no store's.
    """
    try:
        store_id = UUID(origin.removeprefix(ORIGIN_PREFIX)).bytes
    except (AttributeError, TypeError, ValueError):
        store_id = b""
    if not store_id or origin_of(store_id) != origin:
        raise ProofError("origin", f"the origin of a store is {ORIGIN_PREFIX} and its id")
    return store_id


def _decoded(data: bytes) -> str:
    if not isinstance(data, bytes):
        raise ProofError("note", "a note is bytes")
    if len(data) > NOTE_BYTES_MAX:
        raise ProofError("note", f"over {NOTE_BYTES_MAX} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ProofError("note", f"not UTF-8: byte {error.start} is no part of a character") from None
    if found := CONTROL.search(text):
        raise ProofError("note", f"control character 0x{ord(found[0]):02x} in it")
    # Two origins or names that differ in what nobody sees would be taken for one.
    if found := FORMAT.search(text):
        raise ProofError("note", f"format character U+{ord(found[0]):04X} in it")
    if not text.endswith("\n"):
        raise ProofError("note", "its last line has no end")
    return text


def _checkpoint(text: str) -> Checkpoint:
    lines = text.split("\n")
    if len(lines) != 4 or lines[3]:
        raise ProofError("note", "a checkpoint is three lines: origin, size, root; extensions are refused")
    origin, size_line, root_line, _ = lines
    if not origin or len(utf8(origin)) > NAME_BYTES_MAX:
        raise ProofError("note", f"the origin is empty, or over {NAME_BYTES_MAX} bytes")
    if not _SIZE.fullmatch(size_line) or int(size_line) > SIZE_MAX:
        raise ProofError("note", "the size is not a decimal number without leading zeros, below 2^63")
    size, root = int(size_line), unbase64(root_line)
    if len(root) != DIGEST_BYTES:
        raise ProofError("note", f"the root is {len(root)} bytes, not {DIGEST_BYTES}")
    if not size and root != EMPTY_ROOT:
        raise ProofError("note", "the root of a log without leaves is another one")
    return Checkpoint(origin, size, root)


def _signatures(text: str) -> tuple[Signature, ...]:
    lines = text.split("\n")[:-1]
    if not lines:
        raise ProofError("note", "there are no signatures after the empty line")
    if len(lines) > SIGNATURES_MAX:
        raise ProofError("note", f"over {SIGNATURES_MAX} signatures")
    if len(set(lines)) != len(lines):
        raise ProofError("note", "the same signature line twice")
    return tuple(map(_signature, lines))


def _signature(line: str) -> Signature:
    name, space, data = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not space:
        raise ProofError("note", "a signature line is a dash (U+2014), a name and base64, one space between")
    raw = unbase64(data)
    if len(raw) <= KEY_ID_BYTES:
        raise ProofError("note", f"a signature is over {KEY_ID_BYTES} bytes, key id included")
    return Signature(checked_name(name), raw[:KEY_ID_BYTES], raw[KEY_ID_BYTES:])


def _signed_at(checkpoint: Checkpoint, line: Signature, key: VerifierKey, verify: Verify) -> int | None:
    """The time of a witness's signature, None for a log's, once the signature is known to be right."""
    stamp = TIME_BYTES if key.type == COSIGNATURE else 0
    if len(line.signature) != stamp + SIGNATURE_BYTES:
        raise ProofError("signature", f"that of {key.name} has {len(line.signature)} bytes")
    time = int.from_bytes(line.signature[:stamp], "big") if stamp else None
    message = checkpoint.text.encode() if time is None else cosignature_message(checkpoint, time)
    if not verify(key.public, message, line.signature[stamp:]):
        raise ProofError("signature", f"that of {key.name} does not verify")
    return time
