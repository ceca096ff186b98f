"""The head of a device: the one small file that says what the device wrote, signed with its own key.

    head file = [sealed, [wrapped key, …], public key[32], signature[64]]    canonical CBOR

`sealed` opens with the family key. When the family key changes, `wrapped key` gives the new one to each
device that stays: store id[16] ‖ public X25519 key[32] ‖ ChaCha20-Poly1305(new key).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

from engine.base.errors import VerificationError
from engine.ledger.layout import fields, unpack
from engine.store.store import FamilySecrets
from engine.sync.devices import HEAD, HEAD_BYTES_MAX
from engine.sync.family_key import SECRET_BYTES, FamilyKey, open_sealed
from engine.sync.packs import PACK_FIELDS, Pack
from engine.trust.notes.signing import public_key_of, sign_ed25519, verify_ed25519
from proofs.codec import pack
from proofs.forms import Check, many, raw_up_to, sized, text, uint
from proofs.hashing import STORE_ID_BYTES
from proofs.log import SIZE_MAX

NAME_BYTES_MAX = 64
_KIND = b"memroot head"
_CONTEXT = b"memroot sync head 1\n"
_ROWS = Check((list,), 100_000)
_STORE = sized(STORE_ID_BYTES)
_FILE = (raw_up_to(HEAD_BYTES_MAX), many(raw_up_to(256), 10_000), sized(32), sized(64))
_FIELDS = (
    text(NAME_BYTES_MAX, 1), uint(SIZE_MAX), sized(32), sized(32), sized(32), sized(32), _ROWS, _ROWS,
    many(sized(SECRET_BYTES), 10_000), many(_STORE, 10_000),
)  # fmt: skip


class DeviceHead(NamedTuple):
    """What a device says about itself and its packs."""

    store_id: bytes
    public: bytes
    """The key that signed this, 32 bytes."""
    name: str
    size: int
    """The number of events of the device's store."""
    log_root: bytes
    secrets: FamilySecrets
    box: bytes
    """The public X25519 key to which a new family key is sealed."""
    packs: Mapping[bytes, tuple[Pack, ...]]
    """The packs in the sub-folder, by the store that wrote their events: the own one, and removed ones."""
    seen: Mapping[bytes, int]
    """How many events of each other store the device has taken in."""
    keys: tuple[FamilyKey, ...]
    """The earlier keys of the family, the newest first."""
    removed: frozenset[bytes]
    """The removed devices."""


def box_of(seed: bytes) -> bytes:
    """Return the private X25519 key of a device with this signing key."""
    return blake2b(seed, digest_size=32, person=b"memroot-sync-box").digest()


def public_box_of(seed: bytes) -> bytes:
    """Return the public X25519 key of a device with this signing key."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.from_private_bytes(box_of(seed)).public_key().public_bytes_raw()


def encode_head(head: DeviceHead, key: FamilyKey, seed: bytes, wrapped: Iterable[bytes]) -> bytes:
    """Return the bytes of a head file, sealed with the family key and signed with the key `seed`."""
    packs = [[store, *one] for store, several in sorted(head.packs.items()) for one in several]
    data = pack([
        head.name, head.size, head.log_root, *head.secrets, head.box, packs,
        sorted(map(list, head.seen.items())), [one.secret for one in head.keys], sorted(head.removed),
    ])  # fmt: skip
    public = public_key_of(seed)
    parts = [key.seal(_KIND, data, head.store_id + public), list(wrapped), public]
    return pack([*parts, sign_ed25519(seed, _CONTEXT + pack(parts))])


class SignedHead(NamedTuple):
    """A head file whose signature was checked."""

    store_id: bytes
    sealed: bytes
    wrapped: list[bytes]
    public: bytes

    def new_key(self, store_id: bytes, seed: bytes) -> FamilyKey | None:
        """Return the new family key that this file gives to the device `store_id`, or None."""
        mine = next((one for one in self.wrapped if one.startswith(store_id)), None)
        return None if mine is None else FamilyKey(_unwrapped(mine, box_of(seed)))

    def excludes(self, store_id: bytes) -> bool:
        """Return True if this file gives a new family key to others, and not to the device `store_id`."""
        return bool(self.wrapped) and not any(one.startswith(store_id) for one in self.wrapped)

    def opened(self, keys: Iterable[FamilyKey]) -> DeviceHead:
        """Return the content of the file.

        Raises:
            RefusedError: None of `keys` opens it (UnknownKeyError), or it has a later version.
            VerificationError: It was altered, or is of another device.
        """
        data = open_sealed(_KIND, self.sealed, self.store_id + self.public, keys)
        values = fields(unpack(data, HEAD), _FIELDS, HEAD)
        name, size, root, id_key, label_key, box, packs, seen, older, removed = values
        by_store: dict[bytes, list[Pack]] = {}
        for row in packs:
            store, *one = fields(row, (_STORE, *PACK_FIELDS), HEAD)
            by_store.setdefault(store, []).append(Pack(*one))
        return DeviceHead(
            self.store_id, self.public, name, size, root, FamilySecrets(id_key, label_key), box,
            {store: tuple(several) for store, several in by_store.items()},
            dict(fields(row, (_STORE, uint(SIZE_MAX)), HEAD) for row in seen),
            tuple(map(FamilyKey, older)), frozenset(removed),
        )  # fmt: skip


def read_signed(raw: bytes, store_id: bytes, pinned: bytes | None) -> SignedHead:
    """Check the form and the signature of a head file.

    Args:
        raw: The bytes of the file.
        store_id: The device, from the name of the sub-folder.
        pinned: The public key with which this device signed before; None if it is not known.

    Raises:
        VerificationError: The file was altered, or was signed with another key than before.
    """
    sealed, wrapped, public, signature = fields(unpack(raw, HEAD), _FILE, HEAD)
    if not verify_ed25519(public, _CONTEXT + pack([sealed, wrapped, public]), signature):
        raise VerificationError("its signature is wrong")
    if pinned is not None and public != pinned:
        raise VerificationError("it is not signed with the key of this device")
    return SignedHead(store_id, sealed, wrapped, public)


def wrapped_for(store_id: bytes, box: bytes, key: FamilyKey) -> bytes:
    """Return a new family key, sealed to the device with the public key `box`."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    mine = X25519PrivateKey.generate()
    public = mine.public_key().public_bytes_raw()
    shared = mine.exchange(X25519PublicKey.from_public_bytes(box))
    cipher = ChaCha20Poly1305(_wrapping_key(shared, public, box))
    return store_id + public + cipher.encrypt(bytes(12), key.secret, store_id)


def _unwrapped(wrapped: bytes, private: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    store_id, public, data = wrapped[:16], wrapped[16:48], wrapped[48:]
    mine = X25519PrivateKey.from_private_bytes(private)
    try:
        shared = mine.exchange(X25519PublicKey.from_public_bytes(public))
        key = _wrapping_key(shared, public, mine.public_key().public_bytes_raw())
        return ChaCha20Poly1305(key).decrypt(bytes(12), data, store_id)
    except (InvalidTag, ValueError):
        raise VerificationError("the new key in it cannot be opened") from None


def _wrapping_key(shared: bytes, public: bytes, box: bytes) -> bytes:
    # Each key is used once, because `public` is new each time; so the nonce may be constant.
    return blake2b(shared + public + box, digest_size=32, person=b"memroot-syncwrap").digest()
