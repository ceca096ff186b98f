"""The predicates, and the English words that state them.

The same tables serve the patterns over words and the rules over a dependency parse.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.language.lexicon import FORMS

SYMMETRIC: Final = frozenset("married_to partner_of sibling_of relative_of friend_of works_with".split())
"""The predicates that hold in both directions. Only one edge is added for a pair of entities."""


class Verb(NamedTuple):
    """A verb with the words after it, and what it states about its subject and its object."""

    predicate: str
    lemma: str
    after: tuple[str, ...]
    """The words one of which must follow the verb; empty for a direct object."""
    subject: str
    object: str
    """What the ends can be: `person`, `name` (any name), `group`, `place`, `thing` or `any`."""
    lasts: bool
    """True if the verb states something that lasts. Its past tense then states nothing about today."""
    flipped: bool
    """True if the object of the verb is the subject of the predicate."""
    passive: bool
    """True if the verb must be a past participle, as in `written by`."""
    skips: bool
    """True if an object may stand between the verb and the word after it: `studies law at`."""


# One predicate a line. Each pattern is: subject, verb, the words one of which follows it (`up_to`: both words), object.
# `!` a participle, `*` an event and not a lasting state, `<` the object is the subject of the predicate,
# `+` an object may stand before the word.
_VERBS: Final = """
works_at: person work at|for group | person employ at|by! group
works_with: person work with person | person work alongside person | person collaborate with person | person team up_with person
manages: person manage any | person supervise any | person oversee any | person lead any | person head any | any lead by!< person | any head by!< person | any run by!< person | any report to< person | any manage by!< person | any supervise by!< person
studies_at: person study +at group | person enrol at|in! group | person enroll at|in! group
lives_in: person live in|at place | person reside in|at place
born_in: person bear in! place
located_in: thing locate in|at! place | thing situate in|at! place | thing lie in place | thing stand in place | group base in! place | group headquarter in! place
member_of: person play +for|in|with group | person sing +in|with group | person row for group | person drum in|for|with group | person join* team
owns: person own thing | thing belong to< group | thing own by!< group
created: person create* thing | person write* work | person design* thing | person build* work | person found* thing | person invent* thing | person compose* work | person paint* work | person author* work | person develop* work | person direct* work | person code* work | person establish* thing | person compile* work | thing create by!*< maker | thing write by!*< maker | thing design by!*< maker | thing build by!*< maker | thing found by!*< maker | thing invent by!*< maker | thing compose by!*< maker | thing paint by!*< maker | thing author by!*< maker | thing develop by!*< maker | thing direct by!*< maker | thing establish by!*< maker | thing illustrate by!*< maker
uses: any use thing | thing build with|on! thing | any make use_of thing | thing use by!< any | thing power by! thing | thing employ thing
depends_on: thing depend on|upon thing | thing rely on|upon thing | thing require exact | thing need exact | exact require by!< thing | exact need by!< thing
runs_on: thing run on thing | thing host on|by|at|in! thing | thing deploy on|to! thing | thing run under thing
listens_on: thing listen on|at thing | thing bind to thing
connects_to: thing connect to thing | thing connect with thing | thing connect to|with! thing | thing wire to|into! thing | thing link to! thing | thing talk to thing | thing plug into! thing | thing plug into thing | thing hook up_to! thing | thing pair with thing
replaces: any replace* any | any supersede* any | any replace by|with!*< any | any supersede by!*< any
causes: thing cause* any | any cause by!*< thing | thing lead* to any | thing result* in any | thing trigger* any | thing bring* about any | thing give* rise_to any | any trigger by!*< thing
married_to: person marry* person | person marry to! person | person wed* person
partner_of: person date person | person go out_with person | person engage to! person
""".strip()


def _verbs() -> list[Verb]:
    found = []
    for line in _VERBS.splitlines():
        predicate, _, patterns = line.partition(": ")
        for pattern in patterns.split(" | "):
            subject, verb, *after, object_ = pattern.split(" ")
            signs = verb + "".join(after)
            words = tuple(after[0].rstrip("!*<").lstrip("+").split("|")) if after else ()
            found.append(
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
    return found


VERBS: Final = _verbs()


class Forms(NamedTuple):
    """The forms of a verb."""

    base: str
    third: str
    gerund: str
    past: frozenset[str]


_IRREGULAR: Final = {group.split()[0]: group.split()[1:] for group in FORMS["verbs"]}
_DOUBLED: Final = frozenset("run plug wed".split())
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
    if not past or lemma in ("wed",):
        regular = stem + "d" if stem.endswith("e") else stem + "ed"
        past.add(third[:-3] + "ied" if third.endswith("ies") else regular)
    if lemma == "found":
        # `found` is far more often the past of `find`.
        return Forms(third, third, gerund, frozenset(past))
    if lemma in ("enrol",):
        past, gerund = {"enrolled"}, "enrolling"
    return Forms(lemma, third, gerund, frozenset(past))


class Role(NamedTuple):
    """A noun that states what its bearer is to somebody or something: `mother of`, `member of`."""

    predicate: str
    flipped: bool
    """True if the bearer is the object of the predicate: a daughter is the object of `parent_of`."""
    after: tuple[str, ...]
    """The words one of which joins the noun with the other end."""
    person: bool
    """True if both ends are people, so that `Rob's sister Anna` and `my sister Anna` state the relation."""
    subject: str
    object: str


_ROLES: Final = """
parent_of: mother father mum mom mam dad mummy mommy daddy papa parent
parent_of<: son daughter child kid baby boy girl
sibling_of: sister brother sibling twin half-sister half-brother
relative_of: uncle aunt auntie cousin nephew niece grandmother grandfather grandma grandpa granddad gran granny nan nana grandson granddaughter grandchild grandparent mother-in-law father-in-law sister-in-law brother-in-law son-in-law daughter-in-law stepmother stepfather stepson stepdaughter stepsister stepbrother relative great-aunt great-uncle great-grandmother great-grandfather
married_to: husband wife spouse
partner_of: girlfriend boyfriend partner fianc\u00e9 fianc\u00e9e fiance fiancee
friend_of: friend buddy mate pal bestie
works_with: colleague coworker co-worker workmate teammate
manages: boss manager supervisor
"""
_OTHER_ROLES: Final = """
member_of person of group: member
member_of person of team: part
friend_of person with person: friend
member_of person on|in group: player singer guitarist drummer bassist
part_of thing of thing: part component module branch subsidiary division chapter department subsystem
located_in thing of place: capital suburb district quarter neighbourhood neighborhood
located_in thing in|on place: village town city suburb island park street district river lake mountain
owns person of thing: owner landlord
created person of thing: author creator founder co-founder cofounder inventor designer composer architect
manages person of any: manager head boss leader chair chairman chairwoman chairperson director captain
manages person in|for any: charge
studies_at person at group: student pupil undergraduate postgraduate freshman sophomore
causes any of|for any: cause
replaces any for|of any: replacement successor
"""


def _roles() -> dict[str, list[Role]]:
    roles: dict[str, list[Role]] = {}
    for line in _ROLES.strip().splitlines():
        predicate, _, nouns = line.partition(": ")
        role = Role(predicate.rstrip("<"), predicate.endswith("<"), ("of", "to"), True, "person", "person")
        for noun in nouns.split():
            roles.setdefault(noun, []).append(role)
    for line in _OTHER_ROLES.strip().splitlines():
        head, _, nouns = line.partition(": ")
        predicate, subject, after, object_ = head.split(" ")
        for noun in nouns.split():
            roles.setdefault(noun, []).append(
                Role(predicate, False, tuple(after.split("|")), False, subject, object_)
            )
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


STUDENTS: Final = frozenset("student pupil undergraduate postgraduate freshman sophomore".split())
SCHOOLS: Final = frozenset("school university college academy uni kindergarten nursery".split())
