"""Which words are names, told by their capitals.

A capital says nothing at the start of a sentence, and nothing at all in a text of capitals only; in a
Title Like This it says little, and only words that are in no list count as names.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from engine.language.lexicon import (
    ACRONYMS,
    ADJECTIVES,
    ADVERBS,
    FUNCTION_WORDS,
    GIVEN_NAMES,
    NUMBERS,
    OPENERS,
    TITLES,
    is_verb,
)
from engine.language.pieces import Piece, bare

_ENDS: Final = frozenset(".?!:;\u3002\uff1f\uff01\u2026")
_LAST_LATIN: Final = "\u024f"
_WORDS_OF_CAPITALS: Final = 4
"""So many words in capitals are a way of writing; fewer may be acronyms."""


def find_names(pieces: Sequence[Piece]) -> list[int]:
    """The indices of the pieces that are names."""
    indices = [i for i, piece in enumerate(pieces) if piece.word]
    words = [pieces[i] for i in indices]
    if not any(map(_is_capitalised, words)) or _is_shouted(words):
        return []
    title_case, starts = _is_title_case(words), _starts(pieces, indices)
    found = []
    for i, word, following in zip(indices, words, [*words[1:], None], strict=True):
        if not _is_capitalised(word):
            continue
        if word.low in FUNCTION_WORDS:
            name = _is_in_capitals(word)
        elif word.text in ACRONYMS:
            name = False
        elif title_case:
            name = not _is_known(bare(word.low))
        else:
            name = i not in starts or _begins_name(words, word, following)
        if name:
            found.append(i)
    return found


def _is_capitalised(word: Piece) -> bool:
    first = word.text[1:2] if word.text[0] in "@#" else word.text[0]
    return first.isupper()


def _is_in_capitals(word: Piece) -> bool:
    return word.text.isupper() and len(word.text) > 1


def _is_shouted(words: Sequence[Piece]) -> bool:
    """Whether all is in capitals."""
    if any(word.text != word.text.upper() for word in words):
        return False
    return len(words) >= _WORDS_OF_CAPITALS or any(word.low in FUNCTION_WORDS for word in words)


def _is_title_case(words: Sequence[Piece]) -> bool:
    """Whether Every Word Has a Capital, function words among them, so that capitals tell no name."""
    raised = any(
        word.low in FUNCTION_WORDS and _is_capitalised(word) and word.text.lower() not in {"i", "i'm", "i've"}
        for word in words[1:]
    )
    others = (word for word in words if word.low not in FUNCTION_WORDS)
    return raised and len(words) > 2 and all(map(_is_capitalised, others))


def _starts(pieces: Sequence[Piece], words: Sequence[int]) -> set[int]:
    """The words that begin a sentence: the first, and those after a mark that ends one."""
    found = set(words[:1])
    for before, i in pairwise(words):
        ends = _ENDS.intersection(piece.text for piece in pieces[before + 1 : i])
        if ends and not (ends == {"."} and abbreviates(pieces[before].text)):
            found.add(i)
    return found


def abbreviates(word: str) -> bool:
    """Whether a full stop after `word` ends no sentence: `Dr`, `J`, `J.K`."""
    return word.lower() in TITLES or all(len(part) == 1 for part in word.split("."))


def _is_known(word: str) -> bool:
    """Whether a word in small letters is in a list, so that its capital is only that of a start."""
    lists = (FUNCTION_WORDS, NUMBERS, ADJECTIVES, ADVERBS, OPENERS)
    return any(word in listed for listed in lists) or is_verb(word)


def _begins_name(words: Sequence[Piece], word: Piece, following: Piece | None) -> bool:
    """Whether the capitalised word that begins a sentence is a name all the same."""
    low = bare(word.low)
    repeated = sum(other.text == word.text for other in words) > 1
    if not low[0] <= _LAST_LATIN:
        return repeated  # it may be a question word of another language
    named_after = following is not None and _is_capitalised(following) and following.low not in FUNCTION_WORDS
    if _is_known(low):
        return named_after and (low in ADJECTIVES or low in GIVEN_NAMES)  # Big Hero, Mark King
    if named_after or low != word.low or _is_in_capitals(word) or repeated or following is None:
        return True
    if following.low not in FUNCTION_WORDS and not is_verb(following.low):
        return False  # "Boiler pressure"
    return not (low.endswith("s") and following.low in {"are", "were", "have", "do"})
