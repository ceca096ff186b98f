"""Proofs as JSON. Only the bytes of a proof and its basis are sent: what it shows follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from proofs.basis import LogHead, Root

if TYPE_CHECKING:
    from engine.trust.proving.prover import Proof


@dataclass(frozen=True, slots=True)
class SentProof:
    """A proof, and the root or log head to which it leads.

    A receiver verifies the proof against a root that it trusts for another reason.
    """

    data: bytes
    """The proof in the form in which it is written to a file."""
    basis: str
    """`root` for an overall root, or `log` for a log head."""
    store_id: str
    """The id of the store, as 32 hex digits."""
    root: str
    """The overall root or the root of the log, as 64 hex digits."""
    size: int
    """The number of events in the journal in the state that the proof is about."""
    replayed: int
    """The number of events that were replayed to make the proof; 0 if no replay was needed."""

    @classmethod
    def of(cls, proof: Proof) -> SentProof:
        """Return a proof in the form in which it is sent."""
        basis = proof.basis
        kind = "log" if isinstance(basis, LogHead) else "root"
        return cls(
            proof.data, kind, basis.store_id.hex(), basis.root.hex(), proof.size, replayed=proof.replayed
        )

    def claimed_basis(self) -> Root | LogHead:
        """Return the basis that the sender names. Whoever trusts it believes the sender."""
        store_id, root = bytes.fromhex(self.store_id), bytes.fromhex(self.root)
        if self.basis == "log":
            return LogHead(store_id, self.size, root)
        return Root(store_id, root, self.size)
