"""Recover the content of an atom from its Markdown block on a page, after a person may have edited the block.

This is the inverse of `engine.files.mirror.text.body`. An ambiguous block is refused, because a wrong
guess would change the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_OPENING: Final = re.compile(r"(`{3,})(text|escaped)[ \t]*")
_FENCE: Final = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)")
_WRITTEN_OUT: Final = re.compile("\u27e8U\\+([0-9A-F]{4,6})\u27e9")


class UnclearBlockError(ValueError):
    """Raised if the content of an edited block is not clear. The message is the reason."""


def content_of(block: str, was: str) -> str:
    """Return the content that an edited block represents.

    If a text is not in the fence, blank lines around the text are dropped. A text before or after the fence
    is a part of the content.

    Args:
        block: The lines between the properties of an atom and the end of its section.
        was: The block when the page was written.

    Raises:
        UnclearBlockError: The fence is incomplete, or its end is not clear.
    """
    lines, former = block.split("\n"), was.split("\n")
    fenced = _OPENING.fullmatch(former[0]) is not None
    opening = _opening(lines) if fenced else None
    if opening is None:
        if fenced and any(map(_FENCE.fullmatch, lines)) and not _is_complete(lines):
            raise UnclearBlockError("a line of the fence around the text is missing")
        return "\n".join(_trimmed(lines))
    at, fence, info = opening
    end = _closing(lines, at, fence, former[1:-1])
    before, inner, after = lines[:at], lines[at + 1 : end], lines[end + 1 :]
    if _trimmed(before):
        inner = [*_trimmed(before, end=False), *inner]
    if _trimmed(after):
        inner = [*inner, *_trimmed(after, start=False)]
    text = "\n".join(inner)
    return _WRITTEN_OUT.sub(_character, text) if info == "escaped" else text


def _opening(lines: Sequence[str]) -> tuple[int, str, str] | None:
    """Return the line that opens the fence around the content: its index, its backticks and its word."""
    for at, line in enumerate(lines):
        found = _OPENING.fullmatch(line)
        if found:
            if not _is_complete(lines[:at]):
                raise UnclearBlockError("a fence before the text is not closed")
            return at, found[1], found[2]
    return None


def _closing(lines: Sequence[str], at: int, fence: str, former: Sequence[str]) -> int:
    """Return the index of the line that closes the fence that line `at` opens.

    `former` contains the lines that were in the fence when the page was written.
    """
    closing = re.compile(rf" {{0,3}}`{{{len(fence)},}}[ \t]*")
    ends = [index for index in range(at + 1, len(lines)) if closing.fullmatch(lines[index])]
    if not ends:
        raise UnclearBlockError("the line that closes the fence around the text is missing")
    if len(ends) == 1:
        return ends[0]
    # The text has fences of its own. Either they are in the fence of the page, or they follow it.
    first, last = ends[0], ends[-1]
    is_around = not _trimmed(lines[last + 1 :]) and _is_complete(lines[at + 1 : last])
    is_before = not lines[first + 1].strip() and _is_complete(lines[first + 1 :])
    if is_before and (not is_around or list(lines[at + 1 : first]) == list(former)):
        return first
    if is_around and not is_before:
        return last
    raise UnclearBlockError(
        "the text has a fence like the fence around it; use more backticks for the fence around the text"
    )


def _is_complete(lines: Sequence[str]) -> bool:
    """Return True if these lines close every fence that they open."""
    opened = ""
    for line in lines:
        found = _FENCE.fullmatch(line)
        if found is None:
            continue
        mark = found[1] or found[2]
        if not opened:
            opened = mark
        elif mark.startswith(opened) and line.strip(" \t") == mark:
            opened = ""
    return not opened


def _trimmed(lines: Sequence[str], *, start: bool = True, end: bool = True) -> list[str]:
    """Return the lines without the blank lines at the start and at the end."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    if not filled:
        return []
    return list(lines[filled[0] if start else 0 : filled[-1] + 1 if end else len(lines)])


def _character(found: re.Match[str]) -> str:
    point = int(found[1], 16)
    return found[0] if point > 0x10FFFF or 0xD800 <= point < 0xE000 else chr(point)
