"""The key of a sealed store, and the header that keeps it.

A sealed store has one random *data key*, which encrypts its values. The header of the store is readable
without a key. It has *slots*: each slot is the data key, encrypted under a secret (a passphrase or a recovery
phrase) that Argon2id has stretched. Whoever knows the secret of one slot can open the store.

Values are encrypted with AES-SIV (RFC 5297), which is deterministic, with the key of the row as associated
data. Weighed against the others:

- AES-GCM with random nonces adds 28 bytes to each row, AES-SIV 16. Rows have 130 bytes on average, and the
  smallest families 25 (measured).
- With random nonces, the same value has other bytes each time. Then a guard, which compares a stored value
  with an expected one, would need another read before each write. With AES-SIV, equal values of one row have
  equal bytes, so the inner backend compares them as always.
- A nonce that repeats is fatal for AES-GCM. A restored copy of a machine's memory can repeat one, and every
  key may encrypt 2^32 values at most. AES-SIV has no nonce, and allows 2^48 values.

The price is that somebody who sees the files at several times can see that a row has again the value that it
had before. A value that was moved to another key, or to another store, does not decrypt.
"""

from __future__ import annotations

import json
import os
import unicodedata
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from backends.errors import BackendCorrupt, BackendError, BackendLocked, BackendUnusable
from backends.sealed import held

FORMAT: Final = 1

_KEY_BYTES: Final = 32
_ID_BYTES: Final = 16
_SALT_BYTES: Final = 16
_CIPHER_KEY_BYTES: Final = 64
_MEMORY_MAX: Final = 4 << 20
_TAG_BYTES: Final = 16
_EMPTY: Final = b"\0"
"""What is encrypted in place of an empty value, because older versions of the library refuse empty texts."""

_NAME_MAX: Final = 40

PASSPHRASE, RECOVERY = "passphrase", "recovery"
"""The names of the slots that a new sealed store has."""


class Cost(NamedTuple):
    """The cost of Argon2id."""

    iterations: int
    lanes: int
    memory: int
    """In KiB."""


COST = Cost(3, 4, 64 << 10)
"""The cost for new headers: the second choice of RFC 9106, some 0.2 s of CPU time (measured)."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a sealed store says without its key."""

    id: bytes
    """The id of the data key."""
    salt: bytes
    cost: Cost
    slots: Mapping[str, bytes] = field(default_factory=dict)
    """Name → the data key, encrypted under the slot's secret."""
    clean: bool = True
    """False while the files may still have bytes from before the last change of the key."""

    def encode(self) -> bytes:
        """Return the value of the header's rows: JSON with a checksum."""
        body: dict[str, Any] = {
            "sealed": FORMAT,
            "id": self.id.hex(),
            "salt": self.salt.hex(),
            "argon2id": self.cost,
            "slots": {name: wrapped.hex() for name, wrapped in self.slots.items()},
            "clean": self.clean,
        }
        return json.dumps(body | {"check": _checksum(body)}).encode()

    def unlock(self, secret: str) -> Seal:
        """Return the key of the store.

        Raises:
            BackendLocked: `secret` opens no slot.
        """
        wrapping = AESSIV(_stretched(_canonical(secret), self.salt, self.cost))
        for name, wrapped in self.slots.items():
            try:
                return Seal(self, wrapping.decrypt(wrapped, [self.id, name.encode()]))
            except InvalidTag:
                continue
        raise BackendLocked("the key is wrong", hint="the passphrase or the recovery phrase opens the store")


