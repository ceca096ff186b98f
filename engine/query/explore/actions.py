"""The five actions of an exploration. Each action is written as one line of text.

`engine.query.explore.replies` parses an action in the reply of a language model.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.validation import instance, line, quoted

ARGUMENT_BYTES_MAX: Final = 1024
"""The largest size of an action's argument in bytes, before characters in it are escaped."""

_ID: Final = re.compile(r"[0-9a-fA-F]{4}[0-9a-fA-F-]{0,32}")


class Verb(StrEnum):
    """The kind of an action."""

    PEEK = "PEEK"
    """Read about 200 characters of an atom."""
    EXPAND = "EXPAND"
    """Read a whole atom."""
    NEIGHBORS = "NEIGHBORS"
    """Read the connections of a node."""
    RECALL = "RECALL"
    """Search for more hints with a different query."""
    ANSWER = "ANSWER"
    """End the exploration, because the context is enough to answer the question."""


@dataclass(frozen=True, slots=True)
class Action:
    """A verb with its argument. `str(action)` is one line of text.

    Raises:
        InvalidInputError: the argument is not valid for the verb.
    """

    verb: Verb
    argument: str = ""
    """The argument. PEEK and EXPAND take an id or at least the first 4 digits of an id. NEIGHBORS takes a
    node and RECALL takes a query, each on one line. ANSWER takes an empty string."""

    def __post_init__(self) -> None:
        instance(self.verb, Verb, "verb")
        argument = line(self.argument, f"the argument of {self.verb}", ARGUMENT_BYTES_MAX)
        if self.verb is Verb.ANSWER:
            if argument:
                raise InvalidInputError(f"ANSWER takes no argument, not {quoted(argument)}")
        elif self.verb in (Verb.PEEK, Verb.EXPAND):
            if not _ID.fullmatch(argument):
                raise InvalidInputError(f"{self.verb} takes the id of a hint, not {quoted(argument)}")
        elif argument != argument.strip() or not argument:
            raise InvalidInputError(f"{self.verb} takes a text without white space at its ends")

    def __str__(self) -> str:
        if self.verb is Verb.ANSWER:
            return self.verb.value
        if self.verb in (Verb.PEEK, Verb.EXPAND):
            return f"{self.verb.value}({self.argument})"
        return f"{self.verb.value}({json.dumps(self.argument, ensure_ascii=False)})"
