r"""Invisible characters: a person does not see them, but a language model reads them.

A text can carry a hidden message in them, so they are escaped wherever a terminal, a prompt or an agent gets
the text. A few are needed: a joiner within an emoji or a word of Persian or Hindi, a zero-width space after a
letter of Thai or Khmer, and one variation selector after an emoji or an ideograph. In these places, the
character is left as it is. A second one directly after it is escaped.
"""

from __future__ import annotations

import re
from typing import Final

from engine.base.patterns import lazy

INVISIBLE: Final = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""The invisible characters, for use between the brackets of a regular expression.

They include the marks that change the direction of text, the fillers of Hangul, and the tags from U+E0000.
Control characters, and the separators U+2028 and U+2029, are not included.
"""

_EMOJI = "\xa9\xae\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINING = (
    "\u0600-\u061b\u061d-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18af\u1b00-\u1bff\ua840-\ua87f\ua980-\ua9df"
    "\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010aff\U00011000-\U00011fff\U0001e900-\U0001e95f"
)
_WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff"
_HAN = "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_NEEDED = lazy(
    f"[{_EMOJI}][\ufe0e\ufe0f]?\u200d|[{_EMOJI}0-9][\ufe0e\ufe0f]|[{_JOINING}][\u200c\u200d]"
    f"|[{_WITHOUT_SPACES}]\u200b|[{_HAN}][\ufe00-\ufe02\U000e0100-\U000e010f]"
    "|[\u1820-\u18aa][\u180b-\u180d\u180f]"
)
_ESCAPED = lazy(f"[\x7f-\x9f\u2028\u2029\ud800-\udfff{INVISIBLE}]")

_PLAIN = lazy(
    "[\x20-\x7e\xa1-\xac\xae-\u034e\u0391-\u03a1\u03a3-\u03e1\u0400-\u052f\u2010-\u2027\u2030-\u205e"
    "\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*+"
)


def is_plain(text: str) -> bool:
    """Return True if `text` is one line of common visible characters. Most texts pass this fast test."""
    return _PLAIN.fullmatch(text) is not None


def is_needed(text: str, at: int) -> bool:
    """Return True if the invisible character at index `at` changes how the characters before it look.

    The result depends only on the character and the two characters before it.
    """
    return any(_NEEDED.fullmatch(text, start, at + 1) for start in (at - 1, at - 2) if start >= 0)


def code(character: str) -> str:
    r"""Return the escape of a character as in Python, such as `\x1b`, `\u200b` or `\U000e0041`."""
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def escape(found: re.Match[str]) -> str:
    """Return the character that was found if it is needed; otherwise, return its escape."""
    return found[0] if is_needed(found.string, found.start()) else code(found[0])


def visible(text: str) -> str:
    """Return `text` with invisible characters, DEL, C1 controls and line separators escaped.

    Other control characters are unchanged: JSON escapes them.
    """
    return text if is_plain(text) else _ESCAPED.sub(escape, text)
