r"""Patterns that a user gives: a part of regular expressions in which none can be slow.

A pattern is a row of single characters: literals, `.`, classes such as `[A-Z0-9_]`, and escapes such as
`\d`, `\w`, `\s`, `\b`, `\.`; each may be repeated `{m}`, `{m,n}` or `?`, and a repeat takes as many
as there are and gives none back. No groups, no alternatives, no `*` or `+`. So a text of n characters
takes at most n times `WIDTH_MAX` steps.
"""

from __future__ import annotations

import re
from typing import Final

from engine.base.errors import InvalidInputError

WIDTH_MAX: Final = 256
"""How many characters a pattern can match at most."""

PATTERN_CHARS_MAX: Final = 500

_ITEM: Final = re.compile(
    r"""(?P<one>[^\\.\[\](){}*+?|^$]|\.|\\[dDwWsS]|\\[^0-9A-Za-z\n]
        |\[\^?(?:[^\\\]\[\n]|\\[dDwWsS]|\\[^0-9A-Za-z\n])+\])
        (?P<repeat>\?|\{(?P<least>[0-9]{1,3})(?:,(?P<most>[0-9]{1,3}))?\})?
      |(?P<edge>\\b)""",
    re.VERBOSE,
)


def bounded(pattern: object) -> re.Pattern[str]:
    """The pattern, compiled so that its time is bounded.

    Raises:
        InvalidInputError: it is not of the part that is allowed, could match nothing, or over `WIDTH_MAX`
            characters.
    """
    if not isinstance(pattern, str) or not 0 < len(pattern) <= PATTERN_CHARS_MAX:
        raise InvalidInputError(f"a pattern is a text of 1 to {PATTERN_CHARS_MAX} characters")
    made, at, least, most = [], 0, 0, 0
    while at < len(pattern):
        item = _ITEM.match(pattern, at)
        if item is None:
            raise InvalidInputError(
                f"the pattern has something at character {at} that is not allowed there",
                hint="characters, classes [A-Z], \\d \\w \\s \\b, repeats {m,n} or ?; no groups, |, * or +",
            )
        at = item.end()
        if item["edge"]:
            made.append(r"\b")
            continue
        fewest, widest = _times(item)
        least, most = least + fewest, most + widest
        made.append(item["one"] + (f"{{{fewest},{widest}}}+" if item["repeat"] else ""))
    if not least or most > WIDTH_MAX:
        raise InvalidInputError(
            f"the pattern matches {least} to {most} characters; 1 to {WIDTH_MAX} are allowed"
        )
    try:
        return re.compile("".join(made))
    except (re.error, OverflowError) as error:
        raise InvalidInputError(f"the pattern is none: {error}") from None


def _times(item: re.Match[str]) -> tuple[int, int]:
    if not item["repeat"]:
        return 1, 1
    if item["repeat"] == "?":
        return 0, 1
    least = int(item["least"])
    return least, int(item["most"]) if item["most"] is not None else least
