"""Statements of verbs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.knowledge.dreaming.relations.clause import BREAKS, FILLERS, PREPOSITIONS, Clause, Group
from engine.knowledge.dreaming.relations.phrases import Kind, Phrase
from engine.knowledge.dreaming.relations.predicates import Verb
from engine.knowledge.dreaming.relations.statements import Statement
from engine.knowledge.dreaming.relations.words import WORDS
from engine.text.language.categories.marked_text import MARKS, Mark

_NEGATIONS: Final = WORDS["negations"]


class VerbPatterns(Clause):
    """The statements of verbs, such as `works at` and `was written by`."""

    def _of_verb(self, at: int, verb: Verb, form: str) -> Iterator[Statement]:
        after = self._after(at + 1, verb)
        group = self._group(at)
        if after is None or group is None or not self._is_stated(verb, form, group, at):
            return
        objects, end = self._objects_of(verb, after)
        if not objects:
            return
        if verb.predicate == "replaces" and not verb.flipped and self._words[end] in ("with", "by"):
            if form != "base" or self._words[group.start - 1] in ("we", "they", "i"):
                yield from self._swapped(objects, end + 1)
            return
        objects += self._further(end, verb.after)
        subjects = self._subjects_of(at, verb, form, group)
        if verb.predicate == "causes":
            subjects = [self._whole(one, group.start) for one in subjects]
        for subject in subjects:
            for one in objects:
                if self.fits(subject, verb.subject, is_subject=True) and self.fits(one, verb.object):
                    yield self.statement(subject, verb.predicate, one, flipped=verb.flipped)
        if verb.predicate == "works_with":
            yield from self._workplace([*subjects, *objects], end)

    def _objects_of(self, verb: Verb, at: int) -> tuple[list[Phrase | str], int]:
        """Return the ends that begin at an index, and the index after them. A port can be a bare number."""
        if verb.predicate == "listens_on" and self._words[at].isdigit():
            return [Phrase(at, at + 1, proper=False, article="")], at + 1
        objects, end = self._objects(at)
        if verb.predicate == "causes":
            return [self._with_part(one) for one in objects], end
        return objects, end

    def _with_part(self, end: Phrase | str) -> Phrase | str:
        """Return an event together with what it happens to: `decline of the harbour`."""
        if isinstance(end, str) or end.proper or self._words[end.end] != "of":
            return end
        part = self.phrases.right(end.end + 1)
        if part is None or self._words[part.end] == "'s":
            return end
        return end._replace(end=part.end)

    def _whole(self, subject: Phrase | str, verb: int) -> Phrase | str:
        """Return the subject of the verb at `verb` together with what it happens to."""
        whole = self._with_part(subject)
        return whole if isinstance(whole, Phrase) and whole.end == verb else subject

    def _further(self, at: int, after: tuple[str, ...]) -> list[Phrase | str]:
        """Return the ends after a repeated word: `depends on Grafana for panels and on nginx`."""
        words = self._words
        for one in range(at, min(at + 6, len(self._sentence)) if after else at):
            if words[one] == "and" and words[one + 1] in after:
                return self._objects(one + 2)[0]
            if words[one] in BREAKS or self.phrases.kind(one) is Kind.VERB:
                break
        return []

    def _subjects_of(self, at: int, verb: Verb, form: str, group: Group) -> list[Phrase | str]:
        """Return the subjects of the verb at index `at`, if they can have the verb in this form."""
        if verb.passive and not group.be and self._words[at - 1] in (",", "("):
            described = self._described_before(at - 1)
            return [] if described is None else self._checked(described, several=False, deep=0)
        subjects = self._subjects(group.start, several=form in ("base", "past") or group.plural)
        if form == "base" and len(subjects) == 1 and not self._is_plural(subjects[0]):
            return []
        return subjects

    def _described_before(self, at: int) -> Phrase | None:
        """Return what a participle after the comma at `at` describes: `the Wren, 140 tons, owned by`."""
        last = self.phrases.left(at)
        if last is None or last.proper:
            return last
        before = self.phrases.before(last)
        named = self.phrases.left(before) if self._words[before] == "," else None
        return named if named is not None and named.proper else last

    def _is_plural(self, subject: Phrase | str) -> bool:
        """Return True if the subject can have a verb without `s`."""
        if isinstance(subject, str):
            return subject == self._writer
        return self._words[subject.end - 1].endswith("s") and not self.phrases.is_surely_person(subject)

    def _after(self, at: int, verb: Verb) -> int | None:
        """Return the index after the words that must follow a verb, or None if other words follow."""
        words = self._words
        if not verb.after:
            return None if words[at] in PREPOSITIONS else at
        if verb.skips and words[at] not in verb.after:
            skipped = self.phrases.right(at)
            at = at if skipped is None or skipped.proper else skipped.end
        while True:
            if words[at] in FILLERS or (words[at].endswith("ly") and len(words[at]) > 4):
                at += 1
            elif verb.predicate == "listens_on":
                break
            elif (words[at] in ("in", "on") and self._is_time(at + 1)) or (
                words[at][:1].isdigit() and words[at + 1] in ("in", "at")
            ):
                at += 2 if words[at] in ("in", "on") else 1
                while self._is_time(at):
                    at += 1
            else:
                break
        for word in verb.after:
            parts = word.split("_")
            if words[at : at + len(parts)] == parts:
                return at + len(parts)
        return None

    def _is_time(self, at: int) -> bool:
        word = self._words[at]
        time = MARKS.get(word, 0) & (Mark.TEMPORAL | Mark.MONTH_SHORT | Mark.SPAN)
        return word.isdigit() or bool(time)

    def _is_stated(self, verb: Verb, form: str, group: Group, at: int) -> bool:
        if verb.passive:
            # Without `is`, a participle describes the noun before it: `a book written by Ann`.
            return group.be or self._words[at - 1] in (",", "(") or not group.have
        if form == "gerund":
            return group.be
        if form == "past":
            ended = verb.lasts and not group.have and self.has_ended
            return not group.be and not ended
        return not group.be and not group.have

    def _swapped(self, old: list[Phrase | str], at: int) -> Iterator[Statement]:
        """Yield the statement of `we replaced Jenkins with Buildkite`."""
        new = self.phrases.right(at)
        if new is not None and len(old) == 1 and self.fits(old[0], "any"):
            yield self.statement(new, "replaces", old[0])
