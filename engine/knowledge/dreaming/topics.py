"""The key phrases and key words that connect texts without names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from math import log
from typing import Final

from pyroaring import BitMap

from engine.knowledge.dreaming.survey import ReadAtom, Survey, cached

EVIDENCE: Final = 16
"""To find two texts for which a topic is chosen, at most this many texts are read."""
_DIGITS: Final = 3
"""The cohesion is rounded to this many decimal digits, so that it is the same on every machine."""

Topic = tuple[str, ...]
"""Two words in lower case that are adjacent in a text, or one word in lower case."""


class Topics:
    """Chooses topics for the internal texts of a survey."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._chosen: dict[int, tuple[Topic, ...]] = {}
        self._shared: dict[Topic, bool] = {}
        self._ranks: dict[Topic, tuple[float, ...] | None] = {}

    def shared(self, text: ReadAtom, most: Callable[[ReadAtom], int]) -> Iterator[Topic]:
        """Yield the topics that are chosen for an internal text and for at least one other text.

        `most` returns how many topics a text may have. Without the check, many topics would become the tag
        of only one text, because other topics are chosen for the other texts with its words.
        """
        for topic in self._of(text.record.ordinal, text, most):
            if cached(self._shared, topic, partial(self._is_shared, topic, most)):
                yield topic

    def _is_shared(self, topic: Topic, most: Callable[[ReadAtom], int]) -> bool:
        """Return True if a topic is chosen for two of the first texts with its words.

        The same texts are read for every text with the topic, so that these two texts get it as well.
        """
        first = islice(self._common(topic), EVIDENCE)
        chosen = (one for one in first if topic in self._of(one, None, most))
        return sum(1 for _ in islice(chosen, 2)) == 2

    def _of(self, ordinal: int, text: ReadAtom | None, most: Callable[[ReadAtom], int]) -> tuple[Topic, ...]:
        """Return the topics of a text, which is read only if they are not known."""

        def made() -> tuple[Topic, ...]:
            read = self._survey.read([ordinal])[0] if text is None else text
            count = most(read)
            return tuple(islice(self._ranked(read), count)) if count > 0 else ()

        return cached(self._chosen, ordinal, made)

    def _ranked(self, text: ReadAtom) -> Iterator[Topic]:
        """Yield the topics of a text: first phrases, the most cohesive first, then words."""
        for topics in (text.tokenized.phrases(), [(word,) for word in text.tokenized.keywords()]):
            ranked = []
            for topic in topics:
                rank = cached(self._ranks, topic, partial(self._rank, topic))
                if rank is not None:
                    ranked.append((rank, topic))
            yield from (topic for _, topic in sorted(ranked))

    def _common(self, topic: Topic) -> BitMap:
        found = self._survey.among(topic[0])
        return found if len(topic) == 1 else found & self._survey.among(topic[1])

    def _rank(self, topic: Topic) -> tuple[float, ...] | None:
        """Return the rank of a topic, the lowest for the best, or None if the topic is not suitable."""
        survey = self._survey
        config, texts = survey.config, len(survey.internal)
        first, *others = map(survey.among, topic)
        shared = first.intersection_cardinality(others[0]) if others else len(first)
        if not config.atoms_min <= shared <= max(config.phrase_min, int(config.phrase_share * texts)):
            return None
        if not others:
            return None if topic[0] in config.stop else (-shared,)
        cohesion = round(_cohesion(shared, len(first), len(others[0]), texts), _DIGITS)
        return (-cohesion, -shared) if cohesion >= config.cohesion_min else None


def _cohesion(both: int, one: int, other: int, texts: int) -> float:
    """Return the normalised pointwise mutual information of two words: 0 by chance, 1 if never apart.

    The arguments are the numbers of texts with both words, with each word, and of all texts. Source: Bouma,
    Normalized (Pointwise) Mutual Information in Collocation Extraction, 2009.
    """
    return 1.0 if both == texts else log(both * texts / (one * other)) / log(texts / both)
