"""Importing in any of the formats: items in, atoms and edges out, nothing at all where nothing changed.

Killed anywhere, it is continued by running it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from engine.base import limits
from engine.base import validation as border
from engine.base.error_translation import translated
from engine.base.errors import RefusedError
from engine.commands import Command
from engine.commands.destroyed import ERASED, is_destroyed
from engine.followers.tags import members
from engine.ledger.queries import record_at
from engine.transfer.adapters import reader
from engine.transfer.adapters.base import Item, Left, cut
from engine.transfer.adapters.holding import ACTOR, EndAtom, HoldRelation, Settings, commands_of, id_of
from engine.transfer.ingest.documents import Skipped
from engine.transfer.ingest.links import caseless
from engine.transfer.ingest.rehearse import Rehearsal
from proofs.events import EventKind
from proofs.sets import Group

if TYPE_CHECKING:
    from engine.base.model import Receipt
    from engine.engine import Engine

Progress = Callable[[int, int], None]
"""Told (items done, 0: how many there are is not known)."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What an import did, or would do: atoms, unless something else is said."""

    items: int
    """Read."""
    added: int
    revised: int
    revived: int
    tombstoned: int
    linked: int
    unlinked: int
    """Edges, those to the origin included."""
    unresolved: int
    """Relations to what is not in the file."""
    left: tuple[tuple[str, int], ...]
    """What is in the file and was not kept, by name, with how often."""
    skipped: tuple[Skipped, ...]
    """Items that did not go in."""
    warnings: tuple[Skipped, ...]
    """Items that went in, but not whole."""

    @property
    def changed(self) -> bool:
        """Whether anything was, or would be, appended."""
        return any((self.added, self.revised, self.revived, self.tombstoned, self.linked, self.unlinked))


def _no_progress(done: int, total: int) -> None:
    """Shows nothing."""


def import_items(
    engine: Engine,
    form: str,
    path: str | Path,
    *,
    provenance: str = "external",
    buckets: tuple[str, ...] = ("inbox",),
    dry_run: bool = False,
    progress: Progress = _no_progress,
) -> TakenIn:
    """Have the memory hold what a file, or a folder, of another memory says.

    Args:
        engine: The memory.
        form: The format: a key of `engine.transfer.adapters.READERS`.
        path: The file, or for `basic-memory` the folder.
        provenance: Of new atoms.
        buckets: Of new atoms.
        dry_run: Only count what would be done.
        progress: Told after each item.

    Raises:
        NotFoundError: it is not there.
        InvalidInputError: it cannot be of this format, or an argument breaks a rule; nothing was written.
    """
    settings = Settings(
        form,
        border.provenance(provenance),
        border.labels(buckets, "buckets", limits.BUCKETS_PER_ATOM_MAX),
    )
    items = reader(form)(Path(path))
    first = list(islice(items, 1))  # what cannot be read at all is found out before anything is touched
    with translated():
        engine.store.follow(engine.store.tags)
        run = _Run(engine, settings, dry_run=dry_run)
        run.carry_out(run.hold(chain(first, items), progress))
        if run.whole:
            run.carry_out(run.gone())
        run.carry_out(run.relate())
        engine.store.follow()
    if engine.store.gate is not None and not dry_run:
        engine.store.gate.passed(run.screen)
    return run.report()


