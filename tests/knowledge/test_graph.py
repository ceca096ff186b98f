"""Guarantees of the knowledge graph beyond the nine operations: storage and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine import Engine
from engine.base import limits
from engine.base.errors import (
    BatchLimitError,
    ConflictError,
    EngineError,
    InvalidInputError,
    LimitError,
    NotFoundError,
)
from engine.base.model import Direction, Edge
from engine.base.validation import show_id
from engine.commands import Link, RegisterType, Relate, Revise, Tombstone
from engine.knowledge import Deleted, Entity, Knowledge, KnowledgeGraph, Observed, Relation
from engine.knowledge.graph_commands import (
    GraphCommand,
    add_observations,
    delete_entities,
    delete_observations,
)
from engine.knowledge.graph_encoding import predicate_of, relation_type_of
from engine.ledger.entities import entity_id
from engine.query.filters import Filters
from proofs.codec import pack
from proofs.leaves import State
from tests.support.engines import backend_of, engine_on, refuses
from tests.support.shared_data import needs

pytestmark = pytest.mark.slow

ALICE = Entity("Alice", "person", ("likes tea", "lives in Bern"))
BOB = Entity("Bob", "", ())


@pytest.fixture
def engine() -> Engine:
    """An empty memory."""
    return engine_on()


@pytest.fixture
def graph(engine: Engine) -> KnowledgeGraph:
    """Alice and Bob, who know each other."""
    made = KnowledgeGraph(engine.store)
    made.create_entities([ALICE, BOB])
    made.create_relations([Relation("Alice", "knows", "Bob"), Relation("Bob", "works with", "Alice")])
    return made


def found(engine: Engine, kind: str) -> list[str]:
    """The contents of the live atoms of a kind."""
    filters = Filters(kinds=(kind,))
    return [engine.get(item.id).content for item in engine.find(limit=100, filters=filters)]


def test_an_entity_is_an_atom(engine: Engine, graph: KnowledgeGraph) -> None:
    """Its content is the name, its title the type or None, and its id is that of the name."""
    ids = [entity_id(engine.store.identity.id_key, name) for name in ("Alice", "Bob")]
    atoms = [engine.get(show_id(atom)) for atom in ids]
    assert [(atom.content, atom.title, atom.kind) for atom in atoms] == [
        ("Alice", "person", "entity"),
        ("Bob", None, "entity"),
    ]


def test_an_observation_is_an_atom_that_is_part_of_its_entity(engine: Engine, graph: KnowledgeGraph) -> None:
    """Its title is the entity's name, and it has a source and a sequence."""
    alice = show_id(entity_id(engine.store.identity.id_key, "Alice"))
    edges = engine.edges(alice, direction=Direction.IN, types=["part_of"])
    atoms = sorted((engine.get(edge.src) for edge in edges), key=lambda atom: atom.sequence or 0)
    assert [atom.content for atom in atoms] == ["likes tea", "lives in Bern"]
    assert {(atom.kind, atom.title, atom.source) for atom in atoms} == {
        ("observation", "Alice", "entity/Alice")
    }


def test_observations_are_recalled(engine: Engine, graph: KnowledgeGraph) -> None:
    """Recall finds observations like any other text."""
    assert engine.recall("who likes tea?").hits[0].snippet == "likes tea"


def test_relate_and_the_graph_see_the_same(engine: Engine, graph: KnowledgeGraph) -> None:
    """Entities and relations made by name are in the graph, and the other way round."""
    engine.apply([Relate("alice", "listens on", "unix socket")])
    whole = graph.read_graph()
    assert [entity.name for entity in whole.entities] == ["Alice", "Bob", "unix socket"]
    assert whole.relations[-1] == Relation("Alice", "listens_on", "unix socket")


def test_of_several_spellings_the_first_is_what_others_find(engine: Engine, graph: KnowledgeGraph) -> None:
    """Spellings are separate entities here; other queries find the first."""
    graph.create_entities([Entity("ALICE", "program", ("starts slowly",))])
    engine.apply([Relate("aLiCe", "knows", "Carol")])
    assert graph.open_nodes(["ALICE"]) == Knowledge((Entity("ALICE", "program", ("starts slowly",)),), ())
    assert Relation("Alice", "knows", "Carol") in graph.read_graph().relations


