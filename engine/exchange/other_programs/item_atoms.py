"""Import items of another program as atoms and edges, and read the atoms back for an export.

If nothing changed, nothing is written. If the process is killed, the next run continues the import.

The origin is an atom that represents the other program. If an atom cannot represent some fields of an item,
these fields are stored on the edge from the atom to its origin, so that an export in the same format can
write them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from backends.base import Backend, Reader
from engine.base import limits, validation
from engine.base.errors import CorruptionError, RefusedError, translated
from engine.base.json_text import JsonError, parse
from engine.base.model import Atom, Direction, Edge
from engine.base.validation import show_id
from engine.commands import Add, Command
from engine.commands.atoms import ERASED, destroyed_content_key
from engine.commands.reconcile import RetireAtom, RetireEdge, UpsertAtom, UpsertEdge, is_refused
from engine.commands.secrets.filter import Screen
from engine.exchange.other_programs import reader
from engine.exchange.other_programs.program_items import ACTOR, Item, Omitted, split_text
from engine.files.ingest.documents import Skipped
from engine.files.ingest.import_run import ImportRun
from engine.followers.tags import LIVE, members
from engine.ledger.appender import RUN_CHARS_MAX
from engine.ledger.layout import atom_key, type_code_key, unpack
from engine.ledger.queries import atom_of, edge_of, edges_at, record_at, recorded_type_code
from engine.ledger.records import (
    AtomRecord,
    Lookup,
    default_id_of,
    id_of_key,
    read_atom,
    read_edge,
    type_code,
)
from engine.store.dry_run import dry_run_store
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from proofs.codec import pack
from proofs.events import EventKind
from proofs.hashing import predicate_code

IMPORTED_FROM: Final = "imported_from"
"""The predicate of the edge from an atom to the origin, which represents the other program."""

ORIGIN: Final = "origin"
"""The kind of the atom that represents another program."""

FIELDS: Final = "fields"

_TOGETHER: Final = 512
"""The number of items whose rows are read together. Measured with 10,000 messages on PostgreSQL: 11 s, and
84 s if each row is read alone."""


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
    """Update the store so that it matches a file of another program.

    All events have the actor `import`. A later run changes only atoms whose current version was written by
    this actor.

    Args:
        store: The store to import into.
        form: The format: one of `engine.exchange.other_programs.READERS`.
        path: The file.
        provenance: The provenance of new atoms.
        buckets: The buckets of new atoms.
        dry_run: Only count the changes, without writing.
        progress: Called after each item with the number of items done, and with 0 for the unknown total.

    Raises:
        NotFoundError: `path` does not exist.
        InvalidInputError: the file cannot have this format, or an argument breaks a rule. Nothing was
            written.
    """
    items = reader(form)(Path(path))
    return import_read(
        store, form, items, provenance=provenance, buckets=buckets, dry_run=dry_run, progress=progress
    )


def import_read(
    store: Store,
    form: str,
    items: Iterator[Item | Omitted | Skipped],
    *,
    provenance: str,
    buckets: tuple[str, ...],
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> ImportReport:
    """Update the store so that it matches the items of another program, as `import_items` does.

    Raises:
        InvalidInputError: an argument breaks a rule. Nothing was written.
    """
    commands = ItemCommands(
        store.identity.id_key,
        form,
        validation.provenance(provenance),
        validation.labels(buckets, "buckets", limits.BUCKETS_PER_ATOM_MAX),
    )
    first = list(islice(items, 1))  # raise an exception before anything is written if the file cannot be read
    screen = None if store.secret_filter is None else store.secret_filter.screen_for_reading()
    with translated():
        store.follow(store.tags)
        with dry_run_store(store, when=dry_run) as target:
            run = _ItemsRun(target, commands, screen)
            run.apply(run.upsert(chain(first, items), progress))
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
        self._items = 0

    def upsert(self, items: Iterable[Item | Omitted | Skipped], progress: Progress) -> Iterator[Command]:
        """Yield the commands for all items, and collect reports."""
        for block in _blocks(items):
            rows = _ReadTogether(self.store.backend, self._commands.keys(block))
            for item in block:
                if isinstance(item, Skipped):
                    self.reports.append(item)
                elif isinstance(item, Omitted):
                    self._omitted.update(item.names)
                elif (screened := self._screened(item)) is not None:
                    yield from self._item(rows, screened)
                    progress(self._items, 0)

    def _item(self, rows: Lookup, item: Item) -> Iterator[Command]:
        atoms = self._commands.atoms(item)
        if self._has_erased(rows, item, atoms) or not self._is_new(item, self._commands.id(atoms[0])):
            return
        self._items += 1
        self._omitted.update(item.omitted)
        yield from self._commands.commands(rows, item, atoms)

    def _screened(self, item: Item) -> Item | None:
        """Return the item with secrets redacted; report it and return None if the filter refuses it."""
        if self._screen is None:
            return item
        try:
            screened = self._screen.value(item, "the")
            # Splitting the text may have split a secret, so the whole text is filtered, too.
            joined, whole = "\n".join(screened.pieces), "\n".join(item.pieces)
            if len(item.pieces) > 1 and (rewritten := self._screen.text(whole, "the pieces")) != joined:
                screened = replace(screened, pieces=split_text(rewritten))
            return screened
        except RefusedError as error:
            self.reports.append(Skipped(item.where, str(error), item.at))
            return None

    def _has_erased(self, rows: Lookup, item: Item, atoms: Sequence[Add]) -> bool:
        """If a part of the item's content was erased, report the item and return True."""
        for atom in atoms:
            if is_refused(rows, self.id_key, atom, read_atom(rows, self._commands.id(atom))):
                self.reports.append(Skipped(item.where, ERASED, item.at))
                return True
        return False

    def _is_new(self, item: Item, atom: bytes) -> bool:
        """Return True. If an earlier item has the same id, report it and return False."""
        if atom in self._seen:
            reason = f"an earlier item has the same id {item.key!a:.80} in {item.source!a:.80}"
            self.reports.append(Skipped(item.where, reason, item.at))
            return False
        self._seen.add(atom)
        return True

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
            left=tuple(sorted(self._omitted.items())),
            skipped=self.skipped,
            warnings=self.warnings,
        )


