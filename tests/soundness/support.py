"""Small deterministic stores, and an honest proof of every claim in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from uuid import UUID

from backends.memory import MemoryBackend
from engine.commands import Add, Command, Link, Tag, Tombstone, Unlink
from engine.commands.facts import RecordForeignHead
from engine.engine import Engine
from engine.ledger.journal import read_log
from engine.trust.proving.prove import prove_present, prove_to
from proofs import claims as kinds
from proofs.basis import LogHead
from proofs.claims import Claim
from proofs.leaves import Direction, Group, State
from tests.soundness.wire import Item, plain_basis, plain_claim
from tests.support.engines import BEGIN, ticking
from tests.support.workloads import id_of

SIZES = (0, 1, 2, 3, 255, 256, 257, 1000)
"""Numbers of atoms in the stores whose proofs are changed; segments of an index begin at 256."""
REFERENCES = b"\x06"
SEEN = b"\x66" * 16, 7, b"\x99" * 32
"""The head of another store that each store records."""


@dataclass(frozen=True)
class World:
    """A store and the true claims about it."""

    engine: Engine
    atoms: int
    earlier: bytes
    """An earlier overall root, which a checkpoint holds."""
    head: LogHead
    """The head of the whole log, whose last event is a checkpoint."""

    def item(self, name: str, claims: Sequence[Claim], *, by_log: bool) -> Item:
        """Return an honest proof."""
        store = self.engine.store
        proof = prove_to(store, claims, self.head) if by_log else prove_present(store, claims)
        return Item(name, proof.data, plain_basis(proof.basis), [plain_claim(claim) for claim in claims])


def raw_id(number: int) -> bytes:
    """Return the id of the n-th atom."""
    return UUID(id_of(number)).bytes


def engine_of(store: int) -> Engine:
    """Return an engine on a new store; the same number gives the same bytes."""

    def salt(seq: int) -> bytes:
        return sha256(b"soundness %d %d" % (store, seq)).digest()

    return Engine(MemoryBackend(), clock=ticking(BEGIN + store), salts=salt)


def commands(atoms: int) -> list[Command]:
    """Return a history with live, tombstoned and tagged atoms, and with live and removed edges."""
    made: list[Command] = [
        Add(
            f"note {number} of {'kettles' if number % 3 == 0 else 'boilers'}",
            id=id_of(number),
            tags=["kitchen"] if number % 2 == 0 else ["heating", "old"],
        )
        for number in range(atoms)
    ]
    if atoms > 1:
        made += [Link(id_of(0), "references", id_of(1)), Tag(id_of(1), ["kitchen"])]
    if atoms > 2:
        made += [
            Link(id_of(1), "references", id_of(2)),
            Unlink(id_of(1), "references", id_of(2)),
            Add("a quagga", id=id_of(atoms)),
            Tombstone(id_of(atoms), "extinct"),
        ]
    return made


@cache
def world(atoms: int, store: int = 0) -> World:
    """Return the store of `atoms` atoms; stores with different `store` differ in id and salts alone."""
    engine = engine_of(store)
    made = commands(atoms)
    half = len(made) // 2
    engine.apply(made[:half])
    earlier = bytes.fromhex(engine.root().root)
    engine.checkpoint()
    engine.apply([*made[half:], RecordForeignHead(*SEEN[:2], bytes(32), SEEN[2])])
    engine.checkpoint()
    log = read_log(engine.store.backend)
    return World(
        engine, atoms, earlier, LogHead(engine.store.identity.store_id, log.size, log.frontier.root())
    )


def claims_of(at: World) -> dict[str, list[Claim]]:
    """Return a true claim of every kind that this store has, and several together.

    All stores share the same claims of absence: one gap holds many absent keys, whose proofs have the same
    bytes, so a proof of one store may show the absence in another.
    """
    last, found = at.head.size - 1, dict[str, Claim]()
    found["no-atom"] = kinds.NoAtom(b"\x77" * 16)
    found["no-edge"] = kinds.NoEdge(raw_id(1), REFERENCES, raw_id(0))
    found["none-tagged"] = kinds.NoneTagged("garden")
    found["no-term"] = kinds.NoneMentioning("unicorn")
    found["no-term-between"] = kinds.NoneMentioning("lamp")
    found["dead-term"] = kinds.NoneMentioning("quagga")
    found["event"] = kinds.EventIs(last // 3)
    found["event-closed"] = kinds.EventIs(last, opened=False)
    found["root"] = kinds.RootRecorded(at.earlier)
    found["prefix-root"] = kinds.BeginsWithRoot(at.earlier)
    found["seen"] = kinds.HeadSeen(*SEEN)
    found["no-edges"] = kinds.EdgesOf(b"\x77" * 16)
    found["none-on-a-page"] = kinds.NoneTagged("garden", first=1, last=300)
    found["edges"] = kinds.EdgesOf(raw_id(0), Direction.FROM, REFERENCES)
    if at.atoms:
        found["atom"] = kinds.AtomIs(raw_id(0))
        found["atom-closed"] = kinds.AtomIs(raw_id(0), opened=False)
        found["tag"] = kinds.HasTag(raw_id(0), "kitchen")
        found["no-tag"] = kinds.LacksTag(raw_id(0), "garden")
        found["no-tag-chunk"] = kinds.LacksTag(raw_id(0), "heating")
        found["in-source"] = kinds.LacksTag(raw_id(0), "elsewhere.md", group=Group.SOURCE)
        found["tags"] = kinds.TagsOf(raw_id(0))
        found["tagged"] = kinds.AtomsTagged("kitchen")
        found["term"] = kinds.AtomsMentioning("kettl")
    if at.atoms > 1:
        found["edge"] = kinds.EdgeIs(raw_id(0), REFERENCES, raw_id(1))
    if at.atoms > 2:
        hidden = raw_id(at.atoms)
        found["atom-hidden"] = kinds.AtomIs(hidden, State.TOMBSTONED)
        found["no-tag-hidden"] = kinds.LacksTag(hidden, "kitchen", State.TOMBSTONED)
        found["edge-gone"] = kinds.EdgeIs(raw_id(1), REFERENCES, raw_id(2), State.TOMBSTONED, opened=False)
    single = {name: [claim] for name, claim in found.items()}
    names = [name for name in found if name not in ("atom-closed", "no-tag-chunk", "none-on-a-page")]
    return single | {"several": [found[name] for name in reversed(names)]} | {"prefix": [_prefix(at)]}


def _prefix(at: World) -> Claim:
    from engine.trust.proving.log_witnesses import LogPaths

    size = max(1, at.head.size // 2)
    with at.engine.store.view() as rows:
        return kinds.LogBegins(size, LogPaths(rows, at.head.size).root(size))


@cache
def items(atoms: int, store: int = 0) -> dict[str, Item]:
    """Return the honest proofs of a store, each against both bases: `atom@root`, `atom@log` and so on."""
    at = world(atoms, store)
    return {
        f"{name}@{'log' if by_log else 'root'}": at.item(
            f"{name}@{'log' if by_log else 'root'}", claims, by_log=by_log
        )
        for name, claims in claims_of(at).items()
        for by_log in (False, True)
    }
