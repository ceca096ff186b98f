"""One cycle of the dreamer, and cycles in idle time.

A cycle learns names, then adds tags and edges to atoms, within a budget. `watch` runs a cycle whenever the
store has been idle for some time. The store is open only during a check and a cycle. At all other times,
other processes can use the store, even if the backend allows only one process at a time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from pyroaring import BitMap

from engine.base.errors import BusyError, InvalidInputError, translated
from engine.base.model import Receipt
from engine.base.process import at_end, rare_collection, without_collection
from engine.base.validation import PROVENANCES, atom_id
from engine.commands.transaction import Command
from engine.index.copies.duplicates import DuplicateGroup, duplicates
from engine.knowledge.dreaming.choice import Choice
from engine.knowledge.dreaming.dream_commands import DREAMER, AddRelation, Enrich, Learn
from engine.knowledge.dreaming.dream_config import RULES, DreamConfig
from engine.knowledge.dreaming.name_evidence import Judge
from engine.knowledge.dreaming.name_uses import Names
from engine.knowledge.dreaming.pipeline import Pipeline, Recognizer, find_pipeline
from engine.knowledge.dreaming.round import (
    Phase,
    Round,
    begin_round,
    check_bounds,
    cursor_batch,
    read_cursor,
    round_of,
)
from engine.knowledge.dreaming.survey import Survey, spread
from engine.knowledge.dreaming.tokenized_text import Tokens
from engine.ledger.entities import ENTITY
from engine.ledger.journal import read_log
from engine.ledger.queries import body_of
from engine.ledger.records import read_atom
from engine.store.dry_run import dry_run_store
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from proofs.leaves import State

PIPELINE: Final = f"dreaming rules {RULES}"
"""What the dreamer records as the pipeline of its events: the version of the rules."""

STEP: Final = 512
"""The number of atoms in one step. A step reads the atoms and commits their changes; a cycle may end between
two steps."""

COMMON_MAX: Final = 10
"""The largest number of tags that the report of a cycle lists."""
DUPLICATES_MAX: Final = 20
"""The largest number of groups of near-duplicates in the report of a cycle."""


QUIET_SECONDS: Final = 30.0
"""The time in seconds without new events after which a store is idle."""


WAKE_SECONDS: Final = 0.05
"""The largest time in seconds for which a waiting thread does not look whether it has to stop."""


CYCLE_ATOMS: Final = 1000
"""The largest number of atoms in a cycle. A cycle reads about 1,500 atoms per second, so another process
waits less than a second for the cycle to end."""


@dataclass(frozen=True, slots=True)
class DreamReport:
    """The result of one cycle. With `dry_run`, it is the result that the cycle would have."""

    read: int
    """The number of atoms that were read to learn names."""
    looked_at: int
    """The number of atoms that were read to tag and connect them."""
    tagged: int
    """The number of atoms to which at least one tag was added."""
    tags: int
    """The total number of tags added."""
    common: tuple[str, ...]
    """The tags that were added to the most atoms, at most 10, the most common first."""
    entities: tuple[str, ...]
    """The names of the entities added, in the order in which they were learned."""
    known: int
    """The number of names that are known now, including names that people added."""
    mentions: int
    """The number of edges `mentions` added."""
    relations: int
    """The number of edges that were added between entities: `related_to`, and the relations that texts
    state."""
    duplicates: tuple[DuplicateGroup, ...]
    """The groups of atoms that are near-duplicates. The dreamer lists these groups and does not merge the
    atoms."""
    left: int
    """The number of atoms that the next cycle still has to read; 0 if all work is done."""
    dry_run: bool
    pipeline: str | None = None
    """The package and version of the spaCy pipeline that read sentences, or None if none was read."""

    @property
    def done(self) -> bool:
        """True if no atoms are left for the next cycle to read."""
        return not self.left

    @property
    def changes(self) -> int:
        """The number of tags, entities and edges added."""
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
    """Run one cycle over the store as the actor `dreamer`. The cycle continues where the last cycle ended.

    `budget` and `seconds` only determine when the cycle ends. They do not influence its decisions. The
    arguments are those of `Engine.dream`.

    Raises:
        InvalidInputError: `budget` or `seconds` is not a number above 0.
        BusyError: other processes kept appending events.
    """
    config = DreamConfig() if config is None else config
    check_bounds(config, budget, seconds)
    with translated(), store.view(store.tags, store.index) as rows:
        pipeline = find_pipeline(config.pipeline)
        digest, size = config.digest(pipeline and pipeline.label), read_log(rows).size
        survey = Survey(rows, store.index.view(rows), config)
        before = read_cursor(rows, digest, size)
        due = round_of(rows, begin_round(before, size, survey), size, survey)
        with dry_run_store(store, when=dry_run) as target:
            cycle = _Cycle(survey, due, target, pipeline, budget, seconds, stop, progress)
            with rare_collection():
                cycle.run()
        if not dry_run and cycle.cursor != before:
            # After a crash before this write, the same atoms are read again. Reading them again adds nothing.
            store.backend.write(cursor_batch(rows, cycle.cursor, digest), durable=False)
        return cycle.report(duplicates(rows, store.index, limit=DUPLICATES_MAX), dry_run=dry_run)


class _Cycle:
    """A cycle in progress, with the counts for its report."""

    def __init__(
        self,
        survey: Survey,
        due: Round,
        store: Store,
        pipeline: Pipeline | None,
        budget: int | None,
        seconds: float | None,
        stop: Callable[[], bool],
        progress: Progress,
    ) -> None:
        self._survey, self._round, self._store, self._progress = survey, due, store, progress
        self._recognizer = None if pipeline is None else Recognizer(pipeline)
        self._budget, self._stop = budget, stop
        self._until = None if seconds is None else time.monotonic() + seconds
        self.cursor = due.cursor
        self._judge = Judge(survey, self._recognizer)
        self._judged: set[tuple[str, ...]] = set()
        """The surfaces of the words that were judged."""
        self._learned: list[str] = []
        self._tags = Counter[str]()
        self._read = self._looked_at = self._tagged = self._mentions = self._relations = 0
        self._left = 0

    def run(self) -> None:
        """Learn names, then add tags and edges to atoms, until the round ends or the budget is used up."""
        if self.cursor.phase is Phase.LEARNING:
            self._learn()
        if self.cursor.phase is Phase.ENRICHING:
            self._enrich()

    def _steps(self, ordinals: Sequence[int]) -> Iterator[Sequence[int]]:
        """Yield the ordinals of each step, until the budget or the time is used up or `stop` is set."""
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
            with without_collection():
                for pipeline, some in groupby(list(self._names_in(part)), self._pipeline):
                    for receipt in self._store.commit(list(some), DREAMER, pipeline=pipeline):
                        self._add_name(receipt)
            self._read += len(part)
            self.cursor = self.cursor._replace(at=part[-1] + 1)
            self._progress(self._read, len(ordinals) + len(self._round.texts))
        if self._read == len(ordinals):
            self.cursor = self.cursor._replace(phase=Phase.ENRICHING, at=0)
        else:
            self._left = len(ordinals) - self._read + len(self._round.texts)

    def _to_read(self) -> list[int]:
        """Return the ordinals of the round's atoms from which names have not been learned yet."""
        sample = spread(self._round.texts & self._survey.internal, self._survey.config.sample)
        return [ordinal for ordinal in sample if ordinal >= self.cursor.at]

    def _names_in(self, ordinals: Sequence[int]) -> Iterator[Learn]:
        survey, names, judge = self._survey, self._round.names, self._judge
        new: dict[tuple[str, ...], Tokens] = {}
        for text in survey.read(ordinals):
            for tokens in text.tokenized.names(survey.config):
                if tokens.surfaces not in self._judged and tokens.text not in names:
                    new.setdefault(tokens.surfaces, tokens)
        self._judged.update(new)
        survey.expect(word for tokens in new.values() for word in tokens.words)
        claimed = Names()
        for tokens, judged in zip(new.values(), judge.judged(list(new.values())), strict=True):
            if judged is not None and tokens.text not in claimed:
                # The id does not matter: the names are only compared.
                claimed.add(judged.name.text, b"%d" % len(claimed), judged.aliases)
                yield Learn(judged.name.text, judged.aliases, judged.by_pipeline)

    def _add_name(self, receipt: Receipt) -> None:
        """Add a learned name to the known names, unless its entity is hidden."""
        entity = atom_id(receipt.subject)
        record = read_atom(self._store.backend, entity) if receipt.state is State.LIVE else None
        if record is None or record.kind != ENTITY:
            return
        body, names = body_of(self._store.backend, record), self._round.names
        before = names.get(entity)
        aliases = body.aliases if record.provenance == PROVENANCES[0] else None
        name = names.add(body.content, entity, aliases or ())
        if name is not None and name != before:
            self._round.fresh.append(name)
            self._learned += [name.text] if before is None and receipt.changed else []

    def _enrich(self) -> None:
        pending, choice = self._pending(), Choice(self._survey, self._round.names, self._judge)
        ordinals = [ordinal for ordinal in pending if ordinal >= self.cursor.at]
        for part in self._steps(ordinals):
            with without_collection():
                texts = self._survey.read(part)
                commands = choice.commands_for(texts)
                for pipeline, some in groupby(commands, self._pipeline):
                    same = list(some)
                    self._store.commit(same, DREAMER, pipeline=pipeline)
                    self._count(same)
            self._looked_at += len(part)
            self.cursor = self.cursor._replace(at=part[-1] + 1)
            self._progress(self._read + self._looked_at, self._read + len(ordinals))
        self._left = len(ordinals) - self._looked_at
        if not self._left:
            self.cursor = self.cursor._replace(since=self.cursor.head, phase=Phase.DONE, at=0)

    def _pipeline(self, command: Command) -> str:
        """Return what made a command's events: the rules, and the spaCy pipeline if it alone caused them."""
        by_pipeline = isinstance(command, Learn) and command.by_pipeline
        if self._recognizer is None or not by_pipeline:
            return PIPELINE
        return f"{PIPELINE}; {self._recognizer.pipeline.label}"

    def _pending(self) -> BitMap:
        pending: BitMap = self._round.texts.copy()
        for name in self._round.fresh:
            pending |= self._survey.named(name)
        return pending

    def _count(self, commands: Sequence[Command]) -> None:
        for command in commands:
            if isinstance(command, Enrich):
                tags, edges = command.added
                self._tagged += bool(tags)
                self._tags.update(tags)
                self._mentions += edges
            elif isinstance(command, AddRelation):
                self._relations += command.added

    def report(self, duplicates: Iterable[DuplicateGroup], *, dry_run: bool) -> DreamReport:
        """Return the report of this cycle."""
        return DreamReport(
            read=self._read,
            looked_at=self._looked_at,
            tagged=self._tagged,
            tags=self._tags.total(),
            common=tuple(sorted(self._tags, key=lambda tag: (-self._tags[tag], tag))[:COMMON_MAX]),
            entities=tuple(self._learned),
            known=len(self._round.names),
            mentions=self._mentions,
            relations=self._relations,
            duplicates=tuple(duplicates),
            left=self._left,
            dry_run=dry_run,
            pipeline=None if self._recognizer is None else self._recognizer.used,
        )


