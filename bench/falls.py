"""Compare the speed of two versions, and fail if an operation became slower.

Question: does an operation use more CPU time than in an earlier version, by more than the noise? Data:
`TEXTS` texts and `QUESTIONS` questions of `bench.data`. Seed: 1. How: `python -m bench.falls PYTHON` measures
the installation of the interpreter PYTHON and this one in turn, each operation `ROUNDS` times in a new
process, so that both see the same load. A ratio is this version's time divided by the other's in the same
round. An operation fell if three quarters of its ratios are above `RATIO_MAX`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

TEXTS: Final = 3_000
QUESTIONS: Final = 200
PROVED: Final = 100
ROUNDS: Final = 8
RATIO_MAX: Final = 1.05
"""The largest ratio that passes.

Measured with the same version on both sides, three times on a machine with 2 cores that did nothing else: the
lower quartiles of the ratios were between 0.97 and 1.00.
"""


def _add(memory: Any, data: dict[str, list[str]]) -> Callable[[], object]:
    return lambda: [memory.add(text) for text in data["texts"][: TEXTS // 3]]


def _bulk(memory: Any, data: dict[str, list[str]]) -> Callable[[], object]:
    return lambda: _fill(memory, data)


def _recall(memory: Any, data: dict[str, list[str]]) -> Callable[[], object]:
    _fill(memory, data)
    memory.recall(data["questions"][0])  # fills the caches
    return lambda: [memory.recall(question) for question in data["questions"]]


def _context(memory: Any, data: dict[str, list[str]]) -> Callable[[], object]:
    _fill(memory, data)
    memory.context(data["questions"][0])
    return lambda: [memory.context(question) for question in data["questions"]]


def _prove(memory: Any, data: dict[str, list[str]]) -> Callable[[], object]:
    from proofs import verify

    ids = _fill(memory, data)[:PROVED]

    def run() -> None:
        for one in ids:
            proof = memory.prove([["atom", one]])
            verify(proof.data, proof.basis, proof.claims)

    return run


def _verify(memory: Any, data: dict[str, list[str]]) -> Callable[[], object]:
    _fill(memory, data)
    verify: Callable[[], object] = memory.verify
    return verify


def _rebuild(memory: Any, data: dict[str, list[str]]) -> Callable[[], object]:
    _fill(memory, data)
    rebuild: Callable[[], object] = memory.rebuild
    return rebuild


OPERATIONS: Final = {
    "add": _add, "bulk": _bulk, "recall": _recall, "context": _context, "prove": _prove, "verify": _verify,
    "rebuild": _rebuild,
}  # fmt: skip
"""Operation → a function that prepares an empty memory and returns what is timed."""


def _fill(memory: Any, data: dict[str, list[str]]) -> list[str]:
    from engine import Add

    return [receipt.subject for receipt in memory.apply_many(map(Add, data["texts"]))]


def cpu_seconds(operation: str, data: dict[str, list[str]]) -> float:
    """Return the CPU time of an operation on a memory of its own, in seconds."""
    from engine import Engine

    with Engine.open("memory:") as memory:
        run = OPERATIONS[operation](memory, data)
        before = time.process_time()
        run()
        return time.process_time() - before


def fell(ratios: Sequence[float]) -> bool:
    """Return True if three quarters of the ratios are above `RATIO_MAX`."""
    lower_quartile, _, _ = statistics.quantiles(ratios, method="inclusive")
    return lower_quartile > RATIO_MAX


def _measured(python: str, operation: str, file: str) -> float:
    """Measure in a new process. It sees the installation of `python`, and not this folder's modules."""
    command = [python, "-P", __file__, operation, file]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=True)
    return float(run.stdout)


def compare(other: str) -> list[str]:
    """Measure all operations, print a line for each, and return those that fell."""
    from bench import data

    fallen = []
    with TemporaryDirectory() as folder:
        file = Path(folder, "data.json")
        texts = [text.content for text in data.texts(TEXTS, 1)]
        file.write_text(json.dumps({"texts": texts, "questions": data.questions(QUESTIONS, 1)}))
        for operation in OPERATIONS:
            ratios = []
            for number in range(ROUNDS):
                order = (other, sys.executable) if number % 2 else (sys.executable, other)
                seconds = [_measured(python, operation, str(file)) for python in order]
                ratios.append(seconds[1] / seconds[0] if number % 2 else seconds[0] / seconds[1])
            fallen += [operation] * fell(ratios)
            shown = " ".join(f"{ratio:.2f}" for ratio in sorted(ratios))
            print(f"{operation:8} {statistics.median(ratios):.2f}  ({shown})", flush=True)
    return fallen


def main(arguments: Sequence[str]) -> int:
    """Compare with the installation of an interpreter, or measure one operation for the comparison."""
    if len(arguments) == 2:
        print(cpu_seconds(arguments[0], json.loads(Path(arguments[1]).read_text())))
        return 0
    fallen = compare(os.path.abspath(arguments[0]))  # noqa: PTH100 (a link to the interpreter is kept)
    print(f"slower: {', '.join(fallen)}" if fallen else "no operation became slower")
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
