"""What a question asks about: the subjects that it lists, the kind of answer, and whose words it asks for.

Subjects are listed in "Anna, Boris and Clara"; the kind of answer is the city in "which city". A question
asks for somebody's words in "what did you recommend", "what did I tell you" and "what did Maria say". In the
history of an assistant, "you" is the assistant and "I" is the user. In any other conversation, no label of a
speaker matches these words.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from engine.base.characters import lazy
from engine.text.analyzer import analyze_query
from engine.text.language.question_model import Entity, Question

Labels = tuple[frozenset[str], ...]
"""Labels of speakers, each as a set of terms."""

_ASSISTANT: Final = ("assistant", "ai", "bot", "chatbot", "model", "chatgpt", "claude", "gemini", "copilot")
_USER: Final = ("user", "human")
_YOU: Final = frozenset({"you", "u", "your", *_ASSISTANT})
_I: Final = frozenset({"i", "my", *_USER})

_DO: Final = frozenset({"do", "does", "did", "didn't", "doesn't", "don't"})
_BEFORE_VERB: Final = frozenset(
    {"have", "has", "had", "just", "ever", "already", "also", "once", "last", "first", "then", "previously"}
)
"""Words that can stand between a speaker and a verb of saying."""

_REGULAR: Final = ("mention", "recommend", "suggest", "explain", "answer", "ask", "offer", "report", "warn")
_IN_E: Final = ("advise", "describe", "propose", "promise", "share", "provide")
_IRREGULAR: Final = {"say": "said", "tell": "told", "write": "wrote", "give": "gave"}

_BASE: Final = frozenset({*_REGULAR, *_IN_E, *_IRREGULAR})
_PAST: Final = frozenset(
    {*(f"{one}ed" for one in _REGULAR), *(f"{one}d" for one in _IN_E), *_IRREGULAR.values()}
    | {"given", "written"}
)
_PRESENT: Final = frozenset(f"{one}s" for one in _BASE)
_WORDS: Final = frozenset(
    {"advice", "answer", "recommendation", "suggestion", "reply", "response", "explanation", "opinion"}
    | {"answers", "recommendations", "suggestions", "replies", "responses", "explanations"}
)
"""Nouns for something that was said. "Your advice" is something that the assistant said."""

_CUES: Final = _BASE | _PAST | _PRESENT | _WORDS | {"according"}

_WORDS_READ: Final = 100
"""The number of words at the beginning of a question that are read."""

_WORD: Final = lazy(r"[^\W_]+(?:['.-][^\W_]+)*")


def labels_wanted(question: Question) -> Labels:
    """Return the labels of the speaker whose words the question asks for; () if it asks for nobody's words.

    The first speaker in the question counts. The speaker is the subject of a verb of saying, or stands after
    "by" or "according to", or is the owner of a word such as "advice". "You" and "I" stand for the usual
    labels of an assistant and its user.
    """
    if question.core == question.text and _CUES.isdisjoint([word.text.lower() for word in question.words]):
        return ()  # the common case, without reading the words again
    text = question.text.lower().replace("\u2019", "'")
    words = [word.group() for word in islice(_WORD.finditer(text), _WORDS_READ)]
    for at, word in enumerate(words):
        if word in _BASE or word in _PAST or word in _PRESENT:
            if word in _PAST and words[at + 1 : at + 2] == ["by"]:
                found = _from(words, at + 2, question.entities)
            else:
                found = _before(words, at, question.entities)
        elif word in _WORDS:
            found = _owner(words, at, question.entities)
        elif word == "according" and words[at + 1 : at + 2] == ["to"]:
            found = _from(words, at + 2, question.entities)
        else:
            continue
        if found:
            return found
    return ()


def _before(words: Sequence[str], verb: int, entities: Sequence[Entity]) -> Labels:
    """Return the labels of the subject that stands before a verb.

    A verb in its base form needs a form of "do" before the subject: "can you tell me" asks for nobody's
    words.
    """
    at = verb - 1
    while at >= 0 and words[at] in _BEFORE_VERB:
        at -= 1
    if at < 0:
        return ()
    labels, length = _speaker(words, at, entities)
    if words[verb] in _BASE:
        first = at - length
        first -= first >= 0 and words[first] == "the"
        if first < 0 or words[first] not in _DO:
            return ()
    return labels


def _from(words: Sequence[str], start: int, entities: Sequence[Entity]) -> Labels:
    """Return the labels of the speaker that begins at `start`."""
    start += words[start : start + 1] == ["the"]
    for at in range(len(words) - 1, start - 1, -1):
        labels, length = _speaker(words, at, entities)
        if length == at - start + 1:
            return labels
    return ()


def _owner(words: Sequence[str], at: int, entities: Sequence[Entity]) -> Labels:
    """Return the labels of the owner of a word: "your first advice", "Maria's advice"."""
    for before in range(at - 1, max(-1, at - 3), -1):
        if words[before] in {"your", "my"} or words[before].endswith("'s"):
            return _speaker(words, before, entities)[0]
    return ()


def _speaker(words: Sequence[str], end: int, entities: Sequence[Entity]) -> tuple[Labels, int]:
    """Return the labels of the speaker whose last word is at `end`, and the number of the speaker's words."""
    word = words[end].partition("'")[0]
    if word in _YOU:
        return tuple(frozenset(analyze_query(one)) for one in _ASSISTANT), 1
    if word in _I:
        return tuple(frozenset(analyze_query(one)) for one in _USER), 1
    for entity in entities:
        own = [one.group() for one in _WORD.finditer(entity.text.lower().replace("\u2019", "'"))]
        if own and [*words[end - len(own) + 1 : end], word] == own and end - len(own) + 1 >= 0:
            return (frozenset(entity.terms),), len(own)
    return (), 0


