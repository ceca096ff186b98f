"""The key of a sealed store, and the header that keeps it.

A sealed store has one random *data key*, which encrypts its values. The header of the store is readable
without a key. It has *slots*: each slot is the data key, encrypted under a secret (a passphrase or a recovery
phrase) that Argon2id has stretched. Whoever knows the secret of one slot can open the store.

Values are encrypted with AES-256-GCM under a random nonce, with the key of the row as associated data. So a
value that was moved to another key, or to another store, does not decrypt. Weighed against the others
(`python -m bench.sealed`, on the rows of one add: 6 rows of 160 bytes):

- AES-SIV and AES-GCM-SIV survive a nonce that repeats, and AES-SIV needs none: a row has 16 bytes more, not
  28, and equal values of a row have equal bytes, so guards could compare them. But they took 9.6 µs for these
  rows, and AES-GCM 5.4 µs. A bulk add takes 40 µs, and should not become slower by a quarter.
- Nonces that follow from the row are fatal for AES-GCM, because the values of rows change.
- Random nonces may repeat: after 2^32 values, with a probability of 2^-33. That is after some 700 million
  adds. `engine key rotate` begins a new key.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from backends.errors import BackendCorrupt, BackendLocked, BackendUnusable
from backends.sealed import held

FORMAT: Final = 1

_KEY_BYTES: Final = 32
_ID_BYTES: Final = 16
_SALT_BYTES: Final = 16
_NONCE_BYTES: Final = 12
_MEMORY_MAX: Final = 4 << 20
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
        for attempt in dict.fromkeys((secret, _as_phrase(secret))):
            wrapping = Seal(self, _stretched(_canonical(attempt), self.salt, self.cost))
            for name, wrapped in self.slots.items():
                key = wrapping.open(self.id + name.encode(), wrapped)
                if key is not None:
                    return Seal(self, key)
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

    __slots__ = ("_cipher", "_key", "header")

    def __init__(self, header: Header, key: bytes) -> None:
        held[:] = [True]
        self.header = header
        self._key = key
        self._cipher = AESGCM(key)

    @classmethod
    def new(cls, secrets: Mapping[str, str]) -> Seal:
        """Return a seal with a random data key, and a slot for each name and secret in `secrets`."""
        seal = cls(Header(os.urandom(_ID_BYTES), os.urandom(_SALT_BYTES), COST), os.urandom(_KEY_BYTES))
        for name, secret in secrets.items():
            seal = seal.with_slot(name, secret)
        return seal

    def with_header(self, header: Header) -> Seal:
        """Return the same key with another header."""
        return Seal(header, self._key)

    def with_slot(self, name: str, secret: str) -> Seal:
        """Return the same key with a slot that is new or has a new secret.

        Raises:
            BackendUnusable: the name is empty, too long or not printable, or the secret is empty.
        """
        if not (name.isprintable() and 0 < len(name) <= _NAME_MAX):
            raise BackendUnusable(f"the name of a slot has 1 to {_NAME_MAX} printable characters")
        header = self.header
        wrapping = Seal(header, _stretched(_canonical(secret), header.salt, header.cost))
        wrapped = wrapping.close(header.id + name.encode(), self._key)
        return self.with_header(replace(header, slots={**header.slots, name: wrapped}))

    def without_slot(self, name: str) -> Seal:
        """Return the same key without the slot `name`.

        Raises:
            BackendUnusable: there is no such slot, or no other one.
        """
        slots = dict(self.header.slots)
        if slots.pop(name, None) is None:
            raise BackendUnusable(f"there is no slot {name!r}; the slots are {', '.join(self.header.slots)}")
        if not slots:
            raise BackendUnusable("the last slot cannot be removed: no secret would open the store then")
        return self.with_header(replace(self.header, slots=slots))

    def close(self, key: bytes, value: bytes) -> bytes:
        """Return the encrypted value of the row `key`. It has other bytes each time."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, value, key)

    def close_all(self, rows: Mapping[bytes, bytes | None]) -> dict[bytes, bytes | None]:
        """Return the rows with encrypted values. None stays None."""
        encrypt, nonces, closed = self._cipher.encrypt, os.urandom(_NONCE_BYTES * len(rows)), {}
        at = 0
        for key, value in rows.items():
            if value is not None:
                nonce = nonces[at : at + _NONCE_BYTES]
                at += _NONCE_BYTES
                value = nonce + encrypt(nonce, value, key)
            closed[key] = value
        return closed

    def open(self, key: bytes, raw: bytes) -> bytes | None:
        """Return the value of the row `key`, or None if `raw` is not a value of this row under this key."""
        try:
            return self._cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], key)
        except (InvalidTag, ValueError):
            return None


def new_phrase() -> str:
    """Return a random recovery phrase: 24 letters and digits (120 bits) in groups of four."""
    return _as_phrase(b32encode(os.urandom(15)).decode())


def _as_phrase(secret: str) -> str:
    """Return a recovery phrase in the spelling in which it is printed, and any other secret as it is."""
    text = re.sub(r"[\W_]", "", secret).lower()
    if re.fullmatch("[a-z2-7]{24}", text) is None:
        return secret
    return "-".join(text[at : at + 4] for at in range(0, len(text), 4))


def _canonical(secret: str) -> bytes:
    """Return the bytes of a secret, so that it does not matter how a keyboard composes its characters.

    Raises:
        BackendUnusable: the secret is empty.
    """
    text = unicodedata.normalize("NFC", secret.strip())
    if not text:
        raise BackendUnusable("the passphrase is empty")
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
            length=_KEY_BYTES,
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
