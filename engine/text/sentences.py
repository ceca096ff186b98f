"""Cut a text into sentences.

A sentence never goes beyond a paragraph, a list item, a row of a table or a heading. Within these, it ends at
a mark such as `.`, `?` or `。`. A full stop after an abbreviation (`Dr.`, `J.`) does not end a sentence. The
rules for abbreviations know English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

_HEADING: Final = re.compile(r"\s*#{1,6}\s")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_ITEM: Final = re.compile(r"\s*(?:(?:[-*+>|•]|\d{1,4}[.)])(?=\s)\s*|(?=\|))(?:\[[ xX]\]\s)?")
"""The mark before a list item, a quotation or a row of a table."""

_END: Final = re.compile(
    r"[.!?\u2026]+[\"'\u201d\u2019)\]*_]*\s+(?![a-z])|[\u3002\uff01\uff1f]+[\u300d\u300f\uff09\u201d]*\s*"
)
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\"'])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|cf|approx|No|Fig|e\.g|i\.e)$"
)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text in order, each on one line, without headings and marks of list items."""
    return [sentence for part in _paragraphs(text.splitlines()) for sentence in _cut(part)]


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield each paragraph or item as one line with single spaces."""
    held: list[str] = []
    fenced = False
    for line in lines:
        fence, heading, item = _FENCE.match(line), _HEADING.match(line), _ITEM.match(line)
        alone = fenced or fence or heading or item or not line.strip()
        if alone and held:
            yield " ".join(held)
            held = []
        fenced = fenced != bool(fence)
        if not (fence or heading):
            held += line[item.end() if item else 0 :].split()
    if held:
        yield " ".join(held)


def _cut(paragraph: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(paragraph):
        if end.group().startswith(". ") and _ABBREVIATION.search(paragraph, start, end.start()):
            continue
        yield paragraph[start : end.end()].rstrip()
        start = end.end()
    if rest := paragraph[start:].strip():
        yield rest
