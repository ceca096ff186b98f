"""Importing in any of the formats: items in, atoms and edges out, nothing at all where nothing changed.

Killed anywhere, it is continued by running it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from engine.base import limits, validation
from engine.base.error_translation import translated
from engine.base.errors import RefusedError
from engine.commands import Command
from engine.commands.atoms import ERASED
from engine.commands.reconcile import UpsertEdge, is_refused, retire_others
from engine.ledger.records import read_atom
from engine.secrets.filter import Screen
from engine.store.dry_run import dry_run_store
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from engine.transfer.ingest.documents import Skipped
from engine.transfer.ingest.links import caseless
from engine.transfer.ingest.work import Work
from engine.transfer.other_programs import reader
from engine.transfer.other_programs.base import ACTOR, Item, Left, cut
from engine.transfer.other_programs.holding import Wanted
from proofs.events import EventKind


@dataclass(frozen=True, slots=True)
class ImportReport:
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


def import_items(
    store: Store,
    form: str,
    path: str | Path,
    *,
    provenance: str = "external",
    buckets: tuple[str, ...] = ("inbox",),
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> ImportReport:
    """Make the store hold what a file, or a folder, of another memory says.

    All events are by the actor `import`, by which a later run knows what is its own to change.

    Args:
        store: Where to.
        form: The format: one of `engine.transfer.other_programs.READERS`.
        path: The file, or for `basic-memory` the folder.
        provenance: Of new atoms.
        buckets: Of new atoms.
        dry_run: Only count what would be done.
        progress: Told (items done, 0: how many there are is not known) after each item.

    Raises:
        NotFoundError: it is not there.
        InvalidInputError: it cannot be of this format, or an argument breaks a rule; nothing was written.
    """
    wanted = Wanted(
        store.identity.id_key,
        form,
        validation.provenance(provenance),
        validation.labels(buckets, "buckets", limits.BUCKETS_PER_ATOM_MAX),
    )
    items = reader(form)(Path(path))
    first = list(islice(items, 1))  # what cannot be read at all is found out before anything is touched
    screen = None if store.secret_filter is None else store.secret_filter.screen_for_reading()
    with translated():
        store.follow(store.tags)
        with dry_run_store(store, when=dry_run) as target:
            run = _Run(target, wanted, screen)
            run.carry_out(run.hold(chain(first, items), progress))
            run.carry_out(run.gone())
            run.carry_out(run.relate())
            if target.secret_filter is not None:
                target.secret_filter.count(screen)
    return run.report()


class _Run(Work):
    def __init__(self, store: Store, wanted: Wanted, screen: Screen | None) -> None:
        super().__init__(store, ACTOR)
        self._wanted = wanted
        self._screen = screen
        self._left: Counter[str] = Counter()
        self._seen: set[bytes] = set()
        self._heads: dict[str, bytes] = {}
        """The first atom of each name that a relation may mean."""
        self._relating: list[tuple[bytes, Item]] = []
        self._items = self._unresolved = 0
        self._whole: set[str] = set()
        """Sources all of which was read: what of them was not yielded is gone."""

    def hold(self, items: Iterable[Item | Left | Skipped], progress: Progress) -> Iterator[Command]:
        """The commands for all items; reports on the way."""
        for item in items:
            if isinstance(item, Skipped):
                self.reports.append(item)
            elif isinstance(item, Left):
                self._left.update(item.names)
            elif (kept := self._screened(item)) is not None and self._may_be(kept) and self._is_new(kept):
                self._items += 1
                self._left.update(kept.left)
                yield from self._wanted.commands(self.store.backend, kept)
                progress(self._items, 0)

    def _screened(self, item: Item) -> Item | None:
        """The item as it may be written; None, and a report, where it is refused for a secret in it."""
        if self._screen is None:
            return item
        try:
            kept = self._screen.value(item, "the")
            # A secret may have been cut in two with its text.
            joined, whole = "\n".join(kept.pieces), "\n".join(item.pieces)
            if len(item.pieces) > 1 and (found := self._screen.text(whole, "the pieces")) != joined:
                kept = replace(kept, pieces=cut(found))
            return kept
        except RefusedError as error:
            self.reports.append(Skipped(item.where, str(error), item.at))
            return None

    def _may_be(self, item: Item) -> bool:
        """Whether nothing of it was erased; else it is reported, and the rest goes in."""
        rows = self.store.backend
        for atom in self._wanted.atoms(item):
            if is_refused(rows, self.id_key, atom, read_atom(rows, self._wanted.id(atom))):
                self.reports.append(Skipped(item.where, ERASED, item.at))
                return False
        return True

    def _is_new(self, item: Item) -> bool:
        """Whether nothing before it had its id; notes where the item is to be found by relations."""
        atom = self._wanted.id(self._wanted.atoms(item)[0])
        if atom in self._seen:
            reason = f"the id {item.key!a:.80} of {item.source!a:.80} was there before"
            self.reports.append(Skipped(item.where, reason, item.at))
            return False
        self._seen.add(atom)
        if item.whole:
            self._whole.add(item.source)
        for name in item.names:
            self._heads.setdefault(caseless(name), atom)
        if item.relations:
            self._relating.append((atom, item))
        return True

    def gone(self) -> Iterator[Command]:
        """Tombstones for what sources that were read whole yield no more."""
        for source in sorted(self._whole):
            with self.store.backend.snapshot() as rows:
                commands = list(retire_others(rows, ACTOR, source, self._seen))
            yield from commands

    def relate(self) -> Iterator[Command]:
        """The commands for the relations, now that all their ends are known."""
        for atom, item in self._relating:
            for relation in item.relations:
                target = self._heads.get(caseless(relation.target))
                if target is None:
                    self._unresolved += 1
                elif target != atom:
                    yield UpsertEdge(atom, relation.predicate, target, relation.data)

    def report(self) -> ImportReport:
        """The counts so far."""
        count = self.counts
        for source, number in self.erased.items():  # erased by somebody else meanwhile
            self.reports += [Skipped(source, ERASED)] * number
        return ImportReport(
            items=self._items,
            added=count[EventKind.ATOM_ADDED],
            revised=count[EventKind.ATOM_REVISED],
            revived=count[EventKind.ATOM_REVIVED],
            tombstoned=count[EventKind.ATOM_TOMBSTONED],
            linked=count[EventKind.EDGE_ADDED],
            unlinked=count[EventKind.EDGE_REMOVED],
            unresolved=self._unresolved,
            left=tuple(sorted(self._left.items())),
            skipped=self.skipped,
            warnings=self.warnings,
        )
