"""Keys, and signing checkpoints with them. A key never signs two checkpoints that contradict each other.

A key is stored in a file that is not inside any store. The file has one line, in the form of Go's package
`note`:

    PRIVATE+KEY+name+key id+base64(01 ‖ seed[32])

No part of the key is ever written to a journal.

The last note that a key signed for a store is written to the file `KEY.<store id>.last` next to the key. This
file is written durably before the signature is returned. A copy of the key elsewhere lacks this file, so each
key must be used in one place only.

Ed25519 (RFC 8032) is computed by the library `cryptography`, which is imported on first use.
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

from engine.base.errors import (
    ConflictError,
    EngineError,
    InconsistentError,
    InvalidInputError,
    RefusedError,
    system_failure,
)
from engine.base.outside_files import (
    PRIVATE,
    PRIVATE_PREFIX,
    PUBLIC,
    STDIN,
    make_file,
    read_file,
    refuse_inside,
    refuse_secret,
    replace_file,
    require_folder,
)
from engine.trust.notes.known_checkpoints import History
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


SEED_BYTES = 32


def verify_ed25519(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return True if `signature`, 64 bytes, is a signature of `message` by the key `public`, 32 bytes.

    For invalid input, the result is False; no error is raised. The equation is checked without the cofactor,
    and S must be less than the order of the group. Keys of small order are treated as the library treats them
    (section 21 of SPEC lists the results for public test vectors).
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def sign_ed25519(seed: bytes, message: bytes) -> bytes:
    """Return the deterministic 64-byte signature of `message` by the private key `seed` of 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed).sign(message)


def public_key_of(seed: bytes) -> bytes:
    """Return the public key, 32 bytes, of the private key `seed`."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key with its public key."""

    verifier: VerifierKey
    seed: bytes = field(repr=False)
    """The private key, of 32 bytes."""


def new_key(path: Path, name: str, store: Path | None = None) -> VerifierKey:
    """Write a new key to `path`, which only the owner can read, and the verifier key to `path`.vkey.

    Args:
        path: The file to create, which must not exist.
        name: The name of the key in signature lines. For a key of one store, use the origin of that store.
        store: The folder or file of the open store; None if no store is open.

    Raises:
        InvalidInputError: `name` is not a valid name for a key.
        NotFoundError: The folder of the file does not exist.
        RefusedError: `path` is inside a store.
        ConflictError: One of the two files already exists.
        EngineError: A file cannot be written.
    """
    try:
        checked_name(name)
    except ProofError as error:
        raise InvalidInputError(
            f"{error}", hint="use the origin of the store as the name of the key"
        ) from None
    refuse_secret(path, "give the name of the new key's file")
    refuse_inside(path, store, _ELSEWHERE)
    require_folder(path)
    beside = path.with_name(path.name + VKEY_SUFFIX)
    if beside.exists():
        raise ConflictError(f"{beside} already exists", hint="choose another name for the new key")
    seed = secrets.token_bytes(SEED_BYTES)
    key = VerifierKey(name, ED25519, public_key_of(seed))
    secret = base64.b64encode(bytes([ED25519]) + seed).decode()
    try:
        make_file(path, f"{PRIVATE_PREFIX}{name}+{key.key_id.hex()}+{secret}\n".encode(), PRIVATE)
        make_file(beside, f"{key.vkey}\n".encode(), PUBLIC)
    except FileExistsError as error:
        raise ConflictError(
            f"{error.filename} already exists", hint="keys are never overwritten; choose another name"
        ) from None
    except OSError as error:
        raise system_failure(error, "the key cannot be written") from error
    return key


def load_key(path: Path) -> SigningKey:
    """Return the key in a file that was written by `new_key` or by Go's package `note`.

    Raises:
        NotFoundError: The file does not exist.
        RefusedError: The file is inside a store, or users other than its owner may read or write it.
        InvalidInputError: The file does not contain an Ed25519 key.
    """
    refuse_secret(path, "give the name of the file that contains the key")
    refuse_inside(path, None, _ELSEWHERE)
    data = read_file(path, _KEY_FILE_BYTES_MAX)
    try:
        name, key_id, secret = data.decode().removesuffix("\n").removeprefix(PRIVATE_PREFIX).split("+", 2)
        checked_name(name)
        raw = base64.b64decode(secret.encode("ascii"), validate=True)
    except (ValueError, ProofError):
        # The cause is suppressed, because its message may quote the secret.
        raise InvalidInputError(f"{path} does not contain a signing key") from None
    if not data.startswith(PRIVATE_PREFIX.encode()) or len(raw) != 1 + SEED_BYTES or raw[0] != ED25519:
        raise InvalidInputError(f"{path} does not contain an Ed25519 signing key")
    key = VerifierKey(name, ED25519, public_key_of(raw[1:]))
    if key_id != key.key_id.hex():
        raise InvalidInputError(f"{path} is damaged: the key id in it does not belong to the key in it")
    _check_private(path)
    return SigningKey(key, raw[1:])


