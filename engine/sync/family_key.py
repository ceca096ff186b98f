"""The key of a family of devices, its phrase, and sealing files with it (ChaCha20-Poly1305, RFC 8439).

    sealed file = name[12] ‖ version u8 ‖ key id[8] ‖ nonce[12] ‖ ciphertext

The name says what kind of file it is, and the associated data bind everything before the nonce and what the
caller adds. The phrase is the key: 22 random bytes and 3 bytes of checksum in base32, in groups of 5.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b, sha256

from engine.base.errors import InvalidInputError, RefusedError, VerificationError

VERSION = 1
"""The version of the form of sealed files."""
SECRET_BYTES = 22
_NAME_BYTES = 12
_KEY_ID_BYTES = 8
_NONCE_BYTES = 12
_HEAD_BYTES = _NAME_BYTES + 1 + _KEY_ID_BYTES
_GROUP = 5


@dataclass(frozen=True)
class FamilyKey:
    """The secret that all devices of a family share."""

    secret: bytes = field(repr=False)
    """22 random bytes."""

    @classmethod
    def new(cls) -> FamilyKey:
        """Return a random key."""
        return cls(secrets.token_bytes(SECRET_BYTES))

    @classmethod
    def of(cls, phrase: str) -> FamilyKey:
        """Return the key in a phrase. Case, spaces and hyphens do not matter.

        Raises:
            InvalidInputError: A character of the phrase is missing or wrong. The message does not repeat it.
        """
        letters = "".join(one for one in phrase.upper() if one.isalnum()).translate({48: 79, 49: 73})
        try:
            raw = base64.b32decode(letters)
        except ValueError:
            raw = b""
        secret, check = raw[:SECRET_BYTES], raw[SECRET_BYTES:]
        if len(raw) != SECRET_BYTES + 3 or sha256(secret).digest()[:3] != check:
            raise InvalidInputError(
                "this is not the phrase of a family of devices: a letter is missing or wrong",
                hint="`engine sync init` printed the phrase: 8 groups of 5 letters and digits",
            )
        return cls(secret)

    @cached_property
    def phrase(self) -> str:
        """The key as 8 groups of 5 lower-case letters and digits."""
        text = base64.b32encode(self.secret + sha256(self.secret).digest()[:3]).decode().lower()
        return "-".join(text[at : at + _GROUP] for at in range(0, len(text), _GROUP))

    @cached_property
    def id(self) -> bytes:
        """The public name of the key, 8 bytes."""
        return blake2b(self.secret, digest_size=_KEY_ID_BYTES, person=b"memroot-sync-id").digest()

    @cached_property
    def key(self) -> bytes:
        """The key of the cipher, 32 bytes."""
        return blake2b(self.secret, digest_size=32, person=b"memroot-sync-key").digest()

    def seal(self, name: bytes, data: bytes, bound: bytes) -> bytes:
        """Return `data` as a sealed file of the kind `name`, which opens only with the same `bound`."""
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

        head, nonce = name.ljust(_NAME_BYTES) + bytes([VERSION]) + self.id, secrets.token_bytes(_NONCE_BYTES)
        return head + nonce + ChaCha20Poly1305(self.key).encrypt(nonce, data, head + bound)


def open_sealed(name: bytes, raw: bytes, bound: bytes, keys: Iterable[FamilyKey]) -> bytes:
    """Return the data of a sealed file.

    Raises:
        RefusedError: The file has a later version, or was sealed with a key that is not in `keys`.
        VerificationError: The file is of another kind, or was altered, cut or put in the place of another.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    head, rest = raw[:_HEAD_BYTES], raw[_HEAD_BYTES:]
    if len(head) < _HEAD_BYTES or head[:_NAME_BYTES] != name.ljust(_NAME_BYTES):
        raise VerificationError("it is cut, or of another kind")
    if head[_NAME_BYTES] != VERSION:
        raise RefusedError(
            f"it has version {head[_NAME_BYTES]}, but this program reads version {VERSION}",
            hint="install the version of memroot that the other device has",
        )
    key = next((one for one in keys if one.id == head[-_KEY_ID_BYTES:]), None)
    if key is None:
        raise UnknownKeyError(
            "it is sealed with a key that this device does not have",
            hint="if a device was removed, the phrase has changed: `engine sync join` asks for the new one",
        )
    try:
        return ChaCha20Poly1305(key.key).decrypt(rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], head + bound)
    except (InvalidTag, ValueError):
        raise VerificationError("it was altered, or stands in the place of another") from None


class UnknownKeyError(RefusedError):
    """A file is sealed with a key that this device does not have."""
