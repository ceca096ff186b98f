"""Measure the size of a proof, and the time to make it and to verify it.

Question: what does it cost to prove one statement to someone who has only a root, compared with a simple
    sparse Merkle tree (py-trie, 256 siblings) and a simple Merkle log (pymerkle)?
Data: random key digests for the tree; headers of 100 random bytes for the log; for whole proofs, a copy of
    the store that `bench.writing` filled, with up to 1,000 more edges. Seed: the job's.
How: medians over `PROBES` different keys, in a fresh process, after a warm-up with a tenth of that number of
    keys. memroot reads from LevelDB, the rivals from dictionaries in memory. py-trie makes 257 rows for each
    key, so it gets `TRIE_KEYS` keys at every size; its proofs and times do not depend on the number of keys.
    The time of `Engine.prove` includes the verification of the new proof.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Any, Final, TypeVar
from uuid import UUID

from backends import open_backend
from backends.base import Batch, Reader
from bench.job import Job, Result, percentile, timed
from bench.writing import warm_up
from engine import Engine
from engine.commands import Link
from engine.followers.log import LogFollower
from engine.ledger.journal import Cursor, encode_cursor, read_log
from engine.ledger.layout import cursor_key, journal_key
from engine.ledger.paged_tree import PagedTree
from engine.trust.proving.log_witnesses import LogPaths
from engine.trust.proving.witnesses import open_tree
from proofs import claims as kinds
from proofs.claims import Claim
from proofs.events import Entry, EventKind, GenesisBody, GenesisDetail, Header
from proofs.leaves import EdgeType, tag_identity
from proofs.log import check_consistency, check_inclusion, leaf_hash
from proofs.smt import opening_root
from proofs.verifier import verify

T = TypeVar("T")
P = TypeVar("P")

PROBES: Final = (100, 300)
"""The number of proofs of each kind in a quick and in a full run. For whole stores, the number is a third of
this."""
TRIE_KEYS: Final = 1_000
EDGES: Final = 1_000
HEADER_BYTES: Final = 100
REFERENCES: Final = bytes([EdgeType.REFERENCES])
_FILL: Final = 10_000
_UNSET: Final = b"\x00"
"""The default value that py-trie needs to prove that a key was never set."""


def measure(
    name: str, make: Callable[[T], P], check: Callable[[T, P], object], probes: Sequence[T]
) -> Result:
    """Return the median times, over all probes, to make a proof and to check it, after a warm-up."""
    warm = max(1, len(probes) // 10)
    made = {at: make(one) for at, one in enumerate(probes)}
    for at, one in enumerate(probes[:warm]):
        check(one, made[at])
    proving = timed(make, probes)
    checking = timed(lambda at: check(probes[at], made[at]), range(len(probes)))
    return {f"{name}_prove_ms": percentile(proving, 0.5), f"{name}_verify_ms": percentile(checking, 0.5)}


def median(values: Sequence[int]) -> float:
    """Return the median of lengths in bytes."""
    return percentile([float(value) for value in values], 0.5)


def check_root(computed: bytes, root: bytes) -> None:
    """Check that the root computed from a proof is the expected one.

    Raises:
        RuntimeError: the computed root is a different one.
    """
    if computed != root:
        raise RuntimeError("a proof does not lead to the expected root")


def tree_proofs(job: Job) -> Result:
    """Measure openings of a tree of `size` leaves, at keys with a leaf and at keys without a leaf."""
    draw = Random(job.seed)
    leaves = {draw.randbytes(32): draw.randbytes(32) for _ in range(job.size)}
    # Sorted keys fill each page once; the tree is the same for any order.
    tree, keys = PagedTree("atoms"), sorted(leaves)
    with open_backend(f"{job.store}-proof-tree") as backend:
        for start in range(0, job.size, _FILL):
            batch = Batch()
            with backend.snapshot() as rows:
                tree.update(rows, batch, {key: leaves[key] for key in keys[start : start + _FILL]})
            backend.write(batch, durable=False)
        count = min(PROBES[not job.quick], job.size)
        with backend.snapshot() as rows:
            root = tree.root(rows)
            there = _openings(rows, root, "member", leaves, draw.sample(keys, count))
            return there | _openings(rows, root, "absent", leaves, [draw.randbytes(32) for _ in range(count)])


def _openings(
    rows: Reader, root: bytes, name: str, leaves: dict[bytes, bytes], probes: Sequence[bytes]
) -> Result:
    def check(key: bytes, proof: Any) -> None:
        check_root(opening_root({key: leaves.get(key)}, *proof), root)

    found = measure(name, lambda key: open_tree(rows, "atoms", [key]), check, probes)
    sizes = [sum(map(len, open_tree(rows, "atoms", [key]))) for key in probes]
    return found | {f"{name}_bytes": median(sizes)}


def tree_proofs_rival(job: Job) -> Result:
    """Make the measurements of `tree_proofs` with py-trie, on a tree of at most `TRIE_KEYS` keys."""
    from trie.smt import SparseMerkleTree, calc_root

    draw = Random(job.seed)
    tree = SparseMerkleTree(32, default=_UNSET)
    leaves = {draw.randbytes(32): draw.randbytes(32) for _ in range(min(job.size, TRIE_KEYS))}
    for key, value in leaves.items():
        tree.set(key, value)
    root = tree.root_hash

    def check(key: bytes, branch: Any) -> None:
        check_root(calc_root(key, leaves.get(key, _UNSET), branch), root)

    count = min(PROBES[not job.quick], len(leaves))
    there, absent = draw.sample(list(leaves), count), [draw.randbytes(32) for _ in range(count)]
    sizes = {
        f"{name}_bytes": median([sum(map(len, tree.branch(key))) for key in probes])
        for name, probes in (("member", there), ("absent", absent))
    }
    return (
        measure("member", tree.branch, check, there) | measure("absent", tree.branch, check, absent) | sizes
    )


def log_proofs(job: Job) -> Result:
    """Measure inclusion and consistency paths in a log of `size` events."""
    draw = Random(job.seed)
    headers = [draw.randbytes(HEADER_BYTES) for _ in range(job.size)]
    leaves = [leaf_hash(header) for header in headers]
    follower, size = LogFollower(), job.size
    with open_backend(f"{job.store}-proof-log") as backend:
        for start in range(0, size, _FILL):
            stop, batch = min(start + _FILL, size), Batch()
            for seq in range(start, stop):
                batch.put(journal_key(seq), headers[seq])
            with backend.snapshot() as rows:
                follower.follow([_entry(seq, leaves[seq]) for seq in range(start, stop)], rows, batch)
            batch.put(cursor_key("log"), encode_cursor(Cursor(LogFollower.version, stop, leaves[stop - 1])))
            backend.write(batch, durable=False)
        with backend.snapshot() as rows:
            root = LogPaths(rows, size).root(size)
            roots = {old: LogPaths(rows, size).root(old) for old in _probes(job)}

            def included(seq: int) -> list[bytes]:
                return LogPaths(rows, size).inclusion(seq, size)

            def consistent(old: int) -> list[bytes]:
                return LogPaths(rows, size).consistency(old, size)

            return _paths(
                _probes(job),
                (included, lambda seq, path: check_inclusion(seq, size, leaves[seq], path, root)),
                (consistent, lambda old, path: check_consistency(old, roots[old], size, root, path)),
            )


def _entry(seq: int, leaf: bytes) -> Entry:
    """Return an event with a number and a leaf hash; its other fields are not used."""
    detail = GenesisDetail(b"", "", b"", b"", 1)
    return Entry(Header(seq, 0, EventKind.GENESIS, "", b"", None, detail), GenesisBody(b"", b"", b""), leaf)


def log_proofs_rival(job: Job) -> Result:
    """Make the measurements of `log_proofs` with pymerkle's tree in memory and SHA-256."""
    from pymerkle import InmemoryTree, verify_consistency, verify_inclusion

    draw, tree = Random(job.seed), InmemoryTree()
    for _ in range(job.size):
        tree.append_entry(draw.randbytes(HEADER_BYTES))
    root, size = tree.get_root(), job.size
    roots = {old: tree.get_root(old) for old in _probes(job)}
    leaves = {seq: tree.get_leaf(seq + 1) for seq in _probes(job)}
    return _paths(
        _probes(job),
        (
            lambda seq: tree.prove_inclusion(seq + 1, size),
            lambda seq, proof: verify_inclusion(leaves[seq], root, proof),
        ),
        (
            lambda old: tree.prove_consistency(old, size),
            lambda old, proof: verify_consistency(roots[old], root, proof),
        ),
    )


