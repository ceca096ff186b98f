"""Relations between named entities: which events they append, in which order (docs/commands.md, Entities)."""

from __future__ import annotations

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine import Add, Engine, Link, Relate, Tombstone, Unlink, Unrelate
from engine.base.errors import ConflictError, EngineError, InvalidInputError, NotFoundError
from engine.base.validation import atom_id, show_id
from engine.commands import Command
from engine.ledger.appender import Clock
from engine.ledger.entities import entity_id, entity_key
from engine.store.maintenance import copy
from tests.support.engines import backend_of, engine_on, refuses, salt_of, ticking
from tests.support.workloads import RELATIONS, commands, id_of

DAEMON = ("daemon", "listens on", "unix socket")
SPELLED = ("Daemon", "LISTENS_ON", "Unix_Socket")


def kinds(engine: Engine, command: Command) -> list[str]:
    """Return the kinds of the events that a command appends."""
    (receipt,) = engine.apply([command])
    return [event.kind.name for event in receipt.events]


def entity(engine: Engine, name: str) -> str:
    """Return the id of the entity with a name."""
    return show_id(entity_id(engine.store.identity.id_key, name))


def states(engine: Engine) -> dict[tuple[str, str, str], str]:
    """Return all edges between the atoms of the relation and their source, by the names of their ends."""
    ids = {entity(engine, "daemon"): "daemon", entity(engine, "unix socket"): "socket", id_of(1): "source"}
    edges = [edge for one in ids for edge in engine.edges(one, direction="out", tombstoned=True)]
    return {(ids[edge.src], edge.type, ids[edge.dst]): edge.state.name for edge in edges}


@pytest.fixture
def engine() -> Engine:
    """Return a memory with one atom that states the relation."""
    made = engine_on()
    made.apply([Add("The daemon listens on a Unix socket.", id=id_of(1))])
    return made


def test_all_that_is_missing_is_made_in_order(engine: Engine) -> None:
    """`relate` creates subject, object, predicate, edge, the predicate `mentions`, and the source's edges."""
    assert kinds(engine, Relate(*DAEMON, source=id_of(1))) == [
        "ATOM_ADDED",
        "ATOM_ADDED",
        "EDGE_TYPE_REGISTERED",
        "EDGE_ADDED",
        "EDGE_TYPE_REGISTERED",
        "EDGE_ADDED",
        "EDGE_ADDED",
    ]
    assert states(engine) == {
        ("daemon", "listens_on", "socket"): "LIVE",
        ("source", "mentions", "daemon"): "LIVE",
        ("source", "mentions", "socket"): "LIVE",
    }


def test_entities_are_atoms_with_a_key(engine: Engine) -> None:
    """An entity is an atom with the kind, content, key and id of the specification, and no other fields."""
    engine.relate(*DAEMON)
    atom = engine.get(entity(engine, "DAEMON"))
    assert (atom.kind, atom.content, atom.key) == ("entity", "daemon", entity_key("daemon"))
    assert (atom.title, atom.source, atom.sequence, atom.tags, atom.buckets) == (
        None,
        None,
        None,
        (),
        ("inbox",),
    )


@pytest.mark.parametrize("again", [DAEMON, SPELLED, ("da\u200bemon", "Listens  On", "unix-socket")])
@pytest.mark.parametrize("source", [None, id_of(1)])
def test_a_relation_again_is_no_event(
    engine: Engine, again: tuple[str, str, str], source: str | None
) -> None:
    """Adding a relation again, in any spelling and with another weight, appends no event."""
    first = engine.relate(*DAEMON, source=source)
    second = engine.relate(*again, source=source, weight=0.5)
    assert not second.changed
    assert (
        second.subject
        == first.subject
        == f"{entity(engine, 'daemon')} listens_on {entity(engine, 'unix socket')}"
    )


