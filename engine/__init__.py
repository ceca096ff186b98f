"""memroot: an embedded, verifiable memory. One journal, one root; `Engine.open(url)` to begin.

Names are imported when they are first used: reading Markdown or searching loads what a program that
only adds an atom should not wait for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.audit.verify import Report, verify
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
    from engine.dreaming.config import DreamConfig
    from engine.dreaming.report import DreamReport
    from engine.engine import Engine
    from engine.erasing.receipt import Erasure
    from engine.errors import EngineError
    from engine.exploration.actions import Action, Verb
    from engine.exploration.explorer import Explorer
    from engine.exploration.policy import LanguagePolicy, Policy
    from engine.exploration.result import Exploration
    from engine.graph import Follow, Form
    from engine.ingest.run import IngestReport
    from engine.maintenance import copy
    from engine.mirror.report import MirrorCheck, MirrorReport
    from engine.model import Atom, Checkpoint, Direction, Edge, Receipt
    from engine.named.listing import memories
    from engine.notes.issue import CheckpointNote
    from engine.retrieval.answer import Bridge, Hit, Level, Recall, Role
    from engine.retrieval.bm25 import Bm25Config
    from engine.retrieval.bright import BrightGraph, BrightNode, Relation
    from engine.retrieval.config import Protocol, RecallConfig, Signals
    from engine.retrieval.duplicates import Duplicate, DuplicateGroup
    from engine.retrieval.filters import Filters
    from engine.retrieval.inflate import Context
    from engine.retrieval.windows import Window
    from engine.secrets.policy import SecretsPolicy
    from engine.text.categories import Category
    from engine.version import __version__
    from proofs.leaves import EdgeType, State

_MODULES = {
    "Action": "engine.exploration.actions",
    "Add": "engine.commands",
    "Atom": "engine.model",
    "Bm25Config": "engine.retrieval.bm25",
    "Bridge": "engine.retrieval.answer",
    "BrightGraph": "engine.retrieval.bright",
    "BrightNode": "engine.retrieval.bright",
    "Category": "engine.text.categories",
    "Checkpoint": "engine.model",
    "CheckpointNote": "engine.notes.issue",
    "Context": "engine.retrieval.inflate",
    "Direction": "engine.model",
    "DreamConfig": "engine.dreaming.config",
    "DreamReport": "engine.dreaming.report",
    "Duplicate": "engine.retrieval.duplicates",
    "DuplicateGroup": "engine.retrieval.duplicates",
    "Edge": "engine.model",
    "EdgeType": "proofs.leaves",
    "Engine": "engine.engine",
    "EngineError": "engine.errors",
    "Erasure": "engine.erasing.receipt",
    "Exploration": "engine.exploration.result",
    "Explorer": "engine.exploration.explorer",
    "Filters": "engine.retrieval.filters",
    "Follow": "engine.graph",
    "Form": "engine.graph",
    "Hit": "engine.retrieval.answer",
    "IngestReport": "engine.ingest.run",
    "LanguagePolicy": "engine.exploration.policy",
    "Level": "engine.retrieval.answer",
    "Link": "engine.commands",
    "Merge": "engine.commands",
    "MirrorCheck": "engine.mirror.report",
    "MirrorReport": "engine.mirror.report",
    "Policy": "engine.exploration.policy",
    "Protocol": "engine.retrieval.config",
    "Recall": "engine.retrieval.answer",
    "RecallConfig": "engine.retrieval.config",
    "Receipt": "engine.model",
    "RegisterType": "engine.commands",
    "Relate": "engine.commands",
    "Relation": "engine.retrieval.bright",
    "Report": "engine.audit.verify",
    "Revise": "engine.commands",
    "Revive": "engine.commands",
    "Supersede": "engine.commands",
    "Role": "engine.retrieval.answer",
    "SecretsPolicy": "engine.secrets.policy",
    "Signals": "engine.retrieval.config",
    "State": "proofs.leaves",
    "Tag": "engine.commands",
    "Tombstone": "engine.commands",
    "Unlink": "engine.commands",
    "Unmerge": "engine.commands",
    "Unrelate": "engine.commands",
    "Untag": "engine.commands",
    "Verb": "engine.exploration.actions",
    "Window": "engine.retrieval.windows",
    "__version__": "engine.version",
    "copy": "engine.maintenance",
    "memories": "engine.named.listing",
    "verify": "engine.audit.verify",
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
