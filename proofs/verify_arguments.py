"""Conversion of command-line arguments to the trusted root and the claims of a verification.

The caller reads the files and passes their contents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from proofs.basis import Basis, LogHead, Root
from proofs.claim_words import parse_claim, parse_id
from proofs.claims import Claim
from proofs.envelope import decode, to_compare
from proofs.errors import ProofError
from proofs.proof_file import BEGINNING
from proofs.verified import Verified
from proofs.verifier import examine

CLAIMS_BYTES_MAX: Final = 16 << 20
"""The maximum size of a file that lists claims, in bytes."""


class Pinned(NamedTuple):
    """What a caller trusts: texts of arguments and the bytes of a note, each None if it was not given."""

    root: str | None
    size: int | None
    store: str | None
    note: bytes | None


class Examined(NamedTuple):
    """The result of the verification of a file."""

    facts: tuple[Verified, ...]
    size: int
    """The number of events that the facts cover."""
    basis: Basis
    compare: str | None
    """What the caller still has to compare (`proofs.envelope.to_compare`), or None if the caller gave it."""


def examine_file(
    data: bytes,
    pinned: Pinned,
    words: Sequence[str],
    lines: bytes | None,
    identity: Callable[[str], str] = str,
) -> Examined:
    """Verify an envelope, or a proof without one.

    A proof without an envelope needs a basis and claims from the caller. For an envelope, a root or note that
    the caller gives must be the one in the envelope, and claims that the caller gives replace those in it.

    Args:
        data: The bytes of the file.
        pinned: What the caller trusts.
        words: The words of one claim, or none.
        lines: A list of claims, see `parse_claims`.
        identity: See `parse_claims`.

    Raises:
        ProofError: an argument cannot be used (`input`, `note`), the file is about another store, root or
            size (`origin`, `root`, `log-size`), or see `proofs.envelope.decode` and `proofs.verify`.
    """
    if data.startswith(BEGINNING):
        basis = parse_basis(pinned)
        facts, size = examine(data, basis, parse_claims(words, lines, identity))
        return Examined(facts, size, basis, None)
    envelope = decode(data)
    basis = envelope.basis
    if pinned.store is not None and parse_id(pinned.store) != basis.store_id:
        raise ProofError("origin", "the file is about a different store")
    given = pinned.root is not None or pinned.note is not None
    if given:
        trusted = parse_basis(pinned._replace(store=str(UUID(bytes=basis.store_id))))
        if (type(trusted), trusted.root) != (type(basis), basis.root):
            kind = "about the overall root" if isinstance(basis, Root) else "about the log root"
            raise ProofError("root", f"the file is not about the one given but {kind} {basis.root.hex()}")
        basis = trusted
    elif pinned.size is not None:
        raise ProofError("input", "a number of events needs an overall root or a checkpoint")
    claims = parse_claims(words, lines, identity) if words or lines is not None else envelope.claims
    facts, size = examine(envelope.proof, basis, claims)
    return Examined(facts, size, basis, None if given else to_compare(envelope))


def parse_basis(pinned: Pinned) -> Basis:
    """Return the basis to verify a proof against: an overall root, or the log head in a checkpoint note.

    Raises:
        ProofError: neither or both of `root` and `note` are given, or an argument cannot be parsed (`input`,
            `note`); the note belongs to a different store than `store` (`origin`), or the number of events
            that the note covers is not `size` (`log-size`).
    """
    root, size, store, note = pinned
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