def _blocks(
    items: Iterable[Item | Omitted | Skipped],
) -> Iterator[list[Item | Omitted | Skipped]]:
    """Yield the items in lists of up to `_TOGETHER`; a list ends early if its texts are long."""
    block: list[Item | Omitted | Skipped] = []
    chars = 0
    for item in items:
        block.append(item)
        chars += sum(map(len, item.pieces)) if isinstance(item, Item) else 0
        if len(block) >= _TOGETHER or chars > RUN_CHARS_MAX:
            yield block
            block, chars = [], 0
    yield block


class _ReadTogether:
    """Rows that were read together, which takes one message to a database; all others are read singly."""

    def __init__(self, rows: Backend, keys: Sequence[bytes]) -> None:
        self._rows = rows
        self._found = dict(zip(keys, rows.multi_get(keys), strict=True))

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a row, which may be that of the time at which the rows were read."""
        return self._found[key] if key in self._found else self._rows.get(key)


class ItemCommands:
    """A factory of the commands for items of one format."""

    def __init__(self, id_key: bytes, form: str, provenance: str, buckets: tuple[str, ...]) -> None:
        """Set the values that all items share: `form` names the origin, `buckets` are the default buckets."""
        self._id_key = id_key
        self._provenance = provenance
        self._buckets = buckets
        self._origin = Add(form, kind=ORIGIN, key=_origin_key(form), provenance=provenance)

    def atoms(self, item: Item) -> list[Add]:
        """Return the atoms for the pieces of an item."""
        return [self._atom(item, at, content) for at, content in enumerate(item.pieces)]

    def id(self, atom: Add) -> bytes:
        """Return the id that an atom has or will have."""
        return default_id_of(self._id_key, atom)

    def keys(self, block: Iterable[Item | Omitted | Skipped]) -> list[bytes]:
        """Return the keys of the rows that `commands`, and a check for erased content, read of the items."""
        found = [type_code_key(predicate_code(self._id_key, IMPORTED_FROM))]
        for item in block:
            if isinstance(item, Item):
                found += [atom_key(self.id(atom)) for atom in self.atoms(item)]
                found += [destroyed_content_key(self._id_key, content) for content in item.pieces]
                if item.key is not None:
                    found.append(atom_key(self.id(self._atom(item, len(item.pieces), ""))))
        return found

    def commands(self, rows: Lookup, item: Item, atoms: Sequence[Add]) -> Iterator[Command]:
        """Yield the commands for an item; if the item had more pieces before, tombstone the surplus atoms."""
        yield from map(UpsertAtom, atoms)
        at = len(atoms)
        while item.key is not None and read_atom(rows, more := self.id(self._atom(item, at, ""))) is not None:
            yield RetireAtom(more)
            at += 1
        atom, origin = self.id(atoms[0]), self.id(self._origin)
        if item.fields:
            yield self._origin
            yield UpsertEdge(atom, IMPORTED_FROM, origin, pack({FIELDS: item.fields}))
        elif type_code(rows, self._id_key, IMPORTED_FROM) is not None:
            yield RetireEdge(atom, IMPORTED_FROM, origin)

    def _atom(self, item: Item, at: int, content: str) -> Add:
        return Add(
            content=content,
            title=item.title,
            kind=item.kind,
            tags=item.tags,
            buckets=self._buckets if item.buckets is None else item.buckets,
            source=item.source,
            sequence=None if item.sequence is None else item.sequence + at,
            provenance=item.provenance or self._provenance,
            trust=item.trust,
            created=item.created,
            occurrence=item.occurrence,
            key=item.key if item.key is None or not at else f"{item.key}#{at + 1}",
            meta=item.meta,
        )


def origin_id(id_key: bytes, form: str) -> bytes:
    """Return the id of the atom that represents the other program."""
    return id_of_key(id_key, None, _origin_key(form))


def _origin_key(form: str) -> str:
    return f"origin:{form}"


class LiveAtoms:
    """The live atoms of one snapshot."""

    def __init__(self, rows: Reader, id_key: bytes) -> None:
        self._rows = rows
        self._id_key = id_key
        self._code = recorded_type_code(rows, IMPORTED_FROM)

    def records(self) -> Iterator[AtomRecord]:
        """Yield the live atoms in the order of their creation, except atoms that represent other programs.

        The iterator keeps about 100 bytes per atom in memory.
        """
        records = []
        for ordinal in members(self._rows, LIVE):
            record = record_at(self._rows, ordinal)
            if record.kind != ORIGIN and record.ordinal == ordinal:
                records.append((record.created_seq, ordinal))
        for _, ordinal in sorted(records):
            yield record_at(self._rows, ordinal)

    def atom(self, record: AtomRecord) -> Atom:
        """Return the atom of a record, with its content."""
        return atom_of(self._rows, record)

    def fields(self, record: AtomRecord, form: str) -> dict[str, Any] | None:
        """Return the fields that an import in the format `form` stored on the edge to the origin.

        Return None if there are no such fields, for example if the atom was not imported in this format.
        """
        origin = origin_id(self._id_key, form)
        edge = None if self._code is None else read_edge(self._rows, record.id, self._code, origin)
        if edge is None or edge.tombstoned_at is not None or not edge.data:
            return None
        try:
            value = parse(unpack(edge.data, "edge data")[FIELDS])
        except (KeyError, TypeError, AttributeError, JsonError, CorruptionError):
            return None  # the edge was not created by an import
        return value if isinstance(value, dict) else None

    def edges(self, record: AtomRecord) -> Iterator[Edge]:
        """Yield the live outgoing edges of an atom, except edges to atoms that represent other programs."""
        for edge in edges_at(self._rows, record.id, Direction.OUT, ()):
            if edge.type != self._code:
                yield edge_of(self._rows, edge)


@contextmanager
def live_atoms(store: Store) -> Iterator[LiveAtoms]:
    """Open a snapshot of the live atoms of a store."""
    with store.view(store.tags) as rows:
        yield LiveAtoms(rows, store.identity.id_key)


def name_of(record: AtomRecord) -> str:
    """Return the name of an atom for other programs: the key, or the id if the atom has no key."""
    return show_id(record.id) if record.key is None else record.key
