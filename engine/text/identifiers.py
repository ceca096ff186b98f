"""The terms of one word or identifier: the whole word and its parts (SPEC: Analyzer).

A *word* is a match of the scan in `analyzer`: runs of letters and digits. Between two runs there is a single
`-`, `.`, `'` or `@`, or one or more `_`. The word may end in `++` or `#`. All functions here are pure and
take time linear in the length of the word.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import Stemmer

from engine.text.words import CLIPPED_ENDINGS, STOP_WORDS

TERM_BYTES_MAX: Final = 64
"""The maximum size of a term in bytes. A longer term is truncated at a character boundary, in texts and in
queries."""
PIECES_MAX: Final = 8
"""The maximum number of pieces into which a word is split at changes of case and at numbers. A word that
would have more pieces is treated as noise (such as base64) and is not split."""

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
