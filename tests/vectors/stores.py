"""The stores of the vectors; their bytes depend on this file and the engine alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from backends.memory import MemoryBackend
from engine.commands import Add
from engine.engine import Engine
from engine.ledger.journal import read_raw
from engine.store.replay import replay
from engine.store.store import Store
from engine.text.analyzer import STOP_WORDS, index_terms
from tests.reference.hashes import NAMESPACES, digest, overall
from tests.reference.world import World, world
from tests.spec.spec_facts import Document
from tests.spec.spec_naive import Keys, Rows, dumps, edge_leaves, index_leaves, set_rows, tree_root

BEGIN = 1_700_000_000_000_000
"""The first time of the vectors' clocks, in µs UTC: a Tuesday in November 2023."""


def salt(store: str, seq: int) -> bytes:
    """Return the salt of an event: 32 bytes derived from the store's name and the seq.

    For −1 to −4, return the bytes of the store id and of the three keys.
    """
    return sha256(f"memroot vectors {store} {seq}".encode()).digest()


def engine_of(store: str, clock: Iterator[int]) -> Engine:
    """Return an engine on a new store."""
    return Engine(MemoryBackend(), clock=clock.__next__, salts=lambda seq: salt(store, seq))


def ticks(first: int = BEGIN, step: int = 1_000_003) -> Iterator[int]:
    """Return a clock that advances by `step` at each call."""
    while True:
        yield first
        first += step


WORDS = (
    "anvil",
    "bell",
    "clock",
    "dish",
    "engine",
    "fork",
    "gate",
    "hammer",
    "iron",
    "jar",
    "kettle",
    "lamp",
    "mill",
)


class Made(NamedTuple):
    """A store with some events after its last checkpoint."""

    name: str
    engine: Engine
    past: Store
    """The store just after its last checkpoint event."""
    rows: Rows
    worlds: Mapping[int, World]
    """Number of events → the values derived from that many first events.

    The numbers are that of all events and that of the events before the last checkpoint.
    """

    @property
    def checkpoint(self) -> int:
        """The seq of the last checkpoint."""
        return min(self.worlds)


def made(name: str, engine: Engine) -> Made:
    """Return the engine's store with its past and the values derived from its journal."""
    raw = list(read_raw(engine.store.backend, 0, engine.root().size, 1 << 40))
    rows = [(event.header, event.payload) for event in raw]
    last = max(event.entry.header.seq for event in raw if event.entry.header.kind == 10)
    worlds = {size: world(rows[:size], index_terms, frozenset(STOP_WORDS)) for size in (last, len(rows))}
    scratch = MemoryBackend()
    replay(engine.store.backend, scratch, last + 1)
    return Made(name, engine, Store(scratch, None), rows, worlds)


@cache
def plain(atoms: int) -> Made:
    """Return a store with `atoms` atoms and a checkpoint. Later, one of the atoms, if any, gets a tag."""
    name = f"plain-{atoms}"
    engine = engine_of(name, ticks())
    commands = [
        Add(
            f"{WORDS[number % 13]}{WORDS[number // 13 % 13]} {WORDS[number % 7 + 6]}{number}",
            tags=("kitchen",) if number % 50 == 0 else ("heating", "old") if number % 60 == 1 else (),
            source="lots.md",
            sequence=number,
        )
        for number in range(atoms)
    ]
    ids = [receipt.subject for receipt in engine.apply_many(commands)]
    if atoms > 2:
        engine.link(ids[0], "references", ids[1])
        engine.link(ids[1], "part_of", ids[2])
        engine.unlink(ids[1], "part_of", ids[2])
        engine.tombstone(ids[2], "broken")
        engine.add("a quagga", key="extinct", source="lots.md")
        engine.tombstone(engine.add("a quagga", key="extinct", source="lots.md").subject)
    engine.checkpoint()
    if atoms:
        engine.tag(ids[0], "new")
    return made(name, engine)


COUNT = 65_540
SHOWN = (5, 70, 256, 65_535, 65_537, 65_539)
"""The ordinals of the atoms with the tag and the term `rare`. Atom 70 is tombstoned, atom 256 is erased."""
STATES = {70: 1, 256: 2}


def wide_id(ordinal: int) -> bytes:
    """Return the id of an atom in the wide store."""
    return sha256(b"wide %d" % ordinal).digest()[:16]


SHARED = (5112, 1), (2, 4469)
"""Edges of the wide store: the position of the first from its source begins with the same 3 bytes as that of
the second to its target."""


@cache
def wide() -> World:
    """Return the values of a journal of 65,540 atoms. The journal and most of the atoms are left out."""
    values = {
        wide_id(at): [STATES.get(at, 0), at, 1, at + 1, at + 1, at + 1, salt("wide", at)] for at in SHOWN
    }
    erased = [2, 0, 3, 1, 2, 3, salt("wide", 3)]
    edges = {wide_id(5) + WIDE_CODE + wide_id(70): erased}
    edges |= {src.to_bytes(16) + WIDE_CODE + dst.to_bytes(16): erased for src, dst in SHARED}
    plain_one, rare = Document(["word"], [], (0, 0, 0, 0)), Document(["rare"], [], (0, 0, 0, 0))
    documents = [rare if at in SHOWN else plain_one for at in range(COUNT)]
    keys = Keys(*(salt("wide", -2 - at) for at in range(3)))
    sets = {(2, "rare"): set(SHOWN), (1, ""): {at for at in range(COUNT) if at not in STATES}}
    leaves = {
        "atoms": {key: dumps(value) for key, value in values.items()},
        "edges": edge_leaves({key: dumps(value) for key, value in edges.items()}),
        "tags": {key: keys.salted("tags", key, row) for key, (_, row) in set_rows(sets, keys).items()},
    }
    roots = {name: tree_root(name, found) for name, found in leaves.items()}
    roots["log"] = sha256(b"the log of the wide store").digest()
    roots["index"] = tree_root("index", index_leaves(documents, frozenset(), keys))
    identity = 1, digest("label-key", keys.labels)
    named = [(name, roots[name]) for name in NAMESPACES]
    roots["overall"] = overall(WIDE_ID, *identity, 0, roots["log"], named)
    events: list[tuple[list[Any], list[Any]]] = [
        ([1, 1, 1, 5, "", b"", None, wide_id(at), at], [["rare"]]) for at in SHOWN
    ]
    ids = {at: wide_id(at) for at in SHOWN}
    found: dict[str, dict[bytes, list[Any]]] = {"atoms": values, "edges": edges}
    return World([], events, found, roots, leaves, ids, documents, frozenset(), keys, identity)


WIDE_ID = salt("wide", -1)[:16]
WIDE_CODE = b"\x80" + bytes(7)
"""The code of the predicate of the wide store's edge."""
