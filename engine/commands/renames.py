"""Recognise files that were renamed or moved to another folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from backends.base import Reader
from engine.commands.atoms import Add
from engine.commands.file_texts import Known, atoms_of, texts_of
from engine.commands.words import WordIndex, words_of

SAME_FILE_MIN: Final = 0.5
"""A new file counts as a renamed file if at least this share of the longer file's texts is in both files."""
SAME_WORDS_MIN: Final = 0.6
"""The minimum share of equal words for a new file to count as a missing file that was renamed and edited.
Only one missing file may reach this share."""


class FormerSources:
    """The sources of files that no longer exist.

    A renamed or moved file continues the atoms of one source.
    """

    def __init__(self, actor: str, sources: Iterable[str] = ()) -> None:
        self._actor = actor
        self._sources = set(sources)
        self._known: dict[str, list[Known]] | None = None
        self._texts: dict[str, Counter[str]] = {}
        self._places: dict[str, list[str]] = {}
        self._words: tuple[list[str], WordIndex] | None = None

    def __bool__(self) -> bool:
        return bool(self._sources)

    def take(self, rows: Reader, wanted: Sequence[Add]) -> str | None:
        """Return the former source of the file that contains the wanted texts, or None.

        Each source is returned only once.
        """
        if not self._sources or not wanted:
            return None
        former = self._read(rows)
        best = self._with_equal_texts(wanted) or self._with_equal_words(wanted)
        if best is not None:
            del former[best]
        return best

    def rest(self, rows: Reader) -> list[Known]:
        """Return the texts of the sources that `take` has not returned, sorted by source and position."""
        return [one for source, texts in sorted(self._read(rows).items()) for one in texts]

    def _with_equal_texts(self, wanted: Sequence[Add]) -> str | None:
        texts = Counter(add.content for add in wanted)
        shared: Counter[str] = Counter()
        for content, number in texts.items():
            for source in self._places.get(content, ()):
                shared[source] += min(number, self._texts[source][content])
        shares = {
            source: number / max(texts.total(), self._texts[source].total())
            for source, number in shared.items()
            if self._is_free(source)
        }
        best = max(sorted(shares), key=shares.__getitem__, default=None)
        return None if best is None or shares[best] < SAME_FILE_MIN else best

    def _with_equal_words(self, wanted: Sequence[Add]) -> str | None:
        if self._words is None:
            sources = sorted(self._texts)
            counted = [words_of(*self._texts[source].elements()) for source in sources]
            self._words = sources, WordIndex(counted, SAME_WORDS_MIN)
        sources, index = self._words
        similar = [sources[at] for _, at in index.similar(words_of(*(add.content for add in wanted)))]
        free = list(filter(self._is_free, similar))
        return free[0] if len(free) == 1 else None

    def _is_free(self, source: str) -> bool:
        return self._known is not None and source in self._known

    def _read(self, rows: Reader) -> dict[str, list[Known]]:
        if self._known is None:
            self._known = {}
            for source in sorted(self._sources):
                self._known[source] = texts_of(rows, self._actor, atoms_of(rows, source).values())
                present = [one.passage for one in self._known[source] if one.passage.is_present]
                self._texts[source] = Counter(passage.content for passage in present)
                for content in self._texts[source]:
                    self._places.setdefault(content, []).append(source)
        return self._known
