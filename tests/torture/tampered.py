"""One row is changed behind the engine's back, then a command runs: it is refused, or does what it should.

The command must not be misled. Either it raises an error of the engine, and a rebuild restores the store; or,
after a rebuild, the journal is the journal that the same command writes into the untouched store. Where the
changed row belongs to the journal itself, nothing can restore it, and only a wrong answer counts as a fault.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Final, NamedTuple

from backends import open_backend
from backends.base import Backend
from backends.memory import MemoryBackend
from engine.base.errors import EngineError, translated
from engine.commands import Add, Link, Revise, Tag
from engine.commands.reconcile import UpsertAtom, UpsertEdge
from engine.engine import Engine
from engine.ledger.layout import ERASURE, FAMILIES, JOURNAL, LOG, PAYLOAD
from engine.store.maintenance import rebuild
from engine.trust.audit.verify import verify
from proofs.leaves import EdgeType
from tests.support.engines import backend_of, engine_on, put_rows
from tests.support.workloads import id_of

Rows = dict[bytes, bytes]
Changes = dict[bytes, bytes | None]
Run = Callable[[Engine, int], object]

ATOMS: Final = 12
"""The number of atoms, of which the first have histories of different kinds."""
_JOURNAL: Final = (JOURNAL, PAYLOAD, ERASURE, LOG)


def _filled() -> Engine:
    """Return a store with rows in every family, whose first atoms have many kinds of histories."""
    engine = engine_on()
    engine.apply(
        [Add(f"text {at} of the sea and the ship", id=id_of(at), tags=["red"]) for at in range(ATOMS)]
    )
    engine.register_type("near")
    for at in range(ATOMS - 1):
        engine.apply([Link(id_of(at), "near", id_of(at + 1)), Link(id_of(at), "references", id_of(at + 1))])
    engine.apply([Tag(id_of(1), ["blue"]), Revise(id_of(2), content="another text of the storm")])
    engine.tombstone(id_of(3), "stale")
    engine.tombstone(id_of(5), "stale")
    engine.revive(id_of(5))
    engine.unlink(id_of(0), "near", id_of(1))
    engine.relate("daemon", "listens on", "unix socket", source=id_of(6))
    engine.unrelate("daemon", "listens on", "unix socket")
    engine.supersede(id_of(7), id_of(8))
    engine.merge(id_of(9), id_of(10), force=True)
    engine.erase(id_of(4), "asked for", probe=False)
    engine.checkpoint()
    engine.apply([Add(f"filler {at}") for at in range(280)])
    return engine


COMMANDS: Final[dict[str, Run]] = {
    "add": lambda engine, at: engine.add(f"new {at}"),
    "add with its id": lambda engine, at: engine.add(f"text {at} of the sea and the ship", id=id_of(at)),
    "add by force": lambda engine, at: engine.add(f"anew {at}", id=id_of(at), force=True),
    "add in bulk": lambda engine, at: engine.apply([Add(f"new {at} {number}") for number in range(8)]),
    "add again in bulk": lambda engine, at: engine.apply(
        [
            Add(f"text {number} of the sea and the ship", id=id_of(number), force=True)
            for number in range(ATOMS)
        ]
    ),
    "upsert in bulk": lambda engine, at: engine.apply(
        [UpsertAtom(Add(f"filler {n}")) for n in range(at, at + 8)]
    ),
    "revise": lambda engine, at: engine.revise(id_of(at), content=f"revised {at}"),
    "tombstone": lambda engine, at: engine.tombstone(id_of(at), "stale"),
    "revive": lambda engine, at: engine.revive(id_of(at)),
    "tag": lambda engine, at: engine.tag(id_of(at), "green"),
    "untag": lambda engine, at: engine.untag(id_of(at), "red"),
    "register": lambda engine, at: engine.register_type("near"),
    "register another": lambda engine, at: engine.register_type("far"),
    "link": lambda engine, at: engine.link(id_of(at), "near", id_of((at + 1) % ATOMS)),
    "link back": lambda engine, at: engine.link(id_of((at + 1) % ATOMS), "near", id_of(at)),
    "link in bulk": lambda engine, at: engine.apply(
        [
            UpsertEdge(
                bytes.fromhex(id_of(a).replace("-", "")),
                EdgeType.REFERENCES,
                bytes.fromhex(id_of(b).replace("-", "")),
            )
            for a in range(at, ATOMS)
            for b in range(a + 1, ATOMS)
        ]
    ),
    "unlink": lambda engine, at: engine.unlink(id_of(at), "references", id_of((at + 1) % ATOMS)),
    "relate": lambda engine, at: engine.relate("daemon", "listens on", "unix socket", source=id_of(at)),
    "relate others": lambda engine, at: engine.relate(f"thing {at}", "is near", "daemon"),
    "unrelate": lambda engine, at: engine.unrelate("daemon", "listens on", "unix socket"),
    "supersede": lambda engine, at: engine.supersede(id_of(at), id_of((at + 1) % ATOMS)),
    "merge": lambda engine, at: engine.merge(id_of(at), id_of((at + 2) % ATOMS), force=True),
    "unmerge": lambda engine, at: engine.unmerge(id_of(10)),
    "erase": lambda engine, at: engine.erase(id_of(at), "asked for", probe=False),
    "add, checkpoint": lambda engine, at: (engine.add(f"new {at}"), engine.checkpoint())[1],
    "add in bulk, checkpoint": lambda engine, at: (
        engine.apply([Add(f"new {at} {number}", tags=["red"]) for number in range(8)]),
        engine.checkpoint(),
    )[1],
    "tag, checkpoint": lambda engine, at: (engine.tag(id_of(at), "green", "blue"), engine.checkpoint())[1],
    "revise, checkpoint": lambda engine, at: (engine.revise(id_of(at), content="new"), engine.checkpoint())[
        1
    ],
    "erase, checkpoint": lambda engine, at: (
        engine.erase(id_of(at), "asked for", probe=False),
        engine.checkpoint(),
    )[1],
    "checkpoint": lambda engine, at: engine.checkpoint(),
    "root": lambda engine, at: engine.root().root,
}
"""Name of a command → the function that runs it on the atom with a number."""


_ROOTED: Final = [name for name in COMMANDS if "checkpoint" in name or name == "root"]
_IN_ROOTS: Final = frozenset({"trees", "tags", "index", "values", "log", "erasures"})
"""The families on whose rows roots depend, and the commands that use roots, which are tried more often."""


def flipped(rows: Rows, chosen: random.Random) -> Changes:
    """Flip one bit in the value of one row."""
    key = chosen.choice([key for key in sorted(rows) if rows[key]])
    value = bytearray(rows[key])
    value[chosen.randrange(len(value))] ^= 1 << chosen.randrange(8)
    return {key: bytes(value)}


def modified(rows: Rows, chosen: random.Random) -> Changes:
    """Give one row the value of another row of its family."""
    key = chosen.choice(sorted(rows))
    return {key: chosen.choice(list(rows.values()))}


def deleted(rows: Rows, chosen: random.Random) -> Changes:
    """Delete one row."""
    return {chosen.choice(sorted(rows)): None}


def inserted(rows: Rows, chosen: random.Random) -> Changes:
    """Add a row with the value of another row and a key that differs from that row's key in one bit."""
    key = chosen.choice(sorted(rows))
    changed = bytearray(key)
    changed[chosen.randrange(3, len(key))] ^= 1 << chosen.randrange(8)
    return {bytes(changed): rows[key]}


