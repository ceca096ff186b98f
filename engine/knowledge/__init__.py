"""The knowledge graph: entities with observations, and relations between them, over one memory.

It is the model of the widespread MCP memory server. Its three things are atoms and edges here:
`KnowledgeGraph` says how, and what it promises.
"""

from engine.knowledge.graph import KnowledgeGraph
from engine.knowledge.graph_reader import AnswerLimitError
from engine.knowledge.model import Deleted, Entity, Knowledge, Observed, Relation

__all__ = ["AnswerLimitError", "Deleted", "Entity", "Knowledge", "KnowledgeGraph", "Observed", "Relation"]
