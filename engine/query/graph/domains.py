"""The domain of a name: whether it names a person, an organisation, a place, a technology or a time.

The rules add up the evidence about a name: its type as an entity, its relations, the word lists of
`engine.text.language.categories`, and how a few texts use the name. The domain with the highest sum is the
domain of the name. A name about which nothing is known belongs to the domain `thing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from engine.text.language.categories import TEXT_CHARS_MAX, Category
from engine.text.language.categories.category_rules import categories_in
from engine.text.language.categories.marked_text import MARKS, Mark, MarkedText
from engine.text.language.categories.people import NamedPeople, named_in
from engine.text.language.categories.places_and_times import is_place


class Domain(StrEnum):
    """The domain of a name."""

    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    TECHNOLOGY = "technology"
    TIME = "time"
    """Dates and events."""
    THING = "thing"
    """Names whose domain is not known."""


TYPE: Final = 8.0
"""The weight of the type that an entity was given."""
ROLE: Final = 4.0
"""The weight of a relation whose subject or object belongs to one domain."""
LISTED: Final = 3.0
"""The weight of a word list that contains a word of the name."""
USED: Final = 2.0
"""The weight of the share of texts that use the name as the name of a person or of a place."""
ABOUT: Final = 1.0
"""The weight of the share of texts that belong to the category of a domain."""
ABOUT_MIN: Final = 0.5
"""The share of a name's texts that must belong to a category before the category counts."""


def _table(lines: str) -> Mapping[str, Domain]:
    table: dict[str, Domain] = {}
    for line in filter(str.strip, lines.splitlines()):
        domain, _, words = line.partition(":")
        table.update(dict.fromkeys(words.split(), Domain(domain.strip())))
    return MappingProxyType(table)


TYPES: Final = _table("""
    person: person people human man woman child friend author character colleague user contact family who
    organisation: organisation organization company employer firm institution team university school bank club
    place: place location city town country village region building address area river street where
    technology: technology tool library language software program framework database protocol device machine
    time: time event date day month year meeting trip holiday festival appointment milestone when
""")
"""The words that name a domain: types of entities, and words of a question."""

_PLURALS: Final = MappingProxyType(
    {word[:-1] + "ies" if word.endswith("y") else word + "s": domain for word, domain in TYPES.items()}
)

_KIN: Final = """
    person: married_to engaged_to partner_of husband_of wife_of spouse_of parent_of mother_of father_of met
    person: child_of son_of daughter_of sibling_of sister_of brother_of cousin_of aunt_of uncle_of
    person: grandfather_of relative_of friend_of works_with met
"""

SUBJECTS: Final = _table(f"""{_KIN}
    person: works_at works_for employed_by manages studies_at studied_at lives_in born_in moved_to member_of
    person: knows listens_to visited likes owns wrote created founded
    technology: runs_on written_in listens_on depends_on connects_to implements built_with
""")
"""The domain of the subjects of a relation."""

OBJECTS: Final = _table(f"""{_KIN}
    person: written_by created_by founded_by owned_by managed_by
    organisation: works_at works_for employed_by studies_at studied_at member_of founded
    place: lives_in born_in moved_to located_in based_in visited
    technology: uses runs_on written_in listens_on depends_on connects_to implements built_with
    time: happened_on happened_in occurred_on started_on ended_on born_on died_on dated
""")
"""The domain of the objects of a relation."""

_LISTS: Final = (
    (Mark.PLACE, Domain.PLACE),
    (Mark.TECHNICAL | Mark.PRODUCT, Domain.TECHNOLOGY),
    (Mark.TEMPORAL | Mark.MONTH_SHORT | Mark.SEASON, Domain.TIME),
)
_ABOUT: Final = (
    (Category.TECHNICAL, Domain.TECHNOLOGY),
    (Category.INDUSTRY, Domain.ORGANISATION),
)
_DATE: Final = re.compile(
    r"(?:1[0-9]|20)[0-9]{2}(?:-[0-9]{2}(?:-[0-9]{2})?)?|[0-9]{1,2}(?:st|nd|rd|th)", re.ASCII
)
_CODE: Final = re.compile(
    r"[a-z]+[A-Z][A-Za-z]*|[A-Za-z]+[._/][A-Za-z0-9._/]+|[A-Za-z+#]+[0-9][0-9.]*|C\+\+", re.ASCII
)
_WORD: Final = re.compile(r"[^\s_-]+")


