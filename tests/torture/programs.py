"""The runs that are recorded and killed: a process of its own that says which events are acknowledged.

`python -m tests.torture.programs URL SEED BUFFER` carries out a history of every kind of command.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from typing import Final

from engine.base.model import Receipt
from engine.commands import Add, Command
from engine.engine import Engine
from tests.support.engines import ticking
from tests.support.workloads import commands, id_of

SALT_BYTES: Final = 32


def salts(seq: int) -> bytes:
    """Return a salt that depends only on the seq."""
    return random.Random(f"salt {seq}").randbytes(SALT_BYTES)


def acknowledge(size: int, _handle: list[int] = []) -> None:  # noqa: B006  opened once
    """Tell the tracer that the first `size` events are acknowledged. The text is thrown away."""
    if not _handle:
        _handle.append(os.open(os.devnull, os.O_WRONLY))
    os.write(_handle[0], b"ack %d" % size)


def small_tables(buffer: int) -> None:
    """Make LevelDB start a new log and table after `buffer` bytes, so that short runs have several."""
    from backends.leveldb import leveldb_opening

    leveldb_opening.OPTIONS["write_buffer_size"] = buffer


def steps(seed: int, count: int) -> Iterator[Callable[[Engine], object]]:
    """Yield a history of every kind of command, with reads, checkpoints, an erasure and a rebuild."""
    chosen = random.Random(seed)
    made = commands(count, seed)
    at = 0
    while at < count:
        size = chosen.choice((1, 1, 1, 2, 7))
        yield _applied(made[at : at + size])
        at += size
        if chosen.random() < 0.15:
            yield _applied([Add("big " + chosen.randbytes(9000).hex(), id=id_of(10_000 + at))])
        if chosen.random() < 0.2:
            yield lambda engine: engine.root()
        if chosen.random() < 0.08:
            yield lambda engine: engine.checkpoint()
    yield lambda engine: engine.add("a secret", id=id_of(9999))
    yield lambda engine: engine.erase(id_of(9999), "asked for", probe=False)
    yield lambda engine: engine.rebuild()
    yield lambda engine: engine.add("the last text", id=id_of(9998))


def _applied(batch: list[Command]) -> Callable[[Engine], object]:
    return lambda engine: engine.apply(batch)


def carry_out(url: str, seed: int, count: int) -> None:
    """Carry out the history on a new store, and acknowledge."""
    with Engine.open(url, clock=ticking(), salts=salts) as engine:
        for step in steps(seed, count):
            told = step(engine)
            for receipt in told if isinstance(told, list) else [told]:
                if isinstance(receipt, Receipt) and receipt.events:
                    acknowledge(receipt.events[-1].seq + 1)


if __name__ == "__main__":
    small_tables(int(sys.argv[4]))
    carry_out(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
