"""Turns one written word or identifier into its terms: kept whole, and split (SPEC: Analyzer).

A *word* is what the scan in `analyzer` finds: letters and digits, with single inner joiners
`- . ' @` or runs of `_`, perhaps ending in `++` or `#`. Everything here is a pure function of the
word and takes time linear in its length.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import Stemmer

from engine.text.words import CLIPPED_ENDINGS, STOP_WORDS

TERM_BYTES_MAX: Final = 64
"""Longer terms are cut at a character boundary, in texts and in queries alike."""
PIECES_MAX: Final = 8
"""A word with more changes of case than this is noise (base64), and is not split at them."""

_JOINERS: Final = re.compile("[-._']+")
# Before a capital that follows a small letter or digit, or that begins a word after capitals:
# `HTTP|Server`; but `URLs` stays whole, because its last letter is the plural.
_CASE_CHANGES: Final = re.compile("(?<=[^A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
_ACRONYMS: Final = re.compile("[A-Z]{2,}s")
# One change (`sha256`, `10km`) is a name with a number; several (`a1b2c3`) are a code, left whole.
_NUMBERED: Final = re.compile("([^0-9]+)([0-9]+)|([0-9]+)([^0-9]+)")

# PyStemmer's own cache is off: words are cached one level up, with everything else that is done to them.
_STEM: Final = Stemmer.Stemmer("english", 0).stemWord


def cut(term: str) -> str:
    """The longest beginning of `term` that has at most TERM_BYTES_MAX UTF-8 bytes."""
    if len(term) * 4 <= TERM_BYTES_MAX:
        return term
    return term[:TERM_BYTES_MAX].encode()[:TERM_BYTES_MAX].decode(errors="ignore")


def word_terms(word: str) -> tuple[str, ...]:
    """The terms of one word, the whole first, in the order of the text.

    `ADR-016` gives `adr-016 adr 016`; `camelCase` `camelcas camel case`; `C++` `c++ c`.
    """
    if word.isascii() and word.isalpha() and (word[1:].islower() or word.isupper() or len(word) == 1):
        return (_term(word.lower()),)
    ending = "++" if word.endswith("++") else "#" if word.endswith("#") else ""
    stem = word.removesuffix(ending)
    # `C#` and `F#` are names; in `page#part` the sign is a separator.
    if ending == "++" or (ending and len(stem) == 1 and stem.isascii() and stem.isalpha()):
        return (cut(_fold(word)), *_joined(stem))
    if "@" in stem:
        halves = [term for half in stem.split("@") for term in _joined(half)]
        return (cut(_fold(stem)), *halves)
    return _joined(stem)


def _joined(word: str) -> tuple[str, ...]:
    """The terms of a word without `@` and ending."""
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
    """The terms of a run of letters and digits."""
    whole = _term(_fold(part))
    if part.isascii() and (part.isalpha() or part.isdigit()) and (part[1:].islower() or part.isupper()):
        return (whole,)
    if _ACRONYMS.fullmatch(part):
        # The stemmer takes a plural off only after a vowel: `PDFs` would never meet `PDF`.
        return tuple(dict.fromkeys((whole, _term(part[:-1].lower()))))
    pieces = _pieces(part)
    if len(pieces) < 2:
        return (whole,)
    return (whole, *(_term(_fold(piece)) for piece in pieces))


def _pieces(part: str) -> list[str]:
    """`part` cut where its writer changed case, and between a name and its number.

    Only ASCII letters have a case here, because which others do depends on Python's tables.
    """
    pieces: list[str] = []
    for run in _CASE_CHANGES.split(part, maxsplit=PIECES_MAX):
        numbered = _NUMBERED.fullmatch(run)
        pieces += [group for group in numbered.groups() if group] if numbered else [run]
    return pieces if len(pieces) <= PIECES_MAX else [part]


def _fold(text: str) -> str:
    """`text`, which is in NFC, without case and in NFC again."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def _term(folded: str) -> str:
    """The term of a folded word: itself if a stop word, its English stem if all ASCII letters."""
    if folded in STOP_WORDS:
        return folded
    folded = cut(folded)
    return cut(_STEM(folded)) if folded.isascii() and folded.isalpha() else folded
