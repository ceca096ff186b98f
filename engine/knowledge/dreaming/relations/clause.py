"""The words around a word of a sentence: doubts, auxiliary verbs, subjects and objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final, NamedTuple

from engine.knowledge.dreaming.relations.earlier_sentences import Earlier
from engine.knowledge.dreaming.relations.phrases import Kind, Phrase, Phrases
from engine.knowledge.dreaming.relations.relation_words import WORDS, Statement
from engine.text.language.categories.marked_text import MARKS, Mark
from engine.text.language.lexicon import ADVERBS, FUNCTION_WORDS
from engine.text.language.parts_of_speech import is_past

IS: Final = WORDS["is"]
_PLURAL: Final = WORDS["plural"]
HAS: Final = WORDS["has"]
_NEGATIONS: Final = WORDS["negations"]
_MODALS: Final = WORDS["modals"]
_HEDGES: Final = (_MODALS - {"to", "going", "'d", "must"}) | WORDS["hedges"]
_TAILS: Final = frozenset(
    {("i", "think"), ("i", "guess"), ("i", "hope"), ("i", "believe"), ("i", "suppose"), ("i", "reckon")}
)
_TAIL_BEGINNINGS: Final = frozenset(first for first, _ in _TAILS)
_CONDITIONS: Final = frozenset({"if", "unless"})
FILLERS: Final = (ADVERBS - _NEGATIONS - {"almost", "maybe", "perhaps", "likely"}) | WORDS["fillers"]
CLAUSE_STARTS: Final = WORDS["clause_starts"]
PREPOSITIONS: Final = frozenset(word for word, part in FUNCTION_WORDS.items() if part == "ADP")
_SAYING: Final = WORDS["clause_verbs"]
BREAKS: Final = frozenset(["", *',;:.!?()\u2014\u2013-"\u201c\u201d/'])
_NO_PLACES: Final = WORDS["no_places"]
TEAMS: Final = WORDS["teams"]
_KINDS: Final = WORDS["kinds"]
_STAGES: Final = WORDS["stages"]
_VERSIONED: Final = WORDS["versioned"]
"""The predicates whose ends are named without the number of a version."""
_REFLEXIVE: Final = frozenset({"itself", "himself", "herself", "themselves"})
_ENDED: Final = WORDS["ended"]


class Group(NamedTuple):
    """The auxiliary verbs before a verb."""

    start: int
    """The index of the first auxiliary verb, or of the verb itself."""
    be: bool
    have: bool
    plural: bool
    past: bool = False
    """True if the verb is in the past tense and nothing says that the statement is still true."""


class Clause:
    """The clauses of one sentence."""

    def __init__(self, phrases: Phrases, earlier: Earlier, writer: str) -> None:
        self.phrases = phrases
        self._sentence = phrases.sentence
        self._words = phrases.words
        self._earlier = earlier
        self._writer = writer

    def is_doubted(self, at: int) -> bool:
        """Return True if the words around a trigger doubt or deny the statement, or only wish for it."""
        words = self._words
        start = at
        while start > 1 and words[start - 1] not in ("but", ";", "\u2014"):
            start -= 1
        before = words[start:at]
        if not _HEDGES.isdisjoint(before):
            return True
        for number in range(at + 1, len(self._sentence)):
            word = words[number]
            if word in _CONDITIONS and words[number - 1] not in ("as", "even", "only"):
                return True
            if word in _TAIL_BEGINNINGS and (word, words[number + 1]) in _TAILS:
                return True
        clause = at
        while clause > 1 and words[clause - 1] not in (",", ";", ":", "but", "because", "so", "and"):
            clause -= 1
        between = words[clause:at]
        return not _NEGATIONS.isdisjoint(between) or any(word.endswith("n't") for word in between)

    def _group(self, at: int) -> Group | None:
        """Return the auxiliary verbs before the word at index `at`, or None if they negate or wish."""
        be = have = plural = past = False
        start = at
        while True:
            word = self._words[start - 1]
            if is_negative(word) or word in _MODALS:
                return None
            if word == "'s" and not self._is_verb_ending(start - 1):
                break
            if word in IS or word in HAS:
                be, have = be or word in IS, have or word in HAS
                plural = plural or word in _PLURAL
                past = past or word in ("was", "were", "had")
            elif not (word in FILLERS or (word.endswith("ly") and len(word) > 4)) or start <= 2:
                break
            start -= 1
        return Group(start, be, have, plural, past)

    def _is_verb_ending(self, at: int) -> bool:
        """Return True if `'s` at index `at` means `is` or `has`."""
        after = self._words[at + 1]
        owner = self._words[at - 1] in ("he", "she", "it", "who", "that", "there", "what")
        return owner or after in ("a", "an", "the", "been", "not", "in", "married", "my", "also", "now")

    @property
    def has_ended(self) -> bool:
        """Return True if a word such as `until` says that a past state has ended."""
        return not _ENDED.isdisjoint(self._words)

    def _workplace(self, people: list[Phrase | str], at: int) -> Iterator[Statement]:
        if self._words[at] not in ("at", "for"):
            return
        place = self.phrases.right(at + 1)
        if place is None or not self.fits(place, "group"):
            return
        for person in people:
            if self.fits(person, "person"):
                yield self.statement(person, "works_at", place)

    def _pairs(self, end: int, predicate: str) -> Iterator[Statement]:
        subjects = [one for one in self._subjects(end, several=True) if self.fits(one, "person")]
        for one, other in combinations(subjects, 2):
            yield self.statement(one, predicate, other)

    def _is_place(self, phrase: Phrase) -> bool:
        words = self._words[phrase.start : phrase.end]
        if not phrase.proper or words[-1] in _NO_PLACES or words[-1][0].isdigit():
            return False
        return not self.phrases.is_surely_person(phrase) and self.phrases.kind(phrase.end - 1) is Kind.CAPITAL

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
        named = self._name_of(phrase)
        if named is not None:
            return [named], named.end
        objects: list[Phrase | str] = [phrase]
        end = phrase.end
        while words[end] in ("and", ",", "&"):
            start = end + 2 if words[end] == "," and words[end + 1] == "and" else end + 1
            other = self.phrases.right(start)
            if other is None or not self._is_joined(phrase, other, listed=words[start - 1] == ","):
                break
            objects.append(other)
            end = other.end
        if words[end] == "or" or (words[end] == "," and words[end - 1] in ("and", "or")):
            return [], end
        return objects, end

    def _name_of(self, phrase: Phrase) -> Phrase | None:
        """Return the name that follows a noun: `the town of Wexley`, `a server called heron`."""
        words = self._words
        kind = words[phrase.end - 1] in _KINDS and words[phrase.end] == "of"
        called = words[phrase.end] in ("called", "named") and (phrase.article or not phrase.proper)
        named = self.phrases.right(phrase.end + 1) if kind or called else None
        if named is None or named.proper:
            return named
        return named if called and named.end - named.start == 1 else None

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
        return after in BREAKS or after in PREPOSITIONS or after in ("and", "now", "too", "as")

    def _subjects(self, end: int, *, several: bool, deep: int = 2) -> list[Phrase | str]:
        """Return the subjects of the verb that begins at index `end`."""
        words = self._words
        if words[end - 1] in _REFLEXIVE:
            end -= 1
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
        if word in PREPOSITIONS and deep and not self._starts(at):
            head = self.phrases.left(at)
            if head is None or self.phrases.kind(at - 1) is Kind.OTHER:
                return []
            return self._checked(head, several=several, deep=deep - 1)
        if word in PREPOSITIONS and phrase.proper and self._starts(at) and at + 1 < phrase.start:
            return [phrase]  # `In old age Anna`
        if word == "both":
            return [phrase]
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
        if word in BREAKS or word in CLAUSE_STARTS or word in _SAYING:
            return True
        if word in FUNCTION_WORDS and FUNCTION_WORDS[word] == "INTJ":
            return True
        mark = MARKS.get(word, 0)
        return (
            word in ADVERBS or word.endswith("ly") or bool(mark & (Mark.TEMPORAL | Mark.SPAN | Mark.GREETING))
        )

    def _starts(self, at: int) -> bool:
        return at == 1 or self._words[at - 1] in BREAKS or self._words[at - 1] in CLAUSE_STARTS

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
        return self.phrases.kind(at) is Kind.VERB or word in IS or word in HAS

    def _antecedent(self, at: int) -> str | None:
        """Return the only person whom the text names before the pronoun at index `at`, or None."""
        people = self._earlier.people(self.phrases, at)
        return people[0] if len(people) == 1 else None

    def fits(self, end: Phrase | str, kind: str, *, is_subject: bool = False) -> bool:
        """Return True if an end is of the kind that a verb or noun needs."""
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
        return head in TEAMS or bool(MARKS.get(head, 0) & Mark.ORGANIZATION)

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


_CHECKS: Final[dict[str, Callable[[Clause, Phrase], bool]]] = {
    "group": lambda _, end: _is_definite(end),
    "maker": lambda reader, end: _is_definite(end) and reader.is_team(end),
    "band": lambda reader, end: _is_definite(end) and reader.is_team(end),
    "managed": lambda _, end: _is_definite(end),
    "name": lambda _, end: False,
    "exact": lambda reader, end: _is_definite(end) or reader.is_technical(end),
    "work": lambda reader, end: end.article == "the" or reader.is_technical(end),
}
"""For each kind of end, the check that an end which is not a name must pass."""


def is_negative(word: str) -> bool:
    """Return True if a word negates its clause."""
    return word in _NEGATIONS or word.endswith("n't")