def test_the_first_spelling_stays_where_it_is_when_it_was_deleted(graph: KnowledgeGraph) -> None:
    """A second spelling is found after the first was deleted and created again."""
    graph.create_entities([Entity("ALICE")])
    graph.delete_entities(["Alice"])
    assert graph.open_nodes(["ALICE"]).entities == (Entity("ALICE"),)
    graph.create_entities([Entity("Alice", "cat")])
    assert graph.read_graph().entities == (BOB, Entity("ALICE"), Entity("Alice", "cat"))


def test_what_is_deleted_is_hidden_and_kept(engine: Engine, graph: KnowledgeGraph) -> None:
    """Deleted entities, observations and relations are tombstoned, not destroyed."""
    alice = show_id(entity_id(engine.store.identity.id_key, "Alice"))
    parts = [edge.src for edge in engine.edges(alice, direction=Direction.IN, types=["part_of"])]
    graph.delete_entities(["Alice"])
    atoms = [engine.get(atom) for atom in [alice, *parts]]
    assert {atom.state for atom in atoms} == {State.TOMBSTONED}
    assert {atom.tombstone.reason for atom in atoms if atom.tombstone} == {"deleted from the knowledge graph"}
    edges = engine.edges(alice, direction=Direction.BOTH, tombstoned=True)
    assert len(edges) == 4
    assert {edge.state for edge in edges} == {State.TOMBSTONED}
    with engine.as_of(engine.size - 1) as now, engine.as_of(10) as before:
        assert (now.get(alice).state, before.get(alice).state) == (State.TOMBSTONED, State.LIVE)


def test_what_is_created_again_comes_last(graph: KnowledgeGraph) -> None:
    """Entities, observations and relations that are created again come last."""
    itself, knows, works = Relation("Bob", "is", "Bob"), *graph.read_graph().relations
    graph.create_relations([itself])
    for one, after in ((knows, (works, itself, knows)), (itself, (works, knows, itself))):
        graph.delete_relations([one])
        graph.create_relations([one])
        assert graph.read_graph().relations == after
    for _ in range(2):
        graph.delete_observations([Observed("Alice", ("likes tea",))])
        graph.add_observations([Observed("Alice", ("likes tea",))])
        assert graph.open_nodes(["Alice"]).entities[0].observations == ("lives in Bern", "likes tea")
    graph.delete_entities(["Alice"])
    graph.create_entities([ALICE])
    assert graph.read_graph() == Knowledge((BOB, ALICE), (itself,))


def test_what_is_given_twice_counts_once(graph: KnowledgeGraph) -> None:
    """Repeated observations and relations count once; repeated names to delete count twice."""
    assert graph.delete_observations([Observed("Alice", ("likes tea", "likes tea"))] * 2).count == 1
    assert graph.delete_relations([Relation("Alice", "knows", "Bob")] * 2).count == 1
    assert graph.delete_entities(["Alice", "Alice", "No", "No"]) == Deleted(2, ("No", "No"))


def test_commands_in_one_batch_see_each_other(engine: Engine, graph: KnowledgeGraph) -> None:
    """A command finds what earlier commands of its batch added."""
    given = (Observed("Bob", ("sleeps",)),)
    add, again, more = (GraphCommand(add_observations, given, "internal") for _ in range(3))
    part = GraphCommand(delete_observations, given)
    engine.apply([add, again, part, more, GraphCommand(delete_entities, ("Bob",))])
    assert (add.outcome[0].contents, again.outcome[0].contents) == (("sleeps",), ())
    assert part.outcome == Deleted(1)
    assert found(engine, "observation") == ["likes tea", "lives in Bern"]


