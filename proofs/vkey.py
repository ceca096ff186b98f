"""Verifier keys: named public keys in the text form of C2SP signed-note v1.0.0."""

from __future__ import annotations

import base64
import re
from hashlib import sha256
from typing import Final, NamedTuple

from proofs.errors import ProofError
from proofs.forms import WHITE_SPACE

NAME_BYTES_MAX: Final = 1_024
"""The maximum size of an origin or a key name, in bytes of UTF-8."""
KEY_ID_BYTES: Final = 4
PUBLIC_BYTES: Final = 32

ED25519: Final = 0x01
"""The type of a log's key. With this type, the signed message is the text of the checkpoint."""
COSIGNATURE: Final = 0x04
"""The type of a witness's key. The message begins with a time, followed by the text (cosignature/v1)."""

CONTROL: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
"""The ASCII control characters except the line feed."""

FORMAT: Final = re.compile(
    "[\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U00013438\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)
"""The format characters, general category Cf of Unicode 14.

They are listed here so that the set does not depend on the version of a library.
"""

_KEY_ID = re.compile("[0-9a-f]{8}")
_SPACE = re.compile(f"[{WHITE_SPACE}]")


class VerifierKey(NamedTuple):
    """A public key with a name."""

    name: str
    type: int
    """The type of the key: ED25519 or COSIGNATURE."""
    public: bytes
    """The public key, 32 bytes."""

    @property
    def key_id(self) -> bytes:
        """The id of the key: the first 4 bytes of SHA-256(name ‖ 0x0A ‖ type ‖ public key)."""
        material = self.name.encode() + b"\n" + bytes([self.type]) + self.public
        return sha256(material).digest()[:KEY_ID_BYTES]

    @property
    def vkey(self) -> str:
        """The text form of the key: `name+key id in hex+base64(type ‖ public key)`."""
        data = base64.b64encode(bytes([self.type]) + self.public).decode()
        return f"{self.name}+{self.key_id.hex()}+{data}"


def parse_vkey(text: str) -> VerifierKey:
    """Parse a verifier key in C2SP's text form.

    Raises:
        ProofError: the text is not in the exact form, the key id does not match the key, or the key has an
            unknown type (`input`).
    """
    if not isinstance(text, str) or text.count("+") < 2:
        raise ProofError("input", "a verifier key consists of a name, a key id and a key, joined by +")
    name, key_id, data = text.split("+", 2)
    try:
        checked_name(name)
        raw = unbase64(data)
    except ProofError as error:
        raise ProofError("input", f"not a verifier key of the form name+key id+key: {error}") from None
    if len(raw) != 1 + PUBLIC_BYTES or raw[0] not in {ED25519, COSIGNATURE}:
        raise ProofError(
            "input", "a verifier key must contain an Ed25519 key of type 01 (a log's) or 04 (a witness's)"
        )
    key = VerifierKey(name, raw[0], raw[1:])
    if not _KEY_ID.fullmatch(key_id) or bytes.fromhex(key_id) != key.key_id:
        raise ProofError("input", f"the key id does not match the key, whose id is {key.key_id.hex()}")
    return key


def checked_name(name: str) -> str:
    """Return `name` if it is a valid key name.

    A key name has 1 to 1,024 bytes, and no white space, `+`, control or format characters.

    Raises:
        ProofError: `name` is not a valid key name (`note`).
    """
    if not name or "+" in name or _SPACE.search(name) or CONTROL.search(name):
        raise ProofError(
            "note", "a key's name must not be empty or contain white space, control characters or +"
        )
    if match := FORMAT.search(name):
        raise ProofError("note", f"a key's name contains format character U+{ord(match[0]):04X}")
    if len(name) > NAME_BYTES_MAX or len(utf8(name)) > NAME_BYTES_MAX:
        raise ProofError("note", f"a key's name has more than {NAME_BYTES_MAX} bytes")
    return name


def unbase64(text: str) -> bytes:
    """Decode canonical base64 with padding.

    Raises:
        ProofError: the text is not canonical base64 (`note`).
    """
    try:
        raw = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        raise ProofError("note", "not valid base64") from None
    if base64.b64encode(raw) != text.encode("ascii"):
        raise ProofError("note", "not canonical base64")
    return raw


def utf8(text: str) -> bytes:
    """Encode `text` as UTF-8.

    Raises:
        ProofError: the text has a lone surrogate (`note`).
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ProofError("note", "the text has a lone surrogate") from None