def decode_header(raw: bytes) -> Header:
    """Decode the value of a header's row.

    Raises:
        BackendCorrupt: the bytes are not those that were written.
        BackendUnusable: a later version of this package wrote the header.
    """
    try:
        body = json.loads(raw)
        check = body.pop("check")
        if check != _checksum(body):
            raise ValueError
        if body["sealed"] != FORMAT:
            raise BackendUnusable("the store was sealed by a later version of memroot, which opens it")
        slots = {name: bytes.fromhex(wrapped) for name, wrapped in body["slots"].items()}
        cost = Cost(*body["argon2id"])
        if cost.memory > _MEMORY_MAX:
            raise ValueError
        return Header(bytes.fromhex(body["id"]), bytes.fromhex(body["salt"]), cost, slots, body["clean"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BackendCorrupt("the header of the sealed store is damaged") from None


class Seal:
    """A header together with its data key: what encrypts and decrypts the values of one store."""

    __slots__ = ("_decrypt", "_encrypt", "_key", "header")

    def __init__(self, header: Header, key: bytes) -> None:
        held[:] = [True]
        self.header = header
        self._key = key
        cipher = AESSIV(self.derived(b"rows"))
        self._encrypt, self._decrypt = cipher.encrypt, cipher.decrypt

    @classmethod
    def new(cls, secrets: Mapping[str, str]) -> Seal:
        """Return a seal with a random data key, and a slot for each name and secret in `secrets`."""
        seal = cls(Header(os.urandom(_ID_BYTES), os.urandom(_SALT_BYTES), COST), os.urandom(_KEY_BYTES))
        for name, secret in secrets.items():
            seal = seal.with_slot(name, secret)
        return seal

    def derived(self, purpose: bytes) -> bytes:
        """Return a key of 64 bytes for one purpose."""
        return blake2b(digest_size=_CIPHER_KEY_BYTES, key=self._key, person=purpose).digest()

    def for_file(self) -> AESSIV:
        """Return the cipher of files that are encrypted under this key (`backends.sealed.sealed_file`)."""
        return AESSIV(self.derived(b"file"))

    def with_header(self, header: Header) -> Seal:
        """Return the same key with another header."""
        return Seal(header, self._key)

    def with_slot(self, name: str, secret: str) -> Seal:
        """Return the same key with a slot that is new or has a new secret.

        Raises:
            BackendError: the name is empty, too long or not printable, or the secret is empty.
        """
        if not (name.isprintable() and 0 < len(name) <= _NAME_MAX):
            raise BackendError(f"the name of a slot has 1 to {_NAME_MAX} printable characters")
        header = self.header
        wrapping = AESSIV(_stretched(_canonical(secret), header.salt, header.cost))
        wrapped = wrapping.encrypt(self._key, [header.id, name.encode()])
        return self.with_header(replace(header, slots={**header.slots, name: wrapped}))

    def without_slot(self, name: str) -> Seal:
        """Return the same key without the slot `name`.

        Raises:
            BackendError: there is no such slot, or no other one.
        """
        slots = dict(self.header.slots)
        if slots.pop(name, None) is None:
            raise BackendError(f"there is no slot {name!r}; the slots are {', '.join(self.header.slots)}")
        if not slots:
            raise BackendError("the last slot stays, because nobody could open the store without it")
        return self.with_header(replace(self.header, slots=slots))

    def close(self, key: bytes, value: bytes) -> bytes:
        """Return the encrypted value of the row `key`."""
        return self._encrypt(value, [key]) if value else self._encrypt(_EMPTY, [key, b""])

    def open(self, key: bytes, raw: bytes) -> bytes | None:
        """Return the value of the row `key`, or None if `raw` is not a value of this row under this key."""
        try:
            return self._decrypt(raw, [key])
        except (InvalidTag, ValueError):
            if len(raw) != _TAG_BYTES + len(_EMPTY):
                return None
        try:
            self._decrypt(raw, [key, b""])
        except InvalidTag:
            return None
        return b""


def new_phrase() -> str:
    """Return a random recovery phrase: 24 letters and digits (120 bits) in groups of four."""
    text = b32encode(os.urandom(15)).decode().lower()
    return "-".join(text[at : at + 4] for at in range(0, len(text), 4))


def _canonical(secret: str) -> bytes:
    """Return the bytes of a secret, so that it does not matter how a keyboard composes its characters.

    Raises:
        BackendError: the secret is empty.
    """
    text = unicodedata.normalize("NFC", secret.strip())
    if not text:
        raise BackendError("the passphrase is empty")
    return text.encode()


@lru_cache(maxsize=64)
def _stretched(secret: bytes, salt: bytes, cost: Cost) -> bytes:
    """Stretch a secret. The results are kept, because a service closes and opens its memories all the time.

    Raises:
        BackendUnusable: the installed library cannot do this.
    """
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

        kdf = Argon2id(
            salt=salt,
            length=_CIPHER_KEY_BYTES,
            iterations=cost.iterations,
            lanes=cost.lanes,
            memory_cost=cost.memory,
        )
    except (ImportError, UnsupportedAlgorithm) as error:
        raise BackendUnusable(
            "sealed stores need the package cryptography, 44 or later, with OpenSSL 3.2 or later"
        ) from error
    return kdf.derive(secret)


def _checksum(body: dict[str, Any]) -> str:
    return blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=16).hexdigest()
