"""What is asked on a command line: the basis and the claims, from words and files already read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from proofs.basis import Basis, LogHead, Root
from proofs.claims import Claim
from proofs.errors import ProofError
from proofs.words import parse_claim, parse_id

CLAIMS_BYTES_MAX: Final = 16 << 20
"""A list of claims is at most so long."""


def parse_basis(root: str | None, size: int | None, store: str | None, note: bytes | None) -> Basis:
    """What the proof is to be verified against: an overall root, or what a checkpoint note says.

    Raises:
        ProofError: neither or both are given, or they cannot be read; the note is another store's.
    """
    if (root is None) == (note is None):
        raise ProofError("input", "give either the overall root or a checkpoint")
    if root is not None:
        if store is None:
            raise ProofError("input", "give the id of the store that the root is of")
        return Root.of(store, root, size)
    head = LogHead.of(note or b"")
    if store is not None and parse_id(store) != head.store_id:
        raise ProofError("origin", "the checkpoint is another store's")
    if size not in {None, head.size}:
        raise ProofError("log-size", f"the checkpoint is of {head.size} events")
    return head


def parse_claims(
    words: Sequence[str], lines: bytes | None, identity: Callable[[str], str] = str
) -> list[Claim]:
    """The claims: one in `words`, or one on each of `lines`, of UTF-8; `identity` as for `parse_claim`.

    Raises:
        ProofError: both or neither are given, or one is no claim.
    """
    if bool(words) == (lines is not None):
        raise ProofError("input", "give one claim, or a file of claims")
    return [parse_claim(one, identity) for one in ([words] if lines is None else split_claims(lines))]


def split_claims(data: bytes) -> list[list[str]]:
    """The words on each line of a list of claims, lines without any left out.

    Raises:
        ProofError: the list is not UTF-8 (`input`).
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ProofError("input", "the list of claims is not UTF-8") from error
    return [words for line in text.split("\n") if (words := line.split())]


def describe_basis(basis: Basis, as_of: int) -> dict[str, str | int]:
    """The basis as plain values, and of how many events what was shown is."""
    kind = "overall root" if isinstance(basis, Root) else "log head"
    return {
        "kind": kind,
        "store": str(UUID(bytes=basis.store_id)),
        "root": basis.root.hex(),
        "size": as_of if basis.size is None else basis.size,
        "as_of": as_of,
    }
