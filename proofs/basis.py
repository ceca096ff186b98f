"""The basis of a verification: the root that the caller already trusts, and what is checked against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

from proofs.claim_words import parse_id, parse_root
from proofs.codec import decode_header
from proofs.errors import ProofError
from proofs.events import CheckpointDetail, Header
from proofs.hashing import DIGEST_BYTES, STORE_ID_BYTES, key_digest, overall_root, value_digest
from proofs.log import SIZE_MAX, check_inclusion, leaf_hash
from proofs.note import parse_note, store_id_of
from proofs.proof_file import (
    TREES,
    CheckpointLink,
    Opening,
    ProofFile,
    check_presence,
    decode_strict,
    split_path,
    with_reason,
)
from proofs.smt import opening_root


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


class Lookups:
    """The values that witnesses give for keys. The values are unverified until `check` has returned."""

    def __init__(self) -> None:
        self._values: dict[str, dict[bytes, bytes | None]] = {namespace: {} for namespace in TREES}

    def require(self, namespace: str, key: bytes, value: bytes | None) -> None:
        """Require that `key` has `value` or, if `value` is None, that the tree does not contain `key`.

        Raises:
            ProofError: two witnesses give different values for `key` (`contradiction`).
        """
        if self._values[namespace].setdefault(key, value) != value:
            raise ProofError(
                "contradiction", f"two witnesses give different values for one key of {namespace}"
            )

    def check(self, proof: ProofFile, opening: Opening | None) -> None:
        """Check all requirements against the trees whose roots are in `opening`.

        Raises:
            ProofError: a requirement does not hold (`tree`, `shape`, `other-leaf`, `absent`), a tree is
                missing (`missing`), or the proof opens a tree that no claim needs (`unneeded`).
        """
        for namespace, values in self._values.items():
            tree = proof.trees[namespace]
            check_presence(tree, f"the opening of the tree of {namespace}", needed=bool(values))
            if tree is None or opening is None:
                continue
            digests = {
                key_digest(namespace, key): None if value is None else value_digest(namespace, value)
                for key, value in values.items()
            }
            if opening_root(digests, *tree) != opening.roots[namespace]:
                raise ProofError("tree", f"the opening does not hash to the root of {namespace}")


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


def require_opening(opening: Opening | None) -> Opening:
    """Return the opening of the overall root.

    Raises:
        ProofError: the proof does not contain this opening (`missing`).
    """
    if opening is None:
        raise ProofError("missing", "the opening of the overall root is missing")
    return opening
