"""Writing what is live as the JSON array that mem0's import takes."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.ledger.records import AtomRecord
from engine.store.store import Store
from engine.transfer.adapters.base import Exported, Put
from engine.transfer.adapters.live import Live, live, name_of
from engine.transfer.adapters.mem0 import FORM, KIND, OURS, created_of, source_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def write(store: Store, put: Put) -> Exported:
    """Each live atom as one memory, its key or id as the memory's.

    What mem0 has no place for is in `metadata`; what came from mem0 gets its own fields back. Edges,
    provenance and history are not in it.
    """
    left: Counter[str] = Counter()
    count = 0
    with live(store) as atoms:
        put(b"[")
        for record in atoms.records():
            left["edges"] += sum(1 for _ in atoms.edges(record))
            text = json.dumps(
                _memory(atoms, record), ensure_ascii=False, sort_keys=True, separators=(",", ":")
            )
            put((b",\n" if count else b"\n") + text.encode())
            count += 1
        put(b"\n]\n")
    return Exported.of(count, left)


def _memory(atoms: Live, record: AtomRecord) -> dict[str, Any]:
    atom = atoms.atom(record)
    fields = atoms.fields(record, FORM) or {}
    metadata = fields.pop("metadata", None)
    ours: dict[str, Any] = {
        "buckets": None if atom.buckets == ("inbox",) else list(atom.buckets),
        "kind": None if atom.kind == KIND else atom.kind,
        "sequence": atom.sequence,
        "source": None if atom.source == source_of(fields) else atom.source,
        "tags": list(atom.tags) or None,
        "title": atom.title,
        "trust": atom.trust,
    }
    if created_of(fields, {}) != atom.created:
        try:
            fields["created_at"] = (_EPOCH + timedelta(microseconds=atom.created)).isoformat()
        except OverflowError:  # a year that ISO 8601 has no four digits for
            ours["created"] = atom.created
    said = {name: value for name, value in ours.items() if value is not None}
    kept = {**metadata, OURS: said} if isinstance(metadata, dict) else {OURS: said}
    return {"id": name_of(record), "memory": atom.content, "metadata": kept, **fields}
