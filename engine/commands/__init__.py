"""Commands: requests to change the memory. Each command decides which events are appended for it.

A command reads the records and appends the events that are needed. If the records already have the requested
state, it appends no event, so commands are idempotent. Deciding a command either succeeds as a whole or
raises an error before anything is written. Each class is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.commands.atoms import Add, Revise, Revive, Tag, Tombstone, Untag
    from engine.commands.conflicts import Settle
    from engine.commands.edges import Link, RegisterType, Relate, Unlink, Unrelate
    from engine.commands.merge import Merge, Supersede, Unmerge
    from engine.commands.transaction import Command, Transaction

__all__ = [
    "Add",
    "Command",
    "Link",
    "Merge",
    "RegisterType",
    "Relate",
    "Revise",
    "Revive",
    "Settle",
    "Supersede",
    "Tag",
    "Tombstone",
    "Transaction",
    "Unlink",
    "Unmerge",
    "Unrelate",
    "Untag",
]

_MODULES = ("atoms", "transaction", "conflicts", "edges", "merge")


def __getattr__(name: str) -> Any:
    """Import the class of a command.

    Raises:
        AttributeError: there is no such class.
    """
    if name in __all__:
        for module in _MODULES:
            command = getattr(import_module(f"{__name__}.{module}"), name, None)
            if command is not None:
                return command
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
