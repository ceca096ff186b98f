"""The five actions of an exploration, each written as one line of text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.base.validation import instance, line, quoted

ARGUMENT_BYTES_MAX: Final = 1024
"""The largest size of an action's argument in bytes, before characters in it are escaped."""

ACTION_CHARS_MAX: Final = 8 * ARGUMENT_BYTES_MAX
"""The largest length of an action in characters. A byte of the argument may be written as 6 characters."""

EXPECTED: Final = (
    "answer with one action on one line and nothing else: "
    'PEEK(id), EXPAND(id), NEIGHBORS(node), RECALL("new query") or ANSWER'
)

_ID: Final = re.compile(r"[0-9a-fA-F]{4}[0-9a-fA-F-]{0,32}")
_CALL: Final = re.compile(r"(PEEK|EXPAND|NEIGHBORS|RECALL)\(([^\n]*)\)")


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
    """A verb with its argument. `str(action)` is the line that `parse_action` parses.

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


def parse_action(text: str) -> Action:
    r"""Return the action that `text` contains on one line, with or without white space around it.

    An argument may be in double quotes, with `\"` and the other escapes of JSON strings. The argument of
    RECALL must be in double quotes. `parse_action(str(action)) == action` for every action.

    Raises:
        InvalidInputError: `text` is not exactly one action. It is, for example, prose, two actions, or an
            action without its argument.
    """
    if not isinstance(text, str):
        raise InvalidInputError(f"a reply of type {type(text).__name__} is not a string; {EXPECTED}")
    if len(text) > ACTION_CHARS_MAX:
        raise InvalidInputError(f"a reply of {len(text)} characters is too long for an action; {EXPECTED}")
    reply = text.strip(" \t\r\n")
    if reply == Verb.ANSWER:
        return Action(Verb.ANSWER)
    found = _CALL.fullmatch(reply)
    if found is None:
        raise InvalidInputError(f"{quoted(reply)} is not an action; {EXPECTED}")
    verb = Verb(found[1])
    try:
        return Action(verb, _argument(verb, found[2].strip(" \t")))
    except InvalidInputError as error:
        raise InvalidInputError(f"{error}; {EXPECTED}") from None


def _argument(verb: Verb, written: str) -> str:
    if not written.startswith('"'):
        if verb is Verb.RECALL or set(written) & set('"()'):
            raise InvalidInputError(f"{verb} takes one string in double quotes, not {quoted(written)}")
        return written
    try:
        read = parse(written)
    except JsonError:
        raise InvalidInputError(f"{quoted(written)} is not one string in double quotes") from None
    return str(read)
