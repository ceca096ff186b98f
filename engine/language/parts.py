"""Parts of speech by rule: lists of words, endings, capitals, and what stands beside a word.

Written for questions in English. A doubtful word is a noun, because the second level of a search keeps
nouns: a verb too many costs little there, a noun lost costs the answer. A capital says nothing at the start
of a sentence, and nothing at all in a text of capitals only; in a Title Like This it says little, and only
words that are in no list count as names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from engine.language import lexicon
from engine.language.tokenizer import Token, bare

_NUMBER: Final = re.compile("[0-9][0-9.,:/-]*(?:[a-z]{1,3})?|[0-9]+-[a-z-]+")
_LAST_KNOWN: Final = "\u036f"
"""Letters beyond Latin, and emoji, come after it: nothing is known of their endings."""
_ADJECTIVE_ENDINGS: Final = ("ous", "ful", "less", "able", "ible", "ive", "istic", "ical")
_BEFORE_NOUN: Final = frozenset({"DET", "ADP", "ADJ", "NUM"})
_BEFORE_OBJECT: Final = frozenset({"DET", "PRON", "PROPN"})
_SUBJECTS: Final = frozenset({"PRON", "PROPN", "NOUN", "X"})
_ASKING: Final = frozenset({"what", "which", "whose"})
_RELATIVE: Final = frozenset({"who", "that", "which"})
_PLURAL: Final = frozenset({"i", "you", "we", "they", "who"})
_PARTICLES: Final = frozenset({"up", "out", "off", "away", "back", "down"})
_ENDS: Final = frozenset(".?!;:")
_SENTENCE_ENDS: Final = frozenset(".?!:;\u3002\uff1f\uff01\u2026")
_LAST_LATIN: Final = "\u024f"
_WORDS_OF_CAPITALS: Final = 4
"""So many words in capitals are a way of writing; fewer may be acronyms."""


class _Place:
    """What is known of the sentence up to a word."""

    before: str = ""
    """The part of the word before, adverbs left out; empty at the start."""
    before_word: str = ""
    after: str = ""
    """The part of the word after: empty if not known yet, END at the end."""
    after_word: str = ""
    bare: bool = False
    """A verb in its bare form is due: after did, will, to."""
    be: bool = False
    """A form of be has come: what ends in -ing may be a verb."""
    perfect: bool = False
    """A form of have has come: a participle is due."""


def parts_of(text: str, pieces: Sequence[Token]) -> list[str]:
    """The universal part of speech of each piece of `text`; PUNCT for marks."""
    parts = [lexicon.FUNCTION_WORDS.get(piece.low, "") if piece.word else "PUNCT" for piece in pieces]
    for i in _names(pieces):
        parts[i] = "PROPN"
    place = _Place()
    for i, piece in enumerate(pieces):
        if not parts[i]:
            place.after, place.after_word = "END", ""
            if i + 1 < len(pieces):
                following = pieces[i + 1]
                # What is neither a piece nor white space, as a zero-width space is, parts words like a mark.
                parted = text[piece.end : following.start].strip() != ""
                place.after, place.after_word = ("PUNCT", "") if parted else (parts[i + 1], following.low)
            parts[i] = _part(piece.low, place)
        _pass(place, piece.low, parts[i])
    return parts


def _pass(place: _Place, word: str, part: str) -> None:
    """Note what a word says of those that follow."""
    if part == "PUNCT":
        if word in _ENDS and not (word == "." and abbreviates(place.before_word)):
            place.before, place.bare, place.be, place.perfect = "", False, False, False
        return
    if part == "AUX":
        place.be = place.be or word in lexicon.BE
        place.perfect = word in lexicon.PERFECT
        place.bare = word in lexicon.BEFORE_BARE
    elif part == "VERB":
        place.bare = place.be = place.perfect = False
    if part == "ADV" or (place.bare and word in {"both", "all", "each"}):
        return
    possessive = part in {"PROPN", "NOUN"} and word.endswith("'s")
    place.before, place.before_word = "DET" if possessive else part, word


def _part(word: str, place: _Place) -> str:
    if _NUMBER.fullmatch(word) or word in lexicon.NUMBERS:
        return "NUM"
    if max(word) > _LAST_KNOWN:
        return "X"
    if word in lexicon.NOUN_FIRST and place.after_word == "of":
        return "DET"
    last = word.rpartition("-")[2] or word
    if _is_adverb(last):
        return "ADV"
    if _is_verb(word, place):
        return "VERB"
    if _is_adjective(word, last, place):
        return "ADJ"
    return "ADP" if word == "like" else "NOUN"


def _is_adverb(word: str) -> bool:
    shaped = word.endswith("ly") and len(word) > 4 and word not in lexicon.NOT_ADVERBS
    return word in lexicon.ADVERBS or (shaped and word not in lexicon.BARE_VERBS)


def _is_verb(word: str, place: _Place) -> bool:
    if word.endswith("ing") and len(word) > 5:
        return _is_gerund_here(word, place)
    if word in lexicon.BARE_VERBS:
        return _is_bare_here(word, place)
    if lexicon.is_past(word):
        return not _is_participle_here(place)
    if lexicon.is_third(word):
        return _is_third_here(place)
    due = place.bare and place.before in {"PROPN", "PRON"}
    return due and not word.endswith("s") and word not in lexicon.ADJECTIVES


def _is_gerund_here(word: str, place: _Place) -> bool:
    if word in lexicon.LIGHT_GERUNDS:
        return True
    if not lexicon.is_gerund(word) or place.before == "DET":
        return False
    progressive = place.be and place.before in _SUBJECTS | {"AUX"}
    object_follows = place.after in _BEFORE_OBJECT and place.after_word not in _RELATIVE
    return progressive or object_follows or place.after_word in _PARTICLES


def _is_bare_here(word: str, place: _Place) -> bool:
    if place.before == "":  # a request, if it has an object
        return place.after in _BEFORE_OBJECT | {"ADP"}
    if place.before in {"PART", "AUX"}:
        return place.before_word not in lexicon.BE
    if word in lexicon.UNCHANGING and place.before in _SUBJECTS and (place.perfect or place.after == "DET"):
        return True
    if place.bare and place.before in _SUBJECTS:
        # In "the charity race raise money" it is the last one.
        return place.before != "NOUN" or place.after != "" or place.after_word not in lexicon.BARE_VERBS
    if place.before == "PRON":
        return place.before_word in _PLURAL
    return place.before in {"CCONJ", "SCONJ"} and place.after in _BEFORE_OBJECT


def _is_participle_here(place: _Place) -> bool:
    """Whether a past form stands before a noun: her finished screenplay."""
    before = place.before in _BEFORE_NOUN - {"ADP"} and place.before_word not in _ASKING | _RELATIVE
    return before and place.after in {"", "ADJ", "NOUN"}


def _is_third_here(place: _Place) -> bool:
    if place.before_word in _RELATIVE and place.before_word != "which":
        return place.after != "AUX"
    if place.bare or place.perfect:
        return False
    if place.before_word in _ASKING:
        return place.after in _BEFORE_OBJECT
    if place.before in {"PRON", "PROPN"}:
        return place.after != "AUX"
    return place.before == "NOUN" and place.after in _BEFORE_OBJECT


def _is_adjective(word: str, last: str, place: _Place) -> bool:
    shaped = word.endswith(_ADJECTIVE_ENDINGS) and len(word) > 5 and word not in lexicon.NOT_ADJECTIVES
    if not (shaped or word in lexicon.ADJECTIVES or last in lexicon.ADJECTIVES or lexicon.is_past(last)):
        return False
    # "The musical", "the single that": the ending of an adjective, and the place of a noun.
    return place.before != "DET" or place.after in {"", "ADJ", "NOUN", "PROPN", "NUM", "CCONJ"}


def _names(pieces: Sequence[Token]) -> list[int]:
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
        if word.low in lexicon.FUNCTION_WORDS:
            name = _is_in_capitals(word)
        elif word.text in lexicon.ACRONYMS:
            name = False
        elif title_case:
            name = not _is_known(bare(word.low))
        else:
            name = i not in starts or _begins_name(words, word, following)
        if name:
            found.append(i)
    return found


def _is_capitalised(word: Token) -> bool:
    first = word.text[1:2] if word.text[0] in "@#" else word.text[0]
    return first.isupper()


def _is_in_capitals(word: Token) -> bool:
    return word.text.isupper() and len(word.text) > 1


def _is_shouted(words: Sequence[Token]) -> bool:
    """Whether all is in capitals."""
    if any(word.text != word.text.upper() for word in words):
        return False
    return len(words) >= _WORDS_OF_CAPITALS or any(word.low in lexicon.FUNCTION_WORDS for word in words)


def _is_title_case(words: Sequence[Token]) -> bool:
    """Whether Every Word Has a Capital, function words among them, so that capitals tell no name."""
    raised = any(
        word.low in lexicon.FUNCTION_WORDS
        and _is_capitalised(word)
        and word.text.lower() not in {"i", "i'm", "i've"}
        for word in words[1:]
    )
    others = (word for word in words if word.low not in lexicon.FUNCTION_WORDS)
    return raised and len(words) > 2 and all(map(_is_capitalised, others))


def _starts(pieces: Sequence[Token], words: Sequence[int]) -> set[int]:
    """The words that begin a sentence: the first, and those after a mark that ends one."""
    found = set(words[:1])
    for before, i in pairwise(words):
        ends = _SENTENCE_ENDS.intersection(piece.text for piece in pieces[before + 1 : i])
        if ends and not (ends == {"."} and abbreviates(pieces[before].text)):
            found.add(i)
    return found


def abbreviates(word: str) -> bool:
    """Whether a full stop after `word` ends no sentence: `Dr`, `J`, `J.K`."""
    return word.lower() in lexicon.TITLES or all(len(part) == 1 for part in word.split("."))


def _is_known(word: str) -> bool:
    """Whether a word in small letters is in a list, so that its capital is only that of a start."""
    lists = (lexicon.FUNCTION_WORDS, lexicon.NUMBERS, lexicon.ADJECTIVES, lexicon.ADVERBS, lexicon.OPENERS)
    return any(word in listed for listed in lists) or lexicon.is_verb(word)


def _begins_name(words: Sequence[Token], word: Token, following: Token | None) -> bool:
    """Whether the capitalised word that begins a sentence is a name all the same."""
    low = bare(word.low)
    repeated = sum(other.text == word.text for other in words) > 1
    if not low[0] <= _LAST_LATIN:
        return repeated  # it may be a question word of another language
    named_after = (
        following is not None and _is_capitalised(following) and following.low not in lexicon.FUNCTION_WORDS
    )
    if _is_known(low):
        return named_after and (
            low in lexicon.ADJECTIVES or low in lexicon.GIVEN_NAMES
        )  # Big Hero, Mark King
    if named_after or low != word.low or _is_in_capitals(word) or repeated or following is None:
        return True
    if following.low not in lexicon.FUNCTION_WORDS and not lexicon.is_verb(following.low):
        return False  # "Boiler pressure"
    return not (low.endswith("s") and following.low in {"are", "were", "have", "do"})