def _check_private(path: Path) -> None:
    """Raise RefusedError if the permissions of the file give access to users other than its owner."""
    if str(path) == STDIN:
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise RefusedError(
            f"{path} can be accessed by users other than its owner: its mode is {mode:04o}",
            hint=f"run `chmod 600 {shlex.quote(str(path))}`; if others may have read it, create a new key",
        )


LAST_SUFFIX = ".last"


class Signer:
    """A signing key that is locked against use by other processes. It is created by `signing`."""

    def __init__(self, path: Path, key: SigningKey) -> None:
        self._path = path
        self._key = key

    def last(self, origin: str) -> Note | None:
        """Return the last note that this key signed for the store `origin`, or None if there is no record.

        None does not prove that the key never signed a note of the store: the record may have been lost, or
        the key may have been used elsewhere.

        Raises:
            RefusedError: The recorded note cannot be read, so a new signature could contradict it.
        """
        path = self._last_path(origin)
        if not path.exists():
            return None
        try:
            note = parse_note(read_file(path, NOTE_BYTES_MAX))
            if not any(verify_signatures(note, [self._key.verifier], verify_ed25519)):
                raise ProofError("signature", "the note is not signed by this key")
        except (ProofError, EngineError) as error:
            raise RefusedError(
                f"the last note that this key signed cannot be read from {path}: {error}",
                hint="restore that file from a backup, or create a new key",
            ) from None
        if note.checkpoint.origin != origin:
            raise RefusedError(
                f"{path} contains a note of a different store, {note.checkpoint.origin}",
                hint="restore that file from a backup",
            )
        return note

    def sign(self, checkpoint: Checkpoint, history: History) -> Note:
        """Sign a note, record it durably as the last signed note, and return it.

        `history` must contain the root of the log at the size of `checkpoint`, and at the size of the last
        signed note.

        Raises:
            InconsistentError: The checkpoint does not continue the last signed checkpoint.
            RefusedError: The key belongs to a different store, or the record of the last signed note cannot
                be read or written.
        """
        verifier = self._key.verifier
        if verifier.name.startswith(ORIGIN_PREFIX) and verifier.name != checkpoint.origin:
            raise RefusedError(f"the key belongs to {verifier.name}, but this store is {checkpoint.origin}")
        history.check(checkpoint)
        last = self.last(checkpoint.origin)
        if last is not None:
            continue_signed(history, last)
            if last.checkpoint.size > checkpoint.size:
                raise RefusedError(
                    f"this key has already signed a later checkpoint, of size {last.checkpoint.size}"
                )
        signature = sign_ed25519(self._key.seed, checkpoint.text.encode())
        note = Note(checkpoint, (Signature(verifier.name, verifier.key_id, signature),))
        if last is None or last.checkpoint != checkpoint:
            try:
                replace_file(self._last_path(checkpoint.origin), format_note(note), PUBLIC)
            except OSError as error:
                raise RefusedError(
                    f"the record of the signed note cannot be written next to the key: {error}",
                    hint="put the key into a folder that this process may write to",
                ) from error
        return note

    def _last_path(self, origin: str) -> Path:
        return self._path.with_name(f"{self._path.name}.{store_id_of(origin).hex()}{LAST_SUFFIX}")


def continue_signed(history: History, last: Note) -> None:
    """Check with `history.check` that the log continues a signed note.

    Raises:
        InconsistentError: The log does not continue the note. The field `known` of the error is the whole
            note, because the signature is part of the evidence.
    """
    try:
        history.check(last.checkpoint)
    except InconsistentError as error:
        raise InconsistentError(str(error), known=format_note(last).decode(), found=error.found) from None


@contextmanager
def signing(path: Path) -> Iterator[Signer]:
    """Open the key at `path` and lock it against other processes during the block.

    Raises:
        NotFoundError: The file does not exist.
        RefusedError: The file is inside a store, or users other than its owner have access to it.
        InvalidInputError: The file does not contain an Ed25519 key.
    """
    key = load_key(path)
    # `path` may be a link, but the place of the recorded note must not depend on the name that was used.
    real = path.resolve()
    descriptor = os.open(real, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield Signer(real, key)
    finally:
        os.close(descriptor)
