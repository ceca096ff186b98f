"""A store with everything that can be claimed, and every claim about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from backends.base import Backend
from engine.commands import Add, Link, RegisterType, Tombstone, Unlink
from engine.commands.facts import RecordForeignHead
from engine.engine import Engine
from engine.ledger.journal import read_log
from proofs.basis import Basis, LogHead
from proofs.claims import (
    AtomIs,
    AtomsMentioning,
    AtomsTagged,
    BeginsWithRoot,
    Claim,
    EdgeIs,
    EdgesOf,
    EventIs,
    HasTag,
    HeadSeen,
    LacksTag,
    LogBegins,
    NoAtom,
    NoEdge,
    NoneMentioning,
    NoneTagged,
    RootRecorded,
    TagsOf,
)
from proofs.hashing import predicate_code
from proofs.leaves import Direction, EdgeType, Group, State
from proofs.verified import Verified
from proofs.verifier import verify
from tests.support.engines import engine_on
from tests.support.workloads import id_of

ATOMS: Final = 600
"""The number of atoms: two segments of 256, and a tail."""
GONE: Final = 3
"""The number of the tombstoned atom."""
SEEN: Final = bytes([9] * 16), 7, bytes([8] * 32)
"""The head of another store that was seen: its id, size and overall root."""
STRANGER: Final = bytes([0xEE] * 16)
"""The id of an atom that was never recorded."""


def predicate(engine: Engine, name: str = "listens_on") -> bytes:
    """Return the code of a predicate in the store of an engine."""
    return predicate_code(engine.store.identity.id_key, name)


def raw_id(number: int) -> bytes:
    """Return the 16 bytes of the id of the n-th atom."""
    return UUID(id_of(number)).bytes


def filled(backend: Backend | None = None) -> Engine:
    """Return an engine with atoms, edges in all states, a predicate, tags, a checkpoint and a later event."""
    engine = engine_on(backend)
    things, tags = ("kettles", "boilers", "boilers"), ("Kitchen", "heating")
    notes = [
        Add(f"note {n} about {things[n % 3]} and word{n}", id=id_of(n), tags=[tags[n % 2]])
        for n in range(ATOMS)
    ]
    engine.apply(notes)
    engine.apply(
        [
            RegisterType("listens_on"),
            Link(id_of(0), "references", id_of(1), 0.5, b"\x01"),
            Link(id_of(5), "listens_on", id_of(7)),
            Unlink(id_of(0), "references", id_of(1)),
            Add("the only zebra", id=id_of(ATOMS)),
            Add("a quagga, once", id=id_of(ATOMS + 1), tags=["extinct"]),
            Tombstone(id_of(ATOMS + 1)),
            Tombstone(id_of(GONE), "stale"),
            RecordForeignHead(*SEEN[:2], bytes(32), SEEN[2]),
        ]
    )
    engine.checkpoint()
    return engine


def log_head(engine: Engine, size: int | None = None) -> LogHead:
    """Return the log head that a checkpoint note states, as of now or of a size."""
    from engine.trust.proving.log_witnesses import LogPaths

    with engine.store.view(*engine.store.followers) as rows:
        log = read_log(rows)
        of = log.size if size is None else size
        return LogHead(engine.store.identity.store_id, of, LogPaths(rows, log.size).root(of))


def every_claim(engine: Engine) -> list[Claim]:
    """Return true claims of every kind about the store of `filled`, in several places of it."""
    early, checkpoint = log_head(engine, 300), bytes.fromhex(engine.root(as_of=engine.size - 2).root)
    state: list[Claim] = [
        AtomIs(raw_id(1)),
        AtomIs(raw_id(2), opened=False),
        AtomIs(raw_id(GONE), State.TOMBSTONED),
        NoAtom(STRANGER),
        EdgeIs(raw_id(5), predicate(engine), raw_id(7)),
        EdgeIs(raw_id(0), bytes([EdgeType.REFERENCES]), raw_id(1), State.TOMBSTONED),
        NoEdge(raw_id(5), bytes([EdgeType.PART_OF]), raw_id(7)),
        HasTag(raw_id(0), "kitchen"),
        LacksTag(raw_id(0), "heating"),
        LacksTag(raw_id(0), "unheard"),
        HasTag(raw_id(0), "note", group=Group.KIND),
        LacksTag(raw_id(0), "other", group=Group.BUCKET),
        HasTag(raw_id(GONE), "heating", State.TOMBSTONED),
        AtomsTagged("heating"),
        AtomsTagged("heating", first=250, last=260),
        AtomsTagged("internal", Group.PROVENANCE, first=590),
        NoneTagged("unheard"),
        NoneTagged("extinct"),
        AtomsMentioning("zebra"),
        AtomsMentioning("kettl"),
        AtomsMentioning("word300"),
        NoneMentioning("unicorn"),
        NoneMentioning("quagga"),
        AtomsMentioning("kettl", first=256, last=300),
        NoneMentioning("zebra", last=ATOMS - 1),
        EdgesOf(raw_id(5)),
        EdgesOf(raw_id(1), Direction.TO, bytes([EdgeType.REFERENCES])),
        EdgesOf(raw_id(2)),
        TagsOf(raw_id(0)),
        TagsOf(raw_id(ATOMS)),
    ]
    log: list[Claim] = [
        EventIs(5),
        EventIs(6, opened=False),
        LogBegins(early.size, early.root),
        RootRecorded(checkpoint),
        BeginsWithRoot(checkpoint),
        HeadSeen(*SEEN),
    ]
    return state + log


def shown_by(engine: Engine, claims: Sequence[Claim], head: LogHead | None = None) -> tuple[Verified, ...]:
    """Return what a proof of `claims` shows to a verifier, against the root or a log head."""
    proof = engine.prove(claims, checkpoint=head)
    basis: Basis = proof.basis if head is None else head
    return verify(proof.data, basis, claims)
