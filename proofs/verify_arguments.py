"""Conversion of command-line arguments to the trusted root and the claims of a verification.

The caller reads the files and passes their contents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from proofs.basis import Basis, LogHead, Root
from proofs.claim_words import parse_claim, parse_id
from proofs.claims import Claim
from proofs.errors import ProofError

CLAIMS_BYTES_MAX: Final = 16 << 20
"""The maximum size of a file that lists claims, in bytes."""


def parse_basis(root: str | None, size: int | None, store: str | None, note: bytes | None) -> Basis:
    """Return the basis to verify a proof against: an overall root, or the log head in a checkpoint note.

    Raises:
        ProofError: neither or both of `root` and `note` are given, or an argument cannot be parsed (`input`,
            `note`); the note belongs to a different store than `store` (`origin`), or the number of events
            that the note covers is not `size` (`log-size`).
    """
    if (root is None) == (note is None):
        raise ProofError("input", "give either an overall root or a checkpoint")
    if root is not None:
        if store is None:
            raise ProofError("input", "an overall root needs the id of its store")
        return Root.of(store, root, size)
    head = LogHead.of(note or b"")
    if store is not None and parse_id(store) != head.store_id:
        raise ProofError("origin", "the checkpoint belongs to a different store")
    if size not in {None, head.size}:
        raise ProofError("log-size", f"the checkpoint covers {head.size} events, not {size}")
    return head


def parse_claims(
    words: Sequence[str], lines: bytes | None, identity: Callable[[str], str] = str
) -> list[Claim]:
    """Return the one claim in `words`, or the claims in `lines`: UTF-8 text with one claim on each line.

    `identity` is passed to `parse_claim`.

    Raises:
        ProofError: both or neither of `words` and `lines` are given, or a claim cannot be parsed (`input`).
    """
    if bool(words) == (lines is not None):
        raise ProofError("input", "give either one claim or a file of claims")
    return [parse_claim(one, identity) for one in ([words] if lines is None else split_claims(lines))]


def split_claims(data: bytes) -> list[list[str]]:
    """Return the words on each line of a list of claims, without empty lines.

    Raises:
        ProofError: the list is not UTF-8 (`input`).
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ProofError("input", "the list of claims is not UTF-8") from error
    return [words for line in text.split("\n") if (words := line.split())]


def describe_basis(basis: Basis, as_of: int) -> dict[str, str | int]:
    """Return the basis as values for JSON; `as_of` is the number of events that the verified facts cover."""
    kind = "overall root" if isinstance(basis, Root) else "log head"
    return {
        "kind": kind,
        "store": str(UUID(bytes=basis.store_id)),
        "root": basis.root.hex(),
        "size": as_of if basis.size is None else basis.size,
        "as_of": as_of,
    }
