"""Statements of nouns, such as `sister`, and statements of places, posts, schools, titles and couples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from engine.knowledge.dreaming.relations.clause import BREAKS, CLAUSE_STARTS, PREPOSITIONS, TEAMS, Clause
from engine.knowledge.dreaming.relations.phrases import Kind, Phrase
from engine.knowledge.dreaming.relations.relation_words import (
    ROLES,
    SCHOOLS,
    STUDENTS,
    WORDS,
    Role,
    Statement,
    singular,
)
from engine.text.language.categories.marked_text import MARKS, Mark

_WITHDRAWN: Final = WORDS["withdrawn"]
_DEGREES: Final = WORDS["degrees"]
_BECOMES: Final = frozenset({"became", "become", "becomes", "remained", "remains"})
_FAMILY: Final = WORDS["family"]


_WORKS: Final = WORDS["works"]


_STREETS: Final = WORDS["streets"]


_SITES: Final = WORDS["sites"]


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
        whose = self._owner(start) or self._having(start)
        if whose is None:
            return
        owners, before, chained = whose
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
        """Return the person who has a relative, as in `Rob has a sister called Anna`."""
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
        phrases: list[Phrase | str] = []
        while True:
            person = self.phrases.right(at)
            if person is None or not self.phrases.is_person(person):
                return phrases
            phrases.append(person)
            at = person.end
            if self._words[at] not in (",", "and"):
                return phrases
            at += 2 if self._words[at] == "," and self._words[at + 1] == "and" else 1

    def _bearer_before(self, before: int) -> list[Phrase | str]:
        """Return the subject `X` of `X is …` or `X, …,` before the index `before`."""
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


class OtherPatterns(Clause):
    """Statements that single words such as `in`, `at`, `by` and `engaged` make."""

    def _of_special(self, at: int, word: str) -> Iterator[Statement]:
        if word == "by":
            yield from self._of_title(at)
        elif word in ("in", "at", "on"):
            yield from self._of_place(at)
        elif word in ("goes", "attends"):
            yield from self._of_school(at)
        else:
            yield from self._of_couple(at, word)

    def _of_title(self, at: int) -> Iterator[Statement]:
        """Yield the statement of `reading Longitude by Dava Sobel`."""
        title, author = self.phrases.left(at), self.phrases.right(at + 1)
        if title is None or author is None or not title.proper or not self.fits(author, "person"):
            return
        before = title.start - 2 if title.article else title.start - 1
        if self._words[before] == '"':
            before -= 1
        full = author.end - author.start > 1 or self.phrases.is_surely_person(author)
        if self._words[before] in _WORKS and full:
            yield self.statement(author, "created", title)

    def _of_place(self, at: int) -> Iterator[Statement]:
        """Yield the statements of `Ghent is in Belgium`, `Grace is on the storage team` and the like."""
        group = self._group(at)
        if group is None or not group.be or group.start == at:
            yield from self._of_post(at)
            return
        if group.past:
            return
        subjects = self._subjects(group.start, several=True)
        words, place = self._words, self.phrases.right(at + 1)
        if words[at] == "in" and words[at + 1] in ("year", "grade") and words[at + 3] == "at":
            yield from self._of_people(subjects, "studies_at", self.phrases.right(at + 4))
        elif place is not None and words[at] != "at" and words[place.end - 1] in TEAMS:
            yield from self._of_people(subjects, "member_of", place)
        elif place is not None and self._is_address(at, place):
            for subject in subjects:
                if isinstance(subject, Phrase) and self._is_site(subject, place):
                    yield self.statement(subject, "located_in", place)
                    yield from self._larger(place)

    def _of_people(
        self, subjects: list[Phrase | str], predicate: str, group: Phrase | None
    ) -> Iterator[Statement]:
        if group is None or not self.fits(group, "group"):
            return
        for subject in subjects:
            if self.fits(subject, "person"):
                yield self.statement(subject, predicate, group)

    def _is_address(self, at: int, place: Phrase) -> bool:
        """Return True if `in` or `on` at index `at` begins a place, as in `in Leeds` or `on Mill Lane`."""
        words = self._words
        if words[at] == "on" and words[place.end - 1] not in _STREETS:
            return False
        return words[at] != "at" and self._is_place(place) and words[place.end] != "'s"

    def _larger(self, place: Phrase) -> Iterator[Statement]:
        """Yield the statement that a place is in a second place that follows it: `Mill Lane, Wexcombe`."""
        larger = self.phrases.right(place.end + 1) if self._words[place.end] == "," else None
        if larger is None or not self._is_place(larger) or self._words[larger.end] not in BREAKS:
            return
        if not self.phrases.is_surely_person(larger) and not larger.article:
            yield self.statement(place, "located_in", larger)

    def _is_site(self, subject: Phrase, place: Phrase) -> bool:
        """Return True if the subject is something that stays where it is."""
        head = MARKS.get(self._words[subject.end - 1], 0)
        if head & (Mark.PLACE_TITLE | Mark.PLACE_NOUN | Mark.ORGANIZATION | Mark.PLACE):
            return subject.proper or subject.article not in ("a", "an", "")
        if self._words[subject.end - 1] in _SITES or self.is_technical(subject):
            return True
        if not subject.proper or self.phrases.is_surely_person(subject):
            return False
        if any(
            MARKS.get(word, 0) & (Mark.NAME | Mark.HONORIFIC)
            for word in self._words[subject.start : subject.end]
        ):
            return self._words[subject.start] == "st"
        is_place = any(
            MARKS.get(word, 0) & (Mark.PLACE | Mark.PLACE_TITLE)
            for word in self._words[place.start : place.end]
        )
        return is_place or not self.phrases.is_person(subject)

    def _of_post(self, at: int) -> Iterator[Statement]:
        """Yield the statements of `Anna is a nurse at St Mary's` and `Kit is a student at Leeds`."""
        if self._words[at] != "at":
            return
        post, place = self.phrases.left(at), self.phrases.right(at + 1)
        if post is None or place is None or post.proper or not post.article or not place.proper:
            return
        head = self._words[post.end - 1]
        student = head in STUDENTS
        if not student and not head.endswith(
            (
                "er",
                "or",
                "ist",
                "ian",
                "eer",
                "ant",
                "nurse",
                "chef",
                "cook",
                "head",
                "intern",
                "clerk",
                "ceo",
                "cto",
            )
        ):
            return
        if student and head in ROLES:
            return
        group = self._group(post.start - 1)
        if group is None or not group.be or not self.fits(place, "group"):
            return
        for subject in self._subjects(group.start, several=False):
            if self.fits(subject, "person"):
                yield self.statement(subject, "studies_at" if student else "works_at", place)

    def _of_school(self, at: int) -> Iterator[Statement]:
        group = self._group(at)
        start = at + 1 if self._words[at] == "attends" else at + 2
        if group is None or (self._words[at] == "goes" and self._words[at + 1] != "to"):
            return
        school = self.phrases.right(start)
        if school is None or not school.proper or SCHOOLS.isdisjoint(self._words[school.start : school.end]):
            return
        for subject in self._subjects(group.start, several=False):
            if self.fits(subject, "person"):
                yield self.statement(subject, "studies_at", school)

    def _of_couple(self, at: int, word: str) -> Iterator[Statement]:
        """Yield the statements of `Anna and Rob got married`, `are engaged` and `work together`."""
        words = self._words
        if word == "couple" and words[at - 1] != "a":
            return
        end = at - 1 if word == "couple" else at
        if words[at + 1] in ("to", "with", "by"):
            return
        if word == "together" and words[at - 1] in ("work", "works", "worked", "working"):
            group = self._group(at - 1)
            if group is not None:
                people = [
                    one for one in self._subjects(group.start, several=True) if self.fits(one, "person")
                ]
                for one, other in combinations(people, 2):
                    yield self.statement(one, "works_with", other)
                if len(people) > 1:
                    yield from self._workplace(people, at + 1)
            return
        while words[end - 1] in ("got", "get", "getting", "happily", "newly"):
            end -= 1
        group = self._group(end)
        if group is None or not (group.be or end < at):
            return
        if self.phrases.kind(at + 1) in (Kind.CAPITAL, Kind.ARTICLE, Kind.POSSESSIVE, Kind.NOUN):
            return
        yield from self._pairs(group.start, "married_to" if word == "married" else "partner_of")
