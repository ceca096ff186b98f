"""The basis of a verification: the root that the caller already trusts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from proofs.errors import ProofError
from proofs.hashing import DIGEST_BYTES, STORE_ID_BYTES
from proofs.log import SIZE_MAX
from proofs.note import parse_note, store_id_of
from proofs.words import parse_id, parse_root


@dataclass(frozen=True, slots=True)
class Root:
    """An overall root from a source that the caller trusts, and the id of the store that has this root."""

    store_id: bytes
    root: bytes
    size: int | None = None
    """The number of events that the root covers, or None if it is unknown. A known number must equal the
    number in the proof.
    """

    def __post_init__(self) -> None:
        _check(self.store_id, self.root, self.size)

    @classmethod
    def of(cls, store: str, root: str, size: int | None = None) -> Self:
        """Create the basis from two texts: the store's id as a UUID and the root as 64 hex digits.

        Raises:
            ProofError: the id is not a UUID, or the root is not 64 hex digits (`input`).
        """
        return cls(parse_id(store), parse_root(root), size)


@dataclass(frozen=True, slots=True)
class LogHead:
    """The id of a store, and the size and the root of the store's log, as stated in a checkpoint note."""

    store_id: bytes
    size: int
    root: bytes

    def __post_init__(self) -> None:
        _check(self.store_id, self.root, self.size)
        if not self.size:
            raise ProofError("input", "a log without events cannot be the basis of a proof")

    @classmethod
    def of(cls, note: str | bytes) -> Self:
        """Create the basis from a checkpoint note. The signatures of the note are not verified.

        Raises:
            ProofError: `data` is not a checkpoint note (`note`), or the origin in the note is not the origin
                of a memroot store (`origin`).
        """
        checkpoint = parse_note(note.encode(errors="replace") if isinstance(note, str) else note).checkpoint
        return cls(store_id_of(checkpoint.origin), checkpoint.size, checkpoint.root)


Basis = Root | LogHead
"""The root that a proof is verified against."""


def _check(store_id: object, root: object, size: object) -> None:
    if type(store_id) is not bytes or len(store_id) != STORE_ID_BYTES:
        raise ProofError("input", f"a store id has {STORE_ID_BYTES} bytes")
    if type(root) is not bytes or len(root) != DIGEST_BYTES:
        raise ProofError("input", f"a root has {DIGEST_BYTES} bytes")
    if size is not None and (type(size) is not int or not 0 <= size <= SIZE_MAX):
        raise ProofError("input", f"a size must be an integer from 0 to {SIZE_MAX}")
