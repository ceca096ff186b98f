"""Private keys in text: blocks between `-----BEGIN … PRIVATE KEY-----` and its end (RFC 7468)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

BODY_CHARS_MIN: Final = 40
"""Of base64; with fewer, the text only speaks of such a block."""

BLOCK_CHARS_MAX: Final = 32_768

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_END = re.compile(r"-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_BASE64 = re.compile(r"[0-9A-Za-z+/]{16,}+=*+", re.ASCII)
_LINE = re.compile(r"[ \t>]{0,16}[0-9A-Za-z+/]{16,}+=*+\s*+", re.ASCII)
_BODY = re.compile(r"(?:\s|\\[nr]|[0-9A-Za-z+/]{16,}+=*+)*+", re.ASCII)


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the blocks; of one whose end is missing, up to where its base64 ends."""
    if "PRIVATE KEY" not in text:
        return
    begins = list(_BEGIN.finditer(text))
    ends = list(_END.finditer(text))
    closings = [match.end() for match in ends]
    done = 0
    for index, begin in enumerate(begins):
        following = begins[index + 1].start() if index + 1 < len(begins) else len(text)
        at = bisect_left(closings, begin.end())
        body = _BODY.match(text, begin.end())
        end = body.end() if body else begin.end()
        if at < len(closings) and closings[at] <= min(following, begin.start() + BLOCK_CHARS_MAX):
            end = closings[at]
        if _held(text, begin.end(), end) >= BODY_CHARS_MIN:
            yield begin.start(), end
    before = [match.start() for match in begins]
    for closing in ends:
        # The end of a block whose beginning is in another piece of the text.
        at = bisect_left(before, closing.start())
        start = _body_before(text, closing.start(), max(done, before[at - 1] if at else 0))
        done = closing.end()
        if _held(text, start, closing.start()) >= BODY_CHARS_MIN:
            yield start, closing.end()


def _held(text: str, start: int, end: int) -> int:
    return sum(len(found[0]) for found in _BASE64.finditer(text, start, end))


def _body_before(text: str, end: int, least: int) -> int:
    """Where the lines of base64 right before `end` begin, at or after `least`."""
    at = end
    while at > least:
        start = text.rfind("\n", least, at - 1) + 1 or least
        if not _LINE.fullmatch(text, start, at):
            break
        at = start
    return at
