"""The five actions of an exploration, and the replies that name an action.

Each action is written as one line of text.

`parse_action` finds the action in the reply of a language model. A prompt asks for the action alone. Models
also reply with code fences, bullets, numbers of steps, lower case, missing quotation marks, and reasons:

    PEEK(1f0c2a3b)                                      [Step 2] PEEK(1f0c2a3b) - looks relevant
    expand 1f0c2a3b                                     - `NEIGHBORS(Ada Lovelace)`
    explore_recall --query "kettle" --limit 5           ANSWER - have enough context

All of these are parsed. A reply with two different actions is refused, because it does not say which one
comes first.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.base.characters import lazy
from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.base.validation import instance, line, quoted

ARGUMENT_BYTES_MAX: Final = 1024
"""The largest size of an action's argument in bytes, before characters in it are escaped."""

_ID: Final = re.compile(r"[0-9a-fA-F]{4}[0-9a-fA-F-]{0,32}")


REPLY_CHARS_MAX: Final = 8 * ARGUMENT_BYTES_MAX
"""The maximum length of a reply in characters. Up to 6 characters may encode one byte of an argument."""


EXPECTED: Final = (
    'reply with one action on one line: PEEK(id), EXPAND(id), NEIGHBORS(node), RECALL("new query") or ANSWER'
)


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


_FENCE: Final = lazy(r"(?:```|~~~)[\w+-]*")
_OPENING: Final = lazy(
    r"(?:[-*+•>`]+[ \t]*|\d{1,2}[.)][ \t]+|\[?step[ \t]*\d{1,2}\]?[ \t]*[:.]?[ \t]*"
    r"|(?:next[ \t]+)?action[ \t]*:[ \t]*)*",
    re.IGNORECASE,
)
"""Matches what may precede an action on its line. If nothing precedes the action, the match is empty. So
every line matches, and no match is tried twice."""
_VERB: Final = lazy(
    r"(?:engine[ \t]+|[a-z][\w-]*[ \t]+(?=explore_))?"
    r"(?:explore_)?(peek|expand|neighbou?rs|recall|answer)(?!\w)[`*]*[ \t]*",
    re.IGNORECASE,
)
"""Matches a verb, and before it the name of the program of a command such as `engine explore_peek`."""
_OPTIONS: Final = lazy(r"(?:[ \t]--(?:limit[ \t=]5|direction[ \t=]both))+$")
"""Matches options of the commands for single steps. Only the values that an exploration uses are accepted."""
_KEYWORD: Final = lazy(r"(?:--(?:id|node|query)[ \t=]|(?:id|node|query)[ \t]*[:=])[ \t]*", re.IGNORECASE)
_STRING: Final = lazy(r'"(?:[^"\\]|\\.)*"')
_WORD: Final = lazy(r"\S*[^\s.:;,!]")
_UNTIL_DASH: Final = lazy(r"(?:(?![ \t][-–—→][ \t]).)+")
_REASON: Final = lazy(r"[`*]*[ \t]*(?:(?:[-–—:.;#!(→](?!-)|//).*)?", re.DOTALL)
"""Matches what may follow an action on its line."""
_ANOTHER: Final = lazy(r"\b(?:explore_)?(?:peek|expand|neighbou?rs|recall)[ \t]*\(", re.IGNORECASE)
_PAIRS: Final = ("''", "“”", "‘’", "``", "[]", "<>")


