"""Interrupts at every line of a commit: afterwards the memory agrees with the disk, or refuses to go on."""

from __future__ import annotations

import json
import linecache
import os
import select
import signal
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, Final

from backends import open_backend
from engine.base.errors import ClosedError, InDoubtError
from engine.engine import Engine
from engine.ledger.journal import read_log
from engine.trust.audit.verify import verify
from tests.support.engines import backend_of, engine_on, fresh_rows
from tests.support.workloads import id_of
from tests.torture.oracle import BROKEN, FOREIGN, LOST

ROOT: Final = Path(__file__).resolve().parents[2]
WATCHED: Final = tuple(
    str(ROOT / name) for name in ("engine/store", "engine/followers", "engine/ledger", "backends")
)
STUCK: Final = "stuck"
STUCK_SECONDS: Final = 20
DIFFERS: Final = "another root than that of the disk"


class Lines:
    """Counts the lines of the watched code that are run, and interrupts at one of them."""

    def __init__(self, at: int) -> None:
        self.count, self.at = 0, at
        self.where = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        """Trace a call, if it is in the watched code."""
        return self._line if frame.f_code.co_filename.startswith(WATCHED) else None

    def _line(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if event == "line" and not _ends_a_block(frame):
            self.count += 1
            if self.count == self.at:
                self.where = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self._line


def _ends_a_block(frame: FrameType) -> bool:
    """Return True for a line `with …`, which is traced once more before the block is left, and for `try:`.

    The interpreter handles no signal where a `with` ends, so an interrupt would leave a lock held that no
    signal can. Before a `try:` it can: where a lock is taken in the line before, an interrupt may leave it
    held. That is not covered.
    """
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
    return line.startswith(("with ", "try:"))


def interrupted(call: Callable[[], object], at: int) -> Lines:
    """Call something and interrupt it at a line; return the counted lines."""
    lines = Lines(at)
    before = sys.gettrace()
    sys.settrace(lines)
    try:
        call()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return lines


def _commit(engine: Engine) -> None:
    engine.add("a text", id=id_of(7), tags=["red"])
    engine.root()


def torture(scheme: str, seed: int, wanted: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Interrupt a commit and the reading of the root at `wanted` lines; return counts and failures.

    Each interrupt happens in a forked process, because what it leaves may wait for ever.
    """
    counts: Counter[str] = Counter()
    told: list[str] = []
    chosen = Random(f"interrupts {scheme} {seed}")
    total = _try_line(scheme, folder / "whole", 0, Counter(), [])
    for number, at in enumerate(sorted(chosen.sample(range(1, total + 1), min(wanted, total)))):
        found, lines = _apart(partial(_try_line, scheme, folder / str(number), at))
        counts += found
        told += [f"{scheme} {line}" for line in lines]
    return counts, told


def _apart(call: Callable[[Counter[str], list[str]], object]) -> tuple[Counter[str], list[str]]:
    """Run a trial in a forked process; one that does not end in time is stuck."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        counts: Counter[str] = Counter()
        told: list[str] = []
        try:
            call(counts, told)
            os.write(writing, json.dumps([counts, told]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as out:
        ended = select.select([out], [], [], STUCK_SECONDS)[0]
        if not ended:
            os.kill(child, signal.SIGKILL)
        raw = out.read()
    os.waitpid(child, 0)
    if not raw:
        return Counter({"trials": 1, STUCK: 1}), [f"{call}"]
    counts, told = json.loads(raw)
    return Counter(counts), told


def _try_line(scheme: str, place: Path, at: int, counts: Counter[str], told: list[str]) -> int:
    url = "memory:" if scheme == "memory" else f"{scheme}:{place}"
    engine = engine_on(open_backend(url))
    engine.add("before", id=id_of(1))
    lines = interrupted(lambda: _commit(engine), at)
    counts.update({"trials": 1, "interrupted": lines.count == at})
    where = f"line {at}, {lines.where}"
    try:
        engine.add("after", id=id_of(8))
        counts["went on"] += 1
    except (InDoubtError, ClosedError):
        counts["refused to go on"] += 1
        engine.close()
        if scheme == "memory":
            return lines.count
        engine = engine_on(open_backend(url))
        engine.add("after", id=id_of(8))
    except Exception as error:  # noqa: BLE001  counted as a failure
        counts[FOREIGN] += 1
        told.append(f"{where}: {type(error).__name__}: {error}"[:300])
        return lines.count
    _compare(engine, where, counts, told)
    engine.close()
    return lines.count


def _compare(engine: Engine, where: str, counts: Counter[str], told: list[str]) -> None:
    backend = backend_of(engine)
    root = engine.root().root
    lost = sum(engine.get(id_of(number)).id != id_of(number) for number in (1, 8))
    counts[LOST] += lost + (read_log(backend).size < 3)
    report = verify(backend)
    counts[BROKEN] += not report.ok
    differs = dict(backend.scan()) != fresh_rows(backend) or engine_on(backend).root().root != root
    counts[DIFFERS] += differs
    if lost or differs or not report.ok:
        told.append(f"{where}: {report.differences[:1]}"[:300])
