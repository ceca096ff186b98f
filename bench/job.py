"""One measurement in a process of its own.

Question: how is a figure kept free of what other measurements left in memory and caches?
Data, seed: in the `Job` that is handed over. How: `python -m bench.job NAME JOB` runs one measurement
in a fresh interpreter and prints its result as one line of JSON; files stay in the operating
system's cache, so all figures are warm unless a row says otherwise.
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
"""What a measurement found: names with their unit (`_s`, `_ms`, `_per_s`, `_bytes`) → numbers."""

MODULES: Final = ("bench.writing", "bench.reading", "bench.upkeep", "bench.proofs")
"""Where the measurements are: the functions from a `Job` to a `Result`, by their names."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to measure with."""

    size: int
    """Atoms; for `ingest` files, where they are generated."""
    seed: int
    work: str
    """The folder that holds the stores of this run."""
    quick: bool

    @property
    def store(self) -> str:
        """The path of our store of this size."""
        return str(Path(self.work) / f"memroot-{self.size}")

    @property
    def rival(self) -> Path:
        """The rival's file of this size."""
        return Path(self.work) / f"rival-{self.size}.db"


def measurement(name: str) -> Callable[[Job], Result]:
    """The measurement called `name`.

    Raises:
        KeyError: there is none.
    """
    for module in map(import_module, MODULES):
        found = getattr(module, name, None)
        if callable(found) and getattr(found, "__module__", "") == module.__name__:
            return found  # type: ignore[no-any-return]
    raise KeyError(name)


def in_child(name: str, job: Job) -> Result:
    """Run a measurement in a fresh process and return what it found.

    Raises:
        RuntimeError: it failed; what it said is on stderr.
    """
    command = [sys.executable, "-m", "bench.job", name, json.dumps(asdict(job))]
    # TMPDIR: verify-root's scratch store shall be on the same disk as the stores.
    done = subprocess.run(
        command,
        cwd=Path(__file__).resolve().parents[1],
        env=os.environ | {"TMPDIR": job.work, "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"measurement {name} of {job.size} failed with exit {done.returncode}")
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


class Untimed:
    """Passes items on and notes how long making them took, to be taken off the time of their use."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, items: Iterable[T], chunk: int = 1000) -> Iterator[T]:
        """The same items, made `chunk` at a time."""
        source = iter(items)
        while True:
            begin = time.perf_counter()
            made = list(islice(source, chunk))
            self.seconds += time.perf_counter() - begin
            if not made:
                return
            yield from made


def timed(call: Callable[[T], object], items: Iterable[T]) -> list[float]:
    """How many milliseconds the call took for each item."""
    took = []
    for item in items:
        begin = time.perf_counter()
        call(item)
        took.append((time.perf_counter() - begin) * 1000)
    return took


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def resident(field: str = "VmRSS") -> int:
    """Bytes of this process in memory: now (`VmRSS`), without mapped files (`RssAnon`), at most (`VmHWM`).

    Where there is no /proc the peak stands for all. It is second choice because Linux lets a child
    begin with the peak of the process that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def disk_bytes(path: str | Path) -> int:
    """The lengths of all files at or under `path`."""
    root = Path(path)
    files = [root] if root.is_file() else [file for file in root.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def main() -> None:
    """Run the measurement that the command line names."""
    name, raw = sys.argv[1:]
    print(json.dumps(measurement(name)(Job(**json.loads(raw)))))


if __name__ == "__main__":
    main()
