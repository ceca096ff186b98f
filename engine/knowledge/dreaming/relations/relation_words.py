"""The predicates, the English words that state them, and the statement that a sentence makes.

The same tables serve the patterns over words and the rules over a dependency parse.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.text.language.lexicon import FORMS, read_lists

SYMMETRIC: Final = frozenset(
    ["married_to", "partner_of", "sibling_of", "relative_of", "friend_of", "works_with"]
)
"""The predicates that hold in both directions. Only one edge is added for a pair of entities."""


WRITER: Final = "I"
"""The end that stands for the writer of the text."""


WORDS: Final = {name: frozenset(listed) for name, listed in read_lists(__package__, "words.txt").items()}
"""The words of each list."""


class Verb(NamedTuple):
    """A verb with the words after it, and what it states about its subject and its object."""

    predicate: str
    lemma: str
    after: tuple[str, ...]
    """One of these words must follow the verb; empty for a direct object."""
    subject: str
    object: str
    """The kind of the ends: `person`, `name` (any name), `group`, `place`, `thing` or `any`."""
    lasts: bool
    """True if the verb states something that lasts. Its past tense then states nothing about today."""
    flipped: bool
    """True if the object of the verb is the subject of the predicate."""
    passive: bool
    """True if the verb must be a past participle, as in `written by`."""
    skips: bool
    """True if an object may stand between the verb and the word after it: `studies law at`."""


def _verbs() -> list[Verb]:
    verbs = []
    for predicate, patterns in read_lists(__package__, "verbs.txt").items():
        for pattern in patterns:
            subject, verb, *after, object_ = pattern.split(" ")
            signs = verb + "".join(after)
            words = tuple(after[0].rstrip("!*<").lstrip("+").split("|")) if after else ()
            verbs.append(
                Verb(
                    predicate=predicate,
                    lemma=verb.rstrip("!*<"),
                    after=words,
                    subject=subject,
                    object=object_,
                    lasts="*" not in signs,
                    flipped="<" in signs,
                    passive="!" in signs,
                    skips="+" in signs,
                )
            )
    return verbs


VERBS: Final = _verbs()


class Forms(NamedTuple):
    """The forms of a verb."""

    base: str
    third: str
    gerund: str
    past: frozenset[str]


_IRREGULAR: Final = {group.split()[0]: group.split()[1:] for group in FORMS["verbs"]}
_DOUBLED: Final = frozenset(["plug", "program", "run", "swap", "swim", "wed"])
_BORN: Final = {"bear": ("born",)}


def forms_of_verb(lemma: str) -> Forms:
    """Return the forms of a verb. The past includes the participles."""
    stem = lemma + lemma[-1] if lemma in _DOUBLED else lemma
    third = lemma + "s"
    if lemma.endswith(("s", "sh", "ch", "x")):
        third = lemma + "es"
    elif lemma.endswith("y") and lemma[-2] not in "aeiou":
        third = lemma[:-1] + "ies"
    gerund = (stem[:-1] if stem.endswith("e") and not stem.endswith("ee") else stem) + "ing"
    if lemma == "lie":
        gerund = "lying"
    if lemma in _BORN:
        return Forms(lemma, lemma, lemma, frozenset(_BORN[lemma]))
    past: set[str] = {form for form in _IRREGULAR.get(lemma, ()) if not form.endswith(("s", "ing"))}
    if not past or lemma == "wed":
        regular = stem + "d" if stem.endswith("e") else stem + "ed"
        past.add(third[:-3] + "ied" if third.endswith("ies") else regular)
    if lemma == "found":
        # `found` is far more often the past of `find`.
        return Forms(third, third, gerund, frozenset(past))
    if lemma == "enrol":
        past, gerund = {"enrolled"}, "enrolling"
    return Forms(lemma, third, gerund, frozenset(past))


class Role(NamedTuple):
    """A noun that relates its bearer to somebody or something: `mother of`, `member of`."""

    predicate: str
    flipped: bool
    """True if the bearer is the object of the predicate: a daughter is the object of `parent_of`."""
    after: tuple[str, ...]
    """One of these words joins the noun with the other end."""
    person: bool
    """True if both ends are people, so that `Rob's sister Anna` and `my sister Anna` state the relation."""
    subject: str
    object: str


def _roles() -> dict[str, list[Role]]:
    roles: dict[str, list[Role]] = {}
    for head, nouns in read_lists(__package__, "roles.txt").items():
        if " " in head:
            predicate, subject, after, object_ = head.split(" ")
            role = Role(predicate, False, tuple(after.split("|")), False, subject, object_)
        else:
            role = Role(head.rstrip("<"), head.endswith("<"), ("of", "to"), True, "person", "person")
        for noun in nouns:
            roles.setdefault(noun, []).append(role)
    return roles


ROLES: Final = _roles()
"""Noun in the singular → the relations that it can state."""

_PLURALS: Final = {"children": "child", "wives": "wife"}


def singular(word: str) -> str:
    """Return the singular of a plural in the table of roles, or the word itself."""
    if word in ROLES:
        return word
    if word in _PLURALS:
        return _PLURALS[word]
    for short in (word[:-1], word[:-3] + "y" if word.endswith("ies") else word):
        if word.endswith("s") and short in ROLES:
            return short
    return word


STUDENTS: Final = frozenset(["student", "pupil", "undergraduate", "postgraduate", "freshman", "sophomore"])
SCHOOLS: Final = frozenset(["school", "university", "college", "academy", "uni", "kindergarten", "nursery"])


class Statement(NamedTuple):
    """A relation that a sentence of a text states."""

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    """The sentence is the part of the text from `start` up to but excluding `end`."""
    by_parse: bool = False
    """True if only the parse of the sentence shows the relation."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The relation in lower case; for a symmetric predicate, with its ends in alphabetical order."""
        ends = self.subject.lower(), self.object.lower()
        if self.predicate in SYMMETRIC:
            ends = min(ends), max(ends)
        return ends[0], self.predicate, ends[1]
