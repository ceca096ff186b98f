"""A state machine: any order of the nine operations, compared with the naive graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from backends.base import Backend
from backends.memory import MemoryBackend
from engine.base.errors import NotFoundError
from engine.knowledge import Entity, KnowledgeGraph, Observed, Relation
from engine.trust.audit.verify import verify
from tests.knowledge.naive import MissingError, NaiveGraph
from tests.knowledge.strategies import NAMES, PREDICATES, TEXTS
from tests.support.engines import engine_on, unchanged_by
from tests.support.soak import times

A_NAME = st.sampled_from((*NAMES[:5], NAMES[0], NAMES[1]))
A_TEXT = st.sampled_from(TEXTS)
TEXT_LISTS = st.lists(A_TEXT, max_size=4).map(tuple)
SOME_ENTITIES = st.lists(
    st.builds(Entity, A_NAME, st.sampled_from(("", "tool", "Person")), TEXT_LISTS), max_size=4
)
SOME_RELATIONS = st.lists(st.builds(Relation, A_NAME, st.sampled_from(PREDICATES), A_NAME), max_size=4)
SOME_OBSERVED = st.lists(st.builds(Observed, A_NAME, TEXT_LISTS), max_size=3)


class GraphMachine(RuleBasedStateMachine):
    """A graph in a memory that is reopened repeatedly, and the naive graph."""

    def __init__(self) -> None:
        super().__init__()
        self.backend: Backend = MemoryBackend()
        self.engine = engine_on(self.backend)
        self.naive = NaiveGraph()

    @property
    def graph(self) -> KnowledgeGraph:
        """The graph under test."""
        return KnowledgeGraph(self.engine.store)

    def both(self, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
        """Both graphs return the same, or both raise for a missing entity and change nothing."""
        try:
            expected = theirs()
        except MissingError:

            def refused() -> None:
                with pytest.raises(NotFoundError):
                    ours()

            assert unchanged_by(self.engine, refused)
        else:
            assert ours() == expected

    @initialize(given=SOME_ENTITIES)
    def begin(self, given: list[Entity]) -> None:
        """Start with some entities."""
        self.create_entities(given)

    @rule(given=SOME_ENTITIES)
    def create_entities(self, given: list[Entity]) -> None:
        """Create entities, each once."""
        self.both(lambda: self.graph.create_entities(given), lambda: self.naive.create_entities(given))

    @rule(given=SOME_RELATIONS)
    def create_relations(self, given: list[Relation]) -> None:
        """Create relations between existing entities, each once."""
        self.both(lambda: self.graph.create_relations(given), lambda: self.naive.create_relations(given))

    @rule(given=SOME_RELATIONS)
    def create_relations_with_any_names(self, given: list[Relation]) -> None:
        """Create relations between any names, each once."""
        self.both(
            lambda: self.graph.create_relations(given, imply=True),
            lambda: self.naive.create_relations(given, imply=True),
        )

    @rule(given=SOME_RELATIONS)
    def create_relations_that_can_be(self, given: list[Relation]) -> None:
        """Create those relations whose entities exist."""
        names = self.naive.names()
        self.create_relations([one for one in given if one.src in names and one.dst in names])

    @rule(given=SOME_OBSERVED)
    def add_observations(self, given: list[Observed]) -> None:
        """Add observations to existing entities, each once."""
        self.both(lambda: self.graph.add_observations(given), lambda: self.naive.add_observations(given))

    @rule(name=A_NAME, contents=TEXT_LISTS)
    def add_to_one(self, name: str, contents: tuple[str, ...]) -> None:
        """Add observations to one entity that may exist."""
        self.add_observations([Observed(name, contents)])

    @rule(names=st.lists(A_NAME, max_size=3))
    def delete_entities(self, names: list[str]) -> None:
        """Delete entities with their observations and relations."""
        self.both(lambda: self.graph.delete_entities(names), lambda: self.naive.delete_entities(names))

    @rule(given=SOME_OBSERVED)
    def delete_observations(self, given: list[Observed]) -> None:
        """Delete observations that may exist."""
        self.both(
            lambda: self.graph.delete_observations(given), lambda: self.naive.delete_observations(given)
        )

    @rule(given=SOME_RELATIONS, picked=st.lists(st.integers(0, 20), max_size=3))
    def delete_relations(self, given: list[Relation], picked: Sequence[int]) -> None:
        """Delete relations that may exist."""
        known = self.naive.relations
        given = given + [known[at] for at in picked if at < len(known)]
        self.both(lambda: self.graph.delete_relations(given), lambda: self.naive.delete_relations(given))

    @rule(query=st.sampled_from(("", "JSON", "o", "tool", "ß", "LINES", "nowhere")))
    def search_nodes(self, query: str) -> None:
        """Both searches return the same, in the same order."""
        self.both(lambda: self.graph.search_nodes(query), lambda: self.naive.search_nodes(query))

    @rule(names=st.lists(A_NAME, max_size=3))
    def open_nodes(self, names: list[str]) -> None:
        """Both return the same entities, in the same order."""
        self.both(lambda: self.graph.open_nodes(names), lambda: self.naive.open_nodes(names))

    @rule()
    def reopen(self) -> None:
        """Reopen the memory, so that all is read from the rows."""
        self.engine = engine_on(self.backend)

    @rule()
    def rebuild(self) -> None:
        """Rebuild the graph from the journal."""
        self.engine.rebuild()

    @invariant()
    def same_graph(self) -> None:
        """Both whole graphs are equal, orders included."""
        assert self.graph.read_graph() == self.naive.read_graph()

    def teardown(self) -> None:
        """Verify the store against its journal."""
        self.engine.catch_up()
        assert verify(self.backend).ok


TestGraphMachine = GraphMachine.TestCase
TestGraphMachine.settings = settings(max_examples=times(60), stateful_step_count=25, deadline=None)
