"""Rebuilding in place, and moving a store to another backend."""

from __future__ import annotations

from backends.base import Backend, Batch, Reader
from engine.errors import CorruptionError, VerificationError
from engine.followers.base import catch_up, drop
from engine.journal import read_log
from engine.layout import JOURNAL, journal_key
from engine.model import Checkpoint
from engine.replay import Progress, check_prefix, no_progress, replay
from engine.store import Store
from proofs.log import Frontier, leaf_hash


def rebuild(store: Store, progress: Progress = no_progress) -> Checkpoint:
    """Drop every projection, records included, and make them anew from the journal alone.

    First all cursors go, durably; a crash from then on leaves a store that finishes this on opening.

    Raises:
        CorruptionError: the journal is damaged; nothing was dropped that cannot be made again.
    """
    with store.paused():
        size = check_log(store.backend)
        drop(store.backend, store.projections)
        for done, projection in enumerate(store.projections):
            progress(size * done // len(store.projections), size)
            catch_up(store.backend, projection, store.read)
        store.backend.write(Batch(), durable=True)
        progress(size, size)
        with store.view(*store.followers) as rows:
            return store.roots(rows).shown()


def check_log(rows: Reader) -> int:
    """The size of the journal, once its headers are known to be those the log commits to.

    Raises:
        CorruptionError: they are not.
    """
    log, frontier = read_log(rows), Frontier()
    for key, raw in rows.scan_prefix(JOURNAL):
        if key != journal_key(frontier.size):
            raise CorruptionError(f"journal header {frontier.size} is missing", family="journal")
        frontier.append(leaf_hash(raw))
    if frontier != log.frontier:
        raise CorruptionError(
            f"the journal's {frontier.size} headers are not the {log.size} that the log commits to",
            hint="run `engine verify-root`; restore a copy whose root you know",
            family="journal",
        )
    return log.size


def copy(source: Backend, target: Backend, progress: Progress = no_progress) -> Checkpoint:
    """Copy a store into another backend by its journal, and prove that the roots are equal.

    A copy that was broken off is continued.

    Raises:
        ConflictError: the target holds something else.
        VerificationError: the roots differ: one of the backends does not keep what it is given.
    """
    original = Store(source, None)
    with original.view(*original.followers) as rows:
        check_prefix(rows, target)
        replay(rows, target, read_log(rows).size, progress)
        roots = original.roots(rows)
    copied = Store(target, None)
    with copied.view(*copied.followers) as rows:
        found = copied.roots(rows)
    target.write(Batch(), durable=True)
    if found != roots:
        raise VerificationError(
            f"the copy has root {found.overall.hex()}, the original {roots.overall.hex()}"
        )
    return found.shown()
