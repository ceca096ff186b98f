"""Commands: requests to change the memory. Each command decides which events are appended for it.

A command reads the records and appends the events that are needed. If the records already have the requested
state, it appends no event, so commands are idempotent. Deciding a command either succeeds as a whole or
raises an error before anything is written.
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
