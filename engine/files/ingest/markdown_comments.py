"""The comments and badges of a Markdown file, which are not part of the page's text.

A comment has the syntax of Obsidian (`%% … %%`) or of HTML (`<!-- … -->`). A badge is an image from a badge
service, or an image inside a link. Code is never changed. A comment without an end is text.
"""

from __future__ import annotations

import re
from typing import Final

from engine.files.ingest.pieces import Span

_REACH: Final = 4096
"""The maximum length of a code span, in characters."""


_LABEL: Final = r"\[[^\[\]\n]{0,512}\]"

_TARGET: Final = r"\((?:[^()\n]|\([^()\n]{0,128}\)){0,512}\)"

_LINK: Final = rf"{_LABEL}{_TARGET}"

_BADGE: Final = rf"\[!{_LINK}\]{_TARGET}|!{_LABEL}\([^()\s]{{0,512}}(?:shields\.io|badge)[^()\n]{{0,512}}\)"

_SPECIAL: Final = re.compile(
    rf"^(?P<quote>[ \t>]*(?:[-*+][ \t]+|\d{{1,9}}[.)][ \t]+)?)(?P<fence>`{{3,}}(?=[^`\n]*$)|~{{3,}})"
    rf"|(?P<code>`+)|(?P<note>%%)|(?P<html><!--)|(?P<badge>{_BADGE})|\\[`%<!\[]",
    re.MULTILINE,
)

_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")

_INDENTED: Final = re.compile(r"(?: {4}|\t)")


def comments(text: str, start: int) -> list[Span]:
    """Return the spans of the comments and badges after offset `start`, in order.

    If a line contains nothing else, the span covers the whole line.
    """
    if text.find("%%", start) < 0 and text.find("<!--", start) < 0 and text.find("![", start) < 0:
        return []
    spans: list[Span] = []
    done = start
    for begin, end in _comments(text, start):
        spans.append(_whole_lines(text, begin, end, done))
        done = spans[-1][1]
    return spans


def _whole_lines(text: str, begin: int, end: int, done: int) -> Span:
    """Return the span of a comment. If its lines contain nothing else, return the span of these lines."""
    first = max(text.rfind("\n", 0, begin) + 1, done)
    last = text.find("\n", end)
    last = len(text) if last < 0 else last + 1
    at_start = first == 0 or text[first - 1] == "\n"
    if at_start and not text[first:begin].strip() and not text[end:last].strip():
        return first, last
    return begin, end


def _comments(text: str, start: int) -> list[Span]:
    """Return the spans of the comments and badges after offset `start`, in order."""
    spans: list[Span] = []
    endless: set[str] = set()
    at = start
    while (match := _SPECIAL.search(text, at)) is not None:
        at, kind = match.end(), match.lastgroup
        if kind == "fence":
            at = _after_fence(text, match)
        elif kind == "code":
            at = _after_code(text, match)
        elif kind == "badge":
            spans.append(match.span())
        elif kind is not None and not _INDENTED.match(text, text.rfind("\n", 0, match.start()) + 1):
            mark = "%%" if kind == "note" else "-->"
            close = -1 if mark in endless else text.find(mark, at)
            if close < 0:
                endless.add(mark)
            else:
                at = close + len(mark)
                spans.append((match.start(), at))
    return spans


def _after_code(text: str, match: re.Match[str]) -> int:
    """Return the offset after the code span that `match` opens, or the end of `match` if it opens none."""
    limit = min(len(text), match.end() + _REACH)
    blank = _BLANK_LINE.search(text, match.end(), limit)
    close = re.compile(rf"(?<!`){match['code']}(?!`)").search(
        text, match.end(), blank.start() if blank else limit
    )
    return match.end() if close is None else close.end()


def _after_fence(text: str, match: re.Match[str]) -> int:
    """Return the offset after the code block that begins with `match`."""
    fence = match["fence"]
    closing = re.compile(rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
    end = closing.search(text, match.end())
    return len(text) if end is None else end.end()
