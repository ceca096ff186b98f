"""Statements found by patterns over the words of a sentence, without a trained model.

A trigger word is looked up: a verb, a noun such as `sister`, or `in`. The phrases beside it are the ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from engine.knowledge.dreaming.relations.clause import IS
from engine.knowledge.dreaming.relations.earlier import Earlier
from engine.knowledge.dreaming.relations.other_patterns import OtherPatterns
from engine.knowledge.dreaming.relations.parsed import ParseReader
from engine.knowledge.dreaming.relations.phrases import Known, Phrases
from engine.knowledge.dreaming.relations.predicates import ROLES, VERBS, Verb, forms_of_verb, singular
from engine.knowledge.dreaming.relations.role_patterns import RolePatterns
from engine.knowledge.dreaming.relations.sentences import Sentence, sentences_of
from engine.knowledge.dreaming.relations.statements import WRITER, Statement
from engine.knowledge.dreaming.relations.verb_patterns import VerbPatterns
from engine.knowledge.dreaming.relations.words import WORDS
from engine.text.language.categories.marked_text import MARKS, Mark
from engine.text.language.lexicon import GIVEN_NAMES

if TYPE_CHECKING:
    from spacy.tokens import Doc

_WORKS: Final = WORDS["works"]


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
_STATING: Final = frozenset(_BY_FORM) | _ROLE_FORMS | _SPECIAL
TRIGGERS: Final = _STATING - _PLACED - {"by"}
"""The words of which a text must contain at least one to state a relation, except where something is."""


class SentenceReader(VerbPatterns, RolePatterns, OtherPatterns):
    """The statements of one sentence."""

    def statements(self) -> Iterator[Statement]:
        """Yield what the sentence states."""
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


def is_likely(words: Sequence[str]) -> bool:
    """Return True if a text with these words in lower case can state a relation."""
    if not TRIGGERS.isdisjoint(words):
        return True
    place = not _PLACED.isdisjoint(words) and not IS.isdisjoint(words)
    return place or ("by" in words and not _WORKS.isdisjoint(words))
