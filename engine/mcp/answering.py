"""What every answer of a tool says of itself, and the small forms that several tools share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engine.base.json_text import dumped
from engine.mcp.definition import Fields

if TYPE_CHECKING:
    from engine.base.model import Checkpoint, Receipt
    from engine.engine import Engine

SHOWN_CHARS: Final = 200
LISTED: Final = 20
"""So much is shown of a text, and of a list, that is not what was asked for."""


def stated(root: Checkpoint, fields: Fields) -> Fields:
    """`fields`, and what the answer costs, and the root of the memory of which it is true.

    Counted as in `engine.query.explore.form.priced`: on all of the JSON, these four too.
    """
    # Loaded with the first answer of a tool: a client waits for the first message of the process.
    from engine.query.budget import tokens_of
    from engine.query.explore.form import UNPRICED

    truth = {"seq": root.size - 1, "root": root.root}
    cost = tokens_of(dumped(fields | {"cost_tokens": UNPRICED, "total_tokens": UNPRICED} | truth))
    return fields | {"cost_tokens": cost, "total_tokens": cost} | truth


def received(memory: Engine, receipts: list[Receipt], **more: Any) -> Fields:
    """What became of commands on one subject."""
    found: Fields = {
        "id": receipts[-1].subject,
        "changed": any(receipt.changed for receipt in receipts),
        "state": receipts[-1].state.name.lower(),
    }
    return stated(memory.root(), found | more)


def beginning(text: str) -> str:
    """A text on one line, cut after some 200 characters."""
    line = " ".join(text[: 2 * SHOWN_CHARS].split())
    cut = len(text) > 2 * SHOWN_CHARS or len(line) > SHOWN_CHARS
    return line[:SHOWN_CHARS] + "…" if cut else line


def shortened(value: Any) -> Any:
    """A value of JSON's types with the texts in it on one line and cut, and long lists cut."""
    if isinstance(value, str):
        return beginning(value)
    if isinstance(value, (list, tuple)):
        cut = ["…"] if len(value) > LISTED else []
        return [shortened(item) for item in value[:LISTED]] + cut
    return value if value is None or isinstance(value, (bool, int, float)) else beginning(str(value))
