"""What an answer costs a language model, counted on the text that goes into its prompt.

    [1f0c2a3b 17-19] notes/tea.md | Kettle      the id's first digits, sequences, source, title
      The kettle is descaled on Mondays.        each line of a content, two spaces before it
    | Filter                                    from here on, another title

A line that begins with `[` is a heading: what stands in the brackets is ours, up to the first bar is
the source, and the title is last. A line that begins with `|` is a title. No content can forge either,
because each of its lines begins with a space or is empty; no source or title can, because they stay on
their line. What nobody can see and a terminal might obey is shown as U+FFFD. Such texts follow one
another directly, and several together cost at most the sum of what each costs.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from typing import Final

from engine.text.tokens import estimate_tokens

ID_DIGITS: Final = 8
"""Digits of an id in a heading, some 5 tokens; a whole one costs 25. `Engine.resolve` takes them."""

BUDGET_MIN: Final = 16
"""The smallest budget: the shortest heading, and a line with the sign that its rest was left out."""

CUT: Final = "…"
"""Stands where the rest of a text was left out."""

INDENT: Final = "  "
"""Costs nothing: vocabularies have tokens for line ends with the white space that follows."""

CHARS_PER_TOKEN_MAX: Final = 18
"""No text that is shown has fewer tokens than one for so many characters (a run of white space)."""

_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters other than tabs and line ends, bidi overrides, and lone surrogates."""


def tokens_of(text: str) -> int:
    """What `text` costs: an estimate that errs upwards, never negative."""
    return estimate_tokens(text)


def hit_text(title: str | None, source: str | None, sequence: int | None, id: str, content: str) -> str:  # noqa: A002
    """One atom as it goes into a prompt: a heading, then its content, indented; with line ends."""
    return f"{heading(title, source, sequence, sequence, id)}{body(content)}\n"


def heading(
    title: str | None,
    source: str | None,
    first: int | None,
    last: int | None,
    id: str,  # noqa: A002
    digits: int = ID_DIGITS,
) -> str:
    """The heading of atoms of one source from `first` to `last`, named by the id of one; no line end."""
    line = f"[{id[:digits]}"
    if source is not None and first is not None:
        line += f" {first}" if first == last else f" {first}-{last}"
    line += "]"
    if source is not None:
        # A bar ends the source; with one inside, it could pass for another source with a title.
        line += " " + on_one_line(source).replace("|", "¦")
    if title is not None:
        line += " | " + on_one_line(title)
    return line.rstrip()


def subheading(title: str | None) -> str:
    """The line between atoms of one source where the title changes; as `body`, its line end is first."""
    return "\n|" if title is None else f"\n| {on_one_line(title)}".rstrip()


def body(content: str) -> str:
    """The lines of a content, whatever ends them in it (as `str.splitlines`), indented.

    Each has its line end before it, none after it: heading and bodies, joined, cost exactly the sum
    of their tokens, but for what is rounded up outside ASCII.
    """
    lines = [line.rstrip() for line in _UNSEEN.sub("\ufffd", content).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    start = next((at for at, line in enumerate(lines) if line), 0)
    return "".join(f"\n{INDENT}{line}" if line else "\n" for line in lines[start:])


def body_within(content: str, tokens: int) -> str:
    """As `body`; where that costs more than `tokens`, its longest beginning that does not, and `…`.

    It ends after a word, and within one only where none ends in its second half. Below 3 tokens, which
    the `…` costs on its line, it is empty.
    """
    whole = body(content)
    reach = min(len(whole), (tokens + 1) * CHARS_PER_TOKEN_MAX)
    if reach == len(whole) and tokens_of(whole) <= tokens:
        return whole
    if tokens_of(f"\n{INDENT}{CUT}") > tokens:
        return ""
    ends = range(len(INDENT) + 1, reach + 1)
    # A longer beginning never costs less.
    end = ends[bisect_right(ends, tokens, key=lambda end: tokens_of(whole[:end] + CUT)) - 1]
    return (whole[: _after_word(whole, end)].rstrip() or f"\n{INDENT}") + CUT


def _after_word(text: str, end: int) -> int:
    """The last place up to `end` that is not within a word or between a letter and its accent."""
    for at in range(end, max(end // 2, len(INDENT) + 1), -1):
        if at == len(text) or text[at].isspace() or text[at - 1].isspace():
            return at
    while end > len(INDENT) + 1 and unicodedata.combining(text[end]):
        end -= 1
    return end


def on_one_line(text: str) -> str:
    """A text without line ends and what nobody can see, white space as single spaces."""
    return " ".join(_UNSEEN.sub("\ufffd", text).split())
