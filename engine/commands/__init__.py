"""Commands: what callers want to be true, and the decision which events that takes.

A command looks at the records and appends the events that are needed, possibly none: that is where
idempotence lives. Deciding either succeeds whole or raises before anything is written.
"""

from engine.commands.atoms import Add, Revise, Revive, Tag, Tombstone, Untag
from engine.commands.base import Command, Transaction
from engine.commands.edges import Link, RegisterType, Relate, Unlink, Unrelate
from engine.commands.merge import Merge, Supersede, Unmerge

__all__ = [
    "Add",
    "Command",
    "Link",
    "Merge",
    "RegisterType",
    "Relate",
    "Revise",
    "Revive",
    "Supersede",
    "Tag",
    "Tombstone",
    "Transaction",
    "Unlink",
    "Unmerge",
    "Unrelate",
    "Untag",
]
