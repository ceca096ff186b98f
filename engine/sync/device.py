"""What a device keeps outside its store and the folder: keys, and what it last saw of other devices.

The place is `engine/sync/STORE ID/` in the user's folder of settings. Only the user can read it. It holds
`key`, the signing key of the device, with the last head that it signed, and `state` with the phrase of the
family. The state is encrypted under a key that follows from the first event of the store: if the store is
sealed, the phrase, which opens the packs in the folder, must not lie beside it.
"""

from __future__ import annotations

import os
from dataclasses import InitVar, asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path

from backends.files import make_parents
from engine.base.errors import CorruptionError, NotFoundError
from engine.base.json_text import dumped, parse
from engine.base.outside_files import PRIVATE, read_file, replace_file, user_folder
from engine.ledger.journal import Identity
from engine.sync.family_key import FamilyKey

_STATE = "state"
_NONCE_BYTES = 12
_STATE_BYTES_MAX = 16 << 20


@dataclass
class KnownDevice:
    """What this device knows about another one."""

    name: str = ""
    public: str = ""
    """The key with which the device signed the first head that was seen here, as hex digits."""
    size: int = 0
    """The number of events in the greatest head that was seen."""
    log_root: str = ""
    file: str = ""
    """The hash of the head file after which nothing was left to do."""


@dataclass
class Device:
    """The settings and keys of one device."""

    store_id: str
    """The id of its store, as 32 hex digits."""
    folder: str
    name: str
    phrases: list[str]
    """The phrase of the family, and its earlier phrases, the newest first."""
    file: str = ""
    """The hash of the own head file as it was last written."""
    size: int = 0
    """The number of events that it covers."""
    packs: list[str] = field(default_factory=list)
    """The names of the packs that it lists."""
    taking: str = ""
    """The store whose texts are still to be added here (`join --take`), or empty."""
    wrapped: list[str] = field(default_factory=list)
    """The newest phrase for each device that stayed when this one removed another, as hex digits."""
    known: dict[str, KnownDevice] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    """The removed devices."""
    identity: InitVar[Identity | None] = None
    """The identity of the store, with its keys. A device without it cannot be saved."""

    def __post_init__(self, identity: Identity | None) -> None:
        """Keep the key of the state."""
        self._key = b"" if identity is None else _key_of(identity)

    @classmethod
    def read(cls, identity: Identity) -> Device:
        """Return the device of a store.

        Raises:
            NotFoundError: The store is not synchronised.
            CorruptionError: Its state cannot be read.
        """
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        path = place_of(identity.store_id) / _STATE
        try:
            raw = read_file(path, _STATE_BYTES_MAX)
            plain = AESGCM(_key_of(identity)).decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], None)
            values = parse(plain)
            known = {name: KnownDevice(**one) for name, one in values.pop("known").items()}
            return cls(**values, known=known, identity=identity)
        except NotFoundError:
            raise NotFoundError(
                "this memory is not synchronised",
                hint="`engine sync init FOLDER` begins, `engine sync join FOLDER` joins other devices",
            ) from None
        except (InvalidTag, TypeError, KeyError, AttributeError, ValueError) as error:
            raise CorruptionError(f"{path} cannot be read: {error}") from None

    @property
    def place(self) -> Path:
        """The folder of this state and of the keys."""
        return place_of(bytes.fromhex(self.store_id))

    @property
    def key_file(self) -> Path:
        """The file of the signing key."""
        return self.place / "key"

    @property
    def keys(self) -> list[FamilyKey]:
        """The keys of the family, the newest first."""
        return [FamilyKey.of(phrase) for phrase in self.phrases]

    def create(self) -> None:
        """Make the place and a new signing key, unless there is one already."""
        from engine.trust.notes.signing import new_key
        from proofs.note import origin_of

        place, store_id = self.place, bytes.fromhex(self.store_id)
        make_parents(place / _STATE)
        place.chmod(0o700)
        if not self.key_file.exists():
            new_key(self.key_file, origin_of(store_id))
        self.save()

    def save(self) -> None:
        """Write the state durably."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce, plain = os.urandom(_NONCE_BYTES), dumped(asdict(self)).encode()
        replace_file(self.place / _STATE, nonce + AESGCM(self._key).encrypt(nonce, plain, None), PRIVATE)


def _key_of(identity: Identity) -> bytes:
    """Return the key of the state. Other stores of the family have another one."""
    return blake2b(digest_size=32, key=identity.row_key, person=b"sync state").digest()


def place_of(store_id: bytes) -> Path:
    """Return the folder of the keys of the device with this store."""
    return user_folder("XDG_CONFIG_HOME", "~/.config") / "sync" / store_id.hex()
