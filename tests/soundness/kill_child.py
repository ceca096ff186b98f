"""Tests one mutant in a process of its own: `python -m tests.soundness.kill_child corpus module number`.

Prints one line of JSON with the rejects and classes that caught the mutant, and how.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.soundness.mutants import install, sites

COUNTS = {"M1": 1500, "M2": 1500, "M3": 1500, "M4": 400, "M5": 1500, "M6": 600, "M7": 600, "M8": 600}
ROUNDS, GARBAGE = 12, 60


def main(corpus: str, module: str, number: int) -> None:
    """Install the mutant in place of its module, run all tests against it, and print the failures."""
    site = sites(module)[number]
    if number >= 0:
        install(module, site)
    by_reject = _by_rejects(corpus)
    found: dict[str, Any] = {"name": site.name, "rejects": by_reject}
    found["classes"] = {} if by_reject else _by_classes(corpus)
    print(json.dumps(found))  # noqa: T201  what the parent reads


def _by_rejects(corpus: str) -> dict[str, str]:
    """Return how each named reject detects the mutant: `accepted`, `raised`, or only another `reason`."""
    from tests.soundness.wire import load, refusal

    rank = ("reason", "raised", "accepted")
    found: dict[str, str] = {}
    for name, case in load(Path(corpus).read_bytes())[1]:
        try:
            reason = refusal(case.call, case.given)
        except Exception:  # noqa: BLE001  any other error is what a mutant is caught by
            how = "raised"
        else:
            if reason in case.reasons:
                continue
            how = "accepted" if reason is None else "reason"
        found[name] = max(found.get(name, "reason"), how, key=rank.index)
    return found


def _by_classes(corpus: str) -> dict[str, str]:
    """Return the class of mutations that catches the mutant, if there is one."""
    from itertools import islice
    from random import Random

    from tests.soundness.garbage import read_all
    from tests.soundness.malicious import rounds
    from tests.soundness.mutations import seeds_of
    from tests.soundness.running import run_class
    from tests.soundness.wire import load

    seeds = seeds_of(load(Path(corpus).read_bytes())[0])
    for name, count in COUNTS.items():
        tally = run_class(name, seeds, count, until_unsound=True)
        if not tally.sound:
            return {name: "accepted" if tally.accepted else "raised"}
    try:
        if any(len(one.accepted) > 1 for one in islice(rounds(Random(1)), ROUNDS)):
            return {"M9": "accepted"}
    except Exception:  # noqa: BLE001  as above
        return {"M9": "raised"}
    try:
        read_all(seeds, Random(1), GARBAGE)
    except Exception:  # noqa: BLE001  as above
        return {"M10": "raised"}
    return {}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
