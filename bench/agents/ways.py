"""The ways in which an agent without a language model asks a question over MCP.

Question: none. Data, seed: none. How: a way calls tools, and records everything that it receives. Each way
has a size, which is a token budget or a number of hints. A larger size costs and finds more.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

_HINT: Final = re.compile(r"\[(\d+)%( ~\d+)?[^\]]*\] ([0-9a-f]+) ")

READ: Final = 0.5
"""The hints-and-texts way reads a text if the score of the hint is at least this share of the best score."""


@dataclass(slots=True)
class Received:
    """Everything that an agent received for one question, as its client shows it."""

    text: str = ""
    """The text blocks of all answers."""
    structured: int = 0
    """The number of characters in the structured content of all answers, as JSON."""
    calls: int = 0


Call = Callable[[str, dict[str, Any]], Awaitable[tuple[str, str]]]
"""Calls a tool. Returns its text blocks and its structured content as JSON, or "" for missing content."""


@dataclass(slots=True)
class Agent:
    """Asks one question, and counts what it received."""

    call: Call
    received: Received = field(default_factory=Received)

    async def use(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return the text of its answer."""
        text, structured = await self.call(tool, arguments)
        self.received.text += text + "\n"
        self.received.structured += len(structured)
        self.received.calls += 1
        return text


Way = Callable[[Agent, str, int], Awaitable[None]]


async def recall(agent: Agent, question: str, size: int) -> None:
    """Call `recall` once, with a budget of `size` tokens."""
    await agent.use("recall", query=question, budget=size)


async def explore(agent: Agent, question: str, size: int) -> None:
    """Call `explore` once, with a budget of `size` tokens."""
    await agent.use("explore", query=question, budget=size)


async def hints_and_texts(agent: Agent, question: str, size: int) -> None:
    """Call `explore_recall` for `size` hints, then `explore_expand` for good hints without whole texts."""
    hints = _HINT.findall(await agent.use("explore_recall", query=question, limit=size))
    best = max((int(score) for score, _, _ in hints), default=0)
    for score, longer, atom in hints:
        if longer and int(score) >= READ * best:
            await agent.use("explore_expand", id=atom)


WAYS: Final[dict[str, tuple[Way, tuple[int, ...]]]] = {
    "recall": (recall, (200, 400, 800, 1600, 3000)),
    "explore": (explore, (300, 600, 1000, 2000, 3000, 5000)),
    "hints and texts": (hints_and_texts, (5, 10, 20)),
}
"""Name → a way and its sizes, in ascending order."""
