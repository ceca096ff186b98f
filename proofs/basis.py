"""The basis of a verification: the root that the caller already trusts, and what is checked against it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple, Self

from proofs import hashing
from proofs.claim_words import parse_id, parse_root
from proofs.codec import decode_header
from proofs.errors import ProofError
from proofs.events import CheckpointDetail, Header
from proofs.hashing import (
    DIGEST_BYTES,
    EDGES,
    STORE_ID_BYTES,
    overall_root,
    position,
    value_digest,
)
from proofs.labels import TERMS, label_of, unsalted
from proofs.leaves import set_row
from proofs.log import SIZE_MAX, check_inclusion, leaf_hash, root_before
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
    opening: Opening
    """The roots against which claims about the state are checked."""


def heads_of(basis: Basis, proof: ProofFile) -> Heads:
    """Return the log and the roots that are derived from `basis` and from the link and opening in the proof.

    Raises:
        ProofError: the link is missing (`missing`) or not needed (`unneeded`), or link and opening do not
            lead to the basis (`root`, `log-size`, `header`, `encoding`, `form`, `inclusion`).
    """
    opening, link = proof.opening, proof.link
    check_presence(link, "the link from the log to a root", needed=isinstance(basis, LogHead))
    if isinstance(basis, Root):
        check_opening(basis.store_id, opening, basis.root)
        if basis.size is not None and basis.size != opening.size:
            raise ProofError("log-size", f"the root covers {opening.size} events, not {basis.size}")
        return Heads(basis.store_id, Log(opening.size, opening.log_root), opening)
    log = Log(basis.size, basis.root)
    if link is not None:
        _check_link(basis, log, link, opening)
    return Heads(basis.store_id, log, opening)


def _check_link(basis: LogHead, log: Log, link: CheckpointLink, opening: Opening) -> None:
    """Check that the last event of the log is a checkpoint of `opening`, which opens this log and store."""
    header = checkpoint_in(log, link)
    if header.seq != log.size - 1:
        raise ProofError("header", f"event {header.seq} is not the last of {log.size} events")
    if opening.size != header.seq:
        raise ProofError("root", f"checkpoint {header.seq} does not record a root of {opening.size} events")
    if opening.log_root != root_before(split_path(link.path, "the path of the link")):
        raise ProofError("root", "the opening is about a different log than the checkpoint")
    check_opening(basis.store_id, opening, recorded_root(header))


class Lookups:
    """The values that witnesses give for keys. The values are unverified until `check` has returned."""

    def __init__(self, label_key: bytes | None) -> None:
        self._values: dict[str, dict[bytes, bytes | None]] = {namespace: {} for namespace in TREES}
        self._lists: set[tuple[bytes, int]] = set()
        """Of each list of edges, what the positions of its leaves begin with, and their number."""
        self._label_key = label_key or b""

    def require(self, namespace: str, key: bytes, value: bytes | None) -> None:
        """Require that `key` has `value` or, if `value` is None, that the tree does not contain `key`.

        Raises:
            ProofError: two witnesses give different values for `key` (`contradiction`).
        """
        if self._values[namespace].setdefault(key, value) != value:
            raise ProofError(
                "contradiction", f"two witnesses give different values for one key of {namespace}"
            )

    def require_chunk(self, group: int, name: str, number: int, committed: bytes | None) -> bytes | None:
        """Require that a set has this chunk, given behind its salt, or no chunk if it is None.

        Return the chunk without its salt, which may be empty and is not checked.

        Raises:
            ProofError: see `require`.
        """
        self.require("tags", set_row(self._label_key, group, name, number), committed)
        return None if committed is None else unsalted(committed)

    def require_complete(self, beginning: bytes, count: int) -> None:
        """Require that the tree of edges has only the `count` leaves of a list with this beginning."""
        self._lists.add((beginning, count))

    def label(self, name: bytes) -> bytes:
        """Return the label of the name of an index row."""
        return label_of(self._label_key, TERMS, name)

    def check(self, proof: ProofFile, opening: Opening) -> None:
        """Check all requirements against the trees whose roots are in `opening`.

        Raises:
            ProofError: a requirement does not hold (`tree`, `shape`, `other-leaf`, `absent`), a list leaves
                out an edge (`list`), a tree is missing (`missing`), or the proof opens a tree that no claim
                needs (`unneeded`).
        """
        for namespace, values in self._values.items():
            tree = proof.trees[namespace]
            lists = self._lists if namespace == EDGES else set()
            check_presence(tree, f"the opening of the tree of {namespace}", needed=bool(values or lists))
            if tree is None:
                continue
            digests = {
                position(namespace, key): None if value is None else value_digest(namespace, value)
                for key, value in values.items()
            }
            _check_lists(lists, digests)
            complete = {begin for begin, _ in lists}
            if opening_root(digests, *tree, complete=complete) != opening.roots[namespace]:
                raise ProofError("tree", f"the opening does not hash to the root of {namespace}")


def _check_lists(lists: AbstractSet[tuple[bytes, int]], digests: Mapping[bytes, bytes | None]) -> None:
    """Check that no list leaves out a leaf that another claim requires.

    Raises:
        ProofError: a list has fewer leaves than there are values below its beginning (`list`).
    """
    present = sorted(digest for digest, value in digests.items() if value is not None) if lists else []
    for begin, count in lists:
        end = bisect_right(present, begin.ljust(DIGEST_BYTES, b"\xff"))
        if end - bisect_left(present, begin) != count:
            raise ProofError("list", "a list leaves out an edge that another claim is about")


def check_opening(store_id: bytes, opening: Opening, root: bytes) -> None:
    """Check that `opening` hashes to the overall root `root` of the store.

    Raises:
        ProofError: the opening hashes to a different root (`root`).
    """
    rules, label_commitment, size, log_root, roots = opening
    if overall_root(store_id, rules, label_commitment, size, log_root, list(roots.items())) != root:
        raise ProofError("root", "the parts do not hash to the overall root of this store")


def check_label_key(proof: ProofFile, *, needed: bool) -> None:
    """Check that the proof holds the label key to which its opening commits, exactly if it is needed.

    Raises:
        ProofError: the key is missing (`missing`), not needed (`unneeded`), or another key (`label`).
    """
    check_presence(proof.label_key, "the label key", needed=needed)
    key = proof.label_key
    if key is not None and hashing.label_commitment(key) != proof.opening.label_commitment:
        raise ProofError("label", "the label key is not the one that the root commits to")


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
