"""The answer of an exploration: the sentences of the read texts that answer the question, or nothing.

texts ──▶ share of the question in each text ──▶ enough? ──▶ sentences, the best first ──▶ quotes
                                                   └─ no ──▶ nothing

The *weight* of a term of the question is its inverse document frequency (idf), halved if the term is not
a noun, a name, a number or a time. The share of the question in a text is the weight of the terms that the
text, its title or its speaker's label contains, divided by the weight of the SUBJECT_TERMS heaviest terms of
the question. A word that the memory never mentions is in no text and has the highest idf, so a question
about such a thing has a low share in every text, although the texts contain its other words. One of two words
of a name counts half, because another `Jones` is not `Anna Jones`.

In a conversation, a text that says "I" is about its speaker. So if the question names a speaker, a text in
which another speaker says "I" counts a third. A text of another speaker that does not mention the name does
not count.

Nothing is generated: a quote is a sentence of a text. Words are compared by their terms, as in recall, and
not by their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from engine.query.explore.explore_answers import unmarked
from engine.query.prompt_text import (
    ID_DIGITS,
    INTERNAL,
    body,
    body_within,
    day_line,
    heading,
    on_one_line,
    tokens_of,
)
from engine.query.written_days import note_of
from engine.text.analyzer import STOP_WORDS, index_terms
from engine.text.language.question_model import Question
from engine.text.language.snippets import Snippets, one_by_one
from engine.text.language.tokenizer import sentences_of
from engine.text.speaker_labels import label_of

ANSWER: Final = "answer "
"""The mark of quotes that stand beside other texts."""

QUOTES_MAX: Final = 3

LITTLE: Final = 0.25
"""The factor for a sentence that has no word of the question, or only repeats words of the question and of
the title, or is a list of links."""

QUOTE_CHARS: Final = 300
"""A longer sentence is cut to the part around the words of the question."""

SUBJECT_TERMS: Final = 5
"""The number of the question's heaviest terms whose weight counts as the weight of the question. A long
description of a need has more terms, and no text has to contain them all.
"""

ENOUGH: Final = 0.4
"""The smallest share of the question in a text that answers it."""

TITLE: Final = 0.5
ELSEWHERE: Final = 0.25
"""For a term that is not in a sentence, the share of its weight that counts for the sentence: if the title or
the speaker's label contains the term, and if the rest of the text contains it."""

NEAR_BEST: Final = 0.5
"""A sentence is quoted if its score is at least this share of the best sentence's score."""

OTHER_SPEAKER: Final = 1 / 3
"""The factor for a text in which another speaker than the one in question says "I". The factor is below
ENOUGH, so such a text alone is never an answer."""

_LINKS: Final = re.compile(r"\[\[[^\]]*\]\]|\]\([^)]*\)|[a-z]+://\S+|#[\w/-]+")

