"""memroot: an embedded, verifiable memory. One journal, one root; `Engine.open(url)` to begin.

Names are imported when they are first used: reading Markdown or searching loads what a program that
only adds an atom should not wait for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.audit.verify import Report, verify
    from engine.commands import Add, Link, RegisterType, Revise, Revive, Tag, Tombstone, Unlink, Untag
    from engine.engine import Engine
    from engine.errors import EngineError
    from engine.graph import Follow, Form
    from engine.ingest.run import IngestReport
    from engine.maintenance import copy
    from engine.model import Atom, Checkpoint, Direction, Edge, EdgeType, Receipt, State
    from engine.retrieval.bm25 import Bm25Config
    from engine.retrieval.filters import Filters
    from engine.retrieval.recall import Hit, Recall, RecallConfig
    from engine.version import __version__

_MODULES = {
    "Add": "engine.commands",
    "Atom": "engine.model",
    "Bm25Config": "engine.retrieval.bm25",
    "Checkpoint": "engine.model",
    "Direction": "engine.model",
    "Edge": "engine.model",
    "EdgeType": "engine.model",
    "Engine": "engine.engine",
    "EngineError": "engine.errors",
    "Filters": "engine.retrieval.filters",
    "Follow": "engine.graph",
    "Form": "engine.graph",
    "Hit": "engine.retrieval.recall",
    "IngestReport": "engine.ingest.run",
    "Link": "engine.commands",
    "Recall": "engine.retrieval.recall",
    "RecallConfig": "engine.retrieval.recall",
    "Receipt": "engine.model",
    "RegisterType": "engine.commands",
    "Report": "engine.audit.verify",
    "Revise": "engine.commands",
    "Revive": "engine.commands",
    "State": "engine.model",
    "Tag": "engine.commands",
    "Tombstone": "engine.commands",
    "Unlink": "engine.commands",
    "Untag": "engine.commands",
    "copy": "engine.maintenance",
    "verify": "engine.audit.verify",
    "__version__": "engine.version",
}

__all__ = [
    "Add",
    "Atom",
    "Bm25Config",
    "Checkpoint",
    "Direction",
    "Edge",
    "EdgeType",
    "Engine",
    "EngineError",
    "Filters",
    "Follow",
    "Form",
    "Hit",
    "IngestReport",
    "Link",
    "Recall",
    "RecallConfig",
    "Receipt",
    "RegisterType",
    "Report",
    "Revise",
    "Revive",
    "State",
    "Tag",
    "Tombstone",
    "Unlink",
    "Untag",
    "__version__",
    "copy",
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