def test_other_atoms_that_mention_an_entity_stay(engine: Engine, graph: KnowledgeGraph) -> None:
    """Deleting an entity keeps notes that mention it."""
    note = engine.add("Alice came by.").subject
    engine.apply([Relate("Alice", "visited", "Bob", source=note)])
    graph.delete_entities(["Alice"])
    assert engine.get(note).state is State.LIVE


def test_observations_of_others_that_are_part_of_an_entity(engine: Engine, graph: KnowledgeGraph) -> None:
    """A foreign observation is shown, and only unlinked when the entity is deleted."""
    alice, bob = (show_id(entity_id(engine.store.identity.id_key, name)) for name in ("Alice", "Bob"))
    tea = engine.edges(alice, direction=Direction.IN, types=["part_of"])
    engine.apply([Link(edge.src, "part_of", bob) for edge in tea])
    assert set(graph.open_nodes(["Bob"]).entities[0].observations) == set(ALICE.observations)
    assert graph.delete_observations([Observed("Bob", ("likes tea",))]).count == 1
    graph.delete_entities(["Bob"])
    assert graph.read_graph() == Knowledge((ALICE,), ())


def test_an_observation_that_was_revised(engine: Engine, graph: KnowledgeGraph) -> None:
    """A revised observation is shown, found and deleted by its new content."""
    tea = engine.recall("who likes tea?").hits[0].id
    engine.apply([Revise(tea, content="likes coffee")])
    assert graph.open_nodes(["Alice"]).entities[0].observations[0] == "likes coffee"
    assert graph.add_observations([Observed("Alice", ("likes coffee", "likes tea"))])[0].contents == (
        "likes tea",
    )
    assert graph.delete_observations([Observed("Alice", ("likes coffee",))]).count == 1
    assert graph.read_graph().entities[0].observations == ("lives in Bern", "likes tea")


def test_hidden_ends_hide_relations(engine: Engine, graph: KnowledgeGraph) -> None:
    """A relation to an entity that was tombstoned otherwise comes back with it."""
    alice = show_id(entity_id(engine.store.identity.id_key, "Alice"))
    engine.apply([Tombstone(alice)])
    assert graph.read_graph() == Knowledge((BOB,), ())
    graph.create_entities([ALICE])
    assert len(graph.read_graph().relations) == 2


def test_a_relation_to_itself_is_a_sentence(engine: Engine, graph: KnowledgeGraph) -> None:
    """A relation to itself is an atom with a sentence that recall finds."""
    graph.create_relations([Relation("Bob", "is proud of", "Bob")])
    assert found(engine, "self-relation") == ["Bob is proud of Bob"]
    assert graph.read_graph().relations[-1] == Relation("Bob", "is proud of", "Bob")
    assert graph.delete_relations([Relation("Bob", "is proud of", "Bob")]).count == 1
    assert found(engine, "self-relation") == []


def test_types_that_can_be_predicates_are(engine: Engine, graph: KnowledgeGraph) -> None:
    """A valid predicate is used as it is; other types are stored exactly in the data."""
    made = {edge.type for edge in _relations(engine)}
    assert "knows" in made
    assert any(name.startswith("works_with.") for name in made)


def _relations(engine: Engine) -> list[Edge]:
    ids = [show_id(entity_id(engine.store.identity.id_key, name)) for name in ("Alice", "Bob")]
    return [edge for atom in ids for edge in engine.edges(atom)]


@pytest.mark.parametrize("text", ["knows", "Knows", "", "ist größer als", "a" * 32, "a" * 33, "x.0123abcd"])
def test_a_type_is_read_back_exactly(text: str) -> None:
    """A type is read back exactly from its predicate and data."""
    assert relation_type_of(*predicate_of(text)) == text


def test_a_type_that_looks_made_is_not_taken_for_another() -> None:
    """A type that looks like a generated predicate is stored as data."""
    predicate, _ = predicate_of("works with")
    assert predicate_of(predicate)[0] != predicate


