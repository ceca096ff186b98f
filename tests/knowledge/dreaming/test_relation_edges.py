"""The edges that a dream adds for relations: their evidence, and what happens when people or texts change."""

from __future__ import annotations

from engine.base.model import Edge
from engine.engine import Engine
from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.ledger.queries import data_of
from proofs.leaves import State
from tests.knowledge.dreaming.relation_support import RULES, related_in, stated
from tests.knowledge.dreaming.support import dreamt, entity
from tests.support.engines import engine_on

TEXT = "It rains. Otter depends on Grafana. Nobody cares."
RELATION = {("Otter", "depends_on", "Grafana")}


def edge_of(engine: Engine, name: str, kind: str) -> Edge:
    """The edge of a type at the entity with this name."""
    return next(edge for edge in engine.edges(entity(engine, name)) if edge.type == kind)


def test_an_edge_names_its_sentence() -> None:
    """The data of an edge names the atom, the event and the characters that state the relation."""
    with engine_on() as engine:
        atom = engine.add(TEXT).subject
        engine.dream(config=RULES)
        data = data_of(edge_of(engine, "Otter", "depends_on"))
        start, end = data["at"]
        assert data["source"].hex() == atom.replace("-", "")
        assert TEXT[start:end] == "Otter depends on Grafana."
        assert data["seq"] == engine.history(atom)[0].seq


def test_neighbours_show_the_atom_that_states_a_relation() -> None:
    """`explore_neighbors` shows a relation with the atom that states it."""
    with engine_on() as engine:
        atom = engine.add(TEXT).subject
        engine.dream(config=RULES)
        triples = engine.explorer().explore_neighbors("Otter").triples
        found = next(one for one in triples if one.predicate == "depends_on")
        assert (found.subject, found.object) == ("Otter", "Grafana")
        assert found.source is not None
        assert atom.startswith(found.source)


def test_the_stating_atom_mentions_both_ends() -> None:
    """A walk leads from the atom to both ends of the relation."""
    with engine_on() as engine:
        atom = engine.add(TEXT).subject
        engine.dream(config=RULES)
        ends = {edge.dst for edge in engine.edges(atom) if edge.type == "mentions"}
        assert ends == {entity(engine, "Otter"), entity(engine, "Grafana")}


def test_a_relation_that_was_removed_stays_away() -> None:
    """Another text that states a removed relation does not bring it back."""
    with engine_on() as engine:
        engine.add(TEXT)
        engine.dream(config=RULES)
        engine.unrelate("Otter", "depends_on", "Grafana")
        engine.add("Here Otter depends on Grafana as well.")
        engine.dream(config=RULES)
        assert related_in(engine) == set()


def test_a_symmetric_relation_is_added_once() -> None:
    """A marriage that two texts state in different directions is one edge."""
    assert len(stated("Rob is married to Jade.", "Jade is married to Rob.")) == 1


def test_an_end_that_was_hidden_stays_hidden() -> None:
    """A hidden entity gets no relation, and no other end is created for it."""
    with engine_on() as engine:
        engine.add(TEXT)
        engine.dream(config=RULES)
        engine.tombstone(entity(engine, "Otter"))
        engine.add("Otter connects to Heron.")
        engine.dream(config=RULES)
        assert ("Otter", "connects_to", "Heron") not in related_in(engine)
        assert not [found for found in engine.find(kinds=["entity"]) if found.title == "Heron"]


def test_a_dream_can_be_reverted() -> None:
    """Reverting the dreamer's events removes relations and the entities made for them."""
    with engine_on() as engine:
        engine.add(TEXT)
        start = engine.size
        engine.dream(config=RULES)
        engine.revert(start, actor="dreamer")
        assert related_in(engine) == set()
        size = engine.size
        engine.dream(config=RULES)
        assert engine.size == size


def test_the_edge_stays_when_the_atom_is_revised() -> None:
    """A revised text keeps the relation that an earlier version stated."""
    with engine_on() as engine:
        atom = engine.add(TEXT).subject
        engine.dream(config=RULES)
        engine.revise(atom, content="Otter is gone.")
        engine.dream(config=RULES)
        assert related_in(engine) == RELATION


def test_a_hidden_atom_is_not_shown_as_the_source() -> None:
    """The edge stays when its atom is hidden, but shows no source."""
    with engine_on() as engine:
        atom = engine.add(TEXT).subject
        engine.dream(config=RULES)
        engine.tombstone(atom)
        triples = engine.explorer().explore_neighbors("Otter").triples
        assert [one.source for one in triples if one.predicate == "depends_on"] == [None]


def test_an_erased_atom_leaves_no_sentence() -> None:
    """The sentence is not in the data of the edge, so erasing the atom destroys it."""
    with engine_on() as engine:
        atom = engine.add(TEXT).subject
        engine.dream(config=RULES)
        engine.erase(atom, reason="private")
        assert b"depends" not in edge_of(engine, "Otter", "depends_on").data


def test_external_texts_state_nothing() -> None:
    """Relations are added only from internal texts."""
    assert stated(TEXT, provenance="external") == set()


def test_cycles_do_not_matter() -> None:
    """Cycles of one atom add the same relations as one cycle."""
    texts = [
        TEXT,
        "Rob is married to Jade.",
        "Rob is married to Jade, of Leeds.",
        "Dory is the daughter of Rob.",
    ]
    results = []
    for budget in (None, 1):
        with engine_on() as engine:
            for text in texts:
                engine.add(text)
            while engine.dream(budget=budget, config=RULES).left:
                pass
            edges = [item.detail for item in dreamt(engine) if item.kind.name == "EDGE_ADDED"]
            results.append((related_in(engine), edges))
    assert results[0] == results[1]


def test_the_end_of_a_relation_is_no_name_to_look_for() -> None:
    """Other texts with the words of an end get no edges to it."""
    with engine_on() as engine:
        config = DreamConfig(pipeline="none", name_atoms_min=9)
        engine.add(TEXT)
        engine.dream(config=config)
        other = engine.add("Somebody restarted Grafana.").subject
        engine.dream(config=config)
        assert not engine.edges(other)


def test_the_end_of_a_relation_can_become_a_name() -> None:
    """If the dreamer learns the name of an end, texts with the name get edges to the same entity."""
    with engine_on() as engine:
        engine.add("Rob is married to Jade.")
        engine.dream(config=RULES)
        others = [engine.add(f"We met Jade {place}.").subject for place in ("here", "below", "above")]
        for _ in range(2):
            engine.dream(config=RULES)
            later = engine.add("Later Jade left.").subject
        engine.dream(config=RULES)
        for other in (*others, later):
            assert [edge.dst for edge in engine.edges(other)] == [entity(engine, "Jade")]


def test_a_hidden_edge_is_not_live() -> None:
    """Unrelating hides the edge and keeps it."""
    with engine_on() as engine:
        engine.add(TEXT)
        engine.dream(config=RULES)
        engine.unrelate("Otter", "depends_on", "Grafana")
        hidden = engine.edges(entity(engine, "Otter"), tombstoned=True)
        assert [edge.state for edge in hidden if edge.type == "depends_on"] == [State.TOMBSTONED]
