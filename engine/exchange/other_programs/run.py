"""Import items of another program as atoms and edges.

If nothing changed, nothing is written. If the process is killed, the next run continues the import.
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
from engine.commands.reconcile import UpsertEdge, is_refused
from engine.commands.secrets.filter import Screen
from engine.commands.sources import retire_others
from engine.exchange.other_programs import reader
from engine.exchange.other_programs.base import ACTOR, Item, Omitted, split_text
from engine.exchange.other_programs.item_commands import ItemCommands
from engine.files.ingest.documents import Skipped
from engine.files.ingest.import_run import ImportRun
from engine.files.ingest.links import caseless
from engine.ledger.records import read_atom
from engine.store.dry_run import dry_run_store
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from proofs.events import EventKind


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The changes that an import made, or would make in a dry run, as numbers of atoms unless noted."""

    items: int
    """The number of items read."""
    added: int
    revised: int
    revived: int
    tombstoned: int
    linked: int
    """The number of edges added, including edges to the atom that represents the other program."""
    unlinked: int
    """The number of edges removed, including edges to the atom that represents the other program."""
    unresolved: int
    """The number of relations whose target is not in the file."""
    left: tuple[tuple[str, int], ...]
    """The data in the file that was not imported, as (name, number of occurrences)."""
    skipped: tuple[Skipped, ...]
    """The items that were not imported."""
    warnings: tuple[Skipped, ...]
    """The items that were imported incompletely."""

    @property
    def changed(self) -> bool:
        """True if any event was appended, or would be in a dry run."""
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
    """Update the store so that it matches a file or folder of another program.

    All events have the actor `import`. A later run changes only atoms whose current version was written by
    this actor.

    Args:
        store: The store to import into.
        form: The format: one of `engine.exchange.other_programs.READERS`.
        path: The file, or for `basic-memory` the folder.
        provenance: The provenance of new atoms.
        buckets: The buckets of new atoms.
        dry_run: Only count the changes, without writing.
        progress: Called after each item with the number of items done, and with 0 for the unknown total.

    Raises:
        NotFoundError: `path` does not exist.
        InvalidInputError: the file cannot have this format, or an argument breaks a rule. Nothing was
            written.
    """
    commands = ItemCommands(
        store.identity.id_key,
        form,
        validation.provenance(provenance),
        validation.labels(buckets, "buckets", limits.BUCKETS_PER_ATOM_MAX),
    )
    items = reader(form)(Path(path))
    first = list(islice(items, 1))  # raise an exception before anything is written if the file cannot be read
    screen = None if store.secret_filter is None else store.secret_filter.screen_for_reading()
    with translated():
        store.follow(store.tags)
        with dry_run_store(store, when=dry_run) as target:
            run = _ItemsRun(target, commands, screen)
            run.apply(run.upsert(chain(first, items), progress))
            run.apply(run.retire_missing())
            run.apply(run.relate())
            if target.secret_filter is not None:
                target.secret_filter.count(screen)
    return run.report()


class _ItemsRun(ImportRun):
    def __init__(self, store: Store, commands: ItemCommands, screen: Screen | None) -> None:
        super().__init__(store, ACTOR)
        self._commands = commands
        self._screen = screen
        self._omitted: Counter[str] = Counter()
        self._seen: set[bytes] = set()
        self._atoms_by_name: dict[str, bytes] = {}
        """Name of an item → the first atom of the item, to which relations with this name refer."""
        self._pending_relations: list[tuple[bytes, Item]] = []
        self._items = self._unresolved = 0
        self._whole: set[str] = set()
        """The sources that were read completely. Their atoms that the file lacks are tombstoned."""

    def upsert(self, items: Iterable[Item | Omitted | Skipped], progress: Progress) -> Iterator[Command]:
        """Yield the commands for all items, and collect reports."""
        for item in items:
            if isinstance(item, Skipped):
                self.reports.append(item)
            elif isinstance(item, Omitted):
                self._omitted.update(item.names)
            else:
                screened = self._screened(item)
                if screened is None or self._has_erased(screened) or not self._is_new(screened):
                    continue
                self._items += 1
                self._omitted.update(screened.omitted)
                yield from self._commands.commands(self.store.backend, screened)
                progress(self._items, 0)

    def _screened(self, item: Item) -> Item | None:
        """Return the item with secrets redacted; report it and return None if the filter refuses it."""
        if self._screen is None:
            return item
        try:
            screened = self._screen.value(item, "the")
            # Splitting the text may have split a secret, so the whole text is filtered, too.
            joined, whole = "\n".join(screened.pieces), "\n".join(item.pieces)
            if len(item.pieces) > 1 and (found := self._screen.text(whole, "the pieces")) != joined:
                screened = replace(screened, pieces=split_text(found))
            return screened
        except RefusedError as error:
            self.reports.append(Skipped(item.where, str(error), item.at))
            return None

    def _has_erased(self, item: Item) -> bool:
        """If a part of the item's content was erased, report the item and return True."""
        rows = self.store.backend
        for atom in self._commands.atoms(item):
            if is_refused(rows, self.id_key, atom, read_atom(rows, self._commands.id(atom))):
                self.reports.append(Skipped(item.where, ERASED, item.at))
                return True
        return False

    def _is_new(self, item: Item) -> bool:
        """Index the item and return True. If an earlier item has the same id, report it and return False."""
        atom = self._commands.id(self._commands.atoms(item)[0])
        if atom in self._seen:
            reason = f"an earlier item has the same id {item.key!a:.80} in {item.source!a:.80}"
            self.reports.append(Skipped(item.where, reason, item.at))
            return False
        self._seen.add(atom)
        if item.whole:
            self._whole.add(item.source)
        for name in item.names:
            self._atoms_by_name.setdefault(caseless(name), atom)
        if item.relations:
            self._pending_relations.append((atom, item))
        return True

    def retire_missing(self) -> Iterator[Command]:
        """Yield tombstones for atoms that the file lacks; skip sources that it contains only in part."""
        for source in sorted(self._whole):
            with self.store.backend.snapshot() as rows:
                commands = list(retire_others(rows, ACTOR, source, self._seen))
            yield from commands

    def relate(self) -> Iterator[Command]:
        """Yield the commands for the relations; call it when all atoms are known."""
        for atom, item in self._pending_relations:
            for relation in item.relations:
                target = self._atoms_by_name.get(caseless(relation.target))
                if target is None:
                    self._unresolved += 1
                elif target != atom:
                    yield UpsertEdge(atom, relation.predicate, target, relation.data)

    def report(self) -> ImportReport:
        """Return the report of the run."""
        count = self.counts
        for source, number in self.erased.items():  # erased by another process meanwhile
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
            left=tuple(sorted(self._omitted.items())),
            skipped=self.skipped,
            warnings=self.warnings,
        )
