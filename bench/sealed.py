"""Compare a sealed store with an open one: `python -m bench.sealed --kind sqlite`.

Question: how much slower are writing, recall and opening, and how much larger are the files, if the store is
    sealed? Data: `--atoms` texts and 150 questions of `bench.data`. Seed: 1.
How: the two stores in turn, `--rounds` times, in this process, after a round that is not counted. Times are
CPU times of the process, so other programs hardly matter; quote the ratios. Opening includes no Argon2id,
whose cost is chosen (`backends.sealed.seal.COST`) and is paid once in a process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from backends import open_backend
from backends.sealed.seal import Seal
from bench.data import questions, texts
from engine import Add, Engine

_SINGLE: Final = 150
_NAMES: Final = ("bulk add, µs each", "recall, µs, median", "add, µs, median", "opening, ms", "files, bytes")


def _timed(call: Callable[[], object]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def _round(kind: str, atoms: int, seal: Seal | None) -> tuple[float, ...]:
    """Return the figures of one store, in the order of `_NAMES`."""
    commands = [Add(one.content, tags=one.tags) for one in texts(atoms + _SINGLE, 1)]
    with tempfile.TemporaryDirectory(prefix="memroot-sealed-") as folder:
        url = f"{kind}:{folder}/store"
        with Engine(open_backend(url, key=seal)) as engine:

            def fill() -> None:
                for _ in engine.apply_many(commands[:atoms]):
                    pass
                engine.catch_up()

            bulk = _timed(fill)
        opened: list[Engine] = []
        opening = _timed(lambda: opened.append(Engine(open_backend(url, key=seal))))
        with opened[0] as engine:
            recalls = [_timed(lambda asked=asked: engine.recall(asked)) for asked in questions(150, 1)]  # type: ignore[misc]
            adds = [_timed(lambda one=one: engine.apply([one])) for one in commands[atoms:]]  # type: ignore[misc]
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return bulk / atoms * 1e6, median(recalls) * 1e6, median(adds) * 1e6, opening * 1e3, size


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.sealed", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--kind", choices=("leveldb", "sqlite"), default="leveldb")
    parser.add_argument("--atoms", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    seals = (None, Seal.new({}))
    _round(options.kind, options.atoms, None)
    figures = [[_round(options.kind, options.atoms, seal) for seal in seals] for _ in range(options.rounds)]
    print("| measurement | open | sealed | sealed ÷ open |\n|---|--:|--:|--:|")
    for at, name in enumerate(_NAMES):
        plain, sealed = (median(pair[which][at] for pair in figures) for which in (0, 1))
        ratio = median(pair[1][at] / pair[0][at] for pair in figures)
        print(f"| {name} | {plain:,.1f} | {sealed:,.1f} | {ratio:.2f}× |")


if __name__ == "__main__":
    main()
