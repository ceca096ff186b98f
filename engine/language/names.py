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
    GIVEN_NAMES,
    NUMBERS,
    OPENERS,
    function_words,
    is_verb,
    words,
)
from engine.language.pieces import bare, is_word, plain

_TITLES: Final = words("capt col dr fr gen gov hon jr lt mr mrs ms mt prof rev sgt sr st")
_ENDS: Final = frozenset(".?!:;\u3002\uff1f\uff01\u2026")
_LAST_LATIN: Final = "\u024f"
_WORDS_OF_CAPITALS: Final = 4
"""So many words in capitals are a way of writing; fewer may be acronyms."""


def find_names(texts: Sequence[str]) -> list[int]:
    """The indices of the tokens that are names; `texts` are words, marks and white space in order."""
    words = [i for i, text in enumerate(texts) if is_word(text)]
    if not any(_capitalised(texts[i]) for i in words):
        return []
    plains = {i: plain(texts[i]) for i in words}
    if _shouted([texts[i] for i in words], list(plains.values())):
        return []
    title_case = _title_case([texts[i] for i in words], list(plains.values()))
    starts = _starts(texts, words)
    found = []
    for place, i in enumerate(words):
        if not _capitalised(texts[i]):
            continue
        following = words[place + 1] if place + 1 < len(words) else None
        if plains[i] in function_words():
            name = texts[i].isupper() and len(texts[i]) > 1
        elif texts[i] in ACRONYMS:
            name = False
        elif title_case:
            name = not _known(bare(plains[i]))
        else:
            name = i not in starts or _begins_name(texts, i, following)
        if name:
            found.append(i)
    return found


def _capitalised(word: str) -> bool:
    first = word[1:2] if word[0] in "@#" else word[0]
    return first.isupper()


def _shouted(words: list[str], plains: list[str]) -> bool:
    """Whether all is in capitals."""
    if any(word != word.upper() for word in words):
        return False
    return len(words) >= _WORDS_OF_CAPITALS or any(word in function_words() for word in plains)


def _title_case(words: list[str], plains: list[str]) -> bool:
    """Whether Every Word Has a Capital, function words among them, so that capitals tell no name."""
    functions = [word for word, low in zip(words[1:], plains[1:], strict=True) if low in function_words()]
    raised = [word for word in functions if _capitalised(word) and word.lower() not in {"i", "i'm", "i've"}]
    others = [word for word, low in zip(words, plains, strict=True) if low not in function_words()]
    return bool(raised) and len(words) > 2 and all(_capitalised(word) for word in others)


def _starts(texts: Sequence[str], words: list[int]) -> set[int]:
    """The words that begin a sentence: the first, and those after a mark that ends one."""
    found = set(words[:1])
    for before, i in pairwise(words):
        ends = _ENDS.intersection(texts[before + 1 : i])
        if ends and not (ends == {"."} and abbreviates(texts[before])):
            found.add(i)
    return found


def abbreviates(word: str) -> bool:
    """Whether a full stop after `word` ends no sentence: `Dr`, `J`, `J.K`."""
    return plain(word) in _TITLES or all(len(part) == 1 for part in word.split("."))


def _known(word: str) -> bool:
    """Whether a word in small letters is in a list, so that its capital is only that of a start."""
    lists = (NUMBERS, ADJECTIVES, ADVERBS, OPENERS)
    return word in function_words() or any(word in words for words in lists) or is_verb(word)


def _begins_name(texts: Sequence[str], i: int, following: int | None) -> bool:
    """Whether the capitalised word that begins a sentence is a name all the same."""
    word = plain(bare(texts[i]))
    if not word[0] <= _LAST_LATIN:
        return texts.count(texts[i]) > 1  # it may be a question word of another language
    after = texts[following] if following is not None else ""
    named_after = after != "" and _capitalised(after) and plain(after) not in function_words()
    if _known(word):
        return named_after and (word in ADJECTIVES or word in GIVEN_NAMES)  # Big Hero, Mark King
    if named_after or word != plain(texts[i]) or (texts[i].isupper() and len(texts[i]) > 1):
        return True
    if texts.count(texts[i]) > 1 or not after:
        return True
    low = plain(after)
    if low not in function_words() and not is_verb(low):
        return False  # "Boiler pressure"
    return not (word.endswith("s") and low in {"are", "were", "have", "do"})
