"""Hypothesis strategies for graphs, with few names and texts so that they repeat, and any others."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from engine.base.errors import InvalidInputError
from engine.knowledge import Entity, Knowledge, Relation
from engine.knowledge.graph_encoding import checked_entity, checked_relation

NAMES = (
    "JSON",
    "json",
    " json",
    "a b",
    "a_b",
    "A-B",
    "\u00e9",
    "e\u0301",
    "Straße",
    "STRASSE",
    "\ufb03",
    "x" * 256,
)
"""Several spellings of a few names: every one is another entity here."""

TEXTS = ("one", "two", "One", "three\nlines\n", " one", "JSON json JSON", "\ufffd")

PREDICATES = ("knows", "part_of", "works at", "", "works.0a1b2c3d", "Works At", "ist größer als", "KNOWS")


def _fits(entity: Entity) -> bool:
    try:
        checked_entity(entity)
    except InvalidInputError:
        return False
    return True


def _relates(relation: Relation) -> bool:
    try:
        checked_relation(relation)
    except InvalidInputError:
        return False
    return True


ANY_TEXT = st.text(max_size=12)

ENTITIES: SearchStrategy[Entity] = st.builds(
    Entity,
    st.sampled_from(NAMES) | ANY_TEXT,
    st.sampled_from(("", "person", "Tool")) | ANY_TEXT,
    st.lists(st.sampled_from(TEXTS) | ANY_TEXT, max_size=4, unique=True).map(tuple),
).filter(_fits)


@st.composite
def graphs(draw: st.DrawFn) -> Knowledge:
    """Any valid graph: entities with different names, and relations between them."""
    entities = draw(st.lists(ENTITIES, max_size=6, unique_by=lambda entity: entity.name))
    if not entities:
        return Knowledge()
    names = st.sampled_from([entity.name for entity in entities])
    kinds = st.sampled_from(PREDICATES) | ANY_TEXT
    one = st.builds(Relation, names, kinds, names).filter(_relates)
    return Knowledge(tuple(entities), tuple(draw(st.lists(one, max_size=8, unique=True))))