def test_a_built_in_type_is_not_registered(engine: Engine) -> None:
    """The built-in type `references` is not registered, and `mentions` is registered once."""
    assert kinds(engine, Relate("a", "References", "b")) == ["ATOM_ADDED", "ATOM_ADDED", "EDGE_ADDED"]
    assert kinds(engine, Relate("a", "mentions", "b")) == ["EDGE_TYPE_REGISTERED", "EDGE_ADDED"]
    assert kinds(engine, Relate("a", "references", "b", source=id_of(1))) == ["EDGE_ADDED", "EDGE_ADDED"]


def test_what_is_hidden_is_revived(engine: Engine) -> None:
    """`relate` revives hidden entities and the hidden edge, and changes nothing that is live."""
    engine.relate(*DAEMON)
    engine.apply([Tombstone(entity(engine, "unix socket"))])
    assert kinds(engine, Relate(*DAEMON)) == ["ATOM_REVIVED"]
    engine.apply([Tombstone(entity(engine, "daemon")), Unrelate(*SPELLED, "gone")])
    assert kinds(engine, Relate(*DAEMON)) == ["ATOM_REVIVED", "EDGE_ADDED"]
    assert kinds(engine, Relate(*DAEMON)) == []


def test_a_hidden_relation_comes_back_with_its_new_source(engine: Engine) -> None:
    """A revived relation has the edge data of the command that revived it."""
    engine.apply([Add("The socket is the daemon's.", id=id_of(2))])
    src, dst = entity(engine, "daemon"), entity(engine, "unix socket")
    engine.relate(*DAEMON, source=id_of(1), weight=0.5)
    assert cbor2.loads(engine.get_edge(src, "listens_on", dst).data) == {"source": atom_id(id_of(1))}
    engine.relate(*DAEMON, source=id_of(2))
    assert cbor2.loads(engine.get_edge(src, "listens_on", dst).data) == {"source": atom_id(id_of(1))}
    engine.unrelate(*DAEMON)
    engine.relate(*DAEMON, source=id_of(2), weight=0.25)
    edge = engine.get_edge(src, "listens_on", dst)
    assert (cbor2.loads(edge.data), edge.weight) == ({"source": atom_id(id_of(2))}, 0.25)
    engine.unrelate(*DAEMON)
    engine.relate(*DAEMON)
    assert engine.get_edge(src, "listens_on", dst).data == b""


def test_taking_back_hides_the_edge_alone(engine: Engine) -> None:
    """`unrelate` hides only the edge, with one event; a second call, or one without an edge, appends none."""
    engine.relate(*DAEMON, source=id_of(1))
    assert kinds(engine, Unrelate(*SPELLED, "gone")) == ["EDGE_REMOVED"]
    assert states(engine) == {
        ("daemon", "listens_on", "socket"): "TOMBSTONED",
        ("source", "mentions", "daemon"): "LIVE",
        ("source", "mentions", "socket"): "LIVE",
    }
    assert kinds(engine, Unrelate(*DAEMON)) == []
    assert kinds(engine, Unrelate("unix socket", "references", "daemon")) == []


def test_a_source_that_is_an_entity_mentions_the_other_alone(engine: Engine) -> None:
    """A source that is one of the two entities mentions only the other one."""
    engine.relate(*DAEMON)
    source = entity(engine, "daemon")
    assert kinds(engine, Relate("daemon", "uses", "unix socket", source=source)) == [
        "EDGE_TYPE_REGISTERED",
        "EDGE_ADDED",
        "EDGE_TYPE_REGISTERED",
        "EDGE_ADDED",
    ]


