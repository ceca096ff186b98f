"""Metrics in the text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/).

Names and units follow https://prometheus.io/docs/practices/naming/. The values of labels are bounded:
methods, templates of paths, and statuses.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from engine.base.version import __version__
from engine.service.observing import Exchange

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper bounds of the histogram of durations, in seconds."""

Gauge = Callable[[], float]


class Metrics:
    """The counters of one server. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._sent: dict[str, int] = defaultdict(int)
        self._seconds: dict[str, float] = defaultdict(float)
        self._durations: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._gauges: dict[str, tuple[str, str, Gauge]] = {}
        started = time.time()
        self.watch("process_start_time_seconds", "gauge", "Start of the process.", lambda: started)
        self.watch("process_cpu_seconds_total", "counter", "Processor time.", time.process_time)

    def watch(self, name: str, kind: str, about: str, value: Gauge) -> None:
        """Show a value that is asked for when the metrics are read; `kind` is gauge or counter."""
        self._gauges[name] = (kind, about, value)

    def count(self, exchange: Exchange) -> None:
        """Count one request."""
        route = exchange.route
        with self._lock:
            self._requests[exchange.method, route, exchange.status] += 1
            self._sent[route] += exchange.sent
            self._seconds[route] += exchange.seconds
            self._durations[route][bisect_left(BUCKETS, exchange.seconds)] += 1

    def text(self) -> str:
        """Return all metrics."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        name = "memroot_http_requests_total"
        yield from _head(name, "counter", "Requests that were answered.")
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'{name}{{method="{method}",route="{route}",status="{status}"}} {count}'
        name = "memroot_http_response_bytes_total"
        yield from _head(name, "counter", "Bytes in the bodies of answers.")
        for route, sent in sorted(self._sent.items()):
            yield f'{name}{{route="{route}"}} {sent}'
        yield from self._histogram()
        for name, (kind, about, value) in self._gauges.items():
            yield from _head(name, kind, about)
            yield f"{name} {value()}"
        name = "memroot_build_info"
        yield from _head(name, "gauge", "The version of the program; the value is always 1.")
        yield f'{name}{{version="{__version__}"}} 1'

    def _histogram(self) -> Iterator[str]:
        name = "memroot_http_request_duration_seconds"
        yield from _head(name, "histogram", "Time from the headers of a request to the end of its answer.")
        for route, counts in sorted(self._durations.items()):
            total = 0
            for bound, count in zip((*BUCKETS, "+Inf"), counts, strict=True):
                total += count
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]}'
            yield f'{name}_count{{route="{route}"}} {total}'


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
