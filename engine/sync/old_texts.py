"""Adding what an earlier store of this device has and the family lacks."""

from __future__ import annotations

from collections.abc import Iterator
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
from engine.sync.taking_in import take_in
from proofs.events import AtomBody


def take_texts(store: Store, old_url: str, actor: str) -> int:
    """Add what the store at `old_url` has and `store` lacks; return the number of new events.

    A store of the same family is taken in as its journal. If this is not possible, because its id was used
    by two copies, or if it is of another family, its live texts and edges are added as new ones.
    """
    with open_backend(old_url, create=False) as backend:
        old, before = Store(backend), read_log(store.backend).size
        if old.identity.id_key != store.identity.id_key or not _taken_in(store, old):
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
    while (part := written(old, at)).stop > at:
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