def _probes(job: Job) -> list[int]:
    """Return random numbers of at least 1: the events and the older sizes for which paths are made."""
    count = min(PROBES[not job.quick], job.size - 1)
    return Random(f"{job.seed}/probes").sample(range(1, job.size), count)


def _paths(
    probes: Sequence[int], *pairs: tuple[Callable[[int], Any], Callable[[int, Any], object]]
) -> Result:
    found: Result = {}
    for name, (make, check) in zip(("inclusion", "consistency"), pairs, strict=True):
        paths = [make(one) for one in probes]
        # pymerkle's proofs are objects that contain the path, which also has 32 bytes for each hash.
        lengths = [len(getattr(path, "path", path)) * 32 for path in paths]
        found |= measure(name, make, check, probes) | {f"{name}_bytes": median(lengths)}
    return found


def store_proofs(job: Job) -> Result:
    """Measure whole proofs about a store against the store's overall root. Each proof has one claim."""
    warm_up()
    place = f"{job.store}-proofs"
    shutil.copytree(job.store, place)
    found: Result = {}
    with Engine.open(place, create=False) as engine:
        for name, claims in _claims(job, engine).items():
            proofs = {claim: engine.prove([claim]) for claim in claims}
            found |= measure(
                name,
                lambda claim: engine.prove([claim]),
                lambda claim, proof: verify(proof.data, proof.basis, [claim]),
                claims,
            )
            found[f"{name}_bytes"] = median([len(proof.data) for proof in proofs.values()])
    shutil.rmtree(place)
    return found


