"""The overall root: one 32-byte commitment to the whole store at one snapshot (SPEC: Overall root)."""

from __future__ import annotations

from typing import NamedTuple

from engine.base.model import Checkpoint
from proofs.hashing import NAMESPACES, overall_root


class Roots(NamedTuple):
    """The overall root of a store in one snapshot, and the roots from which it is computed."""

    store_id: bytes
    size: int
    log: bytes
    namespaces: tuple[bytes, ...]
    """The roots of the namespaces, in the order of `proofs.hashing.NAMESPACES`."""

    @property
    def overall(self) -> bytes:
        """The overall root, which commits to the store id, the size, the log root and the namespace roots."""
        pairs = list(zip(NAMESPACES, self.namespaces, strict=True))
        return overall_root(self.store_id, self.size, self.log, pairs)

    def as_checkpoint(self) -> Checkpoint:
        """Return these roots as a `Checkpoint`, which is the value that callers receive."""
        return Checkpoint(
            size=self.size,
            root=self.overall.hex(),
            log_root=self.log.hex(),
            namespaces={name: root.hex() for name, root in zip(NAMESPACES, self.namespaces, strict=True)},
        )
