"""memroot: an embedded, verifiable memory. One journal, one root; `Engine.open(url)` to begin.

Names are imported when they are first used: reading Markdown or searching loads what a program that
only adds an atom should not wait for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.base.errors import EngineError
    from engine.base.model import Atom, Checkpoint, Direction, Edge, Receipt
    from engine.base.version import __version__
    from engine.commands import (
        Add,
        Link,
        Merge,
        RegisterType,
        Relate,
        Revise,
        Revive,
        Supersede,
        Tag,
        Tombstone,
        Unlink,
        Unmerge,
        Unrelate,
        Untag,
    )
    from engine.engine import Engine
    from engine.erase.receipt import Erasure
    from engine.knowledge.dreaming.config import DreamConfig
    from engine.knowledge.dreaming.report import DreamReport
    from engine.language.categories import Category
    from engine.named.listing import memories
    from engine.query.context.inflate import Context
    from engine.query.context.windows import Window
    from engine.query.duplicates import Duplicate, DuplicateGroup
    from engine.query.explore.actions import Action, Verb
    from engine.query.explore.explorer import Explorer
    from engine.query.explore.policy import LanguagePolicy, Policy
    from engine.query.explore.result import Exploration
    from engine.query.filters import Filters
    from engine.query.graph.bright import BrightGraph, BrightNode, Relation
    from engine.query.graph.find import Follow, Form
    from engine.query.recall.answer import Bridge, Hit, Level, Recall, Role
    from engine.query.recall.config import Protocol, RecallConfig, Signals
    from engine.query.recall.signals.bm25 import Bm25Config
    from engine.secrets.policy import SecretsPolicy
    from engine.store.maintenance import copy
    from engine.transfer.ingest.run import IngestReport
    from engine.transfer.mirror.report import MirrorCheck, MirrorReport
    from engine.trust.audit.verify import Report, verify
    from engine.trust.notes.issue import CheckpointNote
    from proofs.leaves import EdgeType, State

_MODULES = {
    "Action": "engine.query.explore.actions",
    "Add": "engine.commands",
    "Atom": "engine.base.model",
    "Bm25Config": "engine.query.recall.signals.bm25",
    "Bridge": "engine.query.recall.answer",
    "BrightGraph": "engine.query.graph.bright",
    "BrightNode": "engine.query.graph.bright",
    "Category": "engine.language.categories",
    "Checkpoint": "engine.base.model",
    "CheckpointNote": "engine.trust.notes.issue",
    "Context": "engine.query.context.inflate",
    "Direction": "engine.base.model",
    "DreamConfig": "engine.knowledge.dreaming.config",
    "DreamReport": "engine.knowledge.dreaming.report",
    "Duplicate": "engine.query.duplicates",
    "DuplicateGroup": "engine.query.duplicates",
    "Edge": "engine.base.model",
    "EdgeType": "proofs.leaves",
    "Engine": "engine.engine",
    "EngineError": "engine.base.errors",
    "Erasure": "engine.erase.receipt",
    "Exploration": "engine.query.explore.result",
    "Explorer": "engine.query.explore.explorer",
    "Filters": "engine.query.filters",
    "Follow": "engine.query.graph.find",
    "Form": "engine.query.graph.find",
    "Hit": "engine.query.recall.answer",
    "IngestReport": "engine.transfer.ingest.run",
    "LanguagePolicy": "engine.query.explore.policy",
    "Level": "engine.query.recall.answer",
    "Link": "engine.commands",
    "Merge": "engine.commands",
    "MirrorCheck": "engine.transfer.mirror.report",
    "MirrorReport": "engine.transfer.mirror.report",
    "Policy": "engine.query.explore.policy",
    "Protocol": "engine.query.recall.config",
    "Recall": "engine.query.recall.answer",
    "RecallConfig": "engine.query.recall.config",
    "Receipt": "engine.base.model",
    "RegisterType": "engine.commands",
    "Relate": "engine.commands",
    "Relation": "engine.query.graph.bright",
    "Report": "engine.trust.audit.verify",
    "Revise": "engine.commands",
    "Revive": "engine.commands",
    "Supersede": "engine.commands",
    "Role": "engine.query.recall.answer",
    "SecretsPolicy": "engine.secrets.policy",
    "Signals": "engine.query.recall.config",
    "State": "proofs.leaves",
    "Tag": "engine.commands",
    "Tombstone": "engine.commands",
    "Unlink": "engine.commands",
    "Unmerge": "engine.commands",
    "Unrelate": "engine.commands",
    "Untag": "engine.commands",
    "Verb": "engine.query.explore.actions",
    "Window": "engine.query.context.windows",
    "__version__": "engine.base.version",
    "copy": "engine.store.maintenance",
    "memories": "engine.named.listing",
    "verify": "engine.trust.audit.verify",
}

__all__ = [
    "Action",
    "Add",
    "Atom",
    "Bm25Config",
    "Bridge",
    "BrightGraph",
    "BrightNode",
    "Category",
    "Checkpoint",
    "CheckpointNote",
    "Context",
    "Direction",
    "DreamConfig",
    "DreamReport",
    "Duplicate",
    "DuplicateGroup",
    "Edge",
    "EdgeType",
    "Engine",
    "EngineError",
    "Erasure",
    "Exploration",
    "Explorer",
    "Filters",
    "Follow",
    "Form",
    "Hit",
    "IngestReport",
    "LanguagePolicy",
    "Level",
    "Link",
    "Merge",
    "MirrorCheck",
    "MirrorReport",
    "Policy",
    "Protocol",
    "Recall",
    "RecallConfig",
    "Receipt",
    "RegisterType",
    "Relate",
    "Relation",
    "Report",
    "Revise",
    "Revive",
    "Role",
    "SecretsPolicy",
    "Signals",
    "State",
    "Supersede",
    "Tag",
    "Tombstone",
    "Unlink",
    "Unmerge",
    "Unrelate",
    "Untag",
    "Verb",
    "Window",
    "__version__",
    "copy",
    "memories",
    "verify",
]


def __getattr__(name: str) -> Any:
    """A public name, imported now (PEP 562).

    Raises:
        AttributeError: there is no such public name.
    """
    if name not in _MODULES:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