def _claims(job: Job, engine: Engine) -> dict[str, list[Claim]]:
    """Add edges to the store, and return claims of each kind about different atoms."""
    draw = Random(f"{job.seed}/claims")
    atoms = engine.find(limit=min(job.size, EDGES))
    ids = [UUID(atom.id).bytes for atom in atoms]
    list(engine.apply_many(Link(one.id, "references", other.id) for one, other in pairwise(atoms)))
    engine.catch_up()
    with engine.store.view(*engine.store.followers) as rows:
        size = read_log(rows).size
        older = {old: LogPaths(rows, size).root(old) for old in draw.sample(range(1, size), 30)}
    count, pairs = min(PROBES[not job.quick] // 3, len(ids) - 1), list(pairwise(ids))
    tagged = [(UUID(atom.id).bytes, tag) for atom in atoms for tag in engine.get(atom.id).tags[:1]]
    return {
        "opened": [kinds.AtomIs(one) for one in draw.sample(ids, count)],
        "member": [kinds.AtomIs(one, opened=False) for one in draw.sample(ids, count)],
        "absent": [kinds.NoAtom(draw.randbytes(16)) for _ in range(count)],
        "edge": [kinds.EdgeIs(src, REFERENCES, dst, opened=False) for src, dst in draw.sample(pairs, count)],
        "tag": [kinds.HasTag(one, tag_identity(tag)) for one, tag in draw.sample(tagged, count)],
        "no_term": [kinds.NoneMentioning(f"q{draw.randrange(1 << 30)}x") for _ in range(count)],
        "event": [kinds.EventIs(seq, opened=False) for seq in draw.sample(range(size), count)],
        "prefix": [kinds.LogBegins(old, root) for old, root in older.items()],
    }