def test_data_that_others_wrote_is_no_type(engine: Engine, graph: KnowledgeGraph) -> None:
    """Data that `predicate_of` did not make is ignored."""
    alice, bob = (show_id(entity_id(engine.store.identity.id_key, name)) for name in ("Alice", "Bob"))
    name = "x.0123abcd"
    engine.apply([RegisterType(name), Link(bob, name, alice, data=pack({"predicate": "lies"}))])
    assert graph.read_graph().relations[-1] == Relation("Bob", name, "Alice")


def test_two_types_with_one_predicate_are_a_conflict(engine: Engine, graph: KnowledgeGraph) -> None:
    """An edge with another type is not overwritten."""
    alice, bob = (show_id(entity_id(engine.store.identity.id_key, name)) for name in ("Alice", "Bob"))
    name, _ = predicate_of("is older than")
    engine.apply([RegisterType(name), Link(alice, name, bob)])
    given = [Relation("Alice", "is older than", "Bob")]
    assert refuses(engine, ConflictError, graph.create_relations, given)
    assert graph.delete_relations(given).count == 0


def test_a_key_that_another_atom_has(engine: Engine) -> None:
    """The second key is used if the first is taken; if both are, nothing is written."""
    graph = KnowledgeGraph(engine.store)
    engine.add("not an entity", key="entity:alice")
    assert graph.create_entities([ALICE]) == (ALICE,)
    assert graph.read_graph().entities == (ALICE,)
    engine.add("nor this", key="entity:bob")
    engine.add("nor that", key="entity=Bob")
    assert refuses(engine, ConflictError, graph.create_entities, [BOB])


BAD: list[tuple[type[EngineError], Callable[[KnowledgeGraph], object]]] = [
    (InvalidInputError, lambda graph: graph.create_entities([Entity("new"), Entity("")])),
    (InvalidInputError, lambda graph: graph.create_entities([Entity("new"), Entity("two\nlines")])),
    (LimitError, lambda graph: graph.create_entities([Entity("x" * 257)])),
    (LimitError, lambda graph: graph.create_entities([Entity("new", "t" * 513)])),
    (InvalidInputError, lambda graph: graph.create_entities([Entity("new", "two\nlines")])),
    (InvalidInputError, lambda graph: graph.create_entities([Entity("new", "", ("text", " \n"))])),
    (LimitError, lambda graph: graph.create_entities([Entity("new", "", ("x" * (1 << 20) + "x",))])),
    (InvalidInputError, lambda graph: graph.add_observations([Observed("Alice", ("new", ""))])),
    (NotFoundError, lambda graph: graph.add_observations([Observed("Alice", ("new",)), Observed("No", ())])),
    (NotFoundError, lambda graph: graph.add_observations([Observed("\udc80", ("new",))])),
    (LimitError, lambda graph: graph.create_relations([Relation("Alice", "x" * 1025, "Bob")])),
    (InvalidInputError, lambda graph: graph.create_relations([Relation("Alice", "\0", "Bob")])),
    (
        NotFoundError,
        lambda graph: graph.create_relations([Relation("Alice", "new", "Bob"), Relation("Bob", "new", "No")]),
    ),
    (InvalidInputError, lambda graph: graph.create_entities("Alice")),  # type: ignore[arg-type]
    (InvalidInputError, lambda graph: graph.delete_entities([7])),  # type: ignore[list-item]
    (InvalidInputError, lambda graph: graph.search_nodes("\udc80")),
    (LimitError, lambda graph: graph.create_entities([Entity(f"e{at}") for at in range(10_001)])),
]


@pytest.mark.parametrize(("error", "call"), BAD)
def test_what_cannot_be_is_refused(
    engine: Engine, graph: KnowledgeGraph, error: type[EngineError], call: Callable[[KnowledgeGraph], object]
) -> None:
    """An invalid item raises an error, and nothing of the call is written."""
    assert refuses(engine, error, call, graph)


