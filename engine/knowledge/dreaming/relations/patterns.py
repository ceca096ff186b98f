"""Statements found by patterns over the words of a sentence, without a trained model.

A trigger word is looked up: a verb, a noun such as `sister`, or `in`. The phrases beside it are the ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.knowledge.dreaming.relations.parsed import ParseReader
from engine.knowledge.dreaming.relations.phrases import Kind, Known, Phrase, Phrases
from engine.knowledge.dreaming.relations.predicates import (
    ROLES,
    SCHOOLS,
    STUDENTS,
    VERBS,
    Role,
    Verb,
    forms_of_verb,
    singular,
)
from engine.knowledge.dreaming.relations.sentences import Sentence, sentences_of
from engine.knowledge.dreaming.relations.statements import WRITER, Statement
from engine.knowledge.dreaming.relations.words import WORDS
from engine.language.categories.marked_text import MARKS, Mark
from engine.language.lexicon import ADVERBS, FUNCTION_WORDS, GIVEN_NAMES, is_past

_IS: Final = WORDS["is"]
_PLURAL: Final = WORDS["plural"]
_HAS: Final = WORDS["has"]
_NEGATIONS: Final = WORDS["negations"]
_MODALS: Final = WORDS["modals"]
_HEDGES: Final = (_MODALS - {"to", "going", "'d", "must"}) | WORDS["hedges"]
_TAILS: Final = frozenset(
    {("i", "think"), ("i", "guess"), ("i", "hope"), ("i", "believe"), ("i", "suppose"), ("i", "reckon")}
)
_WITHDRAWN: Final = WORDS["withdrawn"]
_DEGREES: Final = WORDS["degrees"]
_FILLERS: Final = (ADVERBS - _NEGATIONS - {"almost", "maybe", "perhaps", "likely"}) | WORDS["fillers"]
_CLAUSE_STARTS: Final = WORDS["clause_starts"]
_PREPOSITIONS: Final = frozenset(word for word, part in FUNCTION_WORDS.items() if part == "ADP")
_SAYING: Final = WORDS["patterns_saying"]
_PRONOUNS: Final = WORDS["pronouns"]
_FAMILY: Final = WORDS["family"]
_BREAKS: Final = frozenset(["", *',;:.!?()\u2014\u2013-"\u201c\u201d/'])
_NO_PLACES: Final = WORDS["no_places"]
_TEAMS: Final = WORDS["teams"]
_STAGES: Final = WORDS["stages"]
_VERSIONED: Final = WORDS["versioned"]
"""The predicates whose ends are named without the number of a version."""
_ENDED: Final = WORDS["ended"]
_WORKS: Final = WORDS["works"]
_STREETS: Final = WORDS["streets"]
_SITES: Final = WORDS["sites"]

if TYPE_CHECKING:
    from spacy.tokens import Doc


def _triggers() -> dict[str, list[tuple[Verb, str]]]:
    """Return a map from each form of a verb to the verb and the name of the form."""
    found: dict[str, list[tuple[Verb, str]]] = {}
    for verb in VERBS:
        forms = forms_of_verb(verb.lemma)
        for form in forms.past:
            found.setdefault(form, []).append((verb, "past"))
        if not verb.passive:
            for name in ("base", "third", "gerund"):
                found.setdefault(getattr(forms, name), []).append((verb, name))
    return found


_BY_FORM: Final = _triggers()
_ROLE_FORMS: Final = frozenset(
    form for noun in ROLES for form in (noun, noun + "s", noun[:-1] + "ies", "children", "wives")
)
_SPECIAL: Final = WORDS["special"]
_PLACED: Final = WORDS["placed"]
TRIGGERS: Final = (frozenset(_BY_FORM) | _ROLE_FORMS | _SPECIAL) - _PLACED - {"by"}
"""The words of which a text must contain at least one to state a relation, except where something is."""


class _Group(NamedTuple):
    """The auxiliary verbs before a verb."""

    start: int
    """The index of the first auxiliary verb, or of the verb itself."""
    be: bool
    have: bool
    plural: bool
    past: bool = False
    """True if something was, and is not said to be still."""


class Earlier:
    """The sentences before a sentence. They are read only if a pronoun can refer to them."""

    def __init__(self, known: Known) -> None:
        self.sentences: list[Sentence] = []
        self._known = known
        self._read = 0
        self._people: list[tuple[frozenset[str], str]] = []

    def people(self, further: Phrases, at: int) -> list[str]:
        """Return the people in these sentences and in `further` before the token `at`, each once."""
        for sentence in self.sentences[self._read :]:
            phrases = Phrases(sentence, self._known)
            for phrase in phrases.people():
                _meet(self._people, phrases, phrase)
        self._read = len(self.sentences)
        people = list(self._people)
        for phrase in further.people():
            if phrase.end <= at:
                _meet(people, further, phrase)
        return [text for _, text in people]

    def topic(self) -> str | None:
        """Return the one thing that `it` must mean at the beginning of the next sentence, or None.

        It is the subject of the last sentence, if this sentence has no other noun phrase.
        """
        if not self.sentences or self.sentences[-1].asks:
            return None
        phrases = Phrases(self.sentences[-1], self._known)
        subject = phrases.right(1)
        if subject is None or subject.article in ("a", "an") or phrases.is_person(subject):
            return None
        if not _is_verb(phrases, subject.end):
            return None
        for at in range(subject.end + 1, len(phrases.sentence)):
            other = phrases.right(at)
            if other is not None and (other.article or other.proper):
                return None
        return phrases.text(subject)


def _meet(people: list[tuple[frozenset[str], str]], phrases: Phrases, phrase: Phrase) -> None:
    """Add a person, unless the person is there. Of `Theo` and `Theo Farrow`, the longer name is kept."""
    words = frozenset(phrases.words[phrase.start : phrase.end])
    for number, (other, _) in enumerate(people):
        if words <= other:
            return
        if other <= words:
            people[number] = words, phrases.text(phrase)
            return
    people.append((words, phrases.text(phrase)))


def _is_verb(phrases: Phrases, at: int) -> bool:
    word = phrases.words[at]
    return phrases.kind(at) is Kind.VERB or (word in _IS and word != "'s") or (word in _HAS and word != "'s")


class TextReader:
    """The statements of a text, sentence by sentence. Pronouns refer to names in earlier sentences."""

    def __init__(self, text: str, known: Known) -> None:
        self._text = text
        self._known = known
        self._writer = WRITER

    def statements(self, parses: Mapping[int, Doc] | None = None) -> list[Statement]:
        """Return what the text states, in the order of the text. Each statement is returned once.

        `parses` maps the first character of each parsed sentence to its parse.
        """
        found: dict[tuple[str, str, str], Statement] = {}
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
                        found.setdefault(one.key, one)
            earlier.sentences.append(sentence)
        return list(found.values())

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


class SentenceReader:
    """The statements of one sentence."""

    def __init__(self, phrases: Phrases, earlier: Earlier, writer: str) -> None:
        self.phrases = phrases
        self._sentence = phrases.sentence
        self._words = phrases.words
        self._earlier = earlier
        self._writer = writer

    # -- the triggers -------------------------------------------------------------------------------------

    def statements(self) -> Iterator[Statement]:
        """Yield what the sentence states."""
        words = self._words
        for at in range(1, len(self._sentence)):
            word = words[at]
            heading = at > 1 and self._sentence.is_capital(at)
            if word in _BY_FORM and not heading and not self.is_doubted(at):
                for verb, form in _BY_FORM[word]:
                    yield from self._of_verb(at, verb, form)
            if word in _ROLE_FORMS and not self.is_doubted(at):
                for role in ROLES.get(singular(word), ()):
                    yield from self._of_role(at, role)
            if word in _SPECIAL and not self.is_doubted(at):
                yield from self._of_special(at, word)

    def is_doubted(self, at: int) -> bool:
        """Return True if the words around a trigger doubt, deny or only wish what it states."""
        words = self._words
        start = at
        while start > 1 and words[start - 1] not in ("but", ";", "\u2014"):
            start -= 1
        before = words[start:at]
        if not _HEDGES.isdisjoint(before):
            return True
        for number in range(at + 1, len(self._sentence)):
            if words[number] in ("if", "unless") and words[number - 1] not in ("as", "even", "only"):
                return True
            if (words[number], words[number + 1]) in _TAILS:
                return True
        clause = at
        while clause > 1 and words[clause - 1] not in (",", ";", ":", "but", "because", "so", "and"):
            clause -= 1
        return any(_is_negative(word) for word in words[clause:at])

    def _group(self, at: int) -> _Group | None:
        """Return the auxiliary verbs before the word at index `at`, or None if they deny or wish."""
        be = have = plural = past = False
        start = at
        while True:
            word = self._words[start - 1]
            if _is_negative(word) or word in _MODALS:
                return None
            if word == "'s" and not self._is_verb_ending(start - 1):
                break
            if word in _IS or word in _HAS:
                be, have = be or word in _IS, have or word in _HAS
                plural = plural or word in _PLURAL
                past = past or word in ("was", "were", "had")
            elif not (word in _FILLERS or (word.endswith("ly") and len(word) > 4)) or start <= 2:
                break
            start -= 1
        return _Group(start, be, have, plural, past)

    def _is_verb_ending(self, at: int) -> bool:
        """Return True if `'s` at index `at` means `is` or `has`."""
        after = self._words[at + 1]
        owner = self._words[at - 1] in ("he", "she", "it", "who", "that", "there", "what")
        return owner or after in ("a", "an", "the", "been", "not", "in", "married", "my", "also", "now")

    # -- verbs --------------------------------------------------------------------------------------------

    def _of_verb(self, at: int, verb: Verb, form: str) -> Iterator[Statement]:
        after = self._after(at + 1, verb)
        group = self._group(at)
        if after is None or group is None or not self._is_stated(verb, form, group, at):
            return
        objects, end = self._objects(after)
        if not objects:
            return
        if verb.predicate == "replaces" and not verb.flipped and self._words[end] in ("with", "by"):
            if form != "base" or self._words[group.start - 1] in ("we", "they", "i"):
                yield from self._swapped(objects, end + 1)
            return
        if verb.after:
            objects += self._further(end, verb.after)
        subjects = self._subjects_of(at, verb, form, group)
        for subject in subjects:
            for one in objects:
                if self.fits(subject, verb.subject, is_subject=True) and self.fits(one, verb.object):
                    yield self.statement(subject, verb.predicate, one, flipped=verb.flipped)
        if verb.predicate == "works_with":
            yield from self._workplace([*subjects, *objects], end)

    def _further(self, at: int, after: tuple[str, ...]) -> list[Phrase | str]:
        """Return the ends after a repeated word: `depends on Grafana for panels and on nginx`."""
        words = self._words
        for one in range(at, min(at + 6, len(self._sentence))):
            if words[one] == "and" and words[one + 1] in after:
                return self._objects(one + 2)[0]
            if words[one] in _BREAKS or self.phrases.kind(one) is Kind.VERB:
                break
        return []

    def _subjects_of(self, at: int, verb: Verb, form: str, group: _Group) -> list[Phrase | str]:
        """Return the subjects of the verb at index `at`, if they can have the verb in this form."""
        if verb.passive and not group.be and self._words[at - 1] in (",", "("):
            described = self.phrases.left(at - 1)
            return [] if described is None else self._checked(described, several=False, deep=0)
        subjects = self._subjects(group.start, several=form in ("base", "past") or group.plural)
        if form == "base" and len(subjects) == 1 and not self._is_plural(subjects[0]):
            return []
        return subjects

    @property
    def has_ended(self) -> bool:
        """True if a word such as `until` says that what was is no more."""
        return not _ENDED.isdisjoint(self._words)

    def _is_plural(self, subject: Phrase | str) -> bool:
        """Return True if the subject can have a verb without `s`."""
        if isinstance(subject, str):
            return subject == self._writer
        return self._words[subject.end - 1].endswith("s") and not self.phrases.is_surely_person(subject)

    def _after(self, at: int, verb: Verb) -> int | None:
        """Return the index after the words that must follow a verb, or None if other words follow."""
        words = self._words
        if not verb.after:
            return None if words[at] in _PREPOSITIONS else at
        if verb.skips and words[at] not in verb.after:
            skipped = self.phrases.right(at)
            at = at if skipped is None or skipped.proper else skipped.end
        while True:
            if words[at] in _FILLERS or (words[at].endswith("ly") and len(words[at]) > 4):
                at += 1
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

    def _is_stated(self, verb: Verb, form: str, group: _Group, at: int) -> bool:
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

    def _workplace(self, people: list[Phrase | str], at: int) -> Iterator[Statement]:
        if self._words[at] not in ("at", "for"):
            return
        place = self.phrases.right(at + 1)
        if place is None or not self.fits(place, "group"):
            return
        for person in people:
            if self.fits(person, "person"):
                yield self.statement(person, "works_at", place)

    # -- roles --------------------------------------------------------------------------------------------

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
        if ends and self._words[person.end] not in _BREAKS:
            after = self._words[person.end]
            if self._words[at - 1] in (",", "(") or after not in _CLAUSE_STARTS | _PREPOSITIONS:
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

    def _pairs(self, end: int, predicate: str) -> Iterator[Statement]:
        subjects = [one for one in self._subjects(end, several=True) if self.fits(one, "person")]
        for one, other in combinations(subjects, 2):
            yield self.statement(one, predicate, other)

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
            bearers = self._subjects(group.start, several=True) if group is not None and group.be else []
        for bearer_ in bearers:
            if self.fits(bearer_, role.subject, is_subject=True):
                for one in objects:
                    yield self._kin(bearer_, role, one)

    def _kin(self, bearer: Phrase | str, role: Role, owner: Phrase | str) -> Statement:
        return self.statement(bearer, role.predicate, owner, flipped=role.flipped)

    # -- the rest -----------------------------------------------------------------------------------------

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
        elif place is not None and words[at] != "at" and words[place.end - 1] in _TEAMS:
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
        if larger is None or not self._is_place(larger) or self._words[larger.end] not in _BREAKS:
            return
        if not self.phrases.is_surely_person(larger) and not larger.article:
            yield self.statement(place, "located_in", larger)

    def _is_place(self, phrase: Phrase) -> bool:
        words = self._words[phrase.start : phrase.end]
        if not phrase.proper or words[-1] in _NO_PLACES or words[-1][0].isdigit():
            return False
        return not self.phrases.is_surely_person(phrase) and self.phrases.kind(phrase.end - 1) is Kind.CAPITAL

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

    # -- ends ---------------------------------------------------------------------------------------------

    def _objects(self, at: int, *, mine: bool = False) -> tuple[list[Phrase | str], int]:
        """Return the ends that begin at an index, joined by `and`, and the index after the last one."""
        words = self._words
        if words[at] == "me" or (mine and words[at] == "mine"):
            return [self._writer], at + 1
        phrase = self.phrases.right(at)
        if phrase is None:
            return [], at
        if words[phrase.end] == "'s":
            return self._owned(phrase)
        if words[phrase.end - 1] in _STAGES and words[phrase.end] == "of":
            return self._objects(phrase.end + 1)
        if words[phrase.end] in ("called", "named") and not phrase.proper:
            named = self.phrases.right(phrase.end + 1)
            if named is not None and named.proper:
                return [named], named.end
        found: list[Phrase | str] = [phrase]
        end = phrase.end
        while words[end] in ("and", ",", "&"):
            start = end + 2 if words[end] == "," and words[end + 1] == "and" else end + 1
            other = self.phrases.right(start)
            if other is None or not self._is_joined(phrase, other, listed=words[start - 1] == ","):
                break
            found.append(other)
            end = other.end
        if words[end] == "or" or (words[end] == "," and words[end - 1] in ("and", "or")):
            return [], end
        return found, end

    def _owned(self, owner: Phrase) -> tuple[list[Phrase | str], int]:
        """Return a thing together with its owner: `Ellie's laptop`."""
        thing = self.phrases.right(owner.end + 1)
        if thing is None or thing.start != owner.end + 1:
            return [], owner.end
        return [thing._replace(start=owner.start, proper=False, article="the")], thing.end

    def _is_joined(self, first: Phrase, other: Phrase, *, listed: bool) -> bool:
        """Return True if a phrase after `and` belongs to the same list, and is not the next clause."""
        after = self._words[other.end]
        if other.proper != first.proper or (listed and after not in ("and", ",")):
            return False
        return after in _BREAKS or after in _PREPOSITIONS or after in ("and", "now", "too", "as")

    def _subjects(self, end: int, *, several: bool, deep: int = 2) -> list[Phrase | str]:
        """Return the subjects of the verb that begins at index `end`."""
        words = self._words
        word = words[end - 1]
        if word in ("who", "which", "that"):
            at = end - 1 if words[end - 2] != "," else end - 2
            phrase = self.phrases.left(at)
            return [] if phrase is None or (word == "that" and phrase.end != end - 1) else [phrase]
        if word == "i":
            first: list[Phrase | str] = [self._writer]
            if several and words[end - 2] == "and":
                other = self.phrases.left(end - 2)
                first += [] if other is None else [other]
            return first
        if word in ("he", "she", "it"):
            person = self._antecedent(end - 1) if word != "it" else self._earlier.topic()
            return [] if person is None or (word == "it" and not self._starts(end - 1)) else [person]
        if word == ",":
            described = self._described(end - 1)
            if described is not None:
                return [described]
        if word in ("and", "but", ",", "then"):
            return self._shared_subject(end - 1)
        phrase = self.phrases.left(end)
        if phrase is None:
            return []
        return self._checked(phrase, several=several, deep=deep)

    def _checked(self, phrase: Phrase, *, several: bool, deep: int) -> list[Phrase | str]:
        """Return the subjects if the words before them show that a clause begins there."""
        words, at = self._words, self.phrases.before(phrase)
        word = words[at]
        if word in _PREPOSITIONS and deep and not self._starts(at):
            head = self.phrases.left(at)
            if head is None or self.phrases.kind(at - 1) is Kind.OTHER:
                return []
            return self._checked(head, several=several, deep=deep - 1)
        if word == "'s":
            owner = self.phrases.left(at)
            if owner is None or phrase.proper:
                # In `Rob's sister Anna`, the phrase is the name.
                return [phrase] if phrase.proper and owner is not None else []
            whole = phrase._replace(start=owner.start, article="the")
            return [whole] if self._begins(self.phrases.before(owner)) else []
        if word in ("and", ",") and several:
            other = self.phrases.left(at)
            if other is None and word == "and" and words[at - 1] in ("he", "she", "i"):
                person = self.meant(at - 1)
                return [phrase] if person is None else [person, phrase]
            if other is not None and (word == "and" or phrase.proper == other.proper):
                others = self._checked(other, several=True, deep=0)
                return [*others, phrase] if others or word == "and" else []
        return [phrase] if self._begins(at) else []

    def _begins(self, at: int) -> bool:
        """Return True if a clause can begin after the token at index `at`."""
        word = self._words[at]
        if word in _BREAKS or word in _CLAUSE_STARTS or word in _SAYING:
            return True
        if word in FUNCTION_WORDS and FUNCTION_WORDS[word] == "INTJ":
            return True
        mark = MARKS.get(word, 0)
        return (
            word in ADVERBS or word.endswith("ly") or bool(mark & (Mark.TEMPORAL | Mark.SPAN | Mark.GREETING))
        )

    def _starts(self, at: int) -> bool:
        return at == 1 or self._words[at - 1] in _BREAKS or self._words[at - 1] in _CLAUSE_STARTS

    def _described(self, end: int) -> Phrase | None:
        """Return the subject of a verb after a description between commas: `Anna, the nurse, …`."""
        words = self._words
        start = end - 1
        while start > 1 and words[start] != "," and end - start <= 10:
            start -= 1
        if words[start] != ",":
            return None
        first, inner = self.phrases.left(start), self.phrases.right(start + 1)
        if first is None or not self._begins(self.phrases.before(first)):
            return None
        relative = words[start + 1] in ("who", "which", "whose") or is_past(words[start + 1])
        if inner is None and not relative:
            return None
        if not relative and inner is not None and inner.proper and first.article not in ("", "the"):
            return inner if inner.end == end else None
        plain = relative or (inner is not None and not inner.proper and inner.article != "")
        return first if plain else None

    def _shared_subject(self, end: int) -> list[Phrase | str]:
        """Return the subject that two verbs share: `The sensor runs on a board and connects to …`."""
        for at in range(end - 1, 0, -1):
            if not self._starts(at):
                continue
            if self._words[at] == "i":
                return [self._writer]
            if self._words[at] == "it":
                thing = self._earlier.topic()
                return [] if thing is None else [thing]
            if self._words[at] in ("he", "she"):
                person = self._antecedent(at)
                return [] if person is None else [person]
            phrase = self.phrases.right(at)
            if phrase is not None and phrase.end < end and self._is_verb(phrase.end):
                return [phrase]
            if (
                phrase is None
                and self._words[at] in FUNCTION_WORDS
                and FUNCTION_WORDS[self._words[at]] == "PRON"
            ):
                return []
        return []

    def _is_verb(self, at: int) -> bool:
        word = self._words[at]
        if word == "'s":
            return self._is_verb_ending(at)
        return self.phrases.kind(at) is Kind.VERB or word in _IS or word in _HAS

    def _antecedent(self, at: int) -> str | None:
        """Return the only person whom the text names before the pronoun at index `at`, or None."""
        people = self._earlier.people(self.phrases, at)
        return people[0] if len(people) == 1 else None

    def fits(self, end: Phrase | str, kind: str, *, is_subject: bool = False) -> bool:
        """Return True if an end can be what a verb or noun needs there."""
        if isinstance(end, str):
            return kind in ("person", "any") if end == self._writer else kind in ("person", "any", "thing")
        if kind == "person":
            return self.phrases.is_person(end)
        if kind == "place":
            return self._is_place(end)
        if kind not in ("any", "maker", "managed") and self.phrases.is_surely_person(end):
            return False
        if kind == "team":
            return self.is_team(end) and (end.proper or _is_definite(end))
        if kind == "event":
            return True
        if kind in _CHECKS:
            return end.proper or _CHECKS[kind](self, end)
        return end.proper or not is_subject or end.article not in ("a", "an")

    def is_technical(self, phrase: Phrase) -> bool:
        """Return True if a phrase without an article looks like the name of a program: `atlas-db`."""
        surface = self._sentence.surfaces[phrase.end - 1]
        return not phrase.article and not surface.isalpha() and not surface[0].isdigit()

    def meant(self, at: int) -> str | None:
        """Return the one person or thing that the pronoun at index `at` can mean, or None."""
        word = self._words[at]
        if word in ("i", "me", "my", "mine"):
            return self._writer
        if word == "it":
            return self._earlier.topic() if self._starts(at) else None
        return self._antecedent(at) if word in ("he", "she", "his", "her", "him") else None

    def is_team(self, phrase: Phrase) -> bool:
        """Return True if a phrase names a group of people: `the storage team`."""
        head = self._words[phrase.end - 1]
        return head in _TEAMS or bool(MARKS.get(head, 0) & Mark.ORGANIZATION)

    def statement(
        self, subject: Phrase | str, predicate: str, object_: Phrase | str, *, flipped: bool = False
    ) -> Statement:
        """Return the statement with these ends; with `flipped`, the object is the subject."""
        if predicate in _VERSIONED:
            subject, object_ = self._unversioned(subject), self._unversioned(object_)
        one, other = (self._text(end) for end in (subject, object_))
        ends = (other, one) if flipped else (one, other)
        return Statement(ends[0], predicate, ends[1], self._sentence.start, self._sentence.end)

    def _unversioned(self, end: Phrase | str) -> Phrase | str:
        if isinstance(end, str) or end.end - end.start < 2 or self._sentence.is_capital(end.end - 1):
            return end
        last = self._words[end.end - 1]
        if not last.replace(".", "").isdigit() or self.phrases.kind(end.end - 2) is not Kind.CAPITAL:
            return end
        return end._replace(end=end.end - 1)

    def _text(self, end: Phrase | str) -> str:
        return end if isinstance(end, str) else self.phrases.text(end)


def _is_definite(end: Phrase) -> bool:
    return end.article not in ("a", "an", "")


_CHECKS: Final[dict[str, Callable[[SentenceReader, Phrase], bool]]] = {
    "group": lambda _, end: _is_definite(end),
    "maker": lambda reader, end: _is_definite(end) and reader.is_team(end),
    "band": lambda reader, end: _is_definite(end) and reader.is_team(end),
    "managed": lambda _, end: _is_definite(end),
    "name": lambda _, end: False,
    "exact": lambda reader, end: _is_definite(end) or reader.is_technical(end),
    "work": lambda reader, end: end.article == "the" or reader.is_technical(end),
}
"""What an end that is not a name must be, for each kind of end."""


def _is_negative(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


def is_likely(words: Sequence[str]) -> bool:
    """Return True if a text with these words in lower case can state a relation."""
    if not TRIGGERS.isdisjoint(words):
        return True
    place = not _PLACED.isdisjoint(words) and not _IS.isdisjoint(words)
    return place or ("by" in words and not _WORKS.isdisjoint(words))
