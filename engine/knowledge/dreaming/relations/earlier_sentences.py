"""The sentences before a sentence: the people and the thing that a pronoun can mean."""

from __future__ import annotations

from typing import Final

from engine.knowledge.dreaming.relations.phrases import Kind, Known, Phrase, Phrases
from engine.knowledge.dreaming.relations.relation_sentences import Sentence
from engine.knowledge.dreaming.relations.relation_words import WORDS

_BE_AND_HAVE: Final = (WORDS["is"] | WORDS["has"]) - {"'s"}


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
    return phrases.kind(at) is Kind.VERB or phrases.words[at] in _BE_AND_HAVE
