"""Commands as JSON: an object with one field, as in `{"add": {"content": "…"}}`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, Final

from engine import commands
from engine.remote.wire import shapes
from engine.remote.wire.encoding import encode
from engine.remote.wire.hints import record_of

NAMES: Final = {
    "add": "Add",
    "revise": "Revise",
    "tombstone": "Tombstone",
    "revive": "Revive",
    "tag": "Tag",
    "untag": "Untag",
    "register_type": "RegisterType",
    "link": "Link",
    "unlink": "Unlink",
    "relate": "Relate",
    "unrelate": "Unrelate",
    "merge": "Merge",
    "unmerge": "Unmerge",
    "settle": "Settle",
    "supersede": "Supersede",
}
"""The name of a command in JSON → the name of its class in `engine.commands`."""


@cache
def command_shape() -> shapes.Tagged:
    """Return the shape of a command."""
    return shapes.Tagged({name: _record(getattr(commands, kind)) for name, kind in NAMES.items()})


def _record(kind: type) -> shapes.Record:
    # The schemas have names of their own: there is also a result that is called Tombstone.
    return replace(record_of(kind, given=True), name=f"{kind.__name__}Command")


def encode_command(command: Any) -> dict[str, Any]:
    """Return a command as JSON.

    Raises:
        TypeError: There is no such command.
    """
    name = _BY_CLASS.get(type(command).__name__)
    if name is None:
        raise TypeError(f"{type(command).__name__} is not a command that can be sent")
    return {name: encode(command)}


_BY_CLASS: Final = {kind: name for name, kind in NAMES.items()}
