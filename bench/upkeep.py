"""Measure maintenance: updates of the trees, rebuild and verify-root.

Question: how fast are updates of the trees, depending on the batch size; how fast are all projections
    rebuilt from the journal; how fast is a whole store verified against its journal?
Data: the stores that `bench.writing` filled; random digests for the trees. Seed: the job's.
How: wall time in a fresh process, with libraries imported before the clock starts. Trees: a tree of `size`
    leaves in a LevelDB store; half of the changes are new leaves and half are changed ones; reading the pages
    and writing the batch without sync are included. The rival's counterparts do less: its rebuild makes only
    the full-text index, and its check shows only that the file is consistent, not who wrote it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from random import Random

from backends import open_backend
from backends.base import Backend, Batch
from bench.job import Job, Result, resident, timed
from bench.rivals import Fts
from bench.writing import warm_up
from engine import Engine, verify
from engine.ledger.paged_tree import PagedTree

TREE_BATCHES = (1, 100, 1_000, 10_000)
_FILL = 10_000


def tree(job: Job) -> Result:
    """Measure the updates per second for each batch size, on a tree of `size` leaves."""
    draw = Random(job.seed)
    leaves = [draw.randbytes(32) for _ in range(job.size)]
    changed = PagedTree("atoms")
    result: Result = {"leaves": job.size}
    with open_backend(f"{job.store}-tree") as backend:
        for start in range(0, job.size, _FILL):
            _update(backend, changed, {key: draw.randbytes(32) for key in leaves[start : start + _FILL]})
        for size in TREE_BATCHES:
            rounds = max(1, min(1_000, (2_000 if job.quick else 20_000) // size))
            batches = [_changes(draw, leaves, size) for _ in range(rounds)]
            took = timed(lambda changes: _update(backend, changed, changes), batches)
            result[f"batch_{size}_per_s"] = sum(map(len, batches)) / sum(took) * 1000
    return result


def _changes(draw: Random, leaves: list[bytes], size: int) -> dict[bytes, bytes | None]:
    old = draw.sample(leaves, min(size // 2, len(leaves)))
    new = [draw.randbytes(32) for _ in range(size - len(old))]
    return {key: draw.randbytes(32) for key in old + new}


def _update(backend: Backend, changed: PagedTree, changes: Mapping[bytes, bytes | None]) -> None:
    batch = Batch()
    with backend.snapshot() as rows:
        changed.update(rows, batch, changes)
    backend.write(batch, durable=False)


def rebuild(job: Job) -> Result:
    """Drop all projections of memroot's store and rebuild them from the journal; the root must not change."""
    warm_up()
    with Engine.open(job.store, create=False) as engine:
        before = engine.root()
        begin = time.perf_counter()
        after = engine.rebuild()
        took = time.perf_counter() - begin
    if before != after:
        raise RuntimeError(f"rebuilding changed the root from {before.root} to {after.root}")
    return {
        "per_s": after.size / took,
        "seconds": took,
        "events": after.size,
        "peak_bytes": resident("VmHWM"),
    }


def rebuild_rival(job: Job) -> Result:
    """Rebuild the rival's full-text index from its own copy of the texts."""
    return _rival(job, lambda store: store.rebuild())


def verify_root(job: Job) -> Result:
    """Verify memroot's store against its journal."""
    warm_up()
    with Engine.open(job.store, create=False) as engine:
        begin = time.perf_counter()
        report = verify(engine.store.backend)
        took = time.perf_counter() - begin
    if not report.ok:
        raise RuntimeError(f"verify-root failed: {report.differences[0]}")
    return {
        "per_s": report.size / took,
        "seconds": took,
        "events": report.size,
        "rows": report.rows,
        "peak_bytes": resident("VmHWM"),
    }


def verify_root_rival(job: Job) -> Result:
    """Run SQLite's integrity_check and FTS5's integrity-check."""
    return _rival(job, lambda store: store.check())


def _rival(job: Job, action: Callable[[Fts], None]) -> Result:
    with Fts(job.rival) as store:
        (took,) = timed(action, [store])
    return {"per_s": job.size / took * 1000, "seconds": took / 1000}
