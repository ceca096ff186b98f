"""Turns text into terms, the same ones on every Python (SPEC: Analyzer).

The analyzer is a pure function with a name and a fingerprint that a store's first event records. In
order: cut what is too long; Unicode 14.0's unassigned code points and lone surrogates become spaces;
invisible code points go; runs of combining marks are cut; NFC; scan for words; per word casefold,
NFC, and the rules of `identifiers`. Cutting comes before normalising because NFC takes quadratic
time on long runs of marks in CPython before 2026. Every `str` has an analysis; nothing is raised.

Scripts without spaces between words (Han, kana, Hangul, Thai, Khmer…) give every pair of
neighbouring letters, each with its marks, or the letter where it stands alone; Han letters are also
indexed one by one, so that a query of one letter finds them. Emoji are terms of their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

from engine.base import unicode14
from engine.base.limits import COMBINING_RUN_MAX
from engine.text.identifiers import cut, word_terms
from engine.text.words import STOP_WORDS
from proofs.hashing import analyzer_fingerprint

ANALYZER_NAME: Final = "memroot-1"

TEXT_CHARS_MAX: Final = 1 << 21
"""Characters after these are not read; twice what a content of the longest allowed size can have."""

JOINS_MAX: Final = 31
"""One identifier has at most this many joiners; what follows begins a new one."""

CACHED_WORDS_MAX: Final = 1 << 15
CACHED_CHARS_MAX: Final = 32

_PLAIN: Final = "0-9A-Za-z"
_SHAPE: Final = rf"{{first}}{{word}}*(?:(?:_+|[-.'@]){{word}}+){{{{0,{JOINS_MAX}}}}}(?:\+\+|#)?"
_ASCII_WORDS: Final = re.compile(_SHAPE.format(first=f"[{_PLAIN}]", word=f"[{_PLAIN}]"))
_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
_HAN: Final = ((0x3005, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_LOOKALIKES: Final = (("\u2019", "'"), ("\u2010", "-"), ("\u2011", "-"))
"""Typographic apostrophe and hyphens: read as what a keyboard writes."""

# Word → its terms. Most words of a text have been seen before: measured 8 µs against 32 µs for 40 words.
# Entries are pure, so a lost or doubled one changes nothing and no lock is needed.
_CACHE: Final[dict[str, tuple[str, ...]]] = {}


class AnalyzedTerm(NamedTuple):
    """A term as it stands in a text; stop words are marked, not lost."""

    term: str
    stop: bool


class _Patterns(NamedTuple):
    """The scans for text beyond ASCII."""

    odd: re.Pattern[str]
    separated: re.Pattern[str]
    ignored: re.Pattern[str]
    marks: re.Pattern[str]
    words: re.Pattern[str]
    grams: re.Pattern[str]


def index_terms(text: str) -> list[str]:
    """All terms of `text` in order, stop words included: what the index holds of it."""
    terms: list[str] = []
    for word in _words(text):
        found = _CACHE.get(word)
        terms += _look_up(word) if found is None else found
    return terms


def tokens(text: str) -> list[AnalyzedTerm]:
    """All terms of `text` in order, each with the mark whether it is a stop word."""
    return [AnalyzedTerm(term, term in STOP_WORDS) for term in index_terms(text)]


def analyze_query(text: str) -> list[str]:
    """The terms to search for, each once, in order; stop words only if there is nothing else.

    Every one of them is among `index_terms(text)`.
    """
    found = dict.fromkeys(term for word in _words(text) for term in _terms(word, query=True))
    return [term for term in found if term not in STOP_WORDS] or list(found)


@cache
def fingerprint() -> bytes:
    """32 bytes that stand for this analyzer: a hash of its tables and of what it makes of the probes.

    Hashed, in order: the six tables of `unicode14_table` and then the stop words in order, each followed by
    a newline, in ASCII; then for each probe twice, for `index_terms` and for `analyze_query`, u32be
    count of terms and each term as u8 length, u8 1 if a stop word else 0, and its UTF-8 bytes.
    """
    from engine.text.probes import probes

    words = " ".join(sorted(STOP_WORDS))
    answers = bytearray("".join(f"{table}\n" for table in (*unicode14.TABLES, words)).encode("ascii"))
    for probe in probes():
        for terms in (index_terms(probe), analyze_query(probe)):
            answers += len(terms).to_bytes(4, "big")
            for term in terms:
                raw = term.encode()
                answers += bytes([len(raw), term in STOP_WORDS]) + raw
    return analyzer_fingerprint(bytes(answers))


def _words(text: str) -> Iterable[str]:
    if len(text) > TEXT_CHARS_MAX:
        text = text[:TEXT_CHARS_MAX]
    if text.isascii():
        return _ASCII_WORDS.findall(text)
    # A class that reaches beyond U+FFFF is scanned range by range: measured 30 to 100 times slower.
    patterns = _patterns(_ASTRAL.search(text) is not None)
    return patterns.words.findall(_normalize(text, patterns))


def _normalize(text: str, patterns: _Patterns) -> str:
    """`text` in NFC, with nothing in it that Unicode 14.0 does not know."""
    if patterns.odd.search(text):
        text = patterns.ignored.sub("", patterns.separated.sub(" ", text))
        for lookalike, plain in _LOOKALIKES:
            text = text.replace(lookalike, plain)
    text = patterns.marks.sub(lambda run: run.group()[:COMBINING_RUN_MAX], text)
    return unicodedata.normalize("NFC", text)


def _look_up(word: str) -> tuple[str, ...]:
    """The terms of a word that is not cached; short words are from now on."""
    terms = _terms(word, query=False)
    if len(word) <= CACHED_CHARS_MAX:
        if len(_CACHE) >= CACHED_WORDS_MAX:
            _CACHE.clear()
        _CACHE[word] = terms
    return terms


def _terms(word: str, *, query: bool) -> tuple[str, ...]:
    if word.isascii():
        return word_terms(word)
    patterns = _patterns(_ASTRAL.search(word) is not None)
    letters = patterns.grams.findall(word)
    return _gram_terms(letters, query=query) if letters else word_terms(word)


def _gram_terms(letters: list[str], *, query: bool) -> tuple[str, ...]:
    if len(letters) == 1:
        return (cut(letters[0]),)
    terms: list[str] = []
    for letter, following in zip(letters, [*letters[1:], ""], strict=True):
        if not query and any(first <= ord(letter[0]) <= last for first, last in _HAN):
            terms.append(cut(letter))
        if following:
            terms.append(cut(letter + following))
    return tuple(terms)


@cache
def _patterns(astral: bool) -> _Patterns:
    """Compiled on first use, which takes some 10 ms: ASCII text never needs them."""
    last = unicode14.LAST if astral else unicode14.BMP_LAST
    classes = (unicode14.character_class(table, last) for table in unicode14.TABLES)
    separated, ignored, mark, gram, word, picture = classes
    odd = separated + ignored + "".join(lookalike for lookalike, _ in _LOOKALIKES)
    first = f"(?![{mark}])[{word}]"
    words = rf"{_SHAPE.format(first=first, word=f'[{word}]')}|[{gram}][{gram}{mark}]*|[{picture}]"
    return _Patterns(
        odd=re.compile(f"[{odd}]"),
        separated=re.compile(f"[{separated}]"),
        ignored=re.compile(f"[{ignored}]"),
        marks=re.compile(f"[{mark}]{{{COMBINING_RUN_MAX + 1},}}"),
        words=re.compile(words),
        grams=re.compile(f"[{gram}][{mark}]*"),
    )
