"""Where the time of one measurement goes: `python -m bench.profile bulk`.

Question: which functions cost most, each without what it calls?
Data, seed: as for the measurement (`bench.writing`, `bench.reading`, `bench.upkeep`).
How: cProfile over the measurement in this process, making the data included; the stores it needs are
filled first, in processes of their own. The profiler adds about 0.5 µs to every Python call, so that
small functions look dearer than they are: compare before and after without it.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import tempfile
from typing import Final

from bench.job import Job, in_child, measurement

_NEEDS_NO_STORE: Final = ("bulk", "bulk_rival", "single", "single_rival", "ingest", "ingest_rival", "tree")


def main() -> None:
    """Profile the measurement that the command line names and print its dearest functions."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.profile", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("name", help="a measurement: bulk, single, ingest, recall, rebuild, verify_root, …")
    parser.add_argument("--size", type=int, default=10_000, help="atoms; files for ingest; adds for single")
    parser.add_argument("--lines", type=int, default=40, help="functions to show")
    parser.add_argument("--by", choices=("tottime", "cumtime", "ncalls"), default="tottime")
    parser.add_argument("--callers", metavar="PART", help="also show who calls functions of this name")
    parser.add_argument("--save", metavar="FILE", help="keep the profile for other tools")
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
    statistics = pstats.Stats(profile).strip_dirs().sort_stats(options.by)
    statistics.print_stats(options.lines)
    if options.callers:
        statistics.print_callers(options.callers)


if __name__ == "__main__":
    main()
