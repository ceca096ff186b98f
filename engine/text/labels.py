"""Who speaks in a line of a conversation, as it is written before a colon (SPEC: Index).

Nothing here asks Python what a character is, so every Python finds the same labels.
"""

from __future__ import annotations

import re
from typing import Final

LABEL_CHARS_MAX: Final = 40
LABEL_WORDS_MAX: Final = 4
LABEL_WITHIN: Final = 48
"""Label and colon stand within so many characters, asterisks counted."""

_COLON: Final = re.compile("[:\uff1a]")
_REFUSED: Final = re.compile(r'["#$%&()+,/;<=>?@[\\\]^`{|}~!\x00-\x1f\x7f-\x9f\u2028\u2029]')
"""Marks that names do not have, and what may not stand in a line."""


def label_of(content: str) -> str | None:
    r"""The label that `content` begins with; None where there is none.

    `Anna: hello` and `**Anna:** hello` have the label `Anna`. A label has 1 to 40 characters in 1 to 4 words
    with single spaces between them, on one line, and none of ``"#$%&()+,/;<=>?@[\]^`{|}~!``. It ends
    at the first colon, which a space follows, or at the first fullwidth one.
    """
    beginning = content[:LABEL_WITHIN].replace("*", "")
    colon = _COLON.search(beginning)
    if colon is None or (colon.group() == ":" and not beginning.startswith(" ", colon.end())):
        return None
    label = beginning[: colon.start()]
    words = label.split(" ")
    fits = len(label) <= LABEL_CHARS_MAX and len(words) <= LABEL_WORDS_MAX and all(words)
    return label if fits and not _REFUSED.search(label) else None
