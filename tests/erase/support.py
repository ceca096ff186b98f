"""Stores with histories in which atoms are erased."""

from __future__ import annotations

import random

from backends.base import Backend
from engine.base.errors import EngineError
from engine.commands import Add, Link
from engine.engine import Engine
from engine.ledger.journal import read_log
from engine.ledger.layout import ERASING, JOURNAL, LOG, PAYLOAD
from proofs.leaves import State
from tests.support.engines import backend_of, engine_on
from tests.support.workloads import commands, id_of

SECRET = "The passport of Ermintrude Quillfeather has the number X81723-GHT and a photograph."  # noqa: S105  a text
OTHER = "The kettle is descaled on Mondays."
THIRD = "Teapots are rinsed."


def small(backend: Backend | None = None) -> Engine:
    """Return three linked atoms; the first was revised, tagged, tombstoned and revived."""
    engine = engine_on(backend)
    first = Add(f"{SECRET} Old.", id=id_of(1), tags=["secret", "paper"], source="me.md", title="Ermintrude")
    engine.apply([first, Add(OTHER, id=id_of(2), tags=["paper"]), Add(THIRD, id=id_of(3))])
    engine.revise(id_of(1), content=SECRET)
    engine.tag(id_of(1), "travel")
    engine.apply([Link(id_of(1), "references", id_of(2), 0.5), Link(id_of(3), "part_of", id_of(1))])
    engine.unlink(id_of(3), "part_of", id_of(1), "a slip")
    engine.tombstone(id_of(1), "by mistake")
    engine.revive(id_of(1))
    return engine


def erased(backend: Backend | None = None) -> Engine:
    """Return the same store after erasing the first atom."""
    engine = small(backend)
    engine.erase(id_of(1), "asked for")
    return engine


def mixed(
    seed: int, count: int, erasures: int, backend: Backend | None = None, *, adds: int = 0, lag: bool = True
) -> Engine:
    """Apply commands of all kinds with erasures between them; followers lag, and some atoms are revived."""
    chosen = random.Random(seed)
    engine = engine_on(backend)
    engine.apply_many([Add(f"filler {number} of many words", source="fill") for number in range(adds)])
    made = commands(count, seed)
    cuts = sorted(chosen.sample(range(3, count), erasures))
    for at, command in enumerate(made):
        try:
            engine.apply([command])
        except EngineError:
            continue  # it is about what was erased
        if at in cuts:
            known = [one for one in range(40) if recorded(engine, id_of(one)) is not None]
            engine.erase(id_of(chosen.choice(known)), f"cut {at}", probe=False)
        elif not lag and chosen.random() < 0.1:
            engine.catch_up()
        elif chosen.random() < 0.1:
            gone = [one for one in range(40) if recorded(engine, id_of(one)) is State.ERASED]
            if gone:
                engine.add(f"again {at}", id=id_of(gone[0]), force=True)
    return engine


def recorded(engine: Engine, atom: str) -> State | None:
    """Return the state of an atom, or None if it was never recorded."""
    try:
        return engine.get(atom).state
    except EngineError:
        return None


def rows_made(engine: Engine) -> dict[bytes, bytes]:
    """Return all rows except headers, payloads and the log's state, with all followers at the head."""
    engine.catch_up()
    rows = dict(backend_of(engine).scan())
    assert ERASING not in rows
    return {key: row for key, row in rows.items() if key != LOG and not key.startswith((JOURNAL, PAYLOAD))}


def size_of(engine: Engine) -> int:
    """Return the number of events."""
    return read_log(backend_of(engine)).size
