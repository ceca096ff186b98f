"""The events that a process committed last, kept for the followers."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from engine.base import limits
from proofs.events import AtomBody, Entry


class Recent:
    """The events this process committed last, decoded, so that followers need not read them back.

    At most 24,576, and contents of at most some 16 million characters; older ones are forgotten.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._chars = 0

    def add(self, entries: Sequence[Entry]) -> None:
        """Keep `entries`; forget what is not next to them, and the oldest of too many."""
        with self._lock:
            kept = self._entries
            if kept and kept[-1].header.seq + 1 != entries[0].header.seq:
                self._forget(len(kept))
            kept.extend(entries)
            self._chars += sum(map(_chars_of, entries))
            if len(kept) > 3 * limits.FOLLOW_EVENTS_MAX:
                self._forget(len(kept) - limits.FOLLOW_EVENTS_MAX)
            while self._chars > limits.FOLLOW_BYTES_MAX:
                self._forget(len(kept) // 2 + 1)

    def clear(self) -> None:
        """Forget all: every follower has them."""
        with self._lock:
            self._forget(len(self._entries))

    def _forget(self, count: int) -> None:
        self._chars -= sum(map(_chars_of, self._entries[:count]))
        del self._entries[:count]

    def get(self, start: int, stop: int) -> list[Entry]:
        """The events from `start` up to `stop`; none unless all are kept."""
        with self._lock:
            kept = self._entries
            if not kept or start < kept[0].header.seq or stop > kept[-1].header.seq + 1:
                return []
            first = kept[0].header.seq
            return kept[start - first : stop - first]


def _chars_of(entry: Entry) -> int:
    return len(entry.body.content) if isinstance(entry.body, AtomBody) else 0
