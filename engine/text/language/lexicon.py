"""The English word lists (`data/*.txt`) for the analysis of questions, and a reader for such lists."""

from __future__ import annotations

import pkgutil
from functools import cache
from typing import Final

from engine.text.analyzer import STOP_WORDS, analyze_query


def read_lists(package: str, file: str) -> dict[str, list[str]]:
    """Read the word lists in `data/<file>` of a package.

    Return a map from the name of each list to its entries.

    The entries are in the order of the file. A line `[name]` begins a list, and every other line is an entry.
    Blank lines and lines that begin with `#` are skipped.

    Raises:
        FileNotFoundError: the file does not exist.
    """
    # Not importlib.resources: it imports tempfile, random and lzma, which costs each process 10 ms.
    raw = pkgutil.get_data(package, f"data/{file}")
    if raw is None:
        raise FileNotFoundError(f"package {package} has no file data/{file}")
    lists: dict[str, list[str]] = {}
    entries: list[str] = []
    for line in raw.decode().split("\n"):
        if line.startswith("["):
            entries = lists[line[1:-1]] = []
        elif line and not line.startswith("#"):
            entries.append(line)
    return lists


FUNCTION_WORDS: Final = {
    word: part for part, listed in read_lists(__package__, "function_words.txt").items() for word in listed
}
"""Function word → its universal part of speech."""


FORMS: Final = read_lists(__package__, "forms.txt")
"""Three lists of words with irregular inflection: `verbs`, `nouns` and `others`. Each entry is a word with
its other forms."""


_VERB_GROUPS: Final = [group.split() for group in FORMS["verbs"]]


_LISTS: Final = {name: frozenset(listed) for name, listed in read_lists(__package__, "words.txt").items()}


NUMBERS: Final = _LISTS["numbers"]


ADJECTIVES: Final = _LISTS["adjectives"]


ADVERBS: Final = _LISTS["adverbs"]


NOT_ADVERBS: Final = _LISTS["not_adverbs"]


NOT_ADJECTIVES: Final = _LISTS["not_adjectives"]


NOUN_FIRST: Final = _LISTS["noun_first"]


GENERIC: Final = _LISTS["generic"]


ACRONYMS: Final = _LISTS["acronyms"]


OPENERS: Final = _LISTS["openers"]


GIVEN_NAMES: Final = _LISTS["given_names"]


TITLES: Final = _LISTS["titles"]


NAME_PARTICLES: Final = _LISTS["name_particles"]


UNCHANGING: Final = _LISTS["unchanging"]


LIGHT_GERUNDS: Final = _LISTS["light_gerunds"]


BE: Final = _LISTS["be"]


PERFECT: Final = _LISTS["perfect"]


BEFORE_BARE: Final = _LISTS["before_bare"]


BARE_VERBS: Final = _LISTS["verbs"] | {group[0] for group in _VERB_GROUPS}
"""Verbs in their base form."""


_PAST: Final = {"born"} | {
    form for verb, *forms in _VERB_GROUPS for form in forms if form != verb and not form.endswith("s")
}


SETS: Final = (
    *(NUMBERS, ADJECTIVES, ADVERBS, NOT_ADVERBS, NOT_ADJECTIVES, NOUN_FIRST, GENERIC, OPENERS, GIVEN_NAMES),
    *(TITLES, NAME_PARTICLES, UNCHANGING, LIGHT_GERUNDS, BE, PERFECT, BEFORE_BARE, BARE_VERBS, _PAST),
    _LISTS["not_past"],
)
"""The sets of words in lower case, in the order in which the compiled analysis of questions numbers them."""


def is_past(word: str) -> bool:
    """Return True if `word` can be a past tense form or a past participle, irregular or ending in -ed."""
    if word.endswith("ed") and not word.endswith("eed") and len(word) > 3:
        return word not in _LISTS["not_past"]
    return word in _PAST


def is_third(word: str) -> bool:
    """Return True if `word` can be a verb in the third person singular: `goes`, `likes`, `tries`."""
    return word.endswith("s") and (
        word[:-1] in BARE_VERBS
        or (word.endswith("es") and word[:-2] in BARE_VERBS)
        or (word.endswith("ies") and word[:-3] + "y" in BARE_VERBS)
    )


def is_gerund(word: str) -> bool:
    """Return True if `word` is the -ing form of a verb that is in the word lists."""
    if not word.endswith("ing") or len(word) < 5:
        return False
    base = word[:-3]
    undoubled = base[:-1] if base[-1:] == base[-2:-1] else base
    return not BARE_VERBS.isdisjoint((base, base + "e", undoubled))


def is_verb(word: str) -> bool:
    """Return True if `word`, which must be in lower case, can be a verb in any form."""
    return word in BARE_VERBS or is_past(word) or is_third(word) or is_gerund(word)


def forms_of(term: str) -> tuple[str, ...]:
    """Return the other forms of an irregular English word, as sorted terms of the analyzer.

    The forms come from a fixed table of about 150 words, none of which is a stop word. The result is empty if
    `term` is not in the table.
    """
    return _table().get(term, ())


@cache
def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, set[str]] = {}
    for groups in FORMS.values():
        for group in groups:
            terms = set(analyze_query(group)) - STOP_WORDS
            for term in terms:
                table.setdefault(term, set()).update(terms - {term})
    return {term: tuple(sorted(others)) for term, others in table.items() if others}
