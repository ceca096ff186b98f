"""Who decides the next step of an exploration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from engine.base.errors import InvalidInputError
from engine.query.explore.actions import Action, parse_action
from engine.query.explore.prompt import decision_prompt
from engine.query.explore.state import State


@runtime_checkable
class Policy(Protocol):
    """Decides by what the exploration knows. Equal states should get equal decisions."""

    def decide(self, state: State) -> Action:
        """The next step.

        Raises:
            InvalidInputError: there is no decision that could be read; it counts, and the exploration goes
                on. Any other error ends it.
        """
        ...


@runtime_checkable
class Prompting(Policy, Protocol):
    """A policy that asks a language model; what its prompts cost is counted apart."""

    def prompt(self, state: State) -> str:
        """What the model is asked in this state; the same whenever asked."""
        ...


class LanguagePolicy:
    """Asks a language model, by a prompt for each decision; keeps nothing between two of them."""

    def __init__(self, ask: Callable[[str], str]) -> None:
        """`ask` sends a prompt to the model and returns what it replied; its errors are passed on.

        Raises:
            InvalidInputError: it cannot be called.
        """
        if not callable(ask):
            raise InvalidInputError(f"ask must be a function of a prompt, not {type(ask).__name__}")
        self._ask = ask

    def prompt(self, state: State) -> str:
        """What the model is asked in this state."""
        return decision_prompt(state)

    def decide(self, state: State) -> Action:
        """The action that the model replies with.

        Raises:
            InvalidInputError: the reply is anything but one action.
        """
        return parse_action(self._ask(self.prompt(state)))
