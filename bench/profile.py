"""Profile one measurement: `python -m bench.profile bulk`.

Question: which functions take the most time, not counting the functions that they call?
Data, seed: as for the measurement (`bench.writing`, `bench.reading`, `bench.upkeep`).
How: cProfile runs the measurement in this process, including the generation of data. The stores that the
measurement needs are filled first, in separate processes. The profiler adds about 0.5 µs to every Python
call, so small functions look more expensive than they are. Compare versions without the profiler. Calls of
the compiled kernels are listed a second time, each kernel with the wall time of its calls. `perf record -g
python -m bench.profile …` shows what happens inside the kernels, on all threads.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import re
import tempfile
from typing import Final

from bench.job import Job, in_child, measurement

_NEEDS_NO_STORE: Final = ("bulk", "bulk_rival", "single", "single_rival", "ingest", "ingest_rival", "tree")


_KERNEL: Final = re.compile(r"<built-in method (?:engine\.kernels\.)?_native\.(\w+)>")


def native_times(statistics: pstats.Stats) -> str:
    """Return the calls and the wall time of each compiled kernel, the slowest first, and their sum."""
    rows: list[tuple[float, int, str]] = []
    for (_, _, function), (_, calls, seconds, _, _) in statistics.stats.items():  # type: ignore[attr-defined]
        if found := _KERNEL.fullmatch(function):
            rows.append((seconds, calls, found[1]))
    if not rows:
        return "No compiled kernel was called."
    total = statistics.total_tt  # type: ignore[attr-defined]
    share = f"{sum(row[0] for row in rows) / total:.0%} of the time"
    lines = [f"{seconds:9.3f} s  {calls:9,}  {name}" for seconds, calls, name in sorted(rows, reverse=True)]
    return "\n".join([f"Compiled kernels, wall time and calls ({share}):", *lines])


def main() -> None:
    """Profile the measurement named on the command line and print its most expensive functions."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.profile", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("name", help="a measurement: bulk, single, ingest, recall, rebuild, verify_root, …")
    parser.add_argument(
        "--size", type=int, default=10_000, help="number of atoms (ingest: of files; single: of adds)"
    )
    parser.add_argument("--lines", type=int, default=40, help="number of functions to show")
    parser.add_argument("--by", choices=("tottime", "cumtime", "ncalls"), default="tottime")
    parser.add_argument("--callers", metavar="PART", help="also show the callers of functions of this name")
    parser.add_argument("--save", metavar="FILE", help="write the profile to FILE for other tools")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        measure = measurement(options.name)
    except KeyError:
        parser.error(f"there is no measurement {options.name!r}")
    with tempfile.TemporaryDirectory(prefix="memroot-profile-") as work:
        job = Job(options.size, options.seed, work, quick=False)
        if options.name not in _NEEDS_NO_STORE:
            in_child("bulk_rival" if options.name.endswith("_rival") else "bulk", job)
        profile = cProfile.Profile()
        print(profile.runcall(measure, job))
    if options.save:
        profile.dump_stats(options.save)
    statistics = pstats.Stats(profile)
    print(native_times(statistics))
    statistics.strip_dirs().sort_stats(options.by)
    statistics.print_stats(options.lines)
    if options.callers:
        statistics.print_callers(options.callers)


if __name__ == "__main__":
    main()
