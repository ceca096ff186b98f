"""Bringing all projections of a store up to date on two cores, for bulk work."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from backends.errors import BackendClosed
from engine.followers.base import Follower, catch_up
from engine.store.store import Store


def follow_together(store: Store, *followers: Follower, stop: int | None = None) -> None:
    """Update `followers`, to which more events will follow shortly, up to event `stop` or the end.

    The index is updated in a thread of its own, because its kernels release the interpreter's lock most of
    the time. The rows do not depend on this: each follower reads only the journal and its own rows. `trees`
    are updated to the end, even if they could wait for further events.

    Raises:
        CorruptionError: the journal or a cursor does not have the bytes that were written.
    """
    with store.paused(), ThreadPoolExecutor(1, "memroot-index") as thread:
        index = None
        if store.index in followers:
            index = thread.submit(catch_up, store.backend, store.index, store.read, stop=stop, more=True)
        try:
            for follower in followers:
                if follower is not store.index:
                    more = follower is not store.trees
                    catch_up(store.backend, follower, store.read, stop=stop, more=more)
        except BackendClosed as closed:
            # If a write of the index failed, the backend refuses all further calls. That write is the cause.
            cause = None if index is None else index.exception()
            raise cause or closed from None
        if index is not None:
            index.result()
