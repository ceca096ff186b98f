"""Commands: requests to change the memory. Each command decides which events are appended for it.

A command reads the records and appends the events that are needed. If the records already have the requested
state, it appends no event, so commands are idempotent. Deciding a command either succeeds as a whole or
raises an error before anything is written. Each class is imported when it is first used.
"""

from typing import TYPE_CHECKING

from engine.base.lazy_names import load_on_use

if TYPE_CHECKING:
    from engine.commands.atoms import Add as Add
    from engine.commands.atoms import Revise as Revise
    from engine.commands.atoms import Revive as Revive
    from engine.commands.atoms import Tag as Tag
    from engine.commands.atoms import Tombstone as Tombstone
    from engine.commands.atoms import Untag as Untag
    from engine.commands.conflicts import Settle as Settle
    from engine.commands.edges import Link as Link
    from engine.commands.edges import RegisterType as RegisterType
    from engine.commands.edges import Relate as Relate
    from engine.commands.edges import Unlink as Unlink
    from engine.commands.edges import Unrelate as Unrelate
    from engine.commands.merge import Merge as Merge
    from engine.commands.merge import Supersede as Supersede
    from engine.commands.merge import Unmerge as Unmerge
    from engine.commands.transaction import Command as Command
    from engine.commands.transaction import Transaction as Transaction

_NAMES = {
    ".atoms": ("Add", "Revise", "Revive", "Tag", "Tombstone", "Untag"),
    ".conflicts": ("Settle",),
    ".edges": ("Link", "RegisterType", "Relate", "Unlink", "Unrelate"),
    ".merge": ("Merge", "Supersede", "Unmerge"),
    ".transaction": ("Command", "Transaction"),
}

__getattr__, __dir__ = load_on_use(
    globals(), lambda: {name: module for module, names in _NAMES.items() for name in names}
)