def swapped(rows: Rows, chosen: random.Random) -> Changes:
    """Swap the values of two rows."""
    first, second = chosen.choice(sorted(rows)), chosen.choice(sorted(rows))
    return {first: rows[second], second: rows[first]}


WAYS: Final = (flipped, modified, deleted, inserted, swapped)


class State(NamedTuple):
    """The rows of the untouched store, and what each command does to it."""

    rows: Rows
    honest: dict[tuple[str, int], tuple[Rows, object]]
    """Command and number of the atom → the journal afterwards, and the answer."""


def _state(*, settled: bool) -> State:
    engine = _filled()
    if settled:
        engine.catch_up()
    return State(dict(backend_of(engine).scan()), {})


STATES: Final = {True: _state(settled=True), False: _state(settled=False)}
"""The store with all followers up to date, and with followers that lag."""


def _journal(backend: Backend) -> Rows:
    return {key: value for key, value in backend.scan() if key.startswith(_JOURNAL)}


def _honest(state: State, name: str, at: int) -> tuple[Rows, object]:
    """Return the journal after the command ran on the untouched store, and its answer."""
    if (name, at) not in state.honest:
        backend = MemoryBackend()
        put_rows(backend, dict(state.rows))
        answer: object = None
        with suppress(EngineError):
            answer = COMMANDS[name](engine_on(backend), at)
        state.honest[name, at] = _journal(backend), answer
    return state.honest[name, at]


