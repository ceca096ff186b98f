"""The tokenizer: it splits a question into words and marks. No term of the analyzer spans two words.

An identifier remains one word: `ADR-016`, `C++`, `a.b@c.org`, `@alice`, `#tag`, a path, a URL. The time is
linear in the length of the text: each repetition in a pattern is bounded, or cannot match the characters that
may follow it.

The module also cuts a text into sentences. A sentence never goes beyond a paragraph, a list item, a row of a
table or a heading. Within these, it ends at a mark such as `.`, `?` or `。`. A full stop after an
abbreviation (`Dr.`, `J.`) does not end a sentence. The rules for abbreviations know English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from engine.base.characters import lazy

# The marks between words: ASCII punctuation except `_`, and the punctuation of other common scripts. A mark
# that is not listed here stays in its word, where the analyzer ignores it. The typographic apostrophe and
# hyphens join words, and zero-width joiners belong to their word.
_MARKS: Final = (
    r"!-/:-@\[-\^`{-~\xa1-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    r"\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u2012-\u2018\u201a-\u2027\u2030-\u205e"
    r"\u3001-\u3003\u3008-\u3011\u3014-\u301f\u3030\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_GAPS: Final = r"\s\x00-\x1f\x7f-\x9f\u200b\ud800-\udfff"
_INNER: Final = rf"[^{_GAPS}{_MARKS}]"
_WORD: Final = (
    # The lengths are bounded because a failed match is tried again at the next character.
    r"[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s<>\"\u201c\u201d\ud800-\udfff]+"
    r"|[A-Za-z]:\\[^\s<>\"|\ud800-\udfff]+"
    rf"|(?<![\w/.~])(?:~|\.\.?)?/[\w@+~-][\w.@+~-]*(?:/[\w.@+~-]*)*"
    r"|[\w.@+-]{1,64}(?:/[\w.@+-]{1,64}){2,16}/?"
    rf"|(?:(?<!{_INNER})[@#])?{_INNER}+(?:[-.'@\u2010\u2011\u2019]{_INNER}+)*(?:\+\+|[+#](?!{_INNER}))?"
)
_PIECES: Final = re.compile(rf"(?P<word>{_WORD})|[{_MARKS}]")
_UNREADABLE: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_TRAILING: Final = ".,;:!?)]}'\""

_IDENTIFIERS: Final = lazy(
    r"[@#].+"
    r"|.*(?:://|[\\/@_]|\+\+$)"
    r"|[A-Za-z][#+]$"
    r"|(?=.*[A-Za-z])(?=.*[0-9])"
    r"|.*[a-z][A-Z]"
    r"|[A-Za-z][\w-]*\.[a-z][a-z0-9]{0,4}$"
)
_MEASURES: Final = lazy(r"[0-9]+(?:\.[0-9]+)?(?:[a-z]{1,3}|-[a-z-]+)")
"""Numbers that are followed by letters: `10km`, `18th`, `5pm`, `4-letter`."""

_QUOTES: Final = {
    '"': '"',
    "\u201c": "\u201d",
    "\u201e": "\u201c",
    "\u00ab": "\u00bb",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "\u300a": "\u300b",
    "\u2018": "\u2019",
    "'": "'",
}
QUOTED_WORDS_MAX: Final = 16
"""The maximum number of words in a quoted phrase. A longer quotation is treated as ordinary text."""


class Token(NamedTuple):
    """A word or a punctuation mark, and its position: the slice `[start:end]` of the whole text."""

    text: str
    start: int
    end: int
    word: bool
    """True for a word, False for a mark."""
    low: str
    """The word or mark in lower case and with ASCII apostrophes. Word lists are searched for this form."""


def clean(text: str) -> str:
    """Return `text` with each control character and lone surrogate replaced by a space."""
    return _UNREADABLE.sub(" ", text)


def split(text: str) -> list[Token]:
    """Return the words and marks of `text`, in order, without white space and other separators."""
    pieces = []
    at = 0
    while match := _PIECES.search(text, at):
        start, at = match.span()
        word = match["word"] is not None
        if word and text[at - 1] in _TRAILING:
            at = start + max(1, len(match.group().rstrip(_TRAILING)))
            # If a path consists of dots, the part that remains (`./../` of `./../.`) may not be a word.
            shorter = _PIECES.match(text, start, at)
            word = shorter is not None and shorter["word"] is not None
        written = text[start:at]
        pieces.append(Token(written, start, at, word, written.lower().replace("\u2019", "'")))
    return pieces


def bare(word: str) -> str:
    """Return `word` without a possessive ending."""
    cut = word[:-2] if word[-2:] in {"'s", "\u2019s", "'S", "\u2019S"} else word
    return cut or word


def is_identifier(word: str) -> bool:
    """Return True if a word has the form of an identifier: `ADR-016`, `foo_bar`, `camelCase`, `C++`, `@a`."""
    if word.isascii() and word.isalpha() and (word[1:].islower() or len(word) == 1):
        return False  # most words; the patterns take five times as long
    name = bare(word)[:256]
    return _IDENTIFIERS.match(name) is not None and _MEASURES.fullmatch(name) is None


def quotations(pieces: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the quoted phrases as ranges of `pieces`, without the quotation marks."""
    ranges = []
    at = 0
    while at < len(pieces):
        end = _closing(pieces, at)
        if end > at + 1:
            ranges.append((at + 1, end))
            at = end
        at += 1
    return ranges


