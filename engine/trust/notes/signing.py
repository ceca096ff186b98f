"""Signing checkpoints, and never two that contradict each other.

What a key signed last for a store is kept beside the key, in `KEY.<store id>.last`, and is on the disk
before the signature is given out. A key that is copied elsewhere does not know of it: one place a key.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.base.errors import EngineError, InconsistentError, RefusedError
from engine.trust.notes import ed25519
from engine.trust.notes.files import PUBLIC, read_file, replace_file
from engine.trust.notes.history import History
from engine.trust.notes.keys import SigningKey, load_key
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

        Args:
            checkpoint: One of `history`.
            history: Read with the size of `checkpoint` and of the one signed last.

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
