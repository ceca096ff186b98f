"""Characters that are not allowed in claims and key names.

They are listed here so that the set does not depend on the version of a library.
"""

from __future__ import annotations

from typing import Final

WHITE_SPACE: Final = "\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""All white space, written as the inside of a character class `[…]` of a regular expression."""

CONTROLS: Final = "\x00-\x1f\x7f-\x9f"
"""All control characters (general category Cc), written in the same way as `WHITE_SPACE`."""