class ReadText(NamedTuple):
    """A text as the rules for categories read it."""

    marked: MarkedText
    named: NamedPeople
    categories: tuple[Category, ...]


def read_text(content: str, title: str | None) -> ReadText:
    """Read the beginning of a text, with its title."""
    text = content[:TEXT_CHARS_MAX]
    marked = MarkedText(text if title is None else f"{title}\n{text}")
    named = named_in(marked)
    return ReadText(marked, named, categories_in(marked, named))


def domain_named(word: str) -> Domain | None:
    """Return the domain that a word of a question names, such as place for "cities", or None."""
    word = word.lower()
    return TYPES.get(word) or _PLURALS.get(word)


def domains_in(question: str) -> frozenset[Domain]:
    """Return the domains that a question names, such as person and place in "which person is at a place?"."""
    domains = (domain_named(word.strip(".,;:!?\"'()")) for word in question.split())
    return frozenset(domain for domain in domains if domain is not None)


def domain_of(
    name: str,
    kind: str | None,
    subject_of: Iterable[str],
    object_of: Iterable[str],
    texts: Sequence[ReadText],
) -> Domain:
    """Return the domain of a name.

    Args:
        name: The name.
        kind: The type of the entity, if somebody set one.
        subject_of: The predicates of the relations that begin at the entity.
        object_of: The predicates of the relations that end at the entity.
        texts: Some texts that mention the name.
    """
    weights = dict.fromkeys(Domain, 0.0)
    for word in _WORD.findall((kind or "").lower()):
        if word in TYPES:
            weights[TYPES[word]] += TYPE
    for predicates, roles in ((subject_of, SUBJECTS), (object_of, OBJECTS)):
        for domain in {roles[one] for one in predicates if one in roles}:
            weights[domain] += ROLE
    _by_lists(name, weights)
    _by_texts(name, texts, weights)
    order = list(Domain)
    best = min(weights, key=lambda domain: (-weights[domain], order.index(domain)))
    return best if weights[best] >= ABOUT * ABOUT_MIN else Domain.THING


def _by_lists(name: str, weights: dict[Domain, float]) -> None:
    """Count the words of a name that are in word lists, and forms that only dates and programs have."""
    words = [word.lower() for word in _WORD.findall(name)]
    if any(_DATE.fullmatch(word) for word in words) or _DATE.fullmatch(name.strip()):
        weights[Domain.TIME] += LISTED
    elif any(_CODE.fullmatch(word) for word in _WORD.findall(name)):
        weights[Domain.TECHNOLOGY] += LISTED
    marks = [MARKS.get(word, 0) for word in words]
    capitalised = name != name.lower()
    for listed, domain in _LISTS:
        if any(mark & listed for mark in marks):
            weights[domain] += LISTED
    # `Harbour Office` names a place, and the tag `harbour-office` may be any phrase.
    if capitalised and marks[-1:] and marks[-1] & Mark.PLACE_TITLE:
        weights[Domain.PLACE] += LISTED
    if capitalised and any(mark & (Mark.ORGANIZATION | Mark.COMPANY) for mark in marks):
        weights[Domain.ORGANISATION] += LISTED
    if marks and any(mark & Mark.NAME for mark in marks[:2]):
        # `Jordan` is a name and a place, `April` a name and a month: the texts decide.
        weights[Domain.PERSON] += LISTED


def _by_texts(name: str, texts: Sequence[ReadText], weights: dict[Domain, float]) -> None:
    """Count the texts that use the name for a person or for a place, and the categories of the texts."""
    if not texts:
        return
    words = tuple(word.lower() for word in _WORD.findall(name))
    people = sum(_is_person(text, words) for text in texts)
    places = sum(_is_place(text, words) for text in texts)
    weights[Domain.PERSON] += USED * people / len(texts)
    weights[Domain.PLACE] += USED * places / len(texts)
    for category, domain in _ABOUT if name != name.lower() else ():
        share = sum(category in text.categories for text in texts) / len(texts)
        if share >= ABOUT_MIN:
            weights[domain] += ABOUT * share


def _is_person(text: ReadText, words: tuple[str, ...]) -> bool:
    return any(words[-1:] == one.words[-1:] or words == one.words[: len(words)] for one in text.named.people)


def _is_place(text: ReadText, words: tuple[str, ...]) -> bool:
    people = {one.start for one in text.named.people}
    runs = (one for one in text.named.runs if one.start not in people and one.words == words)
    return any(is_place(text.marked, run) for run in runs)
