"""Limits of requests for each token: a token bucket (https://en.wikipedia.org/wiki/Token_bucket)."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

_NAMES_MAX: Final = 10_000


class Rates:
    """One bucket for each name. Any thread may use it."""

    def __init__(
        self,
        per_second: float,
        at_once: int,
        clock: Callable[[], float] = time.monotonic,
        *,
        running: int | None = None,
    ) -> None:
        """Allow each name `per_second` requests on average, and `at_once` after a pause.

        At most `running` requests of a name may run at the same time; None for no limit.
        """
        self._most_running = running
        self._running: Counter[str] = Counter()
        self._per_second = per_second
        self._at_once = at_once
        self._clock = clock
        self._full_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._full_at)

    def begin(self, name: str) -> bool:
        """Note that a request runs until `end`. Return False if too many run already."""
        with self._lock:
            if self._most_running is not None and self._running[name] >= self._most_running:
                return False
            self._running[name] += 1
            return True

    def end(self, name: str) -> None:
        """Note that a request has ended."""
        with self._lock:
            self._running[name] -= 1
            if not self._running[name]:
                del self._running[name]

    def wait(self, name: str) -> int:
        """Count one request.

        Return 0 if it is allowed; otherwise the number of seconds until the next one is.
        """
        with self._lock:
            return self._counted(name, self._clock())

    def _counted(self, name: str, now: float) -> int:
        full_at = max(self._full_at.get(name, now), now)
        # The bucket misses `(full_at - now) * per_second` of its requests.
        missing = (full_at - now) * self._per_second
        if missing > self._at_once - 1:
            return max(math.ceil((missing - self._at_once + 1) / self._per_second), 1)
        if name not in self._full_at and len(self._full_at) >= _NAMES_MAX:
            # A bucket that is full again says the same as none.
            self._full_at = {other: full for other, full in self._full_at.items() if full > now}
        self._full_at[name] = full_at + 1 / self._per_second
        return 0