REFUSED: list[tuple[type[EngineError], Command]] = [
    (InvalidInputError, Relate("daemon", "uses", "Daemon")),
    (InvalidInputError, Relate("new one", "uses", "new-one")),
    (InvalidInputError, Relate("new", "größer als", "newer")),
    (InvalidInputError, Relate("new", "uses", " ")),
    (InvalidInputError, Relate("new", "uses", "newer", weight=float("nan"))),
    (InvalidInputError, Relate("new", "uses", "newer", weight=-0.0)),
    (InvalidInputError, Relate("new", "uses", "newer", source="1f0c")),
    (NotFoundError, Relate("new", "uses", "newer", source=id_of(9))),
    (ConflictError, Relate("new", "uses", "newer", source=id_of(2))),
    (ConflictError, Relate("new", "uses", "taken")),
    (ConflictError, Relate("taken", "uses", "new")),
    (NotFoundError, Unrelate("daemon", "uses", "never heard of")),
    (NotFoundError, Unrelate("daemon", "never_heard_of", "unix socket")),
    (InvalidInputError, Unrelate("daemon", "listens on", "DAEMON")),
    (InvalidInputError, Unrelate("daemon", "listens on", "unix socket", "a\nb")),
]


@pytest.mark.parametrize(("error", "command"), REFUSED, ids=lambda value: ascii(value)[-60:])
def test_what_is_refused_leaves_no_trace(engine: Engine, error: type[EngineError], command: Command) -> None:
    """A refused relation writes nothing, alone or after other commands of its batch."""
    engine.apply(
        [Add("x", id=id_of(2)), Tombstone(id_of(2)), Add("a note", key=entity_key("taken")), Relate(*DAEMON)]
    )
    assert refuses(engine, error, engine.apply, [command])
    assert refuses(engine, error, engine.apply, [Add("before"), Relate("p", "q", "r"), command])


def test_a_relation_with_a_source_that_is_hidden_later_stays(engine: Engine) -> None:
    """A relation stays when its source is hidden later; a new relation from that source is refused."""
    engine.relate(*DAEMON, source=id_of(1))
    before = states(engine)
    engine.apply([Tombstone(id_of(1))])
    assert states(engine) == before
    assert refuses(engine, ConflictError, engine.relate, *DAEMON, source=id_of(1))
    assert not engine.relate(*DAEMON).changed


def test_links_and_relations_are_the_same_edges(engine: Engine) -> None:
    """An edge that was linked by ids is the same as the relation, and `unrelate` removes it."""
    engine.relate("a", "uses", "b")
    ends = entity(engine, "a"), entity(engine, "b")
    engine.apply([Unlink(ends[0], "uses", ends[1])])
    assert kinds(engine, Unrelate("a", "uses", "b")) == []
    engine.apply([Link(ends[0], "uses", ends[1])])
    assert kinds(engine, Relate("A", "Uses", "B")) == []


def test_one_batch_makes_an_entity_once(engine: Engine) -> None:
    """Later commands of a batch use the entities that earlier ones created."""
    receipts = engine.apply([Relate("a", "uses", "b"), Relate("B", "uses", "A"), Relate("A", "uses", "B")])
    assert [len(receipt.events) for receipt in receipts] == [4, 1, 0]


def test_ids_of_entities_follow_from_the_id_key() -> None:
    """A copy of a store has the same entity ids, and another store has others."""
    first, second = (
        engine_on(),
        Engine(MemoryBackend(), clock=_clock(), salts=lambda seq: salt_of(seq + 1000)),
    )
    for one in (first, second):
        one.relate(*DAEMON)
    assert entity(first, "daemon") != entity(second, "daemon")
    target = MemoryBackend()
    copy(backend_of(first), target)
    assert entity(engine_on(target), "Daemon") == entity(first, "daemon")
    assert not engine_on(target).relate(*SPELLED).changed


def _clock() -> Clock:
    return ticking()


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(max_examples=15)
def test_relations_among_other_commands_are_independent_of_batches(seed: int, size: int) -> None:
    """The records do not depend on the batches of a history, and repeating it appends no event."""
    made = [*commands(40, seed), *(Relate(*names) for names in RELATIONS)]
    whole, cut = engine_on(clock=lambda: 1), engine_on(clock=lambda: 1)
    whole.apply(made)
    for at in range(0, len(made), size):
        cut.apply(made[at : at + size])
    assert whole.root() == cut.root()
    assert not any(receipt.changed for receipt in cut.apply([Relate(*names) for names in RELATIONS]))
