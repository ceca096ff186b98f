"""Memories of a few sentences, and the relations that a dream finds in them."""

from __future__ import annotations

from typing import Final

from engine.engine import Engine
from engine.knowledge.dreaming.dream_config import DreamConfig
from tests.support.engines import engine_on

RULES: Final = DreamConfig(pipeline="none")
"""No pipeline, whatever is installed."""

OTHERS: Final = frozenset({"mentions", "related_to"})

Triple = tuple[str, str, str]


def related_in(engine: Engine) -> set[Triple]:
    """The relations between entities, except those that only say that two names occur together."""
    entities = {
        found.atom.id: found.atom.content
        for found in engine.find(limit=1000, form="full", kinds=["entity"])
        if found.atom is not None
    }
    edges = {edge for entity in entities for edge in engine.edges(entity)}
    return {(entities[edge.src], edge.type, entities[edge.dst]) for edge in edges if edge.type not in OTHERS}


def stated(*texts: str, config: DreamConfig = RULES, **fields: object) -> set[Triple]:
    """The relations that a dream over these texts adds."""
    with engine_on() as engine:
        for text in texts:
            engine.add(text, **fields)  # type: ignore[arg-type]
        engine.dream(config=config)
        return related_in(engine)
