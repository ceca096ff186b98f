"""Statements found by patterns over the words of a sentence, without a trained model.

A trigger word is looked up: a verb, a noun such as `sister`, or `in`. The phrases beside it are the ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from engine.knowledge.dreaming.relations.clause import BREAKS, FILLERS, IS, PREPOSITIONS, Clause, Group
from engine.knowledge.dreaming.relations.dependency_parse import ParseReader
from engine.knowledge.dreaming.relations.earlier_sentences import Earlier
from engine.knowledge.dreaming.relations.noun_patterns import OtherPatterns, RolePatterns
from engine.knowledge.dreaming.relations.phrases import Kind, Known, Phrase, Phrases
from engine.knowledge.dreaming.relations.relation_sentences import Sentence, sentences_of
from engine.knowledge.dreaming.relations.relation_words import (
    ROLES,
    VERBS,
    WORDS,
    WRITER,
    Statement,
    Verb,
    forms_of_verb,
    singular,
)
from engine.text.language.categories.marked_text import MARKS, Mark
from engine.text.language.lexicon import GIVEN_NAMES

if TYPE_CHECKING:
    from spacy.tokens import Doc


_WORKS: Final = WORDS["works"]


def _triggers() -> dict[str, list[tuple[Verb, str]]]:
    """Return a map from each form of a verb to the verb and the name of the form."""
    verbs: dict[str, list[tuple[Verb, str]]] = {}
    for verb in VERBS:
        forms = forms_of_verb(verb.lemma)
        for form in forms.past:
            verbs.setdefault(form, []).append((verb, "past"))
        if not verb.passive:
            for name in ("base", "third", "gerund"):
                verbs.setdefault(getattr(forms, name), []).append((verb, name))
    return verbs


_BY_FORM: Final = _triggers()
_ROLE_FORMS: Final = frozenset(
    form for noun in ROLES for form in (noun, noun + "s", noun[:-1] + "ies", "children", "wives")
)
_SPECIAL: Final = WORDS["special"]
_PLACED: Final = WORDS["placed"]
_STATING: Final = frozenset(_BY_FORM) | _ROLE_FORMS | _SPECIAL
TRIGGERS: Final = _STATING - _PLACED - {"by"}
"""A text that states a relation contains at least one of these words. Only statements about a place need
none."""


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
        """Return an event together with the thing to which it happens: `decline of the harbour`."""
        if isinstance(end, str) or end.proper or self._words[end.end] != "of":
            return end
        part = self.phrases.right(end.end + 1)
        if part is None or self._words[part.end] == "'s":
            return end
        return end._replace(end=part.end)

    def _whole(self, subject: Phrase | str, verb: int) -> Phrase | str:
        """Return the subject of the verb at `verb` together with the thing to which it happens."""
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
        """Return the phrase that a participle after a comma describes: `the Wren, 140 tons, owned by`."""
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


class SentenceReader(VerbPatterns, RolePatterns, OtherPatterns):
    """The statements of one sentence."""

    def statements(self) -> Iterator[Statement]:
        """Yield the statements of the sentence."""
        for at, word in enumerate(self._words):
            if word not in _STATING:
                continue
            heading = at > 1 and self._sentence.is_capital(at)
            if word in _BY_FORM and not heading and not self.is_doubted(at):
                for verb, form in _BY_FORM[word]:
                    yield from self._of_verb(at, verb, form)
            if word in _ROLE_FORMS and not self.is_doubted(at):
                for role in ROLES.get(singular(word), ()):
                    yield from self._of_role(at, role)
            if word in _SPECIAL and not self.is_doubted(at):
                yield from self._of_special(at, word)


class TextReader:
    """The statements of a text, sentence by sentence. Pronouns refer to names in earlier sentences."""

    def __init__(self, text: str, known: Known) -> None:
        self._text = text
        self._known = known
        self._writer = WRITER

    def statements(self, parses: Mapping[int, Doc] | None = None) -> list[Statement]:
        """Return the statements of the text in their order, each once.

        `parses` maps the first character of each parsed sentence to its parse.
        """
        statements: dict[tuple[str, str, str], Statement] = {}
        earlier = Earlier(self._known)
        for sentence in self.sentences():
            if not sentence.asks and is_likely(sentence.words):
                reading = SentenceReader(Phrases(sentence, self._known), earlier, self._writer)
                stated = list(reading.statements())
                doc = None if parses is None else parses.get(sentence.start)
                if doc is not None:
                    stated += _added(stated, ParseReader(reading, doc).statements())
                for one in stated:
                    if one.subject.lower() != one.object.lower():
                        statements.setdefault(one.key, one)
            earlier.sentences.append(sentence)
        return list(statements.values())

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences of the text, without the labels of speakers."""
        for sentence in sentences_of(self._text):
            if "\n" in self._text[max(0, sentence.start - 8) : sentence.start]:
                self._writer = WRITER
            yield self._without_speaker(sentence)

    def _without_speaker(self, sentence: Sentence) -> Sentence:
        """Return the sentence without the label of a speaker, who is then the writer of the line."""
        for at in (2, 3, 4):
            if sentence.words[at] != ":":
                continue
            words = tuple(sentence.words[1:at])
            if not all(sentence.is_capital(one) for one in range(1, at)) or len(sentence) - at < 3:
                break
            mark = MARKS.get(words[0], 0)
            if not (self._known(words) or mark & Mark.NAME or words[0] in GIVEN_NAMES):
                break
            self._writer = " ".join(sentence.surfaces[1:at])
            return Sentence(sentence.surfaces[at + 1 : len(sentence)], sentence.offsets[at + 1 :])
        return sentence


def _added(found: list[Statement], parsed: Iterator[Statement]) -> list[Statement]:
    """Return the statements of a parse that are not variants of statements which patterns found."""
    new: list[Statement] = []
    for one in parsed:
        if not any(_is_variant(one, other) for other in [*found, *new]):
            new.append(one._replace(by_parse=True))
    return new


def _is_variant(one: Statement, other: Statement) -> bool:
    """Return True if two statements of a sentence have the same predicate and share an end.

    Of such statements, those of the patterns are right more often: they know `called` and `version of`.
    """
    if one.predicate != other.predicate:
        return False
    (first, _, second), (third, _, fourth) = one.key, other.key
    return _is_part(first, third) or _is_part(second, fourth)


def _is_part(one: str, other: str) -> bool:
    return one in other or other in one


def is_likely(words: Sequence[str]) -> bool:
    """Return True if a text with these words in lower case can state a relation."""
    if not TRIGGERS.isdisjoint(words):
        return True
    place = not _PLACED.isdisjoint(words) and not IS.isdisjoint(words)
    return place or ("by" in words and not _WORKS.isdisjoint(words))
