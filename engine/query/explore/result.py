"""What an exploration ends with: what it gathered, the way there, and what that cost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.query.explore.state import Finding, Step


class Stop(StrEnum):
    """Why an exploration ended."""

    ANSWERED = "answered"
    """The policy had enough."""
    NOTHING = "nothing found"
    """There was nothing to have enough of."""
    STEPS = "steps used up"
    BUDGET = "budget used up"
    """What is left of it has no room for a further step."""
    NOTHING_NEW = "nothing new"
    """Steps in a row brought neither a hint nor a text that was not there."""
    REFUSED = "refused"
    """Decisions in a row could not be read, or asked for what had been done."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """A question explored. All costs are in tokens, as `engine.query.explore.form` counts them."""

    query: str
    steps: tuple[Step, ...]
    context: tuple[Finding, ...]
    """What was found, each atom once, as far as it was read."""
    text: str
    """The context for a prompt; nothing in it can pass for a heading or for markup."""
    answer_tokens: int
    """What `text` costs."""
    tokens: int
    """What the answers of all steps cost together; at most the budget."""
    prompt_tokens: int
    """What the prompts that asked a language model for decisions cost, where the policy is one that does."""
    full_tokens: int
    """What the first 10 atoms of a plain recall would cost with their whole texts."""
    full_atoms: int
    """How many these are: fewer than 10 where it finds no more."""
    seq: int
    """The last event of the journal that the last answer was read at."""
    root: str
    """The overall root then, 64 hex digits."""
    stopped: Stop

    @property
    def saving(self) -> int:
        """How much less `tokens` is than `full_tokens`, in per cent of it; negative where it is more.

        0 where a plain recall finds nothing.
        """
        return round(100 * (1 - self.tokens / self.full_tokens)) if self.full_tokens else 0

    def trace(self) -> tuple[str, ...]:
        """A line for each step: `2. peek(1f0c2a3b) → 200 chars`."""
        return tuple(map(str, self.steps))
