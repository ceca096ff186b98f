"""The text form of atoms in a prompt, and the number of tokens that it costs a language model.

    [1f0c2a3b 17-19] notes/tea.md | Kettle      the id's first digits, sequences, source, title
      The kettle is descaled on Mondays.        each line of a content, indented by two spaces
    | Filter                                    a new title, for the lines that follow

A line that begins with `[` is a heading: the brackets hold generated text, the source extends to the first
bar, and the title is last. A line that begins with `|` is a title. Content cannot forge either, because
each of its lines begins with a space or is empty; sources and titles cannot, because they stay on their
line. Invisible characters that a terminal might interpret are shown as U+FFFD. Such texts are concatenated
directly, and several of them cost at most the sum of their single costs.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from typing import Final

from engine.text.tokens import estimate_tokens

ID_DIGITS: Final = 8
"""The number of digits of an id in a heading, some 5 tokens, where a whole id costs 25. `Engine.resolve`
accepts them."""

BUDGET_MIN: Final = 16
"""The smallest budget in tokens: the shortest heading, and a line with the mark of a cut text."""

CUT: Final = "…"
"""The mark of a text whose rest was left out."""

INDENT: Final = "  "
"""The indentation of content. It costs nothing: vocabularies have tokens for a line end with white space."""

CHARS_PER_TOKEN_MAX: Final = 18
"""The largest number of characters that one token can stand for (a run of white space)."""

_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters other than tabs and line ends, bidi overrides, and lone surrogates."""


def tokens_of(text: str) -> int:
    """Return the estimated number of tokens of `text`, which is rather too high than too low."""
    return estimate_tokens(text)


def hit_text(title: str | None, source: str | None, sequence: int | None, id: str, content: str) -> str:  # noqa: A002
    """Return the text of one atom for a prompt: a heading and the indented content, with line ends."""
    return f"{heading(title, source, sequence, sequence, id)}{body(content)}\n"


def heading(
    title: str | None,
    source: str | None,
    first: int | None,
    last: int | None,
    id: str,  # noqa: A002
    digits: int = ID_DIGITS,
) -> str:
    """Return the heading, without a line end, of the atoms of one source from `first` to `last`.

    `id` is that of one of the atoms.
    """
    line = f"[{id[:digits]}"
    if source is not None and first is not None:
        line += f" {first}" if first == last else f" {first}-{last}"
    line += "]"
    if source is not None:
        # A bar ends the source, so a bar within it could make it look like a shorter source with a title.
        line += " " + on_one_line(source).replace("|", "¦")
    if title is not None:
        line += " | " + on_one_line(title)
    return line.rstrip()


def subheading(title: str | None) -> str:
    """Return the line that marks a new title within a source, beginning with its line end as `body` does."""
    return "\n|" if title is None else f"\n| {on_one_line(title)}".rstrip()


def body(content: str) -> str:
    """Return the lines of a content, indented; any line end that `str.splitlines` knows separates lines.

    Each line has its line end before it and none after it, so a heading and bodies cost exactly the sum of
    their tokens, apart from rounding outside ASCII.
    """
    lines = [line.rstrip() for line in _UNSEEN.sub("\ufffd", content).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    start = next((at for at, line in enumerate(lines) if line), 0)
    return "".join(f"\n{INDENT}{line}" if line else "\n" for line in lines[start:])


def body_within(content: str, tokens: int) -> str:
    """Return `body`, or its longest beginning with `…` that costs at most `tokens`.

    It ends after a word, unless no word ends in its second half. It is empty for fewer than 3 tokens, the
    cost of the `…` on a line.
    """
    whole = body(content)
    reach = min(len(whole), (tokens + 1) * CHARS_PER_TOKEN_MAX)
    if reach == len(whole) and tokens_of(whole) <= tokens:
        return whole
    if tokens_of(f"\n{INDENT}{CUT}") > tokens:
        return ""
    ends = range(len(INDENT) + 1, reach + 1)
    # Bisection is valid because a longer beginning never costs less.
    end = ends[bisect_right(ends, tokens, key=lambda end: tokens_of(whole[:end] + CUT)) - 1]
    return (whole[: _after_word(whole, end)].rstrip() or f"\n{INDENT}") + CUT


def _after_word(text: str, end: int) -> int:
    """Return the last index up to `end` that is not within a word or between a letter and its accent."""
    for at in range(end, max(end // 2, len(INDENT) + 1), -1):
        if at == len(text) or text[at].isspace() or text[at - 1].isspace():
            return at
    while end > len(INDENT) + 1 and unicodedata.combining(text[end]):
        end -= 1
    return end


def on_one_line(text: str) -> str:
    """Return a text without line ends and invisible characters, with white space as single spaces."""
    return " ".join(_UNSEEN.sub("\ufffd", text).split())
