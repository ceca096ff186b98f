"""The knowledge graph: entities with observations, and relations between them, stored in one memory.

The data model is that of the widely used MCP memory server. Entities, observations and relations are
stored as atoms and edges; `KnowledgeGraph` documents the mapping and its guarantees.
"""

from engine.knowledge.graph import KnowledgeGraph
from engine.knowledge.graph_reader import AnswerLimitError
from engine.knowledge.model import Deleted, Entity, Knowledge, Observed, Relation

__all__ = ["AnswerLimitError", "Deleted", "Entity", "Knowledge", "KnowledgeGraph", "Observed", "Relation"]
