"""What may be done next in an exploration: five actions, each one line of text."""

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
"""What may stand between the brackets of an action, before escapes."""

ACTION_CHARS_MAX: Final = 8 * ARGUMENT_BYTES_MAX
"""A longer answer than this is not looked at: with every character escaped, an argument has 6 to each."""

EXPECTED: Final = (
    "answer with one action on one line and nothing else: "
    'PEEK(id), EXPAND(id), NEIGHBORS(node), RECALL("new query") or ANSWER'
)

_ID: Final = re.compile(r"[0-9a-fA-F]{4}[0-9a-fA-F-]{0,32}")
_CALL: Final = re.compile(r"(PEEK|EXPAND|NEIGHBORS|RECALL)\(([^\n]*)\)")


class Verb(StrEnum):
    """What can be done."""

    PEEK = "PEEK"
    """See some 200 characters of an atom."""
    EXPAND = "EXPAND"
    """Read all of it."""
    NEIGHBORS = "NEIGHBORS"
    """See what it is connected to."""
    RECALL = "RECALL"
    """Ask for hints in other words."""
    ANSWER = "ANSWER"
    """Nothing more: the context is enough."""


@dataclass(frozen=True, slots=True)
class Action:
    """A verb with what it is done to; `str(action)` is the line that `parse_action` reads back.

    Raises:
        InvalidInputError: the argument is nothing that the verb can be done to.
    """

    verb: Verb
    argument: str = ""
    """An id, at least 4 of its digits, to peek and expand; a node or a query, on one line; else empty."""

    def __post_init__(self) -> None:
        instance(self.verb, Verb, "verb")
        given = line(self.argument, f"what to {self.verb}", ARGUMENT_BYTES_MAX)
        if self.verb is Verb.ANSWER:
            if given:
                raise InvalidInputError(f"ANSWER takes nothing, not {quoted(given)}")
        elif self.verb in (Verb.PEEK, Verb.EXPAND):
            if not _ID.fullmatch(given):
                raise InvalidInputError(f"{self.verb} takes an id of a hint, not {quoted(given)}")
        elif given != given.strip() or not given:
            raise InvalidInputError(f"{self.verb} takes some text without white space around it")

    def __str__(self) -> str:
        if self.verb is Verb.ANSWER:
            return self.verb.value
        if self.verb in (Verb.PEEK, Verb.EXPAND):
            return f"{self.verb.value}({self.argument})"
        return f"{self.verb.value}({json.dumps(self.argument, ensure_ascii=False)})"


def parse_action(text: str) -> Action:
    r"""The action that `text` is: one line, with white space around it or not.

    An argument may stand in double quotes, with `\"` and the other escapes of JSON strings; that of RECALL
    must. `parse_action(str(action)) == action` for every action.

    Raises:
        InvalidInputError: it is anything else, such as prose, two actions, or an action without an argument.
    """
    if not isinstance(text, str):
        raise InvalidInputError(f"a reply of type {type(text).__name__} is no text; {EXPECTED}")
    if len(text) > ACTION_CHARS_MAX:
        raise InvalidInputError(f"{len(text)} characters are no action; {EXPECTED}")
    given = text.strip(" \t\r\n")
    if given == Verb.ANSWER:
        return Action(Verb.ANSWER)
    found = _CALL.fullmatch(given)
    if found is None:
        raise InvalidInputError(f"{quoted(given)} is no action; {EXPECTED}")
    verb = Verb(found[1])
    try:
        return Action(verb, _argument(verb, found[2].strip(" \t")))
    except InvalidInputError as error:
        raise InvalidInputError(f"{error}; {EXPECTED}") from None


def _argument(verb: Verb, written: str) -> str:
    if not written.startswith('"'):
        if verb is Verb.RECALL or set(written) & set('"()'):
            raise InvalidInputError(f"{verb} takes a text in double quotes, not {quoted(written)}")
        return written
    try:
        read = parse(written)
    except JsonError:
        raise InvalidInputError(f"{quoted(written)} is not one text in double quotes") from None
    return str(read)
