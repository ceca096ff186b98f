"""The types in the signatures of `Engine`, which imports them for type checkers only."""

from __future__ import annotations

from engine.base.checkpoint import Checkpoint
from engine.base.model import Atom, Edge, HistoryItem, Receipt, Scalar
from engine.commands.atoms import Add
from engine.commands.edges import TypeName
from engine.commands.transaction import Command
from engine.erase.run import Erasable, Erasure
from engine.knowledge.dreaming.config import DreamConfig
from engine.knowledge.dreaming.cycle import DreamReport
from engine.query.conflicts import Conflict
from engine.query.context.windows import Context
from engine.query.duplicates import DuplicateGroup
from engine.query.explore.policy import Policy
from engine.query.explore.state import Exploration, Step
from engine.query.graph.bright import BrightGraph, BrightNode
from engine.query.graph.find import Follow, Form, Found
from engine.query.graph.linked import AcrossGraph
from engine.query.history.diff import Diff
from engine.query.history.recent import Added
from engine.query.history.revert import Undone
from engine.query.history.revertible import Revertible
from engine.query.history.why import Origin
from engine.query.named import Page
from engine.query.recall.answer import Recall
from engine.store.status import Status
from engine.trust.audit.verify import Report
from engine.trust.notes.issue import CheckpointNote
from engine.trust.proving.prover import Proof
from proofs.basis import LogHead
from proofs.claims import Claim
from proofs.note import Checkpoint as NotedCheckpoint

__all__ = [
    "AcrossGraph",
    "Add",
    "Added",
    "Atom",
    "BrightGraph",
    "BrightNode",
    "Checkpoint",
    "CheckpointNote",
    "Claim",
    "Command",
    "Conflict",
    "Context",
    "Diff",
    "DreamConfig",
    "DreamReport",
    "DuplicateGroup",
    "Edge",
    "Erasable",
    "Erasure",
    "Exploration",
    "Follow",
    "Form",
    "Found",
    "HistoryItem",
    "LogHead",
    "NotedCheckpoint",
    "Origin",
    "Page",
    "Policy",
    "Proof",
    "Recall",
    "Receipt",
    "Report",
    "Revertible",
    "Scalar",
    "Status",
    "Step",
    "TypeName",
    "Undone",
]
