"""Every claim, against the root and a log head, on every backend: proofs agree with the engine."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from backends import open_backend
from engine.base.errors import NotFoundError
from engine.base.model import Atom, Edge
from engine.base.validation import show_id
from engine.engine import Engine
from engine.followers.tags import members
from proofs import claims as kinds
from proofs.basis import LogHead, Root
from proofs.claims import Claim
from proofs.events import AtomBody, EdgeBody, ForeignHeadDetail
from proofs.leaves import Direction, Group, State, Value
from proofs.verified import (
    AbsentAtom,
    AbsentEdge,
    AllEdges,
    AllMentioning,
    AllTagged,
    AllTags,
    LiveAtom,
    LiveEdge,
    LoggedEvent,
    LogPrefix,
    RecordedRoot,
    SeenHead,
    Tagged,
    TagUnused,
    TermUnused,
    TombstonedAtom,
    TombstonedEdge,
    Untagged,
    Verified,
)
from proofs.verifier import verify
from tests.support.engines import backend_of
from tests.support.leveldb import LEVELDB
from tests.trust.proving.support import SEEN, every_claim, filled, log_head, predicate

pytestmark = pytest.mark.slow

ENGINE = filled()
CLAIMS = every_claim(ENGINE)
HEAD = log_head(ENGINE)
TYPES = {predicate(ENGINE): "listens_on", b"\x06": "references", b"\x05": "part_of"}
BASES: dict[str, LogHead | None] = {"root": None, "log head": HEAD}
NAMES = [f"{at} {type(claim).__name__}" for at, claim in enumerate(CLAIMS)]
Says = Callable[[Engine, Verified], bool]


@pytest.fixture(params=["memory", LEVELDB, "sqlite"], scope="module")
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return the same store on each backend."""
    if request.param == "memory":
        yield ENGINE
        return
    folder = tmp_path_factory.mktemp("store")
    with open_backend(f"{request.param}:{folder / 'store'}") as backend, filled(backend) as engine:
        yield engine


def shows_atom(memory: Engine, shown: Verified) -> bool:
    """Return True if the fact about an atom agrees with `get`."""
    assert isinstance(shown, LiveAtom | TombstonedAtom)
    atom = memory.get(show_id(shown.claim.id))
    return same_value(atom, shown.value) and (shown.body is None or same_body(atom, shown.body))


def same_value(found: Atom | Edge, value: Value) -> bool:
    """Return True if a value is that of an atom or edge."""
    names = ["state", "created_seq", "last_seq"]
    names += ["version", "ordinal", "payload_seq"] if isinstance(found, Atom) else []
    return all(getattr(found, name) == getattr(value, name) for name in names)


def same_body(atom: Atom, body: AtomBody) -> bool:
    """Return True if a payload agrees with the atom, except for tags, which change without a new payload."""
    names = ("content", "title", "kind", "source", "sequence", "trust")
    return all(getattr(atom, name) == getattr(body, name) for name in names)


def shows_edge(memory: Engine, shown: Verified) -> bool:
    """Return True if the fact about an edge agrees with `get_edge` and `edges`."""
    assert isinstance(shown, LiveEdge | TombstonedEdge)
    src, kind, dst = show_id(shown.claim.src), TYPES[shown.claim.code], show_id(shown.claim.dst)
    edge = memory.get_edge(src, kind, dst)
    listed = edge in memory.edges(src, types=[kind])
    assert isinstance(shown.body, EdgeBody)
    return (
        same_value(edge, shown.value)
        and listed is (shown.claim.state is State.LIVE)
        and (struct.pack(">f", edge.weight), edge.data) == (shown.body.weight, shown.body.data)
    )


def shows_no_atom(memory: Engine, shown: Verified) -> bool:
    """Return True if `get` does not find the atom."""
    assert isinstance(shown, AbsentAtom)
    with pytest.raises(NotFoundError):
        memory.get(show_id(shown.claim.id))
    return True


