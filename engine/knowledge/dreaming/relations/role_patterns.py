"""Statements of nouns that say what somebody or something is to another, such as `sister`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.knowledge.dreaming.relations.clause import BREAKS, CLAUSE_STARTS, PREPOSITIONS, Clause
from engine.knowledge.dreaming.relations.phrases import Kind, Phrase
from engine.knowledge.dreaming.relations.predicates import ROLES, Role, singular
from engine.knowledge.dreaming.relations.statements import Statement
from engine.knowledge.dreaming.relations.words import WORDS

_WITHDRAWN: Final = WORDS["withdrawn"]
_DEGREES: Final = WORDS["degrees"]
_BECOMES: Final = frozenset({"became", "become", "becomes", "remained", "remains"})
_FAMILY: Final = WORDS["family"]


class RolePatterns(Clause):
    """The statements of nouns such as `sister` and `member`."""

    def _of_role(self, at: int, role: Role) -> Iterator[Statement]:
        words = self._words
        several = singular(words[at]) != words[at]
        start = at
        while words[start - 1] in _DEGREES or self.phrases.kind(start - 1) is Kind.ADJECTIVE:
            start -= 1
        if not _WITHDRAWN.isdisjoint(words[start - 1 : at]) or words[at - 1] == "-":
            return
        if words[at + 1] == "'s" and words[at + 2] != "name":
            return
        if role.person:
            yield from self._of_owner(start, at, role, several=several)
            if several:
                yield from self._of_plural(start, role.predicate)
        if words[at + 1] in role.after:
            yield from self._of_noun(start, at, role)

    def _of_owner(self, start: int, at: int, role: Role, *, several: bool) -> Iterator[Statement]:
        """Yield the statements of `Rob's sister Anna`, `my sister Anna` and `Anna is Rob's sister`."""
        found = self._owner(start) or self._having(start)
        if found is None:
            return
        owners, before, chained = found
        if chained:
            if role.predicate not in _FAMILY:
                return
            role = ROLES["relative"][0]
        bearers = self._named_after(at + 1, several=several)
        if not bearers and not several and self._words[before] not in ("a", "an", "one"):
            bearers = self._bearer_before(before)
        for owner in owners:
            for bearer in bearers if self.fits(owner, "person") else ():
                yield self._kin(bearer, role, owner)

    def _owner(self, end: int) -> tuple[list[Phrase | str], int, bool] | None:
        """Return the owners that a possessive before `end` names, and the index at which its words begin.

        The last item is True if a relative of the owner is between: `my mother's brother`.
        """
        word = self._words[end - 1]
        if word == "my":
            return [self._writer], end - 1, False
        if word == "their":
            people = self._earlier.people(self.phrases, end - 1)
            return (list(people), end - 1, False) if len(people) == 2 else None
        if word in ("his", "her"):
            person = self._antecedent(end - 1)
            return None if person is None else ([person], end - 1, False)
        if word != "'s":
            return None
        between = ROLES.get(self._words[end - 2], ())
        if between:
            found = self._owner(end - 2)
            if found is None or between[0].predicate not in _FAMILY:
                return None
            return found[0], found[1], True
        owner = self.phrases.left(end - 1)
        return None if owner is None else ([owner], owner.start, False)

    def _having(self, end: int) -> tuple[list[Phrase | str], int, bool] | None:
        """Return who has a relative, as in `Rob has a sister called Anna`."""
        if self._words[end - 1] not in ("a", "an", "one", "two", "three", "four"):
            return None
        group = self._group(end - 1)
        if group is None or not group.have or group.start == end - 1:
            return None
        subjects = self._subjects(group.start, several=True)
        return (subjects, end - 1, False) if subjects else None

    def _named_after(self, at: int, *, several: bool) -> list[Phrase | str]:
        """Return the people whose names follow a noun such as `sister`."""
        words = self._words
        if words[at] == "'s" and words[at + 1] == "name":
            at += 2
        if words[at] in ("is", "are", "'s") or (words[at] in ("was", "were") and words[at + 1] == "called"):
            at += 1
            if words[at] in ("called", "named"):
                at += 1
            return self._list(at) if several else self._one(at, ends=True)
        if words[at] in ("called", "named"):
            at += 1
        if words[at] in (",", "(", ":"):
            return self._list(at + 1) if several else self._one(at + 1, ends=True)
        return self._list(at) if several else self._one(at, ends=False)

    def _one(self, at: int, *, ends: bool) -> list[Phrase | str]:
        person = self.phrases.right(at)
        if person is None or person.start != at or person.article or not self.phrases.is_person(person):
            return []
        if self._words[person.end] == "'s":
            return []
        if ends and self._words[person.end] not in BREAKS:
            after = self._words[person.end]
            if self._words[at - 1] in (",", "(") or after not in CLAUSE_STARTS | PREPOSITIONS:
                return []
        return [person]

    def _list(self, at: int) -> list[Phrase | str]:
        found: list[Phrase | str] = []
        while True:
            person = self.phrases.right(at)
            if person is None or not self.phrases.is_person(person):
                return found
            found.append(person)
            at = person.end
            if self._words[at] not in (",", "and"):
                return found
            at += 2 if self._words[at] == "," and self._words[at + 1] == "and" else 1

    def _bearer_before(self, before: int) -> list[Phrase | str]:
        """Return who is said to be something by `X is …` or `X, …,` before the index `before`."""
        if self._words[before - 1] == ",":
            bearer = self.phrases.left(before - 1)
            if bearer is None or self._words[self.phrases.before(bearer)] in ("and", ","):
                return []
            return [bearer] if self.phrases.is_person(bearer) else []
        group = self._group(before)
        if group is None or not group.be:
            return []
        subjects = self._subjects(group.start, several=False)
        return [one for one in subjects if self.fits(one, "person")]

    def _of_plural(self, start: int, predicate: str) -> Iterator[Statement]:
        """Yield the statements of `Anna and Rob are friends`."""
        if predicate in ("parent_of", "manages"):
            return
        group = self._group(start)
        if group is None or not group.be:
            return
        yield from self._pairs(group.start, predicate)

    def _of_noun(self, start: int, at: int, role: Role) -> Iterator[Statement]:
        """Yield the statements of `Dory is the daughter of Rob` and `Dory, the daughter of Rob`."""
        words = self._words
        objects, _ = self._objects(at + 2, mine=True)
        objects = [one for one in objects if self.fits(one, role.object)]
        noun = self.phrases.left(at + 1)
        if (
            noun is not None
            and noun.start < start
            and noun.article
            and self.phrases.kind(at) is not Kind.CAPITAL
        ):
            start = noun.start
        before = start - 1 if words[start - 1] in ("a", "an", "the", "one") else start
        if not objects or (words[before] == words[start] and words[start - 1] == "of"):
            return
        if words[before - 1] == ",":
            bearer = self.phrases.left(before - 1)
            if bearer is not None and words[self.phrases.before(bearer)] in ("and", ","):
                bearer = None
            bearers: list[Phrase | str] = [] if bearer is None or not bearer.proper else [bearer]
        else:
            group = self._group(before)
            if group is not None and group.past and self.has_ended:
                return
            is_one = group is not None and (group.be or words[before - 1] in _BECOMES)
            if group is not None and not group.be and is_one:
                group = self._group(before - 1)
            bearers = self._subjects(group.start, several=True) if group is not None and is_one else []
        for bearer_ in bearers:
            if self.fits(bearer_, role.subject, is_subject=True):
                for one in objects:
                    yield self._kin(bearer_, role, one)

    def _kin(self, bearer: Phrase | str, role: Role, owner: Phrase | str) -> Statement:
        return self.statement(bearer, role.predicate, owner, flipped=role.flipped)
