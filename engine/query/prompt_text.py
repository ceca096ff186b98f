r"""The format of atoms in a prompt, and the estimated number of tokens of the resulting text.

    [1f0c2a3b 17-19] notes/tea.md | Kettle      first digits of the id, positions in the source, source, title
      The kettle is descaled on Mondays.        the lines of the content, indented by two spaces
    | Filter                                    the title of the lines that follow, if it changes
    [9a2e17c4 external] https://example.com     the provenance, if it is not `internal`
    [1f0c2a3b 4, 2023-05-08; yesterday, i.e. 2023-05-07] chat       when it was written (`written_days`)
    [2023-05-20]                                the day of the lines that follow, if it changes

A line that begins with `[` is a heading: the text in brackets is generated, the source extends to the first
bar, and the title follows the bar. A line that begins with `|` is a title. A line of content cannot look like
a heading or a title, because it begins with a space or is empty. A source or title cannot add such a line,
because line ends are removed from sources and titles. Control characters and invisible characters are shown
as escapes such as `\x1b` and `\u200b` (`engine.base.characters`). The texts of several atoms are concatenated
without a separator. The result costs at most as many tokens as all these texts together.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from typing import Final

from engine.base.characters import INVISIBLE, escape_match, is_plain, lazy
from engine.base.native import NATIVE
from engine.ledger.queries import SHORT_ID_DIGITS
from engine.text.token_estimate import estimate_tokens

ID_DIGITS: Final = SHORT_ID_DIGITS
"""The number of digits to which a heading shortens an id. A shortened id costs about 5 tokens; a whole id
costs 25. `Engine.resolve` accepts shortened ids."""

BUDGET_MIN: Final = 16
"""The smallest budget in tokens: the cost of the shortest heading and a line with only `…`."""

INTERNAL: Final = "internal"
"""The provenance that headings do not show."""

CUT: Final = "…"
"""The character that is put at the end of a text that was cut."""

INDENT: Final = "  "
"""The indentation of content. It costs no tokens, because in tokenizers a line end and the spaces after it
are a single token."""

CHARS_PER_TOKEN_MAX: Final = 18
"""The largest number of characters in one token. Only tokens of white space reach this length."""

_UNSEEN: Final = lazy(f"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ud800-\udfff{INVISIBLE}]")
"""Matches a character that must be escaped: a control character other than a tab or a line end, an invisible
character, or a lone surrogate."""


def tokens_of(text: str) -> int:
    """Return the estimated number of tokens of `text`. The estimate tends to be too high."""
    return estimate_tokens(text)


def hit_text(title: str | None, source: str | None, sequence: int | None, id: str, content: str) -> str:  # noqa: A002
    """Return the text of one atom for a prompt: a heading and the lines of the indented content."""
    return f"{heading(title, source, sequence, sequence, id)}{body(content)}\n"


def hit_tokens(title: str | None, source: str | None, sequence: int | None, id: str, content: str) -> int:  # noqa: A002
    """Return the tokens of `hit_text`."""
    if NATIVE is not None:
        tokens: int | None = NATIVE.hit_tokens(title, source, sequence, id[:ID_DIGITS], content)
        if tokens is not None:
            return tokens
    return tokens_of(hit_text(title, source, sequence, id, content))


def heading(
    title: str | None,
    source: str | None,
    first: int | None,
    last: int | None,
    id: str,  # noqa: A002
    digits: int = ID_DIGITS,
    *,
    provenance: str = INTERNAL,
    when: str = "",
) -> str:
    """Return the heading for atoms from one source. The heading has no line end.

    `first` and `last` are the positions of the first and the last atom in the source. `id` is the id of one
    of the atoms. `provenance` is shown unless it is `internal`. `when` is a note of
    `engine.query.written_days`.
    """
    line = f"[{id[:digits]}"
    if source is not None and first is not None:
        line += f" {first}" if first == last else f" {first}-{last}"
    line += f"{origin(provenance)}{f', {when}' if when else ''}]"
    if source is not None:
        # A bar ends the source. So a bar within the source would make its end look like a title.
        line += " " + on_one_line(source).replace("|", "¦")
    if title is not None:
        line += " | " + on_one_line(title)
    return line.rstrip()


def origin(provenance: str) -> str:
    """Return the mark that shows a provenance: a space and the provenance, or '' for `internal`."""
    return "" if provenance == INTERNAL else f" {provenance}"


def subheading(title: str | None) -> str:
    """Return a line end followed by a line that shows a new title within a source."""
    return "\n|" if title is None else f"\n| {on_one_line(title)}".rstrip()


def day_line(when: str) -> str:
    """Return a line end followed by a line that shows when the following text was written."""
    return f"\n[{when}]"


def body(content: str) -> str:
    """Return the content of an atom as indented lines. The content is split with `str.splitlines`.

    A line end precedes each line; no line end follows the last line. So a heading followed by bodies costs
    exactly as much as its parts together. If the parts contain characters outside ASCII, the two costs may
    differ slightly because of rounding.
    """
    if is_plain(content):
        line = content.rstrip()
        return f"\n{INDENT}{line}" if line else ""
    lines = [line.rstrip() for line in _UNSEEN.sub(escape_match, content).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    start = next((at for at, line in enumerate(lines) if line), 0)
    return "".join(f"\n{INDENT}{line}" if line else "\n" for line in lines[start:])


def body_within(content: str, tokens: int) -> str:
    """Return `body(content)`, cut if it costs more than `tokens` tokens.

    A cut text consists of the first characters of `body(content)` and `…`. It is as long as possible, but
    costs at most `tokens`. If a word ends in its second half, the text is cut after the last such word. If
    `tokens` is below 3, the cut text is empty, because a line with only `…` costs 3 tokens.
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
    """Return the last index up to `end` at which `text` may be cut: if possible, not within a word.

    The end of a word is searched for in the second half of `text[:end]`. If no word ends there, the index is
    `end`, or a lower index if `end` is between a letter and its accent.
    """
    for at in range(end, max(end // 2, len(INDENT) + 1), -1):
        if at == len(text) or text[at].isspace() or text[at - 1].isspace():
            return at
    while end > len(INDENT) + 1 and unicodedata.combining(text[end]):
        end -= 1
    return end


def on_one_line(text: str) -> str:
    """Return `text` on one line; white space becomes single spaces, and invisible characters are escaped."""
    shown = text if is_plain(text) else _UNSEEN.sub(escape_match, text)
    return " ".join(shown.split())
