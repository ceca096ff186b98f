"""Run one measurement in a separate process.

Question: none. A separate process keeps a figure independent of the memory and caches of other measurements.
Data, seed: in the `Job`. How: `python -m bench.job NAME JOB` runs one measurement in a fresh interpreter and
prints its result as one line of JSON. Files stay in the operating system's cache, so all figures are warm
unless a row says otherwise.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

T = TypeVar("T")

Result = dict[str, Any]
"""The result of a measurement: names that end in their unit (`_s`, `_ms`, `_per_s`, `_bytes`) → numbers."""

MODULES: Final = ("bench.writing", "bench.reading", "bench.upkeep", "bench.proofs")
"""The modules with the measurements. A measurement is a function from a `Job` to a `Result`."""


@dataclass(frozen=True, slots=True)
class Job:
    """The parameters of a measurement."""

    size: int
    """The number of atoms; for `ingest`, the number of generated files."""
    seed: int
    work: str
    """The folder with the stores of this run."""
    quick: bool
    against: str = "rival"
    """The rival to measure, by its name in `bench.rivals`."""
    kernels: str = "auto"
    """The value of MEMROOT_KERNELS for the measurement."""

    @property
    def store(self) -> str:
        """The path of memroot's store with `size` atoms."""
        return str(Path(self.work) / f"memroot-{self.kernels}-{self.size}")

    @property
    def rival(self) -> Path:
        """The path of the rival's file or folder with `size` texts."""
        return Path(self.work) / f"{self.against}-{self.size}.db"


def measurement(name: str) -> Callable[[Job], Result]:
    """Return the measurement called `name`.

    Raises:
        KeyError: there is no such measurement.
    """
    for module in map(import_module, MODULES):
        found = getattr(module, name, None)
        if callable(found) and getattr(found, "__module__", "") == module.__name__:
            return found  # type: ignore[no-any-return]
    raise KeyError(name)


def in_child(name: str, job: Job) -> Result:
    """Run a measurement in a fresh process and return its result.

    Raises:
        RuntimeError: the measurement failed; its output is on stderr.
    """
    command = [sys.executable, "-m", "bench.job", name, json.dumps(asdict(job))]
    # TMPDIR puts the scratch store of verify-root on the same disk as the stores.
    done = subprocess.run(
        command,
        cwd=Path(__file__).resolve().parents[1],
        env=os.environ | {"TMPDIR": job.work, "PYTHONHASHSEED": "0", "MEMROOT_KERNELS": job.kernels},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"measurement {name} of {job.size} failed with exit {done.returncode}")
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


class Untimed:
    """Wraps an iterator and measures the time to generate its items, so that this time can be subtracted."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, items: Iterable[T], chunk: int = 1000) -> Iterator[T]:
        """Yield the same items, generated in groups of `chunk` items."""
        source = iter(items)
        while True:
            begin = time.perf_counter()
            made = list(islice(source, chunk))
            self.seconds += time.perf_counter() - begin
            if not made:
                return
            yield from made


def timed(call: Callable[[T], object], items: Iterable[T]) -> list[float]:
    """Return the duration of the call for each item, in milliseconds."""
    took = []
    for item in items:
        begin = time.perf_counter()
        call(item)
        took.append((time.perf_counter() - begin) * 1000)
    return took


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value v such that at least `share` of all values are at most v."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def resident(field: str = "VmRSS") -> int:
    """Return the resident bytes of this process.

    `VmRSS` is the current value, `RssAnon` the value without mapped files, and `VmHWM` the peak. On systems
    without /proc, the peak from getrusage is returned for all fields. On Linux, getrusage is not used,
    because there a child process inherits the peak of its parent.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def disk_bytes(path: str | Path) -> int:
    """Return the total length of all files at or under `path`."""
    root = Path(path)
    files = [root] if root.is_file() else [file for file in root.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def main() -> None:
    """Run the measurement named on the command line."""
    name, raw = sys.argv[1:]
    print(json.dumps(measurement(name)(Job(**json.loads(raw)))))


if __name__ == "__main__":
    main()
