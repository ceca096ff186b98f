"""The blocks of a Markdown file, and the parts of it that are not part of the page's text.

A comment has the syntax of Obsidian (`%% … %%`) or of HTML (`<!-- … -->`). A badge is an image from a badge
service, or an image inside a link. A bare link list is a block with links, embeds and tags, but without other
words. Comments, badges and lists, and headings that are left without text, are left out of the contents of
atoms. The links and tags of a list are still recorded.

Code is never changed. A comment without an end is text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine.base.limits import META_TEXT_BYTES_MAX
from engine.files.ingest.pieces import Block, Span, removed_before
from proofs.events import Scalar

_CODE: Final = frozenset({"fence", "code_block"})
_RULE: Final = "hr"
_TO_PAGE: Final = re.compile(r"\[\[|\]\((?!<?[A-Za-z][A-Za-z0-9+.-]*:)")
_URL: Final = re.compile(r"https?://[^\s<>()\[\]]+(?:\([^\s<>()\[\]]*\)[^\s<>()\[\]]*)*")

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


class Part(NamedTuple):
    """A top-level block."""

    block: Block
    type: str
    """The type of the block, as markdown-it names it."""
    heading: str | None
    """The text of a heading, including markup; None if the block is not a heading."""
    level: int
    """The level of a heading, 1 to 6; otherwise 0."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The blocks that remain, and the spans that were left out."""

    blocks: list[Part]
    """The remaining blocks. Their offsets refer to the text without `spans`."""
    spans: list[Span] = field(default_factory=list)
    """The spans that were left out, in order."""
    lists: int = 0
    """The number of bare link lists that were left out."""

    def places(self) -> _Places:
        """Return an object that converts offsets to offsets in the remaining text."""
        return _Places(self.spans)


class _Places:
    def __init__(self, spans: Sequence[Span]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]
        self._removed = removed_before(spans)

    def of(self, offset: int) -> int:
        """Return the offset in the remaining text. A removed part maps to the character before it."""
        number = bisect_right(self._starts, offset)
        if number and offset < self._ends[number - 1]:
            return self._starts[number - 1] - self._removed[number - 1] - 1
        return offset - self._removed[number]


def leave_out(text: str, parts: list[Part], gaps: Sequence[int]) -> LeftOut:
    """Leave out the bare link lists, and the headings under which nothing remains.

    A heading is kept if there is text under it. It is also kept if there is a link to another page under it,
    because the heading may describe that page, or if there was nothing under it in the file. `gaps` are the
    ascending offsets where comments and badges were left out.
    """
    bare = [_is_bare(text, part) for part in parts]
    lists = sum(bare)
    if not parts or not (lists or gaps):
        return LeftOut(parts)
    gone = list(bare)
    for start, end in _empty_sections(text, parts, bare, gaps):
        for number in range(start, end):
            gone[number] = True
    if not any(gone):
        return LeftOut(parts)
    rest: list[Part] = []
    spans: list[Span] = []
    removed = 0
    for part, is_gone in zip(parts, gone, strict=True):
        start, end, cuts, whole = part.block.start, part.block.end, part.block.cuts, part.block.whole
        if not is_gone:
            moved = Block(start - removed, end - removed, tuple(cut - removed for cut in cuts), whole)
            rest.append(part._replace(block=moved))
            continue
        removed += end - start
        if spans and spans[-1][1] == start:
            start = spans.pop()[0]
        spans.append((start, end))
    return LeftOut(rest, spans, lists)


def _is_bare(text: str, part: Part) -> bool:
    return not part.level and part.type not in _CODE and is_bare(text[part.block.start : part.block.end])


def _empty_sections(
    text: str, parts: Sequence[Part], bare: Sequence[bool], gaps: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield the ranges of blocks to leave out. Each range consists of a heading and its body.

    A range ends at the next heading of any level. The blocks before the first heading are a range, too.
    """
    starts = [number for number, part in enumerate(parts) if part.level or not number]
    below: list[tuple[int, bool]] = []
    for start, end in reversed(list(zip(starts, [*starts[1:], len(parts)], strict=True))):
        level = parts[start].level
        body = range(start + bool(level), end)
        children = _taken(below, level) if level else []
        says = any(_says(text, parts[number], bare[number]) for number in body)
        offsets = _below(text, parts[start]), parts[end - 1].block.end
        left_out = any(bare[number] for number in body) or bisect_left(gaps, offsets[0]) < bisect_right(
            gaps, offsets[1]
        )
        has_text = says or any(children) or not (left_out or children)
        if level:
            below.append((level, has_text))
        if not has_text:
            yield start, end


def _below(text: str, part: Part) -> int:
    """Return the offset after the line of a heading: comments in this line do not count."""
    start = part.block.start
    if not part.level:
        return start
    first = start + len(text[start : part.block.end]) - len(text[start : part.block.end].lstrip())
    return text.find("\n", first) + 1 or len(text) + 1


def _says(text: str, part: Part, bare: bool) -> bool:
    """Return True if a block is text, or is a bare link list with a link to a page. A rule is not text."""
    if bare:
        return _TO_PAGE.search(text, part.block.start, part.block.end) is not None
    return part.type != _RULE


def _taken(below: list[tuple[int, bool]], level: int) -> list[bool]:
    """Remove the sections under a heading from `below`. Return, for each section, True if it has text."""
    taken = []
    while below and below[-1][0] > level:
        taken.append(below.pop()[1])
    return taken


def urls_in(text: str, spans: Sequence[Span]) -> dict[str, Scalar]:
    """Return the value `links` of an atom's meta: as many URLs from `spans` as fit, one on each line."""
    urls: list[str] = []
    size = 0
    for start, end in spans:
        for match in _URL.finditer(text, start, end):
            size += len(match[0].encode()) + 1
            if match[0] not in urls and size <= META_TEXT_BYTES_MAX:
                urls.append(match[0])
    return {"links": "\n".join(urls)} if urls else {}


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


def is_bare(text: str) -> bool:
    """Return True if a block has links, embeds or tags, and no other words.

    A task is never a bare list, because its check box is information.
    """
    if len(text) > _BLOCK_CHARS_MAX or not ("[" in text or "://" in text or "#" in text):
        return False
    others, replaced = _NOT_WORDS.subn(" ", text)
    return bool(replaced) and _WORD.search(others) is None and _TASK.search(text) is None