def shows_no_edge(memory: Engine, shown: Verified) -> bool:
    """Return True if `get_edge` does not find the edge."""
    assert isinstance(shown, AbsentEdge)
    with pytest.raises(NotFoundError):
        memory.get_edge(show_id(shown.claim.src), TYPES[shown.claim.code], show_id(shown.claim.dst))
    return True


def named(atom: Atom, group: Group, value: str) -> bool:
    """Return True if an atom has a tag or another value of a group."""
    values: dict[Group, set[str]] = {
        Group.TAG: {tag.casefold() for tag in atom.tags},
        Group.BUCKET: set(atom.buckets),
        Group.KIND: {atom.kind},
        Group.PROVENANCE: {atom.provenance},
    }
    return value in values[group]


def shows_tag(memory: Engine, shown: Verified) -> bool:
    """Return True if the fact agrees with the atom."""
    assert isinstance(shown, Tagged | Untagged)
    atom = memory.get(show_id(shown.claim.id))
    has = named(atom, shown.claim.group, shown.claim.value)
    return has is isinstance(shown, Tagged) and same_value(atom, shown.value)


def shows_tagged(memory: Engine, shown: Verified) -> bool:
    """Return True if exactly these live atoms in the range have the value."""
    assert isinstance(shown, AllTagged | TagUnused)
    claim = shown.claim
    listed = {show_id(atom.id) for atom in shown.atoms} if isinstance(shown, AllTagged) else set()
    live = [memory.get(one.id) for one in memory.find(limit=1000)]
    found = [atom for atom in live if named(atom, claim.group, claim.value)]
    return listed == {atom.id for atom in found if claim.first <= atom.ordinal <= claim.last}


def shows_edges(memory: Engine, shown: Verified) -> bool:
    """Return True if the edges that are live are those that `edges` returns."""
    assert isinstance(shown, AllEdges)
    claim, atom = shown.claim, show_id(shown.claim.id)
    types = list(TYPES.values()) if claim.code is None else [TYPES[claim.code]]
    outgoing = claim.direction is Direction.FROM
    found = memory.edges(atom, direction="out" if outgoing else "in", types=types)
    live = {(TYPES[edge.type], show_id(edge.other)) for edge in shown.edges if edge.value.state == State.LIVE}
    return live == {(edge.type, edge.dst if outgoing else edge.src) for edge in found}


def shows_tags(memory: Engine, shown: Verified) -> bool:
    """Return True if the atom has exactly these tags."""
    assert isinstance(shown, AllTags)
    found = memory.get(show_id(shown.claim.id))
    return same_value(found, shown.value) and shown.tags == tuple(sorted(map(str.casefold, found.tags)))


def shows_seen(memory: Engine, shown: Verified) -> bool:
    """Return True if the event with the head of another store is at that place in the log."""
    assert isinstance(shown, SeenHead)
    (item,) = memory.log(shown.header.seq, shown.header.seq + 1)
    seen = shown.header.detail
    return item.time == shown.header.time and isinstance(seen, ForeignHeadDetail) and seen.states(*SEEN)


def shows_mentioning(memory: Engine, shown: Verified) -> bool:
    """Return True if the index gives exactly these live atoms, with the same frequencies."""
    assert isinstance(shown, AllMentioning | TermUnused)
    store = memory.store
    with store.view(*store.followers) as rows:
        parts = store.index.view(rows).postings(shown.claim.term)
        live = set(members(rows, (Group.LIVE, "")))
    pairs = [
        (part.start + offset, tf)
        for part in parts
        for offset, tf in zip(part.offsets.tolist(), part.tfs.tolist(), strict=True)
    ]
    claim = shown.claim
    found = [pair for pair in pairs if pair[0] in live and claim.first <= pair[0] <= claim.last]
    atoms = shown.atoms if isinstance(shown, AllMentioning) else ()
    return found == [(atom.value.ordinal, atom.tf) for atom in atoms] and all(
        memory.get(str(UUID(bytes=atom.id))).ordinal == atom.value.ordinal for atom in atoms
    )


