"""Derivation of the roots that claims are checked against (SPEC, section 20.5)."""

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
    """The size and the root of the log against which claims about the log are checked."""

    size: int
    root: bytes


class Heads(NamedTuple):
    """The log and the roots of the namespaces, derived from the basis (the trusted root or log head)."""

    store_id: bytes
    log: Log
    opening: Opening | None
    """The roots against which claims about state are checked, or None if the proof opens no overall root."""


def heads_of(basis: Basis, proof: ProofFile, *, state: bool) -> Heads:
    """Return the log and the roots that are derived from `basis` and from the link and opening in the proof.

    Args:
        basis: The root that the caller trusts.
        proof: Only its link and its opening are used.
        state: True if there are claims about state, for which the roots of the namespaces are needed.

    Raises:
        ProofError: parts are missing (`missing`) or not needed (`unneeded`), or do not lead to the basis
            (`root`, `log-size`, `header`, `encoding`, `form`, `inclusion`).
    """
    by_log = isinstance(basis, LogHead)
    check_presence(proof.link, "the link from the log to a root", needed=by_log and state)
    check_presence(proof.opening, "the opening of the overall root", needed=state or not by_log)
    if isinstance(basis, Root):
        opening = require_opening(proof.opening)
        check_opening(basis.store_id, opening, basis.root)
        if basis.size is not None and basis.size != opening.size:
            raise ProofError("log-size", f"the root covers {opening.size} events, not {basis.size}")
        return Heads(basis.store_id, Log(opening.size, opening.log_root), opening)
    log = Log(basis.size, basis.root)
    if proof.link is None or proof.opening is None:
        return Heads(basis.store_id, log, None)
    header = checkpoint_in(log, proof.link)
    if header.seq != log.size - 1:
        raise ProofError("header", f"event {header.seq} is not the last of {log.size} events")
    if proof.opening.size != header.seq:
        raise ProofError(
            "root", f"checkpoint {header.seq} does not record a root of {proof.opening.size} events"
        )
    check_opening(basis.store_id, proof.opening, recorded_root(header))
    return Heads(basis.store_id, log, proof.opening)


def check_opening(store_id: bytes, opening: Opening, root: bytes) -> None:
    """Check that `opening` hashes to the overall root `root` of the store.

    Raises:
        ProofError: the opening hashes to a different root (`root`).
    """
    roots = list(opening.roots.items())
    if overall_root(store_id, opening.size, opening.log_root, roots) != root:
        raise ProofError("root", "the parts do not hash to the overall root of this store")


def checkpoint_in(log: Log, link: CheckpointLink) -> Header:
    """Return the header of the checkpoint event that `link` shows to be in the log.

    Raises:
        ProofError: the event is not a checkpoint (`header`); see `header_in` for the other reasons.
    """
    header = header_in(log, link.header, link.path)
    recorded_root(header)
    return header


def header_in(log: Log, raw: bytes, path: bytes) -> Header:
    """Return the header that `path` shows to be in the log, at the position that the header's seq states.

    Raises:
        ProofError: `raw` is not a header (`encoding`, `header`), the path is malformed (`form`), or the event
            is not in the log (`inclusion`).
    """
    fields = decode_strict(raw, "the header")
    seq = fields[1] if type(fields) is list and len(fields) > 1 else None
    if type(seq) is not int:
        raise ProofError("header", "the header has no seq")
    header = with_reason("header", decode_header, raw, seq)
    if seq >= log.size:
        raise ProofError("inclusion", f"event {seq} is not among the first {log.size} events")
    check_inclusion(seq, log.size, leaf_hash(raw), split_path(path, "the path of the event"), log.root)
    return header


def recorded_root(header: Header) -> bytes:
    """Return the overall root that a checkpoint event records.

    Raises:
        ProofError: the event is not a checkpoint (`header`).
    """
    if not isinstance(header.detail, CheckpointDetail):
        raise ProofError("header", f"event {header.seq} is not a checkpoint")
    return header.detail.root


def check_presence(part: object, what: str, *, needed: bool) -> None:
    """Check that a part of the proof is present if it is needed, and absent if it is not.

    Raises:
        ProofError: the part is missing (`missing`) or not needed (`unneeded`).
    """
    if (part is not None) is not needed:
        raise ProofError(
            "missing" if needed else "unneeded", f"{what} is {'missing' if needed else 'not needed'}"
        )


def require_opening(opening: Opening | None) -> Opening:
    """Return the opening of the overall root.

    Raises:
        ProofError: the proof does not contain this opening (`missing`).
    """
    if opening is None:
        raise ProofError("missing", "the opening of the overall root is missing")
    return opening
