"""What a verifier starts from: the one thing the caller already trusts."""

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
    """An overall root, got in a way the caller trusts, and the id of the store it is of."""

    store_id: bytes
    root: bytes
    size: int | None = None
    """The number of events it covers, if the caller knows; compared."""

    def __post_init__(self) -> None:
        _check(self.store_id, self.root, self.size)

    @classmethod
    def of(cls, store: str, root: str, size: int | None = None) -> Self:
        """As they are printed: the store's id as a UUID, the root as 64 hex digits.

        Raises:
            ProofError: they are not (`input`).
        """
        return cls(parse_id(store), parse_root(root), size)


@dataclass(frozen=True, slots=True)
class LogHead:
    """The root of a log at a size: what a checkpoint note says."""

    store_id: bytes
    size: int
    root: bytes

    def __post_init__(self) -> None:
        _check(self.store_id, self.root, self.size)
        if not self.size:
            raise ProofError("input", "nothing is proved by a log without events")

    @classmethod
    def of(cls, note: str | bytes) -> Self:
        """What a checkpoint note says; its signatures are not looked at.

        Raises:
            ProofError: it is no note (`note`), or not of a store of ours (`origin`).
        """
        checkpoint = parse_note(note.encode(errors="replace") if isinstance(note, str) else note).checkpoint
        return cls(store_id_of(checkpoint.origin), checkpoint.size, checkpoint.root)


Basis = Root | LogHead
"""What a proof is verified against."""


def _check(store_id: object, root: object, size: object) -> None:
    if type(store_id) is not bytes or len(store_id) != STORE_ID_BYTES:
        raise ProofError("input", f"a store id has {STORE_ID_BYTES} bytes")
    if type(root) is not bytes or len(root) != DIGEST_BYTES:
        raise ProofError("input", f"a root has {DIGEST_BYTES} bytes")
    if size is not None and (type(size) is not int or not 0 <= size <= SIZE_MAX):
        raise ProofError("input", f"a size is a whole number from 0 to {SIZE_MAX}")
