"""Rule-based grammar of English words: parts of speech, from lists, endings, capitals and the word before.

The rules are for questions in English. If the part of speech is uncertain, the word is tagged as a noun,
because the second level of a search uses nouns only. A verb in this level does little harm, but without a
noun the search can miss the answer. (Rules that also read the words after a verb changed no measure of
eight sets of questions by two standard errors.) Capital letters are ignored at the start of a sentence, and
in a text that is written entirely in capitals. In a Title Like This, a word counts as a name only if it is in
no word list.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from engine.base.characters import lazy
from engine.text.analyzer import STOP_WORDS, analyze_query
from engine.text.language import lexicon
from engine.text.language.tokenizer import Token, bare

_NUMBER: Final = lazy("[0-9][0-9.,:/-]*(?:[a-z]{1,3})?|[0-9]+-[a-z-]+")
_LAST_KNOWN: Final = "\u036f"
"""The last code point of the scripts that the rules cover. A word with a later code point, such as an emoji,
has an unknown part of speech."""
_ADJECTIVE_ENDINGS: Final = ("ous", "ful", "less", "able", "ible", "ive", "istic", "ical")
_BEFORE_NOUN: Final = frozenset({"", "DET", "ADP", "ADJ", "NUM", "VERB"})
"""The parts of speech before a word that can be a verb but is not one; `""` at the start of a sentence."""
_SENTENCE_ENDS: Final = frozenset(".?!:;\u3002\uff1f\uff01\u2026")
_LAST_LATIN: Final = "\u024f"
_WORDS_OF_CAPITALS: Final = 4
"""A text whose words are all in capitals counts as written entirely in capitals if it has at least this many
words. In a shorter text without function words, the words may be acronyms."""


def parts_of(pieces: Sequence[Token]) -> list[str]:
    """Return the universal part of speech of each piece (word or punctuation mark).

    The part of speech of a mark is PUNCT.
    """
    names, parts = frozenset(_names(pieces)), list[str]()
    before, auxiliary = "", False
    for i, piece in enumerate(pieces):
        if not piece.word:
            parts.append("PUNCT")
            abbreviated = piece.text == "." and i > 0 and abbreviates(pieces[i - 1].text)
            if piece.text in _SENTENCE_ENDS and not abbreviated:
                before, auxiliary = "", False
            continue
        part = "PROPN" if i in names else lexicon.FUNCTION_WORDS.get(piece.low, "")
        part = part or _part(piece.low, before, auxiliary=auxiliary)
        parts.append(part)
        auxiliary = part == "AUX" or (auxiliary and part != "VERB")
        if part != "ADV":
            # A possessive, as in "Anna's", stands before a noun like an article.
            before = "DET" if part in {"PROPN", "NOUN"} and piece.low.endswith("'s") else part
    return parts


def _part(word: str, before: str, *, auxiliary: bool) -> str:
    """Return the part of speech of a word in small letters that is no name and no function word.

    `before` is the part of speech of the word before it, and `auxiliary` is True after a word such as `did`.
    """
    if _NUMBER.fullmatch(word) or word in lexicon.NUMBERS:
        return "NUM"
    if max(word) > _LAST_KNOWN:
        return "X"
    last = word.rpartition("-")[2] or word
    if _is_adverb(last):
        return "ADV"
    if before not in _BEFORE_NOUN and _is_verb_here(word, before, auxiliary=auxiliary):
        return "VERB"
    if _is_adjective(word, last) or (before in {"DET", "ADJ"} and is_past(last)):
        return "ADJ"
    return "NOUN"


def _is_verb_here(word: str, before: str, *, auxiliary: bool) -> bool:
    if auxiliary and before in {"PROPN", "PRON"} and not word.endswith("s"):
        return word not in lexicon.ADJECTIVES
    if word in lexicon.BARE_VERBS:
        return auxiliary or before != "PROPN"  # "the NASA report"
    return is_past(word) or is_gerund(word) or (is_third(word) and not auxiliary)


def _is_adverb(word: str) -> bool:
    shaped = word.endswith("ly") and len(word) > 4 and word not in lexicon.NOT_ADVERBS
    return word in lexicon.ADVERBS or (shaped and word not in lexicon.BARE_VERBS)


def _is_adjective(word: str, last: str) -> bool:
    shaped = word.endswith(_ADJECTIVE_ENDINGS) and len(word) > 5 and word not in lexicon.NOT_ADJECTIVES
    return shaped or word in lexicon.ADJECTIVES or last in lexicon.ADJECTIVES


def _names(pieces: Sequence[Token]) -> list[int]:
    """Return the indices of the pieces that are names."""
    indices = [i for i, piece in enumerate(pieces) if piece.word]
    words = [pieces[i] for i in indices]
    if not any(map(_is_capitalised, words)) or _is_all_capitals(words):
        return []
    title_case, starts = _is_title_case(words), _sentence_starts(pieces, indices)
    names = []
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
            names.append(i)
    return names


def _is_capitalised(word: Token) -> bool:
    first = word.text[1:2] if word.text[0] in "@#" else word.text[0]
    return first.isupper()


def _is_in_capitals(word: Token) -> bool:
    return word.text.isupper() and len(word.text) > 1


def _is_all_capitals(words: Sequence[Token]) -> bool:
    """Return True if the text is written entirely in capitals and is not just a few acronyms."""
    if any(word.text != word.text.upper() for word in words):
        return False
    return len(words) >= _WORDS_OF_CAPITALS or any(word.low in lexicon.FUNCTION_WORDS for word in words)


def _is_title_case(words: Sequence[Token]) -> bool:
    """Return True if the text is in Title Case, in which capital letters do not indicate names.

    Every word that is not a function word must have a capital. At least one function word after the first
    word must also have a capital.
    """
    function_word = any(
        word.low in lexicon.FUNCTION_WORDS
        and _is_capitalised(word)
        and word.text.lower() not in {"i", "i'm", "i've"}
        for word in words[1:]
    )
    others = (word for word in words if word.low not in lexicon.FUNCTION_WORDS)
    return function_word and len(words) > 2 and all(map(_is_capitalised, others))


def _sentence_starts(pieces: Sequence[Token], words: Sequence[int]) -> set[int]:
    """Return the indices of words that begin a sentence: the first, and each after one of `.?!:;…`."""
    starts = set(words[:1])
    for before, i in pairwise(words):
        ends = _SENTENCE_ENDS.intersection(piece.text for piece in pieces[before + 1 : i])
        if ends and not (ends == {"."} and abbreviates(pieces[before].text)):
            starts.add(i)
    return starts


def abbreviates(word: str) -> bool:
    """Return True if a full stop after `word` does not end a sentence, as after `Dr`, `J` or `J.K`."""
    return word.lower() in lexicon.TITLES or all(len(part) == 1 for part in word.split("."))


def _is_known(word: str) -> bool:
    """Return True if a lower-case word is in a word list, so that a capital does not make it a name."""
    lists = (lexicon.FUNCTION_WORDS, lexicon.NUMBERS, lexicon.ADJECTIVES, lexicon.ADVERBS, lexicon.OPENERS)
    return any(word in listed for listed in lists) or is_verb(word)


def _begins_name(words: Sequence[Token], word: Token, following: Token | None) -> bool:
    """Return True if a capitalised word at the start of a sentence is a name."""
    low = bare(word.low)
    repeated = sum(other.text == word.text for other in words) > 1
    if not low[0] <= _LAST_LATIN:
        return repeated  # it may be a question word of another language
    name_follows = (
        following is not None and _is_capitalised(following) and following.low not in lexicon.FUNCTION_WORDS
    )
    if _is_known(low):
        # "Big Hero", "Mark King"
        return name_follows and (low in lexicon.ADJECTIVES or low in lexicon.GIVEN_NAMES)
    if name_follows or low != word.low or _is_in_capitals(word) or repeated or following is None:
        return True
    if following.low not in lexicon.FUNCTION_WORDS and not is_verb(following.low):
        return False  # "Boiler pressure"
    return not (low.endswith("s") and following.low in {"are", "were", "have", "do"})


def is_past(word: str) -> bool:
    """Return True if `word` can be a past tense form or a past participle, irregular or ending in -ed."""
    if word.endswith("ed") and not word.endswith("eed") and len(word) > 3:
        return word not in lexicon.NOT_PAST
    return word in lexicon.PAST


def is_third(word: str) -> bool:
    """Return True if `word` can be a verb in the third person singular: `goes`, `likes`, `tries`."""
    return word.endswith("s") and (
        word[:-1] in lexicon.BARE_VERBS
        or (word.endswith("es") and word[:-2] in lexicon.BARE_VERBS)
        or (word.endswith("ies") and word[:-3] + "y" in lexicon.BARE_VERBS)
    )


def is_gerund(word: str) -> bool:
    """Return True if `word` is the -ing form of a verb that is in the word lists."""
    if not word.endswith("ing") or len(word) < 5:
        return False
    base = word[:-3]
    undoubled = base[:-1] if base[-1:] == base[-2:-1] else base
    return not lexicon.BARE_VERBS.isdisjoint((base, base + "e", undoubled))


def is_verb(word: str) -> bool:
    """Return True if `word`, which must be in lower case, can be a verb in any form."""
    return word in lexicon.BARE_VERBS or is_past(word) or is_third(word) or is_gerund(word)


def forms_of(term: str) -> tuple[str, ...]:
    """Return the other forms of an irregular English word, as sorted terms of the analyzer.

    The forms come from a fixed table of about 150 words, none of which is a stop word. The result is empty if
    `term` is not in the table.
    """
    return _table().get(term, ())


@cache
def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, set[str]] = {}
    for groups in lexicon.FORMS.values():
        for group in groups:
            terms = set(analyze_query(group)) - STOP_WORDS
            for term in terms:
                table.setdefault(term, set()).update(terms - {term})
    return {term: tuple(sorted(others)) for term, others in table.items() if others}