class StopSignal:
    """An event that a signal handler may set.

    A handler must not set a `threading.Event`, because the handler runs in the waiting thread, and this
    thread may hold the event's lock.
    """

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        """Set the signal. Setting it again has no effect."""
        self._is_set = True

    def is_set(self) -> bool:
        """Return True if the signal has been set."""
        return self._is_set

    def wait(self, seconds: float) -> None:
        """Wait until the signal is set, but at most `seconds` seconds."""
        until = time.monotonic() + seconds
        while not self._is_set and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, WAKE_SECONDS))


def watch(
    opened: Callable[[], AbstractContextManager[Store]],
    on_report: Callable[[DreamReport], None],
    *,
    stop: StopSignal,
    quiet: float = QUIET_SECONDS,
    budget: int | None = CYCLE_ATOMS,
    seconds: float | None = None,
    config: DreamConfig | None = None,
) -> None:
    """Run cycles while the store is idle, until `stop` is set.

    The store that `opened` returns is closed before each wait. `on_report` is called after each cycle that
    read at least one atom. When `stop` is set, the current cycle ends before its next step. A store is idle
    if, for `quiet` seconds, no event was added and no other process used the store. The other arguments are
    passed to `dream` for each cycle.

    Raises:
        InvalidInputError: `quiet`, `budget` or `seconds` is not a number above 0.
    """
    if isinstance(quiet, bool) or not isinstance(quiet, int | float) or not quiet > 0:
        raise InvalidInputError(f"quiet must be a number of seconds above 0, not {quiet!r}")
    seen = -1
    while not stop.is_set():
        try:
            with opened() as store, translated():
                if read_log(store.backend).size == seen:
                    report = dream(store, budget=budget, seconds=seconds, config=config, stop=stop.is_set)
                    if report.read or report.looked_at:
                        on_report(report)
                seen = read_log(store.backend).size
        except BusyError:
            seen = -1
        stop.wait(quiet)


@contextmanager
def until_signalled() -> Iterator[StopSignal]:
    """Yield a flag that is set by SIGINT and SIGTERM.

    Within the context, these signals do not end the process.
    """
    stop = StopSignal()
    with at_end(stop.set):
        yield stop