def is_by(label: str | None, wanted: Labels) -> bool:
    """Return True if a label names one of the wanted speakers.

    "Maria" and "Maria Lopez" name the same speaker: the words of one name are all in the other.
    """
    if label is None:
        return False
    terms = frozenset(analyze_query(label))
    return bool(terms) and any(terms <= one or one <= terms for one in wanted)


_BETWEEN: Final = lazy(
    r"(?:['\u2019]s?)?\s*(?:[,;/&+]|and\b|or\b|nor\b|vs\b\.?|versus\b|with\b)\s*(?:(?:and|or|nor)\b\s*)?"
    r"(?:(?:about|also|both|either|the|an?|my|our|your|his|her|their)\b\s*){0,3}"
)
"""The words between two subjects of a list."""


def listed(core: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """Return the entities that stand in the longest list of entities in the core of a question.

    Only commas, slashes and words such as "and" stand between the entities of a list. All of them are names,
    or none is. The result is empty if there is no list of at least two entities. Of lists of equal length,
    the first counts.
    """
    places = sorted((core.find(one.text), at) for at, one in enumerate(entities))
    best: list[int] = []
    run: list[int] = []
    end = -1
    for start, at in places:
        if start < 0:
            continue
        follows = bool(run) and entities[run[-1]].proper == entities[at].proper
        if follows and end <= start and _BETWEEN.fullmatch(core[end:start].lower()):
            run.append(at)
        else:
            run = [at]
        end = start + len(entities[at].text)
        best = run if len(run) > len(best) else best
    return tuple(entities[at] for at in best) if len(best) > 1 else ()


_ASKED: Final = lazy(r"\b(?:what|which|whose|how many|how much) (?:(?:kinds?|types?|sorts?) of )?$")
_ASKED_CHARS: Final = 24


def is_asked_for(core: str, entity: Entity) -> bool:
    """Return True if the entity is the kind of answer that is asked for, as in "which city"."""
    if entity.proper:
        return False
    start = core.find(entity.text)
    before = core[max(0, start - _ASKED_CHARS) : max(0, start)].lower()
    return _ASKED.search(before) is not None
