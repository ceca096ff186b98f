"""Relations between nodes, compared with a naive implementation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Filters, Link, RegisterType, Tombstone
from engine.base.errors import InvalidInputError
from engine.commands import Command
from engine.query.graph.bright import NODES_MAX, RELATIONS_MAX, BrightGraph, Relation, RelationKind
from tests.query.graph.support import TYPES, Spec, Tie, commands, naive, plain
from tests.query.recall.support import WORDS_ONLY, id_of, memory

ATOMS = 8
SPECS = st.lists(
    st.builds(
        Spec,
        tags=st.sets(st.sampled_from(["pipe", "valve", "pump"])).map(lambda tags: tuple(sorted(tags))),
        buckets=st.sampled_from([("inbox",), ("cellar",), ("cellar", "inbox"), ("attic", "cellar")]),
        source=st.sampled_from([None, "log", "talk"]),
        sequence=st.none() | st.integers(0, 4),
        live=st.integers(0, 4).map(bool),
        asked=st.integers(0, 3).map(bool),
    ),
    min_size=2,
    max_size=ATOMS,
)
TIES = st.lists(
    st.builds(
        Tie,
        st.integers(0, ATOMS - 1),
        st.sampled_from(TYPES),
        st.integers(0, ATOMS - 1),
        st.sampled_from([1.0, 0.5, 0.25, 0.0, -0.5, 2.0, 1e-9]),
    ),
    max_size=12,
    unique_by=lambda tie: (tie.src, tie.type, tie.dst),
)


def graph_of(made: list[Command], question: str = "boiler", **asked: Any) -> BrightGraph:
    """The graph of a new memory for a question, by words alone."""
    with memory(made, WORDS_ONLY) as engine:
        return engine.structured_graph(question, **{"limit": NODES_MAX, **asked})


def of_kind(graph: BrightGraph, kind: RelationKind) -> list[Relation]:
    """The relations of one kind."""
    return [one for one in graph.relations if one.kind is kind]


@settings(max_examples=120, deadline=None)
@given(SPECS, TIES)
def test_the_relations_are_those_of_a_plain_look(specs: list[Spec], given_ties: list[Tie]) -> None:
    """The relations of all kinds agree with the naive implementation."""
    ties = [tie for tie in given_ties if tie.src != tie.dst and max(tie.src, tie.dst) < len(specs)]
    graph = graph_of(commands(specs, ties))
    assert [node.id for node in sorted(graph.nodes, key=lambda node: node.id)] == [
        id_of(number) for number, spec in enumerate(specs) if spec.live and spec.asked
    ]
    assert sorted(map(plain, graph.relations), key=repr) == sorted(naive(specs, ties), key=repr)
    assert graph.omitted == 0


@settings(max_examples=60, deadline=None)
@given(SPECS, TIES)
def test_relations_are_in_order_and_their_strength_in_bounds(specs: list[Spec], ties: list[Tie]) -> None:
    """Relations are sorted by strength, kind and ids; strengths are in (0, 1]."""
    ties = [tie for tie in ties if tie.src != tie.dst and max(tie.src, tie.dst) < len(specs)]
    relations = graph_of(commands(specs, ties)).relations
    keys = [(-one.strength, one.kind.value, one.src, one.dst, one.names) for one in relations]
    assert keys == sorted(keys)
    assert all(0 < one.strength <= 1 for one in relations)
    assert all(one.directed or one.src < one.dst for one in relations)


def test_an_edge_tells_its_type_its_direction_and_its_weight() -> None:
    """An edge has the name of its type, its direction and its weight as strength."""
    graph = graph_of(commands([Spec(), Spec()], [Tie(1, "feeds", 0, 0.5)]))
    (edge,) = graph.relations
    assert (edge.kind, edge.src, edge.dst) == (RelationKind.EDGE, id_of(1), id_of(0))
    assert (edge.names, edge.weight, edge.strength, edge.directed) == (("feeds",), 0.5, 0.5, True)


def test_a_removed_edge_relates_nobody() -> None:
    """An unlinked edge is not a relation."""
    with memory(commands([Spec(), Spec()], [Tie(0, "feeds", 1)]), WORDS_ONLY) as engine:
        assert engine.structured_graph("boiler").relations
        engine.unlink(id_of(0), "feeds", id_of(1))
        assert engine.structured_graph("boiler").relations == ()


def test_the_one_edge_that_counts_is_found_among_thousands() -> None:
    """The edges of a hub to other nodes are found, whatever their type."""
    others = [Add(f"kettle {number}", id=id_of(number)) for number in range(2, 1200)]
    lit = [Add("boiler and hub", id=id_of(0)), Add("boiler at the end", id=id_of(5000))]
    links = [Link(id_of(0), "references", id_of(number)) for number in range(2, 1200)]
    last: list[Command] = [
        RegisterType("zzz"),
        Link(id_of(0), "zzz", id_of(5000)),
        Link(id_of(0), "part_of", id_of(5000)),
    ]
    with memory([*lit, *others], WORDS_ONLY) as engine:
        engine.apply(links)
        engine.apply(last)
        names = [one.names for one in engine.structured_graph("boiler").relations]
    assert names == [("part_of",), ("zzz",)]


def test_a_rarer_tag_is_a_stronger_relation() -> None:
    """The rarest shared tag sets the strength, and all shared tags are listed."""
    few, many = Spec(("pump",)), Spec(("valve",))
    graph = graph_of(commands([Spec(("pump",)), few, many, many, Spec(("pump", "valve")), Spec(), Spec()]))
    strength = {(one.src, one.dst): one.strength for one in of_kind(graph, RelationKind.SHARES_TAG)}
    assert strength[id_of(0), id_of(1)] == strength[id_of(0), id_of(4)]
    both = graph_of(commands([Spec(("pump", "valve")), Spec(("pump", "valve")), many, *[Spec()] * 5]))
    (pair,) = (one for one in of_kind(both, RelationKind.SHARES_TAG) if len(one.names) == 2)
    rarest = max(one.strength for one in of_kind(both, RelationKind.SHARES_TAG))
    assert (pair.names, pair.strength) == (("pump", "valve"), rarest)


def test_a_tag_of_nearly_everything_relates_nobody() -> None:
    """Hub tags and buckets with most atoms create no relations."""
    hub = [Spec(("hub",), asked=number < 2) for number in range(30)]
    graph = graph_of(commands([*hub, *[Spec(asked=False)] * 20]))
    assert len(graph.nodes) == 2
    assert graph.relations == ()


def test_a_tag_is_shared_whatever_its_case() -> None:
    """Spellings of one tag are equal; the first atom's spelling is shown."""
    made: list[Command] = [
        Add("boiler one", id=id_of(0), tags=["Pump"]),
        Add("boiler two", id=id_of(1), tags=["pUMP"]),
        Add("kettle", id=id_of(2)),
    ]
    (shared,) = graph_of(made).relations
    assert shared.names == ("Pump",)