def parse_action(text: str) -> Action:
    r"""Return the action that `text` contains.

    The action begins a line, after bullets and the like. Other lines may contain anything but an action. The
    argument follows the verb, with or without brackets. It may be in double quotes, with `\"` and the other
    escapes of JSON strings. `parse_action(str(action)) == action` for every action.

    Raises:
        InvalidInputError: `text` contains no action, several actions, or an action with an argument that is
            not valid. The hint lists the actions.
    """
    if not isinstance(text, str):
        raise _refused(f"a reply of type {type(text).__name__} is not a string")
    if len(text) > REPLY_CHARS_MAX:
        raise _refused(f"a reply of {len(text)} characters is too long for an action")
    actions: list[Action] = []
    errors: list[InvalidInputError] = []
    for raw in text.split("\n"):
        line = raw.strip(" \t\r")
        if line and not _FENCE.fullmatch(line):
            try:
                actions += _actions_of(line)
            except InvalidInputError as error:
                errors.append(error)
    if len(set(actions)) > 1:
        raise _refused(f"the reply has several actions: {', '.join(dict.fromkeys(map(str, actions)))}")
    if actions:
        return actions[0]
    raise _refused(str(errors[0]) if errors else f"{quoted(text.strip())} is not an action")


def _refused(why: str) -> InvalidInputError:
    return InvalidInputError(why, hint=EXPECTED)


def _actions_of(line: str) -> list[Action]:
    """Return a list with the action at the beginning of a line, or an empty list if there is no action.

    Raises:
        InvalidInputError: the line begins with a verb, but the rest of the line is not an argument.
    """
    start = _OPENING.match(line)
    verb = _VERB.match(line, 0 if start is None else start.end())
    if verb is None:
        return []
    name, rest = verb[1].upper().replace("NEIGHBOURS", "NEIGHBORS"), line[verb.end() :]
    actual = Verb(name)
    argument = "" if actual is Verb.ANSWER else None
    if argument is None:
        rest = rest.lstrip(":= \t")
        inside = _in_brackets(rest)
        if inside is not None:
            argument, rest = _plain(inside[1:-1].strip(" \t"), actual), rest[len(inside) :]
        else:
            rest = _OPTIONS.sub("", rest.rstrip("`* \t"))
            argument, rest = _bare(rest, actual, shouted=verb[1].isupper())
    if not _REASON.fullmatch(rest) or _ANOTHER.search(rest):
        raise InvalidInputError(f"{quoted(line)} is not one action with one argument")
    return [Action(actual, argument)]


def _in_brackets(text: str) -> str | None:
    """Return the text from the opening bracket at its beginning to the closing bracket, or None."""
    depth = at = 0
    while at < len(text):
        if depth == 1 and (string := _STRING.match(text, at)):
            at = string.end()
            continue
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return text[: at + 1] if at else None
        at += 1
    return None


def _plain(written: str, verb: Verb) -> str:
    """Return an argument without its keyword and without surrounding quotation marks or brackets."""
    text = _KEYWORD.sub("", written, count=1) if _KEYWORD.match(written) else written
    if text.startswith('"'):
        try:
            return str(parse(text))
        except JsonError:
            raise InvalidInputError(f"{quoted(text)} is not one string in double quotes") from None
    if '"' in text:
        raise InvalidInputError(f"{verb} takes one argument, not {quoted(text)}")
    pair = next((pair for pair in _PAIRS if len(text) > 1 and text[0] + text[-1] == pair), None)
    return text if pair is None else text[1:-1].strip(" \t")


def _bare(text: str, verb: Verb, *, shouted: bool) -> tuple[str, str]:
    """Return the argument of a verb that is written without brackets, and the rest of the line.

    If the verb is in lower case, the words after it may be prose. Such words are an argument only if they are
    in quotation marks, or if the verb takes an id.
    """
    keyword = _KEYWORD.match(text)
    begin = 0 if keyword is None else keyword.end()
    if string := _STRING.match(text, begin):
        return _plain(string[0], verb), text[string.end() :]
    words = _WORD if verb in (Verb.PEEK, Verb.EXPAND) else _UNTIL_DASH
    match = words.match(text, begin)
    if match is None or (words is _UNTIL_DASH and not shouted):
        raise InvalidInputError(f"{verb} takes one argument in brackets, not {quoted(text)}")
    return _plain(match[0].rstrip(" \t"), verb), text[match.end() :]