def shows_event(memory: Engine, shown: Verified) -> bool:
    """Return True if `log` has the event at that place with the same kind, time and actor."""
    assert isinstance(shown, LoggedEvent)
    (item,) = memory.log(shown.claim.seq, shown.claim.seq + 1)
    header = shown.header
    said = (item.seq, item.kind, item.time, item.actor)
    return said == (header.seq, header.kind, header.time, header.actor)


def shows_prefix(memory: Engine, shown: Verified) -> bool:
    """Return True if the store of that size has this overall root or log root."""
    assert isinstance(shown, LogPrefix)
    then = memory.root(as_of=shown.size - 1)
    return shown.claim.root.hex() == (
        then.log_root if isinstance(shown.claim, kinds.LogBegins) else then.root
    ) and (shown.into in {memory.size, memory.size - 1})


def shows_recorded(memory: Engine, shown: Verified) -> bool:
    """Return True if the event is a checkpoint of the root that the store had before it."""
    assert isinstance(shown, RecordedRoot)
    return memory.root(as_of=shown.header.seq - 1).root == shown.claim.root.hex()


SAYS: dict[type[Claim], Says] = {
    kinds.AtomIs: shows_atom,
    kinds.NoAtom: shows_no_atom,
    kinds.EdgeIs: shows_edge,
    kinds.NoEdge: shows_no_edge,
    kinds.HasTag: shows_tag,
    kinds.LacksTag: shows_tag,
    kinds.AtomsTagged: shows_tagged,
    kinds.NoneTagged: shows_tagged,
    kinds.AtomsMentioning: shows_mentioning,
    kinds.NoneMentioning: shows_mentioning,
    kinds.EventIs: shows_event,
    kinds.LogBegins: shows_prefix,
    kinds.RootRecorded: shows_recorded,
    kinds.BeginsWithRoot: shows_prefix,
    kinds.EdgesOf: shows_edges,
    kinds.TagsOf: shows_tags,
    kinds.HeadSeen: shows_seen,
}
"""The check, by claim, that the engine itself agrees with what was shown."""


def test_no_claim_is_left_out() -> None:
    """These tests make claims of every kind."""
    assert {type(claim) for claim in CLAIMS} == set(kinds.ALL.values()) == set(SAYS)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("claim", CLAIMS, ids=NAMES)
def test_a_proof_shows_what_the_engine_says(engine: Engine, claim: Claim, basis: str) -> None:
    """A proof verifies, agrees with the engine's answers, and has the same bytes on every backend."""
    head = BASES[basis]
    proof = engine.prove([claim], checkpoint=head)
    trusted = head or Root(engine.store.identity.store_id, bytes.fromhex(engine.root().root), engine.size)
    (shown,) = verify(proof.data, trusted, [claim])
    assert shown.claim == claim
    assert proof.shown == (shown,)
    assert SAYS[type(claim)](engine, shown)
    assert proof.data == ENGINE.prove([claim], checkpoint=head).data


@pytest.mark.parametrize("basis", BASES)
def test_all_claims_in_one_proof(engine: Engine, basis: str) -> None:
    """One proof of all claims, in any order, verifies and is smaller than separate proofs."""
    head = BASES[basis]
    proof = engine.prove(CLAIMS, checkpoint=head)
    again = engine.prove(CLAIMS[::-1], checkpoint=head)
    assert proof.data == again.data == ENGINE.prove(CLAIMS, checkpoint=head).data
    assert [shown.claim for shown in verify(proof.data, head or proof.basis, CLAIMS)] == CLAIMS
    assert len(proof.data) < sum(len(engine.prove([claim], checkpoint=head).data) for claim in CLAIMS)


def test_proving_changes_nothing() -> None:
    """Making a proof writes nothing once the followers are at the head."""
    ENGINE.catch_up()
    before = dict(backend_of(ENGINE).scan())
    ENGINE.prove(CLAIMS)
    ENGINE.prove(CLAIMS, checkpoint=HEAD)
    assert dict(backend_of(ENGINE).scan()) == before
