"""One cycle: names are learned, then atoms looked at, as far as the budget goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pyroaring import BitMap

from engine.base.error_translation import translated
from engine.base.model import Receipt
from engine.base.validation import atom_id
from engine.commands.base import Command
from engine.knowledge.dreaming.commands import DREAMER, Connect, Enrich, Learn, wanted
from engine.knowledge.dreaming.config import RULES, DreamConfig
from engine.knowledge.dreaming.round import Phase, Round, begun, checked, cursor_batch, read_cursor, round_of
from engine.knowledge.dreaming.survey import Survey, spread
from engine.ledger.journal import read_log
from engine.query.duplicates import DuplicateGroup, duplicates
from engine.store.dry_run import dry_run_store
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from proofs.leaves import State

ORIGIN: Final = f"dreaming rules {RULES}"
"""What finds what the dreamer writes: the origin of its events."""

STEP: Final = 64
"""So many atoms are read and committed at a time; between two steps a cycle may end."""

DUPLICATES_MAX: Final = 20
"""So many groups of near-duplicates are listed."""


@dataclass(frozen=True, slots=True)
class DreamReport:
    """What one cycle did, or with `dry_run` would have done."""

    read: int
    """Atoms that names were learned from."""
    looked_at: int
    """Atoms that were looked at for what they are about."""
    tagged: int
    """Atoms that got a tag."""
    tags: int
    """Tags added, over all of them."""
    entities: tuple[str, ...]
    """The names of the entities added, in the order of their being learned."""
    known: int
    """Names that are known now, those of people included."""
    mentions: int
    """Edges `mentions` added."""
    relations: int
    """Edges `related_to` added between entities."""
    duplicates: tuple[DuplicateGroup, ...]
    """Groups of near-duplicates. They are listed only: who wants them merged says so."""
    left: int
    """Atoms that the next cycle has to look at; 0 when everything is done."""
    dry_run: bool

    @property
    def done(self) -> bool:
        """Whether nothing is left for another cycle."""
        return not self.left

    @property
    def changes(self) -> int:
        """Tags, entities and edges added."""
        return self.tags + len(self.entities) + self.mentions + self.relations


def dream(
    store: Store,
    *,
    budget: int | None = None,
    seconds: float | None = None,
    dry_run: bool = False,
    config: DreamConfig | None = None,
    stop: Callable[[], bool] = lambda: False,
    progress: Progress = no_progress,
) -> DreamReport:
    """Run one cycle over the store, from where the last one ended, as the actor `dreamer`.

    The bounds say where a cycle ends, never what it decides. Arguments as of `Engine.dream`.

    Raises:
        InvalidInputError: a bound is no number above 0.
        BusyError: other processes moved the head every time.
    """
    config = DreamConfig() if config is None else config
    checked(config, budget, seconds)
    with translated(), store.view(store.tags, store.index) as rows:
        digest, size = config.digest(), read_log(rows).size
        survey = Survey(rows, store.index.view(rows), config)
        before = read_cursor(rows, digest, size)
        due = round_of(rows, begun(before, size, survey), size, survey)
        with dry_run_store(store, when=dry_run) as target:
            cycle = _Cycle(survey, due, target, budget, seconds, stop, progress)
            cycle.run()
        if not dry_run and cycle.cursor != before:
            # A crash before this only costs the time of looking at the same atoms again.
            store.backend.write(cursor_batch(rows, cycle.cursor, digest), durable=False)
        return cycle.report(duplicates(rows, store.index, limit=DUPLICATES_MAX), dry_run=dry_run)


class _Cycle:
    def __init__(
        self,
        survey: Survey,
        due: Round,
        store: Store,
        budget: int | None,
        seconds: float | None,
        stop: Callable[[], bool],
        progress: Progress,
    ) -> None:
        self._survey, self._round, self._store, self._progress = survey, due, store, progress
        self._budget, self._stop = budget, stop
        self._until = None if seconds is None else time.monotonic() + seconds
        self.cursor = due.cursor
        self._rejected: set[tuple[str, ...]] = set()
        self._learned: list[str] = []
        self._read = self._looked_at = self._tagged = self._tags = self._mentions = self._relations = 0
        self._left = 0

    def run(self) -> None:
        """As much as is allowed."""
        if self.cursor.phase is Phase.LEARNING:
            self._learn()
        if self.cursor.phase is Phase.ENRICHING:
            self._enrich()

    def _steps(self, ordinals: Sequence[int]) -> Iterator[Sequence[int]]:
        """The ordinals a step at a time, as long as budget and time last; time only says where it ends."""
        at = 0
        while at < len(ordinals) and self._budget != 0:
            if (self._until is not None and time.monotonic() >= self._until) or self._stop():
                return
            part = ordinals[at : at + (STEP if self._budget is None else min(STEP, self._budget))]
            if self._budget is not None:
                self._budget -= len(part)
            at += len(part)
            yield part

    def _learn(self) -> None:
        ordinals = self._to_read()
        for part in self._steps(ordinals):
            commands = list(self._names_in(part))
            receipts = self._store.commit(commands, DREAMER, origin=ORIGIN)
            for command, receipt in zip(commands, receipts, strict=True):
                self._keep(command, receipt)
            self._read += len(part)
            self.cursor = self.cursor._replace(at=part[-1] + 1)
            self._progress(self._read, len(ordinals) + len(self._round.texts))
        if self._read == len(ordinals):
            self.cursor = self.cursor._replace(phase=Phase.ENRICHING, at=0)
        else:
            self._left = len(ordinals) - self._read + len(self._round.texts)

    def _to_read(self) -> list[int]:
        """The atoms of the round that names are learned from, and were not yet."""
        chosen = spread(self._round.texts & self._survey.internal, self._survey.config.sample)
        return [ordinal for ordinal in chosen if ordinal >= self.cursor.at]

    def _names_in(self, ordinals: Sequence[int]) -> Iterator[Learn]:
        survey, names = self._survey, self._round.names
        for text in survey.read(ordinals):
            for tokens in text.page.names(survey.config):
                if tokens.words in self._rejected or tokens.text in names:
                    continue
                self._rejected.add(tokens.words)
                if survey.is_name(tokens):
                    yield Learn(tokens.text)

    def _keep(self, command: Learn, receipt: Receipt) -> None:
        if receipt.state is not State.LIVE or command.name in self._round.names:
            return
        name = self._round.names.add(command.name, atom_id(receipt.subject))
        if name is not None:
            self._round.fresh.append(name)
            self._learned += [command.name] if receipt.changed else []

    def _enrich(self) -> None:
        waiting = self._waiting()
        ordinals = [ordinal for ordinal in waiting if ordinal >= self.cursor.at]
        for part in self._steps(ordinals):
            commands: list[Command] = []
            for text in self._survey.read(part):
                commands += wanted(self._survey, self._round.names, text)
            self._count(commands, self._store.commit(commands, DREAMER, origin=ORIGIN))
            self._looked_at += len(part)
            self.cursor = self.cursor._replace(at=part[-1] + 1)
            self._progress(self._read + self._looked_at, self._read + len(ordinals))
        self._left = len(ordinals) - self._looked_at
        if not self._left:
            self.cursor = self.cursor._replace(since=self.cursor.head, phase=Phase.DONE, at=0)

    def _waiting(self) -> BitMap:
        waiting: BitMap = self._round.texts.copy()
        for name in self._round.fresh:
            waiting |= self._survey.having(name.tokens.words)
        return waiting

    def _count(self, commands: Sequence[Command], receipts: Sequence[Receipt]) -> None:
        for command, receipt in zip(commands, receipts, strict=True):
            if isinstance(command, Enrich):
                tags, edges = command.added
                self._tagged += bool(tags)
                self._tags += tags
                self._mentions += edges
            elif isinstance(command, Connect):
                self._relations += receipt.changed

    def report(self, duplicates: Iterable[DuplicateGroup], *, dry_run: bool) -> DreamReport:
        """What was done."""
        return DreamReport(
            read=self._read,
            looked_at=self._looked_at,
            tagged=self._tagged,
            tags=self._tags,
            entities=tuple(self._learned),
            known=len(self._round.names),
            mentions=self._mentions,
            relations=self._relations,
            duplicates=tuple(duplicates),
            left=self._left,
            dry_run=dry_run,
        )
