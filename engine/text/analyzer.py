"""The analyzer: it splits text into terms that are the same in every Python version (SPEC: Analyzer).

The analyzer is a pure function. The first event of a store records its name and its fingerprint. Its
steps, in order:

1. Truncate the text to TEXT_CHARS_MAX characters.
2. Replace lone surrogates, and code points that Unicode 14.0 does not assign, by spaces.
3. Remove invisible code points.
4. Truncate long runs of combining marks. This step precedes step 5, because in CPython before 2026 NFC takes
   time quadratic in the length of a run of marks.
5. Normalise to NFC.
6. Scan for words.
7. Casefold each word, normalise it to NFC, and apply the rules of `identifiers`.

The analyzer accepts every `str` and raises no error.

In scripts without spaces between words (Han, kana, Hangul, Thai, Khmer…) each pair of adjacent letters,
with their marks, is a term; an isolated letter is a term by itself. Each Han letter is also indexed by
itself, so that a query of one letter finds it. Each emoji is a term.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from engine.base import unicode14
from engine.base.limits import COMBINING_RUN_MAX
from engine.base.patterns import lazy
from engine.kernels import NATIVE
from engine.text.identifiers import cut, stem_words, word_terms
from engine.text.words import CLIPPED_ENDINGS, STOP_WORDS
from proofs.hashing import analyzer_fingerprint

ANALYZER_NAME: Final = "memroot-1"

TEXT_CHARS_MAX: Final = 1 << 21
"""The maximum number of characters that the analyzer reads: twice the maximum number of characters in an
atom's content."""

JOINS_MAX: Final = 31
"""The maximum number of joiners (such as `-` or `_`) in one identifier. After this number of
joiners, a new identifier begins."""

CACHED_WORDS_MAX: Final = 1 << 15
CACHED_CHARS_MAX: Final = 32