def test_what_is_too_much_for_one_batch_is_done_in_several(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of a too large call suggests several calls."""
    monkeypatch.setattr(limits, "BATCH_EVENTS_MAX", 1_000)
    graph = KnowledgeGraph(engine.store)
    texts = [f"text {number}" for number in range(510)]
    graph.create_entities([Entity("hub", "", tuple(texts[:300]))])
    graph.add_observations([Observed("hub", tuple(texts[300:]))])
    with pytest.raises(BatchLimitError) as caught:
        graph.delete_entities(["hub"])
    assert "several calls" in caught.value.hint
    graph.delete_observations([Observed("hub", tuple(texts[:300]))])
    assert graph.delete_entities(["hub"]).count == 1
    assert graph.read_graph() == Knowledge()


def test_deleting_what_could_not_be_is_silent(engine: Engine, graph: KnowledgeGraph) -> None:
    """Deleting an invalid name, text or type finds nothing and raises no error."""
    size = engine.size
    assert graph.delete_entities(["", "\udc80", "x" * 300]).count == 0
    assert graph.delete_observations([Observed("Alice", ("", "\udc80"))]).count == 0
    assert graph.delete_relations([Relation("Alice", "\udc80", "Bob")]).count == 0
    assert graph.open_nodes(["\udc80"]) == Knowledge()
    assert engine.size == size


def test_the_actor_and_provenance_of_what_is_written() -> None:
    """Events and atoms have the given actor and provenance."""
    engine = engine_on()
    KnowledgeGraph(engine.store, actor="robot", provenance="external").create_entities([ALICE])
    assert {item.actor for item in engine.log(1)} == {"robot"}
    assert {item.provenance for item in map(engine.get, _ids(engine))} == {"external"}


def _ids(engine: Engine) -> list[str]:
    return [item.id for item in engine.find(limit=10, filters=Filters(kinds=("entity", "observation")))]


def test_several_owners_of_one_backend_write_at_once() -> None:
    """Conflicting operations of several owners are decided again, without duplicates."""
    one = engine_on()
    other = engine_on(backend_of(one))
    KnowledgeGraph(one.store).create_entities([ALICE])
    assert KnowledgeGraph(other.store).create_entities([ALICE, BOB]) == (BOB,)
    assert KnowledgeGraph(one.store).add_observations([Observed("Bob", ("x",))])[0].contents == ("x",)
    assert KnowledgeGraph(other.store).add_observations([Observed("Bob", ("x",))])[0].contents == ()


def test_writers_at_once(tmp_path: Path) -> None:
    """Two concurrent writers create each item once."""
    url = f"sqlite:{tmp_path / 'shared.db'}"
    names = [f"entity {number}" for number in range(8)]
    created: list[Entity] = []
    added: list[str] = []

    def write() -> None:
        with Engine.open(url) as mine:
            graph = KnowledgeGraph(mine.store)
            for name in names:
                created.extend(graph.create_entities([Entity(name)]))
                added.extend(graph.add_observations([Observed(name, ("one", "two"))])[0].contents)
                graph.create_relations([Relation(name, "follows", names[0])])

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(write), pool.submit(write)]:
            done.result()
    assert sorted(entity.name for entity in created) == names
    assert sorted(added) == ["one"] * 8 + ["two"] * 8
    with Engine.open(url) as engine:
        found = KnowledgeGraph(engine.store).read_graph()
        assert engine.verify().ok
    assert [entity.observations for entity in found.entities] == [("one", "two")] * 8
    assert len(found.relations) == 8


def test_strings_that_are_known_to_break_things() -> None:
    """A naughty string is stored exactly as name, type and observation, or raises an error."""
    engine = engine_on()
    graph = KnowledgeGraph(engine.store)
    kept: dict[str, Entity] = {}
    for text in json.loads(needs("vectors/strings/blns.json").read_text("utf-8")):
        entity = Entity(text, text, (text,))
        try:
            graph.create_entities([entity])
            graph.create_relations([Relation(text, text, text)])
        except InvalidInputError:
            size = engine.size
            assert graph.open_nodes([text]).entities == ()
            assert engine.size == size
        else:
            kept[text] = entity
    assert graph.read_graph().entities == tuple(kept.values())
    assert [relation.type for relation in graph.read_graph().relations] == list(kept)
    assert len(kept) > 400
