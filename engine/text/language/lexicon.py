"""The English word lists (`data/*.txt`) for the analysis of questions, and a reader for such lists."""

from __future__ import annotations

import pkgutil
from typing import Final


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

BARE_VERBS: Final = _LISTS["verbs"] | {group[0] for group in _VERB_GROUPS}
"""Verbs in their base form."""

PAST: Final = {"born"} | {
    form for verb, *forms in _VERB_GROUPS for form in forms if form != verb and not form.endswith("s")
}
"""Irregular past tense forms and past participles."""

NOT_PAST: Final = _LISTS["not_past"]
"""Words in -ed that are no past tense form."""
