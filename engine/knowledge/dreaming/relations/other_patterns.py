"""Statements of places, posts, schools, titles and couples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from engine.knowledge.dreaming.relations.clause import BREAKS, TEAMS, Clause
from engine.knowledge.dreaming.relations.phrases import Kind, Phrase
from engine.knowledge.dreaming.relations.predicates import ROLES, SCHOOLS, STUDENTS
from engine.knowledge.dreaming.relations.statements import Statement
from engine.knowledge.dreaming.relations.words import WORDS
from engine.text.language.categories.marked_text import MARKS, Mark

_WORKS: Final = WORDS["works"]
_STREETS: Final = WORDS["streets"]
_SITES: Final = WORDS["sites"]


class OtherPatterns(Clause):
    """The statements of single words such as `in`, `at`, `by` and `engaged`."""

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
        """Yield that the first place is in the second, if a second place follows: `Mill Lane, Wexcombe`."""
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
        known = any(
            MARKS.get(word, 0) & (Mark.PLACE | Mark.PLACE_TITLE)
            for word in self._words[place.start : place.end]
        )
        return known or not self.phrases.is_person(subject)

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
