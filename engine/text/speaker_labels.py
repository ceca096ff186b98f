"""Speaker labels: the name before the colon in a line of a conversation (SPEC: Index).

This module does not use Python's Unicode tables, so the labels are the same in every version of Python.
"""

from __future__ import annotations

from typing import Final

from engine.base.characters import lazy

LABEL_CHARS_MAX: Final = 40
LABEL_WORDS_MAX: Final = 4
LABEL_WITHIN: Final = 48
"""The number of characters that are searched for a label at the beginning of a text. The label with its colon
and asterisks must end within these characters."""

_COLON: Final = lazy("[:\uff1a]")
_REFUSED: Final = lazy(r'["#$%&()+,/;<=>?@[\\\]^`{|}~!\x00-\x1f\x7f-\x9f\u2028\u2029]')
"""A pattern for the characters that a label cannot contain: certain punctuation marks, control characters and
line separators."""


def label_of(content: str) -> str | None:
    r"""Return the label at the beginning of `content`, or None if `content` begins with no label.

    `Anna: hello` and `**Anna:** hello` have the label `Anna`. A label is on one line and has 1 to 40
    characters, in 1 to 4 words that are separated by single spaces. It contains none of the characters
    ``"#$%&()+,/;<=>?@[\]^`{|}~!``. It ends at the first ASCII or fullwidth colon; a space must follow an
    ASCII colon.
    """
    beginning = content[:LABEL_WITHIN].replace("*", "")
    colon = _COLON.search(beginning)
    if colon is None or (colon.group() == ":" and not beginning.startswith(" ", colon.end())):
        return None
    label = beginning[: colon.start()]
    words = label.split(" ")
    fits = len(label) <= LABEL_CHARS_MAX and len(words) <= LABEL_WORDS_MAX and all(words)
    return label if fits and not _REFUSED.search(label) else None
