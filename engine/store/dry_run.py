"""Dry runs: commands are carried out on a temporary layer over a store. The layer is then discarded.

A dry run executes the same code as the real run, so its counts are exactly those of the real run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.followers.base import Follower
from engine.ledger.appender import DRY_RUN_SOURCES
from engine.store.layers import LayeredBackend
from engine.store.replay import scratch_backend
from engine.store.store import Store


@contextmanager
def dry_run_store(store: Store, *, when: bool = True) -> Iterator[Store]:
    """Open a temporary store over `store`; the changes made in it are discarded at the end of the block.

    Changes are written to a temporary folder. The times, seqs and ids of the new events have no meaning.
    `store` is only read, in one snapshot. If `when` is False, the block works on `store` itself, and the
    changes are permanent.
    """
    if not when:
        yield store
        return
    with store.view() as rows, scratch_backend(on_disk=True) as scratch:
        dry = _DryRunStore(LayeredBackend(rows, scratch), DRY_RUN_SOURCES, finish=False, check=False)
        if store.secret_filter is not None:
            dry.secret_filter = type(store.secret_filter)(store.secret_filter.policy)
        yield dry


class _DryRunStore(Store):
    """A store that runs only the follower `tags`, because a dry run needs neither roots nor a ranking."""

    @property
    def followers(self) -> tuple[Follower, ...]:
        return (self.tags,)
