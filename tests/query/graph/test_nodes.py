"""The nodes of a graph and their brightness."""

from __future__ import annotations

from engine import Add, Filters, Tombstone
from engine.commands import Command
from tests.query.graph.support import Spec, Tie, commands
from tests.query.recall.support import id_of, memory

NOTES: list[Command] = [
    Add(
        "The boiler is serviced in October.", title="Boiler", tags=["heating"], id=id_of(9), created=5_000_000
    ),
    Add(
        "Ms Okafor looks after the boiler.", source="talk", sequence=3, buckets=["home", "work"], id=id_of(2)
    ),
    Add("The kettle is descaled on Mondays.", tags=["heating"], id=id_of(3)),
    Add("Nothing to do with it.", id=id_of(4)),
]


def test_lit_atoms_are_the_hits_of_recall() -> None:
    """The nodes are the hits of recall, the brightest first; the best has brightness 1."""
    with memory(NOTES) as engine:
        hits = engine.recall("who services the boiler?", limit=10).hits
        nodes = engine.bright_nodes("who services the boiler?")
    best = max(hit.score for hit in hits)
    expected = sorted(((hit.score / best, hit.id) for hit in hits), key=lambda one: (-one[0], one[1]))
    assert [(node.brightness, node.id) for node in nodes] == [(round(one, 6), atom) for one, atom in expected]
    assert nodes[0].brightness == 1.0
    assert len(nodes) >= 2


def test_a_node_tells_what_is_recorded_of_its_atom() -> None:
    """A node has the fields of its atom and a snippet of its text."""
    with memory(NOTES) as engine:
        nodes = {node.id: node for node in engine.bright_nodes("boiler")}
        atoms = {atom: engine.get(atom) for atom in (id_of(9), id_of(2))}
    for atom, recorded in atoms.items():
        node = nodes[atom]
        assert (node.title, node.tags, node.buckets) == (recorded.title, recorded.tags, recorded.buckets)
        assert (node.source, node.sequence, node.created) == (
            recorded.source,
            recorded.sequence,
            recorded.created,
        )
        assert node.snippet == recorded.content


def test_filters_and_limit_hold_for_nodes() -> None:
    """All nodes pass the filters, and there are at most `limit`."""
    with memory(NOTES) as engine:
        assert [node.id for node in engine.bright_nodes("boiler", limit=1)] == [
            engine.bright_nodes("boiler")[0].id
        ]
        only = engine.bright_nodes("boiler", filters=Filters(buckets=("work",)))
    assert [node.id for node in only] == [id_of(2)]


def test_nothing_found_is_an_empty_graph() -> None:
    """A question without hits gives a graph without nodes and relations."""
    with memory(NOTES) as engine:
        graph = engine.structured_graph("xylophone")
        assert (graph.nodes, graph.relations, graph.omitted) == ((), (), 0)
        assert graph.size == engine.size
        assert engine.bright_nodes("xylophone") == ()


def test_the_past_is_lit_as_it_was() -> None:
    """A graph as of an event is the graph that was given then."""
    specs = [Spec(("pump",), source="log", sequence=place) for place in range(4)]
    with memory(commands(specs, [Tie(0, "feeds", 1)])) as engine:
        before, then = engine.structured_graph("boiler"), engine.size - 1
        engine.apply([Tombstone(id_of(1)), Add("boiler number five")])
        assert engine.structured_graph("boiler") != before
        assert engine.structured_graph("boiler", as_of=then) == before


def test_equal_stores_give_equal_graphs() -> None:
    """Equal events give equal graphs: repeated, in another store, and after a rebuild."""
    specs = [Spec(("pump",), source="log", sequence=place) for place in range(5)]
    made = commands(specs, [Tie(0, "feeds", 1), Tie(2, "references", 0, 0.5)])
    with memory(made) as one, memory(made) as other:
        graph = one.structured_graph("which boiler?")
        assert one.structured_graph("which boiler?") == graph == other.structured_graph("which boiler?")
        other.rebuild()
        assert other.structured_graph("which boiler?") == graph
