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
7. Casefold each word, normalise it to NFC, and derive its terms: the whole word and its parts
   (`word_terms`).

The analyzer accepts every `str` and raises no error.

In scripts without spaces between words (Han, kana, Hangul, Thai, Khmer…) each pair of adjacent letters,
with their marks, is a term; an isolated letter is a term by itself. Each Han letter is also indexed by
itself, so that a query of one letter finds it. Each emoji is a term.

A *word* is a match of the scan: runs of letters and digits. Between two runs there is a single `-`, `.`, `'`
or `@`, or one or more `_`. The word may end in `++` or `#`. The time is linear in the length of the text.

A stop word is indexed like any other word, so that its absence from a text can also be proved. Scores and
document lengths do not count stop words, and queries omit them. Stop words are never stemmed. The stop words
are part of the analyzer: a change changes its fingerprint.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

import Stemmer

from engine.base import characters
from engine.base.characters import lazy
from engine.base.limits import COMBINING_RUN_MAX
from engine.base.native import NATIVE

ANALYZER_NAME: Final = "memroot-1"
TEXT_CHARS_MAX: Final = 1 << 21
"""The maximum number of characters that the analyzer reads: twice the maximum number of characters in an
atom's content."""
TERM_BYTES_MAX: Final = 64
"""The maximum size of a term in bytes. A longer term is truncated at a character boundary, in texts and in
queries."""
JOINS_MAX: Final = 31
"""The maximum number of joiners (such as `-` or `_`) in one identifier. After this number of
joiners, a new identifier begins."""
PIECES_MAX: Final = 8
"""The maximum number of pieces into which a word is split at changes of case and at numbers. A word that
would have more pieces is treated as noise (such as base64) and is not split."""
CACHED_WORDS_MAX: Final = 1 << 15
CACHED_CHARS_MAX: Final = 32

_STOP_WORDS: Final = (
    # articles, demonstratives, quantifiers
    "a an the this that these those some any each every either neither both all few more most other another "
    "such own same "
    # pronouns
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself it its itself they them their theirs themselves one "
    "who whom whose which what "
    # forms of be, have, do; modals
    "be am is are was were been being have has had having do does did doing done "
    "can could may might must shall should will would cannot "
    # prepositions
    "of in on at by for with from to into onto upon about against between among through during before after "
    "above below under over up down out off within without toward towards per via "
    # conjunctions
    "and or but nor if then else than because as until while although though since unless whether so "
    # adverbs without content
    "not no yes only very too also just even still yet again further once here there when where why how "
    "now ever quite rather "
    # contractions, with and without the apostrophe
    "isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't can't couldn't mayn't mightn't "
    "mustn't shan't shouldn't won't wouldn't needn't ain't "
    "isnt arent wasnt werent havent hasnt hadnt dont doesnt didnt cant couldnt mustnt shouldnt wont wouldnt "
    "aint im ive youre youve theyre theyve thats whats"
)

STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""The stop words, casefolded and in ASCII."""

CLIPPED_ENDINGS: Final = frozenset({"s", "d", "m", "ll", "re", "ve"})
"""Endings that are removed after an apostrophe at the end of a word: `Anna's` becomes `anna`."""

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

_JOINERS: Final = re.compile("[-._']+")

# A word is split before a capital that follows a lower-case letter or digit, and before a capital that begins
# a new word after other capitals: `HTTP|Server`. `URLs` is not split, because its last letter is the plural.
_CASE_CHANGES: Final = re.compile("(?<=[^A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")

_ACRONYMS: Final = re.compile("[A-Z]{2,}s")

# A word with one change between letters and digits (`sha256`, `10km`) is a name with a number and is split. A
# word with several changes (`a1b2c3`) is a code and is not split.
_NUMBERED: Final = re.compile("([^0-9]+)([0-9]+)|([0-9]+)([^0-9]+)")

# PyStemmer's own cache is disabled: `analyzer` caches the final terms of each word.
_STEMMER: Final = Stemmer.Stemmer("english", 0)

_STEM: Final = _STEMMER.stemWord


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


def index_terms(text: str) -> list[str]:
    """Return all terms of `text` in order, including stop words; the index stores these terms."""
    return list(chain.from_iterable(map(_CACHED_TERMS, _words(text))))


def index_terms_many(texts: Sequence[str]) -> list[list[str]]:
    """Return `index_terms` of each of `texts`. One call for many texts is faster than one call per text."""
    if NATIVE is None:
        return [index_terms(text) for text in texts]
    listed = NATIVE.index_terms_many(KERNEL_TERMS, texts)
    return [index_terms(text) if terms is None else terms for text, terms in zip(texts, listed, strict=True)]


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
    last = characters.LAST if astral else characters.BMP_LAST
    classes = (characters.character_class(table, last) for table in characters.TABLES)
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


def stem_words(words: list[str]) -> list[str]:
    """Return the English stem of each of `words`, which are in lower case."""
    stems: list[str] = _STEMMER.stemWords(words)
    return stems


def cut(term: str) -> str:
    """Return the longest prefix of `term` that has at most TERM_BYTES_MAX UTF-8 bytes."""
    if len(term) * 4 <= TERM_BYTES_MAX:
        return term
    return term[:TERM_BYTES_MAX].encode()[:TERM_BYTES_MAX].decode(errors="ignore")


def word_terms(word: str) -> tuple[str, ...]:
    """Return the terms of one word: the whole word first, then its parts in the order of the text.

    `ADR-016` gives `adr-016 adr 016`; `camelCase` gives `camelcas camel case`; `C++` gives `c++ c`.
    """
    if word.isascii() and word.isalpha() and (word[1:].islower() or word.isupper() or len(word) == 1):
        return (_term(word.lower()),)
    ending = "++" if word.endswith("++") else "#" if word.endswith("#") else ""
    stem = word.removesuffix(ending)
    # `C#` and `F#` are names; in `page#part` the `#` is a separator.
    if ending == "++" or (ending and len(stem) == 1 and stem.isascii() and stem.isalpha()):
        return (cut(_fold(word)), *_joined(stem))
    if "@" in stem:
        halves = [term for half in stem.split("@") for term in _joined(half)]
        return (cut(_fold(stem)), *halves)
    return _joined(stem)


def _joined(word: str) -> tuple[str, ...]:
    """Return the terms of a word that contains no `@` and does not end in `++` or `#`."""
    if "'" in word:
        whole = _fold(word)
        if whole in STOP_WORDS:
            return (whole,)
        base, _, end = word.rpartition("'")
        if end.lower() in CLIPPED_ENDINGS:
            return _joined(base)
    parts = _JOINERS.split(word)
    if len(parts) == 1:
        return _part(word)
    return (cut(_fold(word)), *(term for part in parts for term in _part(part)))


def _part(part: str) -> tuple[str, ...]:
    """Return the terms of a run of letters and digits."""
    whole = _term(_fold(part))
    if part.isascii() and (part.isalpha() or part.isdigit()) and (part[1:].islower() or part.isupper()):
        return (whole,)
    if _ACRONYMS.fullmatch(part):
        # The stemmer removes a plural only after a vowel, so `PDFs` would never match `PDF`.
        return tuple(dict.fromkeys((whole, _term(part[:-1].lower()))))
    pieces = _pieces(part)
    if len(pieces) < 2:
        return (whole,)
    return (whole, *(_term(_fold(piece)) for piece in pieces))


def _pieces(part: str) -> list[str]:
    """Split `part` at changes of case, and between a name and its number; return the pieces.

    Only ASCII letters count as having a case, because the case of other letters depends on the Unicode
    tables of the Python version.
    """
    pieces: list[str] = []
    for run in _CASE_CHANGES.split(part, maxsplit=PIECES_MAX):
        numbered = _NUMBERED.fullmatch(run)
        pieces += [group for group in numbered.groups() if group] if numbered else [run]
    return pieces if len(pieces) <= PIECES_MAX else [part]


def _fold(text: str) -> str:
    """Return `text`, which must be in NFC, casefolded and normalised to NFC again."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def _term(folded: str) -> str:
    """Return the term of a folded word.

    The term of a stop word is the word itself. The term of any other word of ASCII letters is its English
    stem. The term of a word with other characters is the word itself.
    """
    if folded in STOP_WORDS:
        return folded
    folded = cut(folded)
    return cut(_STEM(folded)) if folded.isascii() and folded.isalpha() else folded


KERNEL_TERMS: Final = (
    None
    if NATIVE is None
    else NATIVE.Terms(sorted(STOP_WORDS), sorted(CLIPPED_ENDINGS), stem_words, word_terms)
)
"""The table of known words that the compiled kernels fill and use, or None if the kernels are not used. As in
`_Cache`, a value depends on its key alone."""