class _Run:
    def __init__(self, engine: Engine, settings: Settings, *, dry_run: bool) -> None:
        self._engine = engine
        self._settings = settings
        self._id_key = engine.store.identity.id_key
        self._rehearsal = Rehearsal(engine.store) if dry_run else None
        gate = engine.store.gate
        self.screen = None if gate is None else gate.reading()
        self._counts: Counter[EventKind] = Counter()
        self._left: Counter[str] = Counter()
        self._skipped: list[Skipped] = []
        self._seen: set[bytes] = set()
        self._heads: dict[str, bytes] = {}
        """The first atom of each name that a relation may mean."""
        self._relating: list[tuple[bytes, Item]] = []
        self._items = self._unresolved = 0
        self.whole: set[str] = set()
        """Sources all of which was read: what of them was not yielded is gone."""

    def carry_out(self, commands: Iterable[Command]) -> None:
        """Apply, or only decide; count the events."""
        for done in self._applied(commands):
            self._counts.update(event.kind for event in done.events)

    def _applied(self, commands: Iterable[Command]) -> Iterator[Receipt]:
        if self._rehearsal is not None:
            return self._rehearsal.apply_many(commands, actor=ACTOR)
        return self._engine.apply_many(commands, actor=ACTOR)

    def hold(self, items: Iterable[Item | Left | Skipped], progress: Progress) -> Iterator[Command]:
        """The commands for all items; reports on the way."""
        for item in items:
            if isinstance(item, Skipped):
                self._skipped.append(item)
            elif isinstance(item, Left):
                self._left.update(item.names)
            elif (kept := self._screened(item)) is not None and self._may_be(kept) and self._is_new(kept):
                self._items += 1
                self._left.update(kept.left)
                yield from commands_of(kept, self._settings)
                progress(self._items, 0)

    def _screened(self, item: Item) -> Item | None:
        """The item as it may be written; None, and a report, where it is refused for a secret in it."""
        if self.screen is None:
            return item
        try:
            kept = self.screen.value(item, "the")
            # A secret may have been cut in two with its text.
            joined, whole = "\n".join(kept.pieces), "\n".join(item.pieces)
            if len(item.pieces) > 1 and (found := self.screen.text(whole, "the pieces")) != joined:
                kept = replace(kept, pieces=cut(found))
            return kept
        except RefusedError as error:
            self._skipped.append(Skipped(item.where, str(error), item.at))
            return None

    def _may_be(self, item: Item) -> bool:
        """Whether nothing of it was erased; else it is reported, and the rest goes in."""
        rows = self._engine.store.backend
        if not any(is_destroyed(rows, self._id_key, piece) for piece in item.pieces):
            return True
        self._skipped.append(Skipped(item.where, ERASED, item.at))
        return False

    def _is_new(self, item: Item) -> bool:
        """Whether nothing before it had its id; notes where the item is to be found by relations."""
        atom = id_of(self._id_key, item, 0)
        if atom in self._seen:
            reason = f"the id {item.key!a:.80} of {item.source!a:.80} was there before"
            self._skipped.append(Skipped(item.where, reason, item.at))
            return False
        self._seen.add(atom)
        if item.whole:
            self.whole.add(item.source)
        for name in item.names:
            self._heads.setdefault(caseless(name), atom)
        if item.relations:
            self._relating.append((atom, item))
        return True

    def gone(self) -> Iterator[Command]:
        """Tombstones for what sources that were read whole yield no more."""
        with self._engine.store.backend.snapshot() as rows:
            for source in sorted(self.whole):
                for ordinal in members(rows, (Group.SOURCE, source)):
                    record = record_at(rows, ordinal)
                    if record.ordinal == ordinal and record.id not in self._seen:
                        yield EndAtom(record.id)

    def relate(self) -> Iterator[Command]:
        """The commands for the relations, now that all their ends are known."""
        for atom, item in self._relating:
            for relation in item.relations:
                target = self._heads.get(caseless(relation.target))
                if target is None:
                    self._unresolved += 1
                elif target != atom:
                    yield HoldRelation(atom, relation.predicate, target, relation.data)

    def report(self) -> TakenIn:
        """The counts so far."""
        count = self._counts
        return TakenIn(
            items=self._items,
            added=count[EventKind.ATOM_ADDED],
            revised=count[EventKind.ATOM_REVISED],
            revived=count[EventKind.ATOM_REVIVED],
            tombstoned=count[EventKind.ATOM_TOMBSTONED],
            linked=count[EventKind.EDGE_ADDED],
            unlinked=count[EventKind.EDGE_REMOVED],
            unresolved=self._unresolved,
            left=tuple(sorted(self._left.items())),
            skipped=tuple(item for item in self._skipped if not item.kept),
            warnings=tuple(item for item in self._skipped if item.kept),
        )
