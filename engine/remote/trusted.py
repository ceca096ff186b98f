"""The checkpoint of a log that a client keeps, and the check that the log continues it."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from engine.base.error_translation import system_failure
from engine.base.errors import VerificationError
from engine.trust.notes.files import PUBLIC, read_file, replace_file
from engine.trust.notes.history import check_pair
from proofs.claims import LogBegins
from proofs.errors import ProofError
from proofs.note import NOTE_BYTES_MAX, Checkpoint, Note, format_note, parse_note


class Trusted:
    """The newest checkpoint that was verified, in a file or only for the life of this object.

    The checkpoint at the first use is believed, unless the file holds one already. Every later one must
    continue it. Several clients may share the file: each continues what the others have verified.
    """

    def __init__(self, path: str | Path | None) -> None:
        """Read the checkpoint that the file holds, if the file exists.

        Raises:
            VerificationError: The file is not a checkpoint note.
        """
        self._path = None if path is None else Path(path)
        self._lock = Lock()
        self._newest: Checkpoint | None = None
        self._root: tuple[int, bytes] | None = None
        self.known()

    def known(self) -> tuple[Checkpoint, ...]:
        """Return the checkpoints that the log must continue: none, one, or also one of another client.

        Raises:
            InconsistentError: Another client has verified a contradicting checkpoint.
            VerificationError: The file is not a checkpoint note.
        """
        with self._lock:
            kept = self._read()
            if self._newest is None:
                self._newest = kept
            if kept is None or self._newest is None or kept == self._newest:
                return () if self._newest is None else (self._newest,)
            check_pair(*sorted((self._newest, kept), key=lambda one: one.size))
            return self._newest, kept

    def accept(self, verified: Checkpoint, root: bytes) -> None:
        """Keep a checkpoint that was shown to continue the known ones, and the overall root of its state.

        Raises:
            VerificationError: The state of this size had another overall root before.
            SystemFailureError: The file cannot be written.
        """
        with self._lock:
            if self._root is not None and self._root[0] == verified.size and self._root[1] != root:
                raise VerificationError(
                    f"the service gave two different overall roots for the same {verified.size} events",
                    hint="keep both roots and report them to the operator of the service: "
                    f"{self._root[1].hex()} and {root.hex()}",
                )
            if self._root is None or self._root[0] <= verified.size:
                self._root = verified.size, root
            if self._newest is None or self._newest.size < verified.size:
                self._newest = verified
            self._write(self._newest)

    def _read(self) -> Checkpoint | None:
        if self._path is None or not self._path.exists():
            return None
        try:
            return parse_note(read_file(self._path, NOTE_BYTES_MAX)).checkpoint
        except ProofError as error:
            raise VerificationError(
                f"{self._path} is not a checkpoint note: {error}",
                hint="give trust=FILE with a note that `engine checkpoint` prints, or a new file",
            ) from error

    def _write(self, newest: Checkpoint) -> None:
        if self._path is None:
            return
        kept = self._read()
        if kept is not None and kept.size >= newest.size:
            return
        try:
            replace_file(self._path, format_note(Note(newest)), PUBLIC)
        except OSError as error:
            raise system_failure(error, f"{self._path} cannot be written") from error


def claim_of(checkpoint: Checkpoint) -> LogBegins:
    """Return the claim that a log begins with the log of a checkpoint."""
    return LogBegins(checkpoint.size, checkpoint.root)