_FIRST_PERSON: Final = re.compile(r"\b(?:i|we|my|our|mine|ours|myself)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text that an exploration has read."""

    id: str
    """The whole id of the atom."""
    title: str | None
    heading: str | None
    """The titles of the page and of the atom, as far as there are any. Their words count as in recall."""
    source: str | None
    sequence: int | None
    content: str
    share: float
    """The score of the atom in recall, divided by the best score: above 0 and at most 1."""
    asked: bool
    """True if the question asks for the text's page by its name."""
    created: int
    digits: int = ID_DIGITS
    provenance: str = INTERNAL
    day: date | None = None
    """The day on which the text was written; None if it is unknown."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that answers a question, and the atom that contains it."""

    text: str
    """The sentence on one line. A sentence of more than QUOTE_CHARS characters is cut, which `…` shows."""
    id: str
    """The whole id of the atom."""
    title: str | None
    """The title of the atom. If there is none, the speaker of the text, if the text begins with a label."""
    source: str | None
    sequence: int | None
    created: int
    """The time of the atom in µs since 1970 (UTC)."""
    digits: int = ID_DIGITS
    """The number of shown digits of the id."""
    provenance: str = INTERNAL
    when: str = ""
    """The day on which the text was written, if it is known, and the times in the sentence that depend on it:
    `2023-05-08; yesterday, i.e. 2023-05-07`."""

    def __str__(self) -> str:
        """Return a heading, which content cannot imitate, and the sentence on an indented line."""
        return self.marked("")

    def marked(self, mark: str) -> str:
        """Return `str(self)` with `mark` at the beginning of the heading, before the id."""
        name = mark + self.id.replace("-", "")[: self.digits]
        head = heading(
            *(self.title, self.source, self.sequence, self.sequence, name),
            digits=len(name),
            provenance=self.provenance,
            when=self.when,
        )
        return unmarked(f"{head}{body(self.text)}\n")

    @property
    def tokens(self) -> int:
        """The cost of the quote with the mark `ANSWER`."""
        return tokens_of(self.marked(ANSWER))

    def within(self, tokens: int) -> Quote:
        """Return the quote, or a shorter quote if its cost exceeds `tokens`.

        If no word fits, the text is empty; the quote then costs as much as its id.
        """
        if self.tokens <= tokens:
            return self
        bare = replace(self, title=None, source=None, text="", when="")
        return replace(bare, text=body_within(self.text, max(tokens - bare.tokens, 0)).strip())


def text_of_quotes(quotes: Sequence[Quote], mark: str = "") -> str:
    """Return the quotes as lines of a prompt, each atom's quotes under one heading with the mark."""
    shown = []
    for at, quote in enumerate(quotes):
        if at > 0 and quotes[at - 1].id == quote.id:
            day = "" if quote.when == quotes[at - 1].when else day_line(quote.when)
            shown.append(unmarked(f"{day}{body(quote.text)}\n").removeprefix("\n"))
        else:
            shown.append(quote.marked(mark))
    return "".join(shown)


def weighted(question: Question, idf: Mapping[str, float]) -> dict[str, float]:
    """Return the weight of each term of a question."""
    subjects = frozenset(question.nouns)
    return {term: value if term in subjects else value / 2 for term, value in idf.items()}


def quotes_of(
    weights: Mapping[str, float], names: Sequence[Sequence[str]], texts: Sequence[ReadText]
) -> tuple[Quote, ...]:
    """Return at most QUOTES_MAX sentences that answer a question, or () if none does.

    The sentences of an atom are in the order of its text, and the atom with the best sentence comes first.

    Args:
        weights: The weight of each term of the question (`weighted`).
        names: The terms of each name in the question.
        texts: The texts that were read, the best first.
    """
    whole = one_by_one(sorted(weights.values(), reverse=True)[:SUBJECT_TERMS])
    if whole <= 0:
        return ()
    read = [_Read(text, weights, names) for text in texts]
    asked = frozenset[str]().union(*(one.speaker for one in read)) & weights.keys()
    shares = [one.factor(asked) * one.share() / whole for one in read]
    if max(shares, default=0.0) < ENOUGH and not any(text.asked for text in texts):
        return ()
    quotes = [
        (one.factor(asked) * one.text.share * score, one, at, sentence)
        for one in read
        for at, (score, sentence) in enumerate(one.sentences())
    ]
    quotes.sort(
        key=lambda each: -each[0]
    )  # the sort is stable: equal sentences stay in the order of the texts
    least = NEAR_BEST * quotes[0][0] if quotes else 0.0
    best = [each[1:] for each in quotes if each[0] >= least and each[0] > 0][:QUOTES_MAX]
    order = list(dict.fromkeys(one for one, _, _ in best))
    best.sort(key=lambda each: (order.index(each[0]), each[1]))
    return tuple(one.quote(sentence) for one, _, sentence in best)


def _says_something(sentence: str) -> bool:
    """Return True if a sentence has at least two words outside of links, tags and addresses."""
    return len(index_terms(_LINKS.sub(" ", sentence))) > 1


class _Read:
    """A text with the terms of its parts."""

    def __init__(self, text: ReadText, weights: Mapping[str, float], names: Sequence[Sequence[str]]) -> None:
        self.text = text
        self.weights = weights
        self.names = names
        label = label_of(text.content) if text.heading is None else None
        self.label = label
        # The label ends with a colon, perhaps between asterisks.
        self.said = (
            text.content if label is None else re.split("[:\uff1a]", text.content, maxsplit=1)[1].lstrip("* ")
        )
        self.speaker = frozenset(index_terms(label or "")) - STOP_WORDS
        self.head = self.speaker | frozenset(index_terms(text.heading or ""))
        self.body = frozenset(index_terms(self.said))
        self.terms = self.head | self.body
        # The text is about the question as a whole, so its first sentences answer best.
        self.is_subject = text.asked or weights.keys() <= self.head

    def share(self) -> float:
        """Return the weight of the terms in the text; a part of a name counts less than its share."""
        there = one_by_one(value for term, value in self.weights.items() if term in self.terms)
        for name in self.names:
            terms = [term for term in name if term in self.terms]
            if len(terms) < len(name):
                there -= one_by_one(self.weights[term] for term in terms) * (1 - len(terms) / len(name))
        return there

    def factor(self, asked: frozenset[str]) -> float:
        """Return the factor for what the text says about the speakers that the question names."""
        if not self.speaker or not asked or self.speaker & asked:
            return 1.0
        if not asked & self.body:
            return 0.0
        return OTHER_SPEAKER if _FIRST_PERSON.search(self.said) else 1.0

    def sentences(self) -> Iterator[tuple[float, str]]:
        """Yield each sentence that can answer, with its score."""
        for sentence in sentences_of(self.said):
            terms = frozenset(index_terms(sentence))
            # A sentence without a word of the question, or with no others, says little about the question.
            repeats = terms - STOP_WORDS <= self.weights.keys() | self.head
            strays = not self.is_subject and terms.isdisjoint(self.weights)
            factor = LITTLE if repeats or strays or not _says_something(sentence) else 1.0
            score = one_by_one(value * self._part(term, terms) for term, value in self.weights.items())
            yield factor * score, sentence

    def _part(self, term: str, terms: frozenset[str]) -> float:
        if term in terms or self.is_subject:
            return 1.0
        if term in self.head:
            return TITLE
        return ELSEWHERE if term in self.body else 0.0

    def quote(self, sentence: str) -> Quote:
        text, shown = self.text, on_one_line(sentence)
        if len(shown) > QUOTE_CHARS:
            shown = Snippets(self.weights, QUOTE_CHARS).around(shown)
        title = self.label if text.title is None else text.title
        return Quote(
            *(shown, text.id, title, text.source, text.sequence, text.created),
            digits=text.digits,
            provenance=text.provenance,
            when=note_of(text.day, shown, asked=True),
        )
