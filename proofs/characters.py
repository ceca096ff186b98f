"""Characters that no name in a claim or key has: lists, so that no library's version decides."""

from __future__ import annotations

from typing import Final

WHITE_SPACE: Final = "\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""White space, as what stands between the brackets of a regular expression."""

CONTROLS: Final = "\x00-\x1f\x7f-\x9f"
"""Control characters (general category Cc), likewise."""