def test_a_hidden_atom_between_two_is_stepped_over() -> None:
    """Only live atoms separate neighbours in a source."""
    specs = [Spec(source="log", sequence=place) for place in (10, 20, 30)]
    made = commands(specs)
    assert not any(
        {one.src, one.dst} == {id_of(0), id_of(2)} and one.directed for one in graph_of(made).relations
    )
    after = of_kind(graph_of([*made, Tombstone(id_of(1))]), RelationKind.NEXT_IN_SOURCE)
    assert [(one.src, one.dst) for one in after] == [(id_of(0), id_of(2))]


def test_an_atom_that_is_filtered_away_keeps_its_place() -> None:
    """An excluded atom between two nodes separates them."""
    specs = [Spec(("keep",), source="log", sequence=1), Spec(source="log", sequence=2)]
    graph = graph_of(
        commands([*specs, Spec(("keep",), source="log", sequence=3)]), filters=Filters(tags=("keep",))
    )
    assert len(graph.nodes) == 2
    assert of_kind(graph, RelationKind.NEXT_IN_SOURCE) == []
    assert len(of_kind(graph, RelationKind.SAME_SOURCE)) == 1


def test_relations_are_cut_at_the_weak_end_and_counted() -> None:
    """Of over 200 relations the strongest are shown, and the others are counted."""
    chain = [Tie(number, "feeds", number + 1, 0.75) for number in range(29)]
    everyone = graph_of(commands([Spec(source="log") for _ in range(30)], chain))
    assert len(everyone.relations) == RELATIONS_MAX == 200
    assert everyone.omitted == 29 + 30 * 29 // 2 - RELATIONS_MAX
    assert [one.kind for one in everyone.relations[:30]] == [RelationKind.EDGE] * 29 + [
        RelationKind.SAME_SOURCE
    ]


@pytest.mark.parametrize("limit", [0, -1, NODES_MAX + 1, True, "5", 1.0])
def test_a_number_of_nodes_out_of_bounds_is_refused(limit: Any) -> None:
    """A limit outside 1 to 50 raises an error."""
    with memory([Add("boiler")]) as engine, pytest.raises(InvalidInputError, match="limit"):
        engine.bright_nodes("boiler", limit=limit)