_PLAIN: Final = "0-9A-Za-z"
_SHAPE: Final = rf"{{first}}{{word}}*(?:(?:_+|[-.'@]){{word}}+){{{{0,{JOINS_MAX}}}}}(?:\+\+|#)?"
# `_SHAPE` for ASCII text. It looks for a joiner or ending before it tries one, and never tries a shorter
# match: 6.0 µs instead of 8.3 µs for 40 words (measured).
_ASCII_WORDS: Final = re.compile(
    rf"[{_PLAIN}]++(?:(?=[-_.'@+#])(?:(?:_++|[-.'@])[{_PLAIN}]++){{0,{JOINS_MAX}}}+(?:\+\+|#)?+)?+"
)
_ASTRAL: Final = lazy("[\U00010000-\U0010ffff]")
_HAN: Final = ((0x3005, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_LOOKALIKES: Final = (("\u2019", "'"), ("\u2010", "-"), ("\u2011", "-"))
"""The typographic apostrophe and hyphens, each with the ASCII character that replaces it."""


class _Cache(dict[str, tuple[str, ...]]):
    """A cache: word → terms of the word. A missing word is analysed; the terms of short words are cached.

    Most words of a text are already in the cache. Looking up such a word is four times as fast (measured).
    The value depends on the key alone, so a lost or repeated write is harmless and no lock is needed.
    """

    def __missing__(self, word: str) -> tuple[str, ...]:
        terms = _terms(word, query=False)
        if len(word) <= CACHED_CHARS_MAX:
            if len(self) >= CACHED_WORDS_MAX:
                self.clear()
            self[word] = terms
        return terms


_CACHE: Final = _Cache()
_CACHED_TERMS: Final = _CACHE.__getitem__


class AnalyzedTerm(NamedTuple):
    """A term of a text, and whether it is a stop word."""

    term: str
    stop: bool


class _Patterns(NamedTuple):
    """The compiled regular expressions that the analyzer uses for non-ASCII text."""

    special: re.Pattern[str]
    separated: re.Pattern[str]
    ignored: re.Pattern[str]
    marks: re.Pattern[str]
    words: re.Pattern[str]
    grams: re.Pattern[str]


KERNEL_TERMS: Final = (
    None
    if NATIVE is None
    else NATIVE.Terms(sorted(STOP_WORDS), sorted(CLIPPED_ENDINGS), stem_words, word_terms)
)
"""The table of known words that the compiled kernels fill and use, or None if the kernels are not used. As in
`_Cache`, a value depends on its key alone."""


def index_terms(text: str) -> list[str]:
    """Return all terms of `text` in order, including stop words; the index stores these terms."""
    return list(chain.from_iterable(map(_CACHED_TERMS, _words(text))))


def index_terms_many(texts: Sequence[str]) -> list[list[str]]:
    """Return `index_terms` of each of `texts`. One call for many texts is faster than one call per text."""
    if NATIVE is None:
        return [index_terms(text) for text in texts]
    found = NATIVE.index_terms_many(KERNEL_TERMS, texts)
    return [index_terms(text) if terms is None else terms for text, terms in zip(texts, found, strict=True)]


def tokens(text: str) -> list[AnalyzedTerm]:
    """Return all terms of `text` in order, each with a flag that is True for a stop word."""
    return [AnalyzedTerm(term, term in STOP_WORDS) for term in index_terms(text)]


def analyze_query(text: str) -> list[str]:
    """Return the distinct terms to search for, in order.

    Stop words are omitted unless the text has no other terms. The result is a subset of `index_terms(text)`.
    """
    # Only the terms of words that are not ASCII differ between texts and queries.
    each = (_CACHED_TERMS(word) if word.isascii() else _terms(word, query=True) for word in _words(text))
    terms = dict.fromkeys(chain.from_iterable(each))
    return [term for term in terms if term not in STOP_WORDS] or list(terms)


@cache
def fingerprint() -> bytes:
    """Return the 32 bytes that identify this analyzer: a hash of its tables and of the terms of the probes.

    The hash first covers seven lines of ASCII, each with a final newline: the six tables of
    `unicode14_table`, and the sorted stop words joined by spaces. Then, for each probe
    (`engine.text.probes`), it covers the terms that `index_terms` returns and the terms that `analyze_query`
    returns. A list of terms is hashed as the number of terms (u32be), followed by the terms. A term is hashed
    as its length (u8), a flag (u8, 1 for a stop word, else 0) and its UTF-8 bytes.
    """
    from engine.text.probes import probes

    words = " ".join(sorted(STOP_WORDS))
    tables = "".join(f"{table}\n" for table in (*unicode14.TABLES, words)).encode("ascii")
    return analyzer_fingerprint(tables + answers(probes()))


def answers(probes: Iterable[str]) -> bytes:
    """Return the bytes that `fingerprint` hashes for `probes`."""
    hashed = bytearray()
    for probe in probes:
        for terms in (index_terms(probe), analyze_query(probe)):
            hashed += len(terms).to_bytes(4, "big")
            for term in terms:
                raw = term.encode()
                hashed += bytes([len(raw), term in STOP_WORDS]) + raw
    return bytes(hashed)


def _words(text: str) -> Iterable[str]:
    if len(text) > TEXT_CHARS_MAX:
        text = text[:TEXT_CHARS_MAX]
    if text.isascii():
        return _ASCII_WORDS.findall(text)
    # A class with code points above U+FFFF is matched range by range, which is 30 to 100 times slower
    # (measured).
    patterns = _patterns(_ASTRAL.search(text) is not None)
    return patterns.words.findall(_normalize(text, patterns))


def _normalize(text: str, patterns: _Patterns) -> str:
    """Return `text` in NFC, without invisible code points, unassigned code points or long runs of marks."""
    if patterns.special.search(text):
        text = patterns.ignored.sub("", patterns.separated.sub(" ", text))
        for lookalike, plain in _LOOKALIKES:
            text = text.replace(lookalike, plain)
    text = patterns.marks.sub(lambda run: run.group()[:COMBINING_RUN_MAX], text)
    return unicodedata.normalize("NFC", text)


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
    """Return the regular expressions for non-ASCII text. The first call compiles them in about 10 ms."""
    last = unicode14.LAST if astral else unicode14.BMP_LAST
    classes = (unicode14.character_class(table, last) for table in unicode14.TABLES)
    separated, ignored, mark, gram, word, pictograph = classes
    special = separated + ignored + "".join(lookalike for lookalike, _ in _LOOKALIKES)
    first = f"(?![{mark}])[{word}]"
    words = rf"{_SHAPE.format(first=first, word=f'[{word}]')}|[{gram}][{gram}{mark}]*|[{pictograph}]"
    return _Patterns(
        special=re.compile(f"[{special}]"),
        separated=re.compile(f"[{separated}]"),
        ignored=re.compile(f"[{ignored}]"),
        marks=re.compile(f"[{mark}]{{{COMBINING_RUN_MAX + 1},}}"),
        words=re.compile(words),
        grams=re.compile(f"[{gram}][{mark}]*"),
    )