class Case(NamedTuple):
    """One change and one command after it."""

    family: str
    way: str
    settled: bool
    name: str
    at: int
    changes: Changes


def cases(count: int, seed: int) -> Iterator[Case]:
    """Yield `count` random cases, evenly distributed over families and ways of changing."""
    chosen = random.Random(seed)
    names = list(COMMANDS)
    pairs = [(family, way) for family in FAMILIES for way in WAYS]
    made = 0
    for family, way in cycle(pairs):
        if made == count:
            return
        settled = chosen.random() < 0.7
        prefix = FAMILIES[family]
        rows = {key: value for key, value in STATES[settled].rows.items() if key.startswith(prefix)}
        if not rows:
            continue
        changes = way(_near(rows, chosen), chosen)
        if any(STATES[settled].rows.get(key) != value for key, value in changes.items()):
            made += 1
            yield Case(
                family,
                way.__name__,
                settled,
                chosen.choice(_ROOTED if family in _IN_ROOTS and chosen.random() < 0.6 else names),
                _atom_in(changes, chosen),
                changes,
            )


def _near(rows: Rows, chosen: random.Random) -> Rows:
    """Return mostly the rows that name one of the atoms with a history, if there are any."""
    named = {key: value for key, value in rows.items() if b"atom\0" in key}
    return named if len(named) > 1 and chosen.random() < 0.8 else rows


def _atom_in(changes: Changes, chosen: random.Random) -> int:
    """Return the number of an atom that the changed rows name, or a random number."""
    for key in changes:
        place = key.find(b"atom\0")
        if place >= 0 and len(key) >= place + 16:
            number = int.from_bytes(key[place + 4 : place + 16], "big")
            if number < ATOMS:
                return number
    return chosen.randrange(ATOMS)


def outcome(case: Case, backend: Backend) -> str:
    """Run a case on an empty backend, and return what came of it.

    The results `refused`, `harmless` and `detected` are right. The results `wrong event`, `wrong answer`,
    `broken` and `not healed` are faults. `detected` means that the journal itself was changed, and that the
    change was reported.
    """
    state = STATES[case.settled]
    put_rows(backend, {**state.rows, **case.changes})
    journal, answer = _honest(state, case.name, case.at)
    in_journal = case.family in ("journal", "payload")
    given: object = None
    raised: EngineError | None = None
    try:
        with translated():
            given = COMMANDS[case.name](engine_on(backend), case.at)
    except EngineError as error:
        raised = error
    try:
        with translated():
            rebuild(backend)
            engine_on(backend)  # an interrupted erasure is finished
    except EngineError:
        return "detected" if in_journal else "not healed"
    healed = _journal(backend)
    if raised is None and case.name == "root" and given != answer:
        return "wrong answer"
    if healed == journal:
        return "harmless" if raised is None else "refused"
    if raised is not None and _is_between(state, healed, journal):
        return "refused"
    if in_journal:
        return "detected" if not verify(backend).ok else "wrong event"
    return "wrong event" if verify(backend).ok else "broken"


def _is_between(state: State, found: Rows, honest: Rows) -> bool:
    """Return whether a journal is the untouched one, with some of the events of the honest one."""
    before = {key: row for key, row in state.rows.items() if key.startswith(_JOURNAL)}
    return found == before or {**found, LOG: b""}.items() <= {**before, **honest, LOG: b""}.items()


FAULTS: Final = ("wrong event", "wrong answer", "broken", "not healed")


def torture(scheme: str, seed: int, wanted: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Carry out cases on a backend; return the counts, and a line for each fault."""
    counts: Counter[str] = Counter()
    told = []
    for number, case in enumerate(cases(wanted, seed)):
        with open_backend("memory:" if scheme == "memory" else f"{scheme}:{folder / str(number)}") as backend:
            result = outcome(case, backend)
        counts["trials"] += 1
        counts[result] += 1
        if result in FAULTS:
            shown = {key: None if value is None else len(value) for key, value in case.changes.items()}
            told.append(f"{result}: {case.way} {case.family}, then {case.name} {case.at}: {shown}")
    return counts, told
