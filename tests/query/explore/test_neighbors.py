"""Neighbours: live edges in order, then tags and neighbours in the source."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Engine, Filters, Link, RegisterType, Relate, Tombstone, Unlink
from engine.base.errors import InvalidInputError, LimitError, NotFoundError
from engine.commands import Command
from engine.query.explore.explore_answers import Triple
from engine.query.explore.verb_answers import HAS_TAG, NEXT
from tests.query.explore.support import memories
from tests.query.recall.support import id_of, memory

pytestmark = pytest.mark.slow

WAYS = st.sampled_from(["in", "out", "both"])


def triples(engine: Engine, node: str, way: str = "both") -> tuple[Triple, ...]:
    """All triples of a node on one page."""
    found = engine.explorer().explore_neighbors(node, way, limit=100)
    assert found.next is None
    return found.triples


@given(memories, WAYS, st.integers(1, 5), st.none() | st.integers(0, 60))
@settings(max_examples=50)
def test_pages_make_the_whole(commands: list[Command], way: str, limit: int, extra: int | None) -> None:
    """Following `next` gives each triple once, in the same order, for any limit and budget."""
    with memory(commands) as engine:
        explorer = engine.explorer()
        for one in engine.find(limit=4):
            whole, offset = triples(engine, one.id, way), 0
            pages: list[Triple] = []
            budget = None if extra is None else 120 + extra
            while True:
                page = explorer.explore_neighbors(one.id, way, limit=limit, offset=offset, budget=budget)
                assert len(page.triples) <= limit
                pages += page.triples
                assert (page.next is None) == (len(pages) == len(whole)), "no page is empty but the only one"
                if page.next is None:
                    break
                assert page.next == offset + len(page.triples) > offset
                offset = page.next
            assert tuple(pages) == whole


@given(memories, WAYS)
@settings(max_examples=50)
def test_edges_are_those_of_the_memory(commands: list[Command], way: str) -> None:
    """Triples are the live edges, sorted by the name of the type, `mentions` last, without hidden atoms."""
    with memory(commands) as engine:
        for one in engine.find(limit=6):
            expected = []
            for edge in engine.edges(one.id, direction=way):
                out = edge.src == one.id
                other = edge.dst if out else edge.src
                if engine.get(other).state.name == "LIVE":
                    expected.append((edge.type, other, "out" if out else "in"))
            expected.sort(key=lambda one: (one[0] == "mentions", one[0]))
            found = [
                found for found in triples(engine, one.id, way) if found.predicate not in (HAS_TAG, NEXT)
            ]
            assert [(t.predicate, engine.resolve(t.id or ""), t.direction) for t in found] == expected
            name = engine.explorer().explore_neighbors(one.id).node.name
            assert all(name == (t.subject if t.direction == "out" else t.object) for t in found)


@given(memories)
@settings(max_examples=30)
def test_both_ways_are_one_way_and_the_other(commands: list[Command]) -> None:
    """`both` is the disjoint union of `in` and `out`."""
    with memory(commands) as engine:
        for one in engine.find(limit=6):
            both = triples(engine, one.id)
            out, into = (triples(engine, one.id, way) for way in ("out", "in"))
            assert sorted(map(repr, both)) == sorted(map(repr, out + into))
            assert {found.direction for found in out} <= {"out"}
            assert {found.direction for found in into} <= {"in"}


def test_the_order_is_type_and_other_end_then_tags_then_source() -> None:
    """Edges are sorted by the name of their type and then by id; tags and source follow."""
    atoms: list[Command] = [
        Add(f"text {n}", id=id_of(n), source="s", sequence=n, tags=["b", "A"] if n == 3 else [])
        for n in range(1, 6)
    ]
    links: list[Command] = [
        RegisterType("zeta"),
        Link(id_of(3), "zeta", id_of(1)),
        Link(id_of(5), "references", id_of(3)),
        Link(id_of(3), "references", id_of(1)),
        Link(id_of(4), "related_to", id_of(3)),
    ]
    with memory([*atoms, *links]) as engine:
        assert [(one.subject, one.predicate, one.object) for one in triples(engine, id_of(3))] == [
            ("text 3", "references", "text 1"),
            ("text 5", "references", "text 3"),
            ("text 4", "related_to", "text 3"),
            ("text 3", "zeta", "text 1"),
            ("text 3", HAS_TAG, "#A"),
            ("text 3", HAS_TAG, "#b"),
            ("text 3", NEXT, "text 4"),
            ("text 2", NEXT, "text 3"),
        ]


def test_what_is_hidden_is_no_neighbour() -> None:
    """Hidden edges and hidden atoms are not neighbours."""
    atoms: list[Command] = [
        Add(f"text {n}", id=id_of(n), source="s", sequence=n, tags=["home"]) for n in range(1, 6)
    ]
    links: list[Command] = [Link(id_of(1), "references", id_of(n)) for n in (2, 3, 4)]
    with memory([*atoms, *links, Unlink(id_of(1), "references", id_of(3)), Tombstone(id_of(2))]) as engine:
        assert [(one.predicate, one.object) for one in triples(engine, id_of(1))] == [
            ("references", "text 4"),
            (HAS_TAG, "#home"),
            (NEXT, "text 3"),
        ]
        assert [one.subject for one in triples(engine, "#home")] == ["text 1", "text 3", "text 4", "text 5"]


def test_a_tag_is_an_object_only() -> None:
    """A tag has no outgoing triples, and has incoming triples from all its atoms."""
    with memory([Add(f"text {n}", id=id_of(9 - n), tags=["Home"]) for n in range(3)]) as engine:
        assert triples(engine, "#HOME", "out") == ()
        found = triples(engine, "#HOME", "in")
        assert [(one.subject, one.predicate, one.object, one.direction) for one in found] == [
            (f"text {n}", HAS_TAG, "#home", "in") for n in range(3)
        ]


def test_a_relation_says_who_says_so() -> None:
    """A triple names its source as long as that atom is live."""
    atoms: list[Command] = [Add("they say so", id=id_of(1)), Add("we too", id=id_of(2))]
    related = [Relate("daemon", "uses", "socket", id_of(1)), Relate("daemon", "uses", "socket", id_of(2))]
    with memory([*atoms, *related]) as engine:

        def said() -> str | None:
            return next(one.source for one in triples(engine, "daemon") if one.predicate == "uses")

        assert engine.resolve(said() or "") == id_of(1)
        mentioned = {one.subject for one in triples(engine, "socket") if one.predicate == "mentions"}
        assert mentioned == {"they say so", "we too"}
        engine.apply([Tombstone(id_of(1))])
        assert said() is None
        engine.revive(id_of(1))
        assert engine.resolve(said() or "") == id_of(1)


def test_a_self_made_name_stands_for_each_kind_of_atom() -> None:
    """Atoms are shown by entity name, title, or the beginning of their text."""
    atoms: list[Command] = [
        Add("kettle\n\n is  a pot of " + "long " * 20, id=id_of(1)),
        Add("text", title="Titled", id=id_of(2)),
        Link(id_of(1), "references", id_of(2)),
    ]
    with memory([*atoms, Relate("An Entity", "is", "x", id_of(2))]) as engine:
        (found,) = triples(engine, id_of(1))
        assert found.subject.startswith("kettle is a pot of")
        assert len(found.subject) <= 33
        assert found.object == "Titled"
        assert {one.object for one in triples(engine, id_of(2), "out")} == {"An Entity", "x"}


@pytest.mark.parametrize("limit", [0, 101, -1])
def test_a_page_has_1_to_100_triples(limit: int) -> None:
    """A limit outside 1 to 100 raises an error; a page beyond the end is empty."""
    with memory([Add("x", id=id_of(1), tags=["home"])]) as engine:
        explorer = engine.explorer()
        with pytest.raises((InvalidInputError, LimitError)):
            explorer.explore_neighbors(id_of(1), limit=limit)
        beyond = explorer.explore_neighbors(id_of(1), offset=5)
        assert (beyond.triples, beyond.next) == ((), None)


@given(memories, WAYS)
@settings(max_examples=40)
def test_types_and_filters_leave_out_and_add_nothing(commands: list[Command], way: str) -> None:
    """With `types` only edges of these types are listed, and with filters only atoms that pass."""
    with memory(commands) as engine:
        explorer = engine.explorer()
        for one in engine.find(limit=3):
            whole = triples(engine, one.id, way)
            typed = explorer.explore_neighbors(one.id, way, types=["references"], limit=100).triples
            assert typed == tuple(each for each in whole if each.predicate == "references")
            filters = Filters(provenances=("internal",), kinds=("note",))
            passing = {found.id for found in engine.find(filters=filters, limit=1000)}
            kept = explorer.explore_neighbors(one.id, way, filters=filters, limit=100).triples
            assert kept == tuple(
                each for each in whole if each.id is None or engine.resolve(each.id) in passing
            )


def test_a_type_that_was_never_registered_is_refused() -> None:
    """An unknown type of edges is an error, not an empty page."""
    with memory([Add("text", id=id_of(1))]) as engine, pytest.raises(NotFoundError):
        engine.explorer().explore_neighbors(id_of(1), types=["eats"])
