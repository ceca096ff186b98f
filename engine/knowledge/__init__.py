"""The knowledge graph: entities with observations, and relations between them, stored in one memory.

The widely used MCP memory server has the same data model. Entities, observations and relations are stored as
atoms and edges; `KnowledgeGraph` documents the mapping and its guarantees.
"""

from engine.knowledge.graph import KnowledgeGraph
from engine.knowledge.graph_values import Deleted, Entity, Knowledge, Observed, Relation

__all__ = ["Deleted", "Entity", "Knowledge", "KnowledgeGraph", "Observed", "Relation"]
