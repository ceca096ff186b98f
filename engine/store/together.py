"""Bringing projections up to date on two cores, for bulk work."""

from __future__ import annotations

from collections.abc import Iterable

from backends.base import Backend
from backends.errors import BackendClosed
from engine.followers.base import EntrySource, Follower, catch_up
from engine.followers.index import IndexFollower


def catch_up_together(
    backend: Backend,
    read: EntrySource,
    followers: Iterable[Follower],
    *,
    stop: int | None = None,
    to_the_end: Follower | None = None,
) -> None:
    """Update `followers` up to event `stop` or the end. More events will follow shortly.

    The index is updated in a thread of its own, because its kernels release the interpreter's lock most of
    the time. The rows do not depend on this: each follower reads only the journal and its own rows. The
    follower `to_the_end` is updated completely, even if it could wait for further events.

    Raises:
        CorruptionError: the journal or a cursor does not have the bytes that were written.
    """
    # Imported here because it loads `logging`, which takes 3 ms.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "memroot-index") as thread:
        own_thread: list[Follower] = []
        others: list[Follower] = []
        for follower in followers:
            (own_thread if isinstance(follower, IndexFollower) else others).append(follower)
        running = [thread.submit(catch_up, backend, one, read, stop=stop, more=True) for one in own_thread]
        try:
            for follower in others:
                catch_up(backend, follower, read, stop=stop, more=follower is not to_the_end)
        except BackendClosed as closed:
            # If a write of the index failed, the backend refuses all further calls. That write is the cause.
            causes = [cause for cause in (one.exception() for one in running) if cause is not None]
            raise (causes or [closed])[0] from None
        for one in running:
            one.result()