def _closing(pieces: Sequence[Token], at: int) -> int:
    """Return the index of the mark that closes the quotation at index `at`, or 0 if no mark closes it."""
    closing = _QUOTES.get(pieces[at].text)
    following = at + 1 < len(pieces) and pieces[at + 1].start == pieces[at].end
    attached = at > 0 and pieces[at - 1].word and pieces[at - 1].end == pieces[at].start
    if closing is None or not following or (attached and closing in "'\""):
        return 0
    for end in range(at + 1, min(len(pieces), at + 1 + 2 * QUOTED_WORDS_MAX)):
        if pieces[end].text == closing:
            words = sum(piece.word for piece in pieces[at + 1 : end])
            return end if 1 <= words <= QUOTED_WORDS_MAX else 0
    return 0


_HEADING: Final = lazy(r"\s*#{1,6}\s")
_FENCE: Final = lazy(r"\s*(?:```|~~~)")
_ITEM: Final = lazy(r"\s*(?:(?:[-*+>|•]|\d{1,4}[.)])(?=\s)\s*|(?=\|))(?:\[[ xX]\]\s)?")
"""The mark before a list item, a quotation or a row of a table."""

_END: Final = lazy(
    r"[.!?\u2026]+[\"'\u201d\u2019)\]*_]*\s+(?![a-z])|[\u3002\uff01\uff1f]+[\u300d\u300f\uff09\u201d]*\s*"
)
_ABBREVIATION: Final = lazy(
    r"(?:^|[\s(\"'])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|cf|approx|No|Fig|e\.g|i\.e)$"
)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text in order, each on one line, without headings and marks of list items."""
    return [sentence for part in _paragraphs(text.splitlines()) for sentence in _cut(part)]


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield each paragraph or item as one line with single spaces."""
    paragraph: list[str] = []
    fenced = False
    for line in lines:
        fence, heading, item = _FENCE.match(line), _HEADING.match(line), _ITEM.match(line)
        alone = fenced or fence or heading or item or not line.strip()
        if alone and paragraph:
            yield " ".join(paragraph)
            paragraph = []
        fenced = fenced != bool(fence)
        if not (fence or heading):
            paragraph += line[item.end() if item else 0 :].split()
    if paragraph:
        yield " ".join(paragraph)


def _cut(paragraph: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(paragraph):
        if end.group().startswith(". ") and _ABBREVIATION.search(paragraph, start, end.start()):
            continue
        yield paragraph[start : end.end()].rstrip()
        start = end.end()
    if rest := paragraph[start:].strip():
        yield rest
