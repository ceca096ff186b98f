"""Recognise texts that were moved from one file to another file.

While an ingest reads the files one by one, it collects the texts that a file lost and the texts that a file
gained. When it has read all files, it decides which recorded text a gained text continues:

1. an equal text that was removed from another file, or rewritten in that file;
2. the text in its own file with which it was aligned, if the two texts are very similar;
3. an equal text that was removed from a file earlier, so that an ingest hid its atom;
4. a very similar text that was removed from another file, or rewritten in that file;
5. the text in its own file with which it was aligned.

A recorded text counts as rewritten if it was aligned with a text that is not very similar to it. In each
step, the recorded texts are considered in the order of the files. The texts of files that no longer exist
count as lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from backends.base import Reader
from engine.commands.alignment import MOVED_MIN, WORDS_MIN
from engine.commands.atoms import Add
from engine.commands.continuing import continued
from engine.commands.file_texts import Known
from engine.commands.joined import Text, given_on
from engine.commands.new_ids import NewIds, Planned
from engine.commands.reconcile import GONE, RetireAtom
from engine.commands.renames import FormerSources
from engine.commands.sources import SourcePlan
from engine.commands.transaction import Command
from engine.commands.words import WordIndex, dice, words_of

HELD_CHARS_MAX: Final = 1 << 26
"""Gained texts are collected until they have more than this many characters. Later texts are settled file by
file."""


class _Gained(NamedTuple):
    """A text that a file gained."""

    add: Add
    own: Known | None
    ids: NewIds


class Moves:
    """The texts that files lost and gained in one ingest."""

    def __init__(self, actor: str, id_key: bytes, former: FormerSources) -> None:
        self._id_key = id_key
        self._actor = actor
        self._former = former
        self._gained: list[_Gained] = []
        self._left: list[Known] = []
        self._size = 0
        self._texts: list[Text] = []

    @property
    def is_full(self) -> bool:
        """True if no further gained texts can be collected."""
        return self._size > HELD_CHARS_MAX

    def collect(self, plan: SourcePlan) -> None:
        """Collect the open pieces of a plan, and the recorded texts that no piece of the plan continues."""
        self._gained += [_Gained(add, recorded, plan.ids) for _, add, recorded in plan.open]
        self._left += plan.left
        self._size += sum(len(add.content) for _, add, _ in plan.open)

    def settle(self, rows: Reader) -> Iterator[tuple[Planned, Sequence[Command]]]:
        """Yield the atom and the commands for each gained text, in the order in which they were collected.

        All commands of the collected plans must have been carried out, and `rows` must show their effect.
        """
        origins, self._texts = self._found(rows), []
        adds: dict[NewIds, list[Add]] = {}
        for gained, origin in zip(self._gained, origins, strict=True):
            if origin is None:
                adds.setdefault(gained.ids, []).append(gained.add)
        for ids, new in adds.items():
            ids.prepare(rows, new)
        for gained, origin in zip(self._gained, origins, strict=True):
            planned, commands = (
                gained.ids.planned(rows, gained.add)
                if origin is None
                else continued(rows, self._id_key, gained.add, origin, gained.ids)
            )
            self._texts.append(Text(gained.add.content, gained.add.source, planned.atom))
            yield planned, commands
        self._left = _without(chain(self._left, self._own()), origins)

    def _own(self) -> list[Known]:
        return [gained.own for gained in self._gained if gained.own is not None]

    def given_on(self, rows: Reader) -> Iterator[Command]:
        """Yield the commands that give on what people put on texts that are now parts of other texts.

        The commands of `settle` must have been carried out, and `rows` must show their effect.
        """
        gone = [one for one in self._left if one.is_own and one.is_live]
        return given_on(rows, self._actor, gone, self._texts)

    def retire(self) -> Iterator[Command]:
        """Yield commands that hide the atoms whose texts are no longer in a file that was read."""
        for one in sorted(self._left, key=lambda one: one.record.id):
            if one.is_own and one.is_live:
                yield RetireAtom(one.record.id, GONE)

    def _found(self, rows: Reader) -> list[Known | None]:
        """Return, for each gained text, the recorded text that it continues, or None."""
        if not self._gained:
            return []
        origins: list[Known | None] = [None] * len(self._gained)
        left, gone = _in_order(self._left), _in_order(self._former.rest(rows))
        recorded = [*left, *gone]
        present = [one for one in recorded if one.passage.is_present]
        # An atom that is hidden by hand keeps the source of its former file, so each ingest looks for it. It
        # comes before the atoms of files that no longer exist, so that each ingest finds it.
        hidden = [one for one in present if not one.is_live]
        self._find_equal([one for one in left if one.is_live and one.passage.is_present], origins)
        self._find_equal(hidden, origins)
        self._find_equal([one for one in gone if one.is_live and one.passage.is_present], origins)
        aligned = {at: gained.own for at, gained in enumerate(self._gained) if gained.own is not None}
        rewritten = {at: own for at, own in aligned.items() if self._is_rewritten(at, own)}
        self._find_equal(list(rewritten.values()), origins)
        _keep(origins, {at: own for at, own in aligned.items() if at not in rewritten})
        free = [one for one in aligned.values() if not one.is_lost]
        self._find_equal(_without(free, origins), origins)
        lost = [one for one in _without([*recorded, *aligned.values()], origins) if one.is_lost]
        self._find_equal(sorted(lost, key=lambda one: -one.record.last_seq), origins)
        self._find_similar(_without([*present, *free], origins), origins)
        _keep(origins, rewritten)
        return origins

    def _is_rewritten(self, at: int, own: Known) -> bool:
        """Return True if a gained text is not very similar to the text with which it was aligned."""
        content = self._gained[at].add.content
        return not own.has(content) and dice(words_of(own.passage.content), words_of(content)) < MOVED_MIN

    def _find_equal(self, texts: Sequence[Known], origins: list[Known | None]) -> None:
        """Let gained texts continue equal recorded texts. The recorded texts are used in the given order."""
        places: dict[str, deque[Known]] = {}
        for one in texts:
            for content in {one.passage.content, one.body.content}:
                places.setdefault(content, deque()).append(one)
        used: set[bytes] = set()
        for at, gained in enumerate(self._gained):
            waiting = places.get(gained.add.content)
            while origins[at] is None and waiting:
                one = waiting.popleft()
                if one.record.id not in used:
                    used.add(one.record.id)
                    origins[at] = one

    def _find_similar(self, texts: Sequence[Known], origins: list[Known | None]) -> None:
        """Let gained texts continue the most similar recorded texts. Short texts are not compared."""
        olds = [(one, words_of(one.passage.content)) for one in texts]
        olds = [(one, words) for one, words in olds if words.total() >= WORDS_MIN]
        if not olds:
            return
        index = WordIndex([words for _, words in olds], MOVED_MIN)
        rated: list[tuple[float, bool, int, int]] = []
        for at, gained in enumerate(self._gained):
            words = words_of(gained.add.content)
            if origins[at] is None and words.total() >= WORDS_MIN:
                rated += [(-score, not olds[old][0].is_live, at, old) for score, old in index.similar(words)]
        used: set[int] = set()
        for _, _, at, old in sorted(rated):
            if origins[at] is None and old not in used:
                used.add(old)
                origins[at] = olds[old][0]


def _keep(origins: list[Known | None], aligned: Mapping[int, Known]) -> None:
    """Let each gained text continue the text that it was aligned with, unless another text continues it."""
    used = {one.record.id for one in origins if one is not None}
    for at, recorded in aligned.items():
        if origins[at] is None and recorded.record.id not in used:
            origins[at] = recorded


def _in_order(texts: Iterable[Known]) -> list[Known]:
    """Return the texts in the order of their files."""
    return sorted(texts, key=lambda one: (one.record.source or "", one.record.sequence or 0, one.record.id))


def _without(texts: Iterable[Known], taken: Iterable[Known | None]) -> list[Known]:
    """Return the recorded texts that no gained text continues."""
    continued_ids = {one.record.id for one in taken if one is not None}
    return [one for one in texts if one.record.id not in continued_ids]
