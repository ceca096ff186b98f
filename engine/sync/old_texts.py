"""Adding what an earlier store of this device has and the family lacks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import islice

from backends import open_backend
from engine.base.errors import ConflictError, InconsistentError, RefusedError
from engine.base.validation import show_id
from engine.commands.atoms import Add
from engine.commands.edges import Link, RegisterType
from engine.exchange.other_programs.item_atoms import LiveAtoms, live_atoms
from engine.ledger.journal import entries_back, read_log
from engine.ledger.records import AtomRecord, read_atom
from engine.store.bulk import COMMIT_CHUNK
from engine.store.store import Store
from engine.sync.originals import Written, written
from engine.sync.packs import RAW_BYTES
from engine.sync.taking_in import known_heads, take_in
from engine.sync.without_destroyed import without_destroyed
from proofs.events import AtomBody


def take_texts(
    store: Store,
    old_url: str,
    actor: str,
    removed: Collection[str],
    hand_on: Callable[[bytes, Written], None],
) -> int:
    """Add what the store at `old_url` has and `store` lacks; return the number of new events.

    A removed device of the family is taken in as its journal, which is handed on to the others, because they
    would wait for it. Of another store, the live texts and edges that nobody has put into the folder are
    added as new ones: events with its id can still come from elsewhere.

    Args:
        store: The store of the new device.
        old_url: The store that is taken in.
        actor: The author of what is added.
        removed: The ids of the removed devices, as hex digits.
        hand_on: Called with the id of the old store and each part of its journal.
    """
    with open_backend(old_url, create=False) as backend:
        old, before = Store(backend), read_log(store.backend).size
        old_id, known = old.identity.store_id, known_heads(store)
        gone = old_id.hex() in removed
        is_known = old_id in known and known[old_id].size >= read_log(backend).size
        same = old.identity.id_key == store.identity.id_key
        if same and (gone or is_known) and _taken_in(store, old):
            for part in _parts(old) if gone else ():
                hand_on(old_id, without_destroyed(store, part))
        else:
            with live_atoms(old) as atoms:
                _added(store, atoms, actor)
        return read_log(store.backend).size - before


def _taken_in(store: Store, old: Store) -> bool:
    try:
        return take_in(store, _parts(old)).waits is None
    except InconsistentError:
        return False


def _parts(old: Store) -> Iterator[Written]:
    at = 0
    while (part := written(old, at, RAW_BYTES)).stop > at:
        yield part
        at = part.stop


def _added(store: Store, atoms: LiveAtoms, actor: str) -> None:
    ids: dict[str, str] = {}
    records = atoms.records()
    while chunk := list(islice(records, COMMIT_CHUNK)):
        lacking = []
        with store.view() as rows:
            for record in chunk:
                content = atoms.atom(record).content
                here = read_atom(rows, record.id)
                entries = () if here is None else entries_back(rows, here.last_seq)
                if any(isinstance(one.body, AtomBody) and one.body.content == content for one in entries):
                    ids[show_id(record.id)] = show_id(record.id)
                else:
                    lacking.append((record, content))
        for record, content in lacking:
            try:
                added = store.commit([_add(record, content)], actor)
            except (ConflictError, RefusedError):
                continue  # its text was erased in the family, or a name of its own stands for another text
            ids[show_id(record.id)] = added[0].subject
    for record in atoms.records():
        for edge in atoms.edges(record):
            if edge.src in ids and edge.dst in ids:
                link = Link(ids[edge.src], edge.type, ids[edge.dst], edge.weight, edge.data)
                store.commit([RegisterType(edge.type), link], actor)


def _add(record: AtomRecord, content: str) -> Add:
    return Add(
        content, record.title, record.kind, record.tags, record.buckets, record.source, record.sequence,
        record.provenance, record.trust, record.created, key=record.key,
    )  # fmt: skip
