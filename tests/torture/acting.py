"""The actions of the simulated processes: commands on shared atoms, reads and upkeep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from engine.base.model import Receipt
from engine.commands import Add
from engine.engine import Engine
from tests.support.workloads import id_of

SHARED: Final = 5
"""The number of atoms that all processes change."""
TAGS: Final = ("red", "blue", "green")

Act = Callable[[Engine, Random, str], Any]


def _some(chosen: Random) -> str:
    return id_of(chosen.randrange(SHARED))


def _link(engine: Engine, chosen: Random, _: str) -> Receipt:
    first, second = chosen.sample(range(SHARED), 2)
    call = engine.link if chosen.random() < 0.6 else engine.unlink
    return call(id_of(first), "references", id_of(second))


def _shared(engine: Engine, chosen: Random, _: str) -> Receipt:
    number = chosen.randrange(SHARED)
    return engine.add(f"shared text {number}", id=id_of(number), tags=[chosen.choice(TAGS)])


def _many(engine: Engine, _: Random, name: str) -> list[Receipt]:
    return list(engine.apply_many([Add(f"bulk {name} {number}") for number in range(20)]))


def _hide(engine: Engine, chosen: Random, _: str) -> Receipt:
    call = engine.tombstone if chosen.random() < 0.5 else engine.revive
    return call(_some(chosen), "simulated")


ACTS: Final[Mapping[str, tuple[int, Act]]] = {
    "add": (5, lambda engine, _, name: engine.add(f"text of {name}")),
    "shared": (4, _shared),
    "tag": (3, lambda engine, chosen, _: engine.tag(_some(chosen), chosen.choice(TAGS))),
    "untag": (2, lambda engine, chosen, _: engine.untag(_some(chosen), chosen.choice(TAGS))),
    "revise": (2, lambda engine, chosen, name: engine.revise(_some(chosen), f"revised by {name}")),
    "hide": (2, _hide),
    "link": (3, _link),
    "relate": (2, lambda engine, chosen, _: engine.relate(chosen.choice("ab"), "uses", chosen.choice("cd"))),
    "many": (1, _many),
    "checkpoint": (1, lambda engine, *_: engine.checkpoint()),
    "supersede": (1, lambda engine, *_: engine.supersede(id_of(0), id_of(1))),
    "merge": (1, lambda engine, *_: engine.merge(id_of(2), id_of(3), force=True)),
    "erase": (1, lambda engine, chosen, _: engine.erase(_some(chosen), "simulated", probe=False)),
    "root": (2, lambda engine, *_: engine.root()),
    "recall": (2, lambda engine, *_: engine.recall("shared text")),
    "find": (1, lambda engine, *_: engine.find(tags=["red"])),
    "rebuild": (1, lambda engine, *_: engine.rebuild()),
    "dream": (1, lambda engine, *_: engine.dream()),
}  # fmt: skip
"""Action → how often, and what it does."""


def act(engine: Engine, chosen: Random, name: str) -> list[Receipt]:
    """Carry out a random action; return its receipts, if it is a command."""
    names = list(ACTS)
    picked = chosen.choices(names, [ACTS[one][0] for one in names])[0]
    told = ACTS[picked][1](engine, chosen, name)
    return [one for one in (told if isinstance(told, list) else [told]) if isinstance(one, Receipt)]
