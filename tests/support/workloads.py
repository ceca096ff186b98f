"""Workloads for tests of the core: lists of steps, each of which is one call on an engine."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from backends.memory import MemoryBackend
from engine.base.errors import translated
from engine.base.validation import show_id
from engine.commands import (
    Add,
    Command,
    Link,
    RegisterType,
    Relate,
    Revise,
    Revive,
    Tag,
    Tombstone,
    Unlink,
    Unrelate,
    Untag,
)
from engine.engine import Engine
from engine.followers.base import drop
from engine.store.maintenance import copy

Step = Callable[[Engine], object]

WORDS = ("sea", "ship", "sail", "ADR-016", "storm", "猫が", "größe", "running", "the")
TAGS = ("red", "Blue", "two words", "é")
RELATIONS = (
    ("daemon", "listens on", "unix socket"),
    ("Daemon", "listens_on", "Unix_Socket"),
    ("daemon", "references", "größe"),
    ("größe", "uses", "daemon"),
)
"""Entity names and predicates; the first two entries are the same relation."""


def id_of(number: int) -> str:
    """Return the id of the n-th atom of a workload."""
    return show_id(b"atom" + number.to_bytes(12, "big"))


def text_of(number: int) -> str:
    """Return a short content that is different for each number."""
    chosen = random.Random(number)
    return f"{number} " + " ".join(chosen.choices(WORDS, k=chosen.randrange(1, 9)))


def commands(count: int, seed: int = 1, *, relating: bool = True) -> list[Command]:
    """Return `count` commands of all kinds that succeed in this order.

    Without `relating`, commands that append several events are left out, as in the recorded golden values.
    """
    chosen = random.Random(seed)
    made: list[Command] = [Add(text_of(0), id=id_of(0)), Add(text_of(1), id=id_of(1)), RegisterType("near")]
    atoms, hidden, related = 2, set[int](), set[tuple[str, str, str]]()
    while len(made) < count:
        number, other = chosen.sample(range(atoms), 2)
        kind = chosen.randrange(11 if relating else 10)
        if kind == 10:
            names = chosen.choice(sorted(related) if related and chosen.random() < 0.5 else RELATIONS)
            if names in related and chosen.random() < 0.6:
                made.append(Unrelate(*names, "gone"))
            else:
                made.append(Relate(*names, None if number in hidden else id_of(number)))
                related.add(names)
        elif kind < 4:
            tags = chosen.sample(TAGS, k=chosen.randrange(3))
            made.append(Add(text_of(atoms), id=id_of(atoms), tags=tags, source=f"notes/{atoms % 5}.md"))
            atoms += 1
        elif kind < 6:
            # Few atoms are linked, so that the same edges are removed and added again.
            number, other = chosen.sample(range(min(atoms, 4)), 2)
            link = Link if chosen.random() < 0.6 else Unlink
            made.append(link(id_of(number), chosen.choice(["references", "near"]), id_of(other)))
        elif number in hidden:
            made.append(Revive(id_of(number)))
            hidden.discard(number)
        elif kind == 6:
            made.append(Tombstone(id_of(number), "stale"))
            hidden.add(number)
        elif kind == 7:
            made.append(Revise(id_of(number), content=text_of(atoms * 1000 + number)))
        else:
            made.append((Tag if kind == 8 else Untag)(id_of(number), [chosen.choice(TAGS)]))
    return made


def apply(*given: Command) -> Step:
    """The number of commands in one batch."""
    return lambda engine: engine.apply(given)


def _drop_all(engine: Engine) -> None:
    with translated():
        drop(engine.store.backend, engine.store.projections)


def _copy(engine: Engine) -> None:
    with translated():
        copy(engine.store.backend, MemoryBackend())


def _erase(number: int) -> Step:
    return lambda engine: engine.erase(id_of(number), "asked for", probe=False)


def _mixed(seed: int, count: int, batch: int) -> list[Step]:
    made = commands(count, seed)
    return [apply(*made[at : at + batch]) for at in range(0, len(made), batch)]


def _every(steps: Sequence[Step], interval: int, extra: Step) -> list[Step]:
    return [
        step for at, one in enumerate(steps, 1) for step in ((one, extra) if at % interval == 0 else (one,))
    ]


WORKLOADS: Mapping[str, list[Step]] = {
    "adds": [apply(Add(text_of(n), id=id_of(n))) for n in range(12)],
    "batches": _mixed(seed=2, count=60, batch=10),
    "mixed": _mixed(seed=3, count=30, batch=1),
    "links": [
        apply(*(Add(text_of(n), id=id_of(n)) for n in range(5)), RegisterType("near")),
        *(apply(Link(id_of(n), "near", id_of(m))) for n in range(5) for m in range(5) if n < m),
        *(apply(Unlink(id_of(0), "near", id_of(m))) for m in range(1, 5)),
    ],
    "reads between": _every(_mixed(seed=4, count=16, batch=1), 2, lambda engine: engine.root()),
    "checkpoints": _every(_mixed(seed=5, count=12, batch=2), 2, lambda engine: engine.checkpoint()),
    "rebuilds": _every(_mixed(seed=6, count=20, batch=5), 2, lambda engine: engine.rebuild()),
    "drops": _every(_mixed(seed=7, count=20, batch=5), 1, _drop_all),
    "copies": _every(_mixed(seed=8, count=12, batch=3), 2, _copy),
    "erasures": [
        *_mixed(seed=9, count=16, batch=2)[:5],
        _erase(0),
        apply(Add("another one", id=id_of(50), tags=["red"]), Link(id_of(50), "references", id_of(1))),
        lambda engine: engine.catch_up(),
        _erase(50),
        apply(Add("yet another", id=id_of(51))),
        _erase(1),
    ],
}
"""Workload name → steps.

A step is a batch of commands, a read, a checkpoint, a rebuild, a drop, a copy or an erasure.
"""

ONE_AT_A_TIME = ("adds", "mixed", "reads between")
"""The workloads in which every batch has one command, so that a step can be repeated without harm."""
