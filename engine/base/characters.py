r"""Characters: patterns, the classes of Unicode 14.0, invisible characters, and those of a valid text.

The classes are tables (`unicode14_table`), so they do not depend on the version of Python.

A person does not see an invisible character, but a language model reads it. A text can carry a hidden message
in such characters, so they are escaped wherever a terminal, a prompt or an agent gets the text. A few are
needed: a joiner within an emoji or a word of Persian or Hindi, a zero-width space after a letter of Thai or
Khmer, and one variation selector after an emoji or an ideograph. In these places, the character is left as it
is. A second one directly after it is escaped.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cache
from typing import Any, Final, cast

from engine.base import limits, unicode14_table
from engine.base.errors import InvalidInputError, LimitError


class _Lazy:
    """A regular expression that is compiled when one of its attributes is first read."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for attributes that are not set, so each method is looked up here only once.
        value = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, value)
        return value


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern `re.compile(source, flags)`, which is compiled when it is first used.

    Compiling an expression takes 0.1 to 0.5 ms, and most processes of the command line use only a few
    expressions. An error in `source` is raised at the first use, too.
    """
    return cast("re.Pattern[str]", _Lazy(source, flags))


BMP_LAST: Final = 0xFFFF
LAST: Final = 0x10FFFF

TABLES: Final = (
    unicode14_table.SEPARATED,
    unicode14_table.IGNORED,
    unicode14_table.MARK,
    unicode14_table.GRAM,
    unicode14_table.WORD,
    unicode14_table.PICTOGRAPH,
)


def is_assigned(point: int) -> bool:
    """Return True if a code point is assigned in Unicode 14.0. Surrogates count as unassigned."""
    firsts, lasts = _separated()
    at = bisect_right(firsts, point) - 1
    return point > lasts[at] if at >= 0 else True


def ranges(table: str) -> list[tuple[int, int]]:
    """Return the first and last code point of each range in a character table, in ascending order."""
    pairs = (item.partition("-") for item in table.split())
    return [(int(first, 16), int(last or first, 16)) for first, _, last in pairs]


def character_class(table: str, last: int) -> str:
    """Return the code points of a table up to `last`, written for use inside a regular expression's `[…]`."""
    # Literal characters compile faster than hexadecimal escapes: the analyzer's fingerprint takes 33 ms
    # instead of 53 ms (measured).
    pairs = ((chr(low), chr(min(high, last))) for low, high in ranges(table) if low <= last)
    return "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in pairs)


@cache
def _separated() -> tuple[list[int], list[int]]:
    pairs = ranges(unicode14_table.SEPARATED)
    return [first for first, _ in pairs], [last for _, last in pairs]


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


def escape_code(character: str) -> str:
    r"""Return the escape of a character as in Python, such as `\x1b`, `\u200b` or `\U000e0041`."""
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def escape_match(match: re.Match[str]) -> str:
    """Return the character that `match` consists of if it is needed; otherwise, return its escape."""
    return match[0] if is_needed(match.string, match.start()) else escape_code(match[0])


def visible(text: str) -> str:
    """Return `text` with invisible characters, DEL, C1 controls and line separators escaped.

    Other control characters are unchanged: JSON escapes them.
    """
    return text if is_plain(text) else _ESCAPED.sub(escape_match, text)


_TAG_CATEGORIES_REFUSED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_FORBIDDEN = lazy("[\x00\ufffe\uffff]")
_COMBINING_CANDIDATES = lazy(rf"[^\x00-\u02ff]{{{limits.COMBINING_RUN_MAX + 1}}}")


def checked_text(value: object, what: str, most: int) -> str:
    """Return `value` if it is text of at most `most` UTF-8 bytes without forbidden characters.

    Raises:
        LimitError: `value` is longer than `most` bytes, or has over 30 combining marks in a row.
        InvalidInputError: `value` is not text, or contains a lone surrogate, NUL, U+FFFE or U+FFFF.
    """
    if not isinstance(value, str):
        raise InvalidInputError(f"{what} must be text, not {type(value).__name__}")
    try:
        size = len(value) if value.isascii() else len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{what} has a lone surrogate at character {error.start}, which is not valid Unicode"
        ) from None
    if size > most:
        raise LimitError(f"{what} has {size} bytes; at most {most} are allowed")
    if match := _FORBIDDEN.search(value):
        raise InvalidInputError(f"{what} has U+{ord(match[0]):04X} at character {match.start()}")
    if not value.isascii():
        _check_combining(value, what)
    return value


def _check_combining(value: str, what: str) -> None:
    # All combining marks are above U+02FF, so a text without a long run of such characters needs no scan.
    if not _COMBINING_CANDIDATES.search(value):
        return
    run = 0
    for character in value:
        run = run + 1 if unicodedata.category(character)[0] == "M" else 0
        if run > limits.COMBINING_RUN_MAX:
            raise LimitError(f"{what} has over {limits.COMBINING_RUN_MAX} combining marks in a row")


def may_stand_in_tag(character: str) -> bool:
    """Return True if `character` is white space, or visible, assigned and not for private use."""
    return character.isspace() or (
        unicodedata.category(character) not in _TAG_CATEGORIES_REFUSED and is_assigned(ord(character))
    )


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def normalized_content(content: str) -> bytes:
    """Return the normal form of a content, in UTF-8. Contents with the same normal form count as equal.

    Each run of white space becomes a single space, and the letters A to Z become a to z. Other letters keep
    their case: the result is hashed, and case mappings differ between versions of Unicode.
    """
    return " ".join(content.split()).translate(_LOWER).encode()
