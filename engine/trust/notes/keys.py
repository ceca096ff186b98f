"""Signing keys: files outside every store, in the form of Go's package `note`.

`PRIVATE+KEY+name+key id+base64(01 ‖ seed[32])`, one line. Nothing of them is ever journaled.
"""

from __future__ import annotations

import base64
import secrets
import shlex
import stat
from dataclasses import dataclass, field
from pathlib import Path

from engine.base.errors import ConflictError, EngineError, InvalidInputError, RefusedError
from engine.trust.notes.ed25519 import SEED_BYTES, public_of
from engine.trust.notes.files import PRIVATE, PUBLIC, STDIN, make_file, read_file, refuse_inside
from engine.trust.notes.secrecy import PRIVATE_PREFIX, refuse_secret
from proofs.errors import ProofError
from proofs.vkey import ED25519, NAME_BYTES_MAX, VerifierKey, checked_name

_KEY_FILE_BYTES_MAX = NAME_BYTES_MAX + 256
VKEY_SUFFIX = ".vkey"
_ELSEWHERE = "keep keys outside every store"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key with its public half."""

    verifier: VerifierKey
    seed: bytes = field(repr=False)
    """32 bytes."""


def new_key(path: Path, name: str, store: Path | None = None) -> VerifierKey:
    """Make a new key in the file `path`, readable by its owner alone; its vkey is in `path`.vkey.

    Args:
        path: Where to; nothing may be there.
        name: What signature lines call it: a store's origin, for that store's key.
        store: The folder or file of the store at hand, if there is one.

    Raises:
        InvalidInputError: the name may not be a key's.
        RefusedError: the place is inside a store.
        ConflictError: something is there already.
    """
    try:
        checked_name(name)
    except ProofError as error:
        raise InvalidInputError(f"{error}", hint="name the key as the store's origin") from None
    refuse_secret(path, "give the name of the new key's file")
    refuse_inside(path, store, _ELSEWHERE)
    beside = path.with_name(path.name + VKEY_SUFFIX)
    if beside.exists():
        raise ConflictError(f"{beside} is there already", hint="choose another name for the new key")
    seed = secrets.token_bytes(SEED_BYTES)
    key = VerifierKey(name, ED25519, public_of(seed))
    secret = base64.b64encode(bytes([ED25519]) + seed).decode()
    try:
        make_file(path, f"{PRIVATE_PREFIX}{name}+{key.key_id.hex()}+{secret}\n".encode(), PRIVATE)
        make_file(beside, f"{key.vkey}\n".encode(), PUBLIC)
    except FileExistsError as error:
        raise ConflictError(
            f"{error.filename} is there already", hint="keys are never overwritten; choose another name"
        ) from None
    except OSError as error:
        raise EngineError(f"the key cannot be written: {error}") from error
    return key


def load_key(path: Path) -> SigningKey:
    """The key in a file that `new_key`, or Go's package, made.

    Raises:
        NotFoundError: there is none.
        RefusedError: it lies inside a store, or others than its owner may read or write it.
        InvalidInputError: it is no key, or no Ed25519 key.
    """
    refuse_secret(path, "give the name of the file that holds it")
    refuse_inside(path, None, _ELSEWHERE)
    data = read_file(path, _KEY_FILE_BYTES_MAX)
    try:
        name, key_id, secret = data.decode().removesuffix("\n").removeprefix(PRIVATE_PREFIX).split("+", 2)
        checked_name(name)
        raw = base64.b64decode(secret.encode("ascii"), validate=True)
    except (ValueError, ProofError):
        # Without the cause: what it would quote may be the secret.
        raise InvalidInputError(f"{path} holds no signing key") from None
    if not data.startswith(PRIVATE_PREFIX.encode()) or len(raw) != 1 + SEED_BYTES or raw[0] != ED25519:
        raise InvalidInputError(f"{path} holds no signing key of Ed25519")
    key = VerifierKey(name, ED25519, public_of(raw[1:]))
    if key_id != key.key_id.hex():
        raise InvalidInputError(f"{path} is damaged: its key id is not that of its key")
    _owner_s_alone(path)
    return SigningKey(key, raw[1:])


def _owner_s_alone(path: Path) -> None:
    """Raise RefusedError if the file has a mode by which group or others could have the key."""
    if str(path) == STDIN:
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise RefusedError(
            f"{path} is not its owner's alone: its mode is {mode:04o}",
            hint=f"`chmod 600 {shlex.quote(str(path))}`; if others may have read it, make a new key",
        )
