"""Signing keys, and signing checkpoints: never two that contradict each other.

A key is a file outside every store, in the form of Go's package `note`, one line:
`PRIVATE+KEY+name+key id+base64(01 ‖ seed[32])`. Nothing of it is ever journaled.

What a key signed last for a store is kept beside the key, in `KEY.<store id>.last`, and is on the disk
before the signature is given out. A key that is copied elsewhere does not know of it: one place a key.
"""

from __future__ import annotations

import base64
import fcntl
import os
import secrets
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from engine.base.errors import ConflictError, EngineError, InconsistentError, InvalidInputError, RefusedError
from engine.trust.notes import ed25519
from engine.trust.notes.ed25519 import SEED_BYTES
from engine.trust.notes.files import (
    PRIVATE,
    PRIVATE_PREFIX,
    PUBLIC,
    STDIN,
    make_file,
    read_file,
    refuse_inside,
    refuse_secret,
    replace_file,
)
from engine.trust.notes.history import History
from proofs.errors import ProofError
from proofs.note import (
    NOTE_BYTES_MAX,
    ORIGIN_PREFIX,
    Checkpoint,
    Note,
    Signature,
    format_note,
    parse_note,
    store_id_of,
    verify_signatures,
)
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
    key = VerifierKey(name, ED25519, ed25519.public_of(seed))
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
    key = VerifierKey(name, ED25519, ed25519.public_of(raw[1:]))
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


LAST_SUFFIX = ".last"


class Signer:
    """A key that nobody else signs with meanwhile; from `signing`."""

    def __init__(self, path: Path, key: SigningKey) -> None:
        self._path = path
        self._key = key

    def last(self, origin: str) -> Note | None:
        """What this key signed last for the store of `origin`; None: nothing, as far as is known here.

        That is not sure: the file may have been lost, or the key used elsewhere.

        Raises:
            RefusedError: what is kept of it cannot be read: signing on would be blind.
        """
        path = self._last_path(origin)
        if not path.exists():
            return None
        try:
            note = parse_note(read_file(path, NOTE_BYTES_MAX))
            if not any(verify_signatures(note, [self._key.verifier], ed25519.verify)):
                raise ProofError("signature", "this key has not signed it")
        except (ProofError, EngineError) as error:
            raise RefusedError(
                f"what the key signed last is not readable in {path}: {error}",
                hint="restore that file from a backup, or make a new key",
            ) from None
        if note.checkpoint.origin != origin:
            raise RefusedError(
                f"{path} is of {note.checkpoint.origin}", hint="restore that file from a backup"
            )
        return note

    def sign(self, checkpoint: Checkpoint, history: History) -> Note:
        """The note, signed; it is durably what was signed last when this returns.

        `checkpoint` is one of `history`, which was read with its size and that of the one signed last.

        Raises:
            InconsistentError: it does not continue what was signed last.
            RefusedError: the key is another store's, or what it signed last cannot be read or kept.
        """
        verifier = self._key.verifier
        if verifier.name.startswith(ORIGIN_PREFIX) and verifier.name != checkpoint.origin:
            raise RefusedError(f"the key is that of {verifier.name}, the store is {checkpoint.origin}")
        history.check(checkpoint)
        last = self.last(checkpoint.origin)
        if last is not None:
            continue_signed(history, last)
            if last.checkpoint.size > checkpoint.size:
                raise RefusedError(f"a later checkpoint is signed already, of size {last.checkpoint.size}")
        signature = ed25519.sign(self._key.seed, checkpoint.text.encode())
        note = Note(checkpoint, (Signature(verifier.name, verifier.key_id, signature),))
        if last is None or last.checkpoint != checkpoint:
            try:
                replace_file(self._last_path(checkpoint.origin), format_note(note), PUBLIC)
            except OSError as error:
                raise RefusedError(
                    f"what is signed cannot be kept beside the key: {error}",
                    hint="signing needs a folder it may write to",
                ) from error
        return note

    def _last_path(self, origin: str) -> Path:
        return self._path.with_name(f"{self._path.name}.{store_id_of(origin).hex()}{LAST_SUFFIX}")


def continue_signed(history: History, last: Note) -> None:
    """As `history.check`, of a note that was signed.

    Raises:
        InconsistentError: its `known` is the whole note: that it was signed is half of the evidence.
    """
    try:
        history.check(last.checkpoint)
    except InconsistentError as error:
        raise InconsistentError(str(error), known=format_note(last).decode(), found=error.found) from None


@contextmanager
def signing(path: Path) -> Iterator[Signer]:
    """The key at `path`, kept from all other processes that ask through here until the block ends.

    Raises:
        NotFoundError: there is none.
        RefusedError: it lies inside a store, or is not its owner's alone.
        InvalidInputError: it is no key of Ed25519.
    """
    key = load_key(path)
    # The name may be a link; what was signed last must not depend on which name was used.
    real = path.resolve()
    descriptor = os.open(real, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield Signer(real, key)
    finally:
        os.close(descriptor)
