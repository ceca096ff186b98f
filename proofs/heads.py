"""From what the caller trusts to the roots that claims are checked against (SPEC: Proofs, Basis to roots)."""

from __future__ import annotations

from typing import NamedTuple

from proofs.basis import Basis, LogHead, Root
from proofs.codec import decode_header
from proofs.errors import ProofError
from proofs.events import CheckpointDetail, Header
from proofs.file import CheckpointLink, Opening, ProofFile
from proofs.hashing import overall_root
from proofs.log import leaf_hash
from proofs.log_paths import check_inclusion
from proofs.strict_cbor import decode_strict, split_path, with_reason


class Log(NamedTuple):
    """The log that log claims are about."""

    size: int
    root: bytes


class Heads(NamedTuple):
    """What follows from the basis."""

    store_id: bytes
    log: Log
    opening: Opening | None
    """The roots that state claims are about; None where there are none such."""


def heads_of(basis: Basis, proof: ProofFile, *, state: bool) -> Heads:
    """The log and the roots that `basis` stands for, by what the proof shows of them.

    Args:
        basis: What the caller trusts.
        proof: Its link and its opening are looked at.
        state: Whether there are claims about roots of namespaces.

    Raises:
        ProofError: parts are missing or unneeded, or do not lead to the basis.
    """
    by_log = isinstance(basis, LogHead)
    check_presence(proof.link, "the link from the log to a root", needed=by_log and state)
    check_presence(proof.opening, "the opening of the overall root", needed=state or not by_log)
    if isinstance(basis, Root):
        opening = require_opening(proof.opening)
        check_opening(basis.store_id, opening, basis.root)
        if basis.size is not None and basis.size != opening.size:
            raise ProofError("log-size", f"the root is of {opening.size} events, not {basis.size}")
        return Heads(basis.store_id, Log(opening.size, opening.log_root), opening)
    log = Log(basis.size, basis.root)
    if proof.link is None or proof.opening is None:
        return Heads(basis.store_id, log, None)
    header = checkpoint_in(log, proof.link)
    if header.seq != log.size - 1:
        raise ProofError("header", f"event {header.seq} is not the last one of {log.size}")
    if proof.opening.size != header.seq:
        raise ProofError("root", f"checkpoint {header.seq} holds no root of {proof.opening.size} events")
    check_opening(basis.store_id, proof.opening, recorded_root(header))
    return Heads(basis.store_id, log, proof.opening)


def check_opening(store_id: bytes, opening: Opening, root: bytes) -> None:
    """Make sure that `opening` is what the overall root of this store is made of.

    Raises:
        ProofError: it is not (`root`).
    """
    roots = list(opening.roots.items())
    if overall_root(store_id, opening.size, opening.log_root, roots) != root:
        raise ProofError("root", "the parts do not make up the overall root of this store")


def checkpoint_in(log: Log, link: CheckpointLink) -> Header:
    """The header of the checkpoint event that `link` shows to be in the log.

    Raises:
        ProofError: it is none, or it is not there.
    """
    header = header_in(log, link.header, link.path)
    recorded_root(header)
    return header


def header_in(log: Log, raw: bytes, path: bytes) -> Header:
    """The header that `path` shows to be in the log at its own seq.

    Raises:
        ProofError: not a header (`encoding`, `header`), beyond the log, or not in it (`inclusion`).
    """
    fields = decode_strict(raw, "the header")
    seq = fields[1] if type(fields) is list and len(fields) > 1 else None
    if type(seq) is not int:
        raise ProofError("header", "the header has no seq")
    header = with_reason("header", decode_header, raw, seq)
    if seq >= log.size:
        raise ProofError("inclusion", f"event {seq} is not among the first {log.size}")
    check_inclusion(seq, log.size, leaf_hash(raw), split_path(path, "the path of the event"), log.root)
    return header


def recorded_root(header: Header) -> bytes:
    """The overall root that a checkpoint event holds.

    Raises:
        ProofError: the event is no checkpoint (`header`).
    """
    if not isinstance(header.detail, CheckpointDetail):
        raise ProofError("header", f"event {header.seq} is no checkpoint")
    return header.detail.root


def check_presence(part: object, what: str, *, needed: bool) -> None:
    """Make sure that a part is there exactly if it is needed.

    Raises:
        ProofError: it is not (`missing`, `unneeded`).
    """
    if (part is not None) is not needed:
        raise ProofError(
            "missing" if needed else "unneeded", f"{what} is {'not there' if needed else 'there'}"
        )


def require_opening(opening: Opening | None) -> Opening:
    """The opening, which must be there.

    Raises:
        ProofError: it is not (`missing`).
    """
    if opening is None:
        raise ProofError("missing", "the opening of the overall root is not there")
    return opening
