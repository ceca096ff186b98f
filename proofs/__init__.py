"""Proofs and the hashes they use; this package imports no other package of the project.

`verify(proof, basis, claims)` verifies a proof, and `check_envelope(data)` a proof in an envelope.
`check_inclusion` and `check_consistency` verify paths in a log. The public names are imported on first use,
so that code that only hashes does not load the verifier.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proofs.basis import Basis, LogHead, Root
    from proofs.claim_words import parse_claim
    from proofs.claims import (
        AtomIs,
        AtomsMentioning,
        AtomsTagged,
        BeginsWithRoot,
        Claim,
        EdgeIs,
        EventIs,
        HasTag,
        LacksTag,
        LogBegins,
        NoAtom,
        NoEdge,
        NoneMentioning,
        NoneTagged,
        RootRecorded,
    )
    from proofs.envelope import check_envelope
    from proofs.errors import ProofError
    from proofs.leaves import State, tag_identity
    from proofs.log import check_consistency, check_inclusion, leaf_hash
    from proofs.verified import Verified
    from proofs.verifier import verify

_MODULES = {
    "Basis": "basis",
    "LogHead": "basis",
    "ProofError": "errors",
    "Root": "basis",
    "State": "leaves",
    "parse_claim": "claim_words",
    "Verified": "verified",
    "check_consistency": "log",
    "check_envelope": "envelope",
    "check_inclusion": "log",
    "leaf_hash": "log",
    "tag_identity": "leaves",
    "verify": "verifier",
} | dict.fromkeys(
    (
        "AtomIs",
        "AtomsMentioning",
        "AtomsTagged",
        "BeginsWithRoot",
        "Claim",
        "EdgeIs",
        "EventIs",
        "HasTag",
        "LacksTag",
        "LogBegins",
        "NoAtom",
        "NoEdge",
        "NoneMentioning",
        "NoneTagged",
        "RootRecorded",
    ),
    "claims",
)

__all__ = [
    "AtomIs",
    "AtomsMentioning",
    "AtomsTagged",
    "Basis",
    "BeginsWithRoot",
    "Claim",
    "EdgeIs",
    "EventIs",
    "HasTag",
    "LacksTag",
    "LogBegins",
    "LogHead",
    "NoAtom",
    "NoEdge",
    "NoneMentioning",
    "NoneTagged",
    "ProofError",
    "Root",
    "RootRecorded",
    "State",
    "Verified",
    "check_consistency",
    "check_envelope",
    "check_inclusion",
    "leaf_hash",
    "parse_claim",
    "tag_identity",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import and return the public name `name`. Python calls this on the first use of a name (PEP 562).

    Raises:
        AttributeError: there is no such public name.
    """
    if name not in _MODULES:
        raise AttributeError(f"module 'proofs' has no attribute {name!r}")
    return getattr(import_module(f"proofs.{_MODULES[name]}"), name)
