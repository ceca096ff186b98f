r"""User-defined patterns: a subset of regular expressions with bounded matching time.

A pattern is a sequence of single characters: literals, `.`, classes such as `[A-Z0-9_]`, and escapes such as
`\d`, `\w`, `\s`, `\b`, `\.`. Each of these may be followed by a repeat `{m}`, `{m,n}` or `?`. A repeat is
possessive: it matches as many characters as possible, without backtracking. Groups, alternatives, `*` and `+`
are not allowed. Searching a text of n characters therefore takes at most n times `WIDTH_MAX` steps.
"""

from __future__ import annotations

import re
from typing import Final

from engine.base.errors import InvalidInputError

WIDTH_MAX: Final = 256
"""The maximum number of characters that a pattern can match."""

PATTERN_CHARS_MAX: Final = 500

_ITEM: Final = re.compile(
    r"""(?P<one>[^\\.\[\](){}*+?|^$]|\.|\\[dDwWsS]|\\[^0-9A-Za-z\n]
        |\[\^?(?:[^\\\]\[\n]|\\[dDwWsS]|\\[^0-9A-Za-z\n])+\])
        (?P<repeat>\?|\{(?P<least>[0-9]{1,3})(?:,(?P<most>[0-9]{1,3}))?\})?
      |(?P<edge>\\b)""",
    re.VERBOSE,
)


def bounded(pattern: object) -> re.Pattern[str]:
    """Return the compiled form of a user-defined pattern, with possessive repeats.

    Raises:
        InvalidInputError: The pattern is not in the allowed subset, could match an empty text, or could match
            more than `WIDTH_MAX` characters.
    """
    if not isinstance(pattern, str) or not 0 < len(pattern) <= PATTERN_CHARS_MAX:
        raise InvalidInputError(f"a pattern must be a text of 1 to {PATTERN_CHARS_MAX} characters")
    made, at, least, most = [], 0, 0, 0
    while at < len(pattern):
        item = _ITEM.match(pattern, at)
        if item is None:
            raise InvalidInputError(
                f"the pattern contains an unsupported element at character {at}",
                hint="use characters, classes [A-Z], \\d \\w \\s \\b, repeats {m,n} or ?, "
                "but no groups, |, * or +",
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
        raise InvalidInputError(f"the pattern is not valid: {error}") from None


def _times(item: re.Match[str]) -> tuple[int, int]:
    if not item["repeat"]:
        return 1, 1
    if item["repeat"] == "?":
        return 0, 1
    least = int(item["least"])
    return least, int(item["most"]) if item["most"] is not None else least
