"""Find comments, badges and bare link lists in a Markdown file: they are not part of the page's text.

A comment has the syntax of Obsidian (`%% … %%`) or of HTML (`<!-- … -->`). A badge is an image from a badge
service, or an image inside a link. A bare link list is a block with links, embeds and tags, but without other
words. Comments, badges and lists are left out of the contents of atoms. The links and tags of a list are
still recorded.

Code is never changed. A comment without an end is text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Final

from engine.files.ingest.split import Span

_REACH: Final = 4096
"""The maximum length of a code span, in characters."""
_BLOCK_CHARS_MAX: Final = 1 << 16
"""The maximum length of a bare link list, in characters. A longer block is text."""
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
_NOT_WORDS: Final = re.compile(
    rf"!?\[\[[^\[\]\n]{{1,1024}}\]\]|!\[\]{_TARGET}|(?<!!){_LINK}|<?https?://[^\s<>]+>?|</?[A-Za-z][^<>]{{0,1024}}>"
    r"|(?<!\S)#[\w/-]+|^[ \t>]*\d{1,9}[.)](?=\s)",
    re.MULTILINE,
)
_TASK: Final = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[.\][ \t]", re.MULTILINE)
_WORD: Final = re.compile(r"[^\W_]")


class Lines:
    """Maps the lines of a text to lines of its file. Parts of the file were left out of the text."""

    def __init__(self, text: str) -> None:
        """Number the lines of the whole text, before any part of it is left out."""
        self._text = text
        self._passes: list[tuple[list[int], list[int]]] = []
        self._line, self._counted = 1, 0

    def left_out(self, spans: Sequence[Span]) -> None:
        """Record that `spans` were left out. They are in order and refer to the text before this step."""
        self._passes.append((places_of(spans), removed_before(spans)))

    def at(self, offset: int) -> int:
        """Return the number of the line at an offset of the remaining text. Offsets must be ascending."""
        for places, removed in reversed(self._passes):
            offset += removed[bisect_right(places, offset)]
        self._line += self._text.count("\n", self._counted, offset)
        self._counted = offset
        return self._line


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


def places_of(spans: Sequence[Span]) -> list[int]:
    """Return, for each span, its offset in the text after all spans are removed. `spans` are in order."""
    return [begin - before for (begin, _), before in zip(spans, removed_before(spans), strict=False)]


def removed_before(spans: Sequence[Span]) -> list[int]:
    """Return, for each span, the number of characters in the spans before it, and last the total number."""
    return list(accumulate((end - begin for begin, end in spans), initial=0))


def without(text: str, spans: Sequence[Span]) -> str:
    """Return `text` without `spans`, which are in order."""
    if not spans:
        return text
    edges = [0, *chain.from_iterable(spans), len(text)]
    return "".join(text[begin:end] for begin, end in zip(edges[::2], edges[1::2], strict=True))


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


def is_bare(text: str) -> bool:
    """Return True if a block has links, embeds or tags, and no other words.

    A task is never a bare list, because its check box is information.
    """
    if len(text) > _BLOCK_CHARS_MAX or not ("[" in text or "://" in text or "#" in text):
        return False
    others, found = _NOT_WORDS.subn(" ", text)
    return bool(found) and _WORD.search(others) is None and _TASK.search(text) is None
