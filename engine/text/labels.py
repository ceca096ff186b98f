"""Speaker labels: the name before the colon in a line of a conversation (SPEC: Index).

This module does not use Python's Unicode tables, so every Python finds the same labels.
"""

from __future__ import annotations

import re
from typing import Final

LABEL_CHARS_MAX: Final = 40
LABEL_WORDS_MAX: Final = 4
LABEL_WITHIN: Final = 48
"""The number of initial characters, including asterisks, that must contain the label and its colon."""

_COLON: Final = re.compile("[:\uff1a]")
_REFUSED: Final = re.compile(r'["#$%&()+,/;<=>?@[\\\]^`{|}~!\x00-\x1f\x7f-\x9f\u2028\u2029]')
"""Characters that names do not contain, control characters and line separators."""


def label_of(content: str) -> str | None:
    r"""Return the label at the beginning of `content`, or None if there is none.

    `Anna: hello` and `**Anna:** hello` have the label `Anna`. A label has 1 to 40 characters in 1 to 4 words
    with single spaces between them, on one line, and none of ``"#$%&()+,/;<=>?@[\]^`{|}~!``. It ends at the
    first ASCII or fullwidth colon; a space must follow an ASCII colon.
    """
    beginning = content[:LABEL_WITHIN].replace("*", "")
    colon = _COLON.search(beginning)
    if colon is None or (colon.group() == ":" and not beginning.startswith(" ", colon.end())):
        return None
    label = beginning[: colon.start()]
    words = label.split(" ")
    fits = len(label) <= LABEL_CHARS_MAX and len(words) <= LABEL_WORDS_MAX and all(words)
    return label if fits and not _REFUSED.search(label) else None
