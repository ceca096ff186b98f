"""Import and export mem0 files: `{"results": [...]}` from `get_all`, or the array that mem0 imports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from engine.base.errors import InvalidInputError
from engine.base.limits import BUCKETS_PER_ATOM_MAX, EDGE_DATA_BYTES_MAX, TRUST_MAX
from engine.base.validation import label, labels, optional_integer
from engine.exchange.other_programs.item_atoms import LiveAtoms, live_atoms, name_of
from engine.exchange.other_programs.program_items import (
    Item,
    ItemsExported,
    Omitted,
    Put,
    checked_key,
    read_items,
    valid_tags,
)
from engine.files.ingest.documents import BadItemError, Skipped
from engine.files.ingest.field_values import (
    EPOCH,
    checked_content,
    checked_source,
    created_from_value,
    title_of,
)
from engine.ledger.records import AtomRecord
from engine.store.store import Store

FORM: Final = "mem0"
LISTS: Final = ("results", "memories")
OURS: Final = "memroot"
"""The key in `metadata` under which an export writes values that mem0 cannot represent."""

KIND: Final = "memory"
"""The default kind of imported atoms."""

TEXTS: Final = ("memory", "text", "content")
OWNERS: Final = ("user_id", "agent_id", "run_id")
_FIELDS_MAX: Final = EDGE_DATA_BYTES_MAX - 32


def read(path: Path) -> Iterator[Item | Omitted | Skipped]:
    """Yield the memories in a file; each becomes an atom with the memory's id as its key."""
    seen: dict[tuple[str, str], int] = {}

    def read_one(value: Any, where: str, number: int) -> Iterator[Item | Skipped]:
        item = _item(value, where, number, seen)
        yield item
        if "fields" in item.omitted:
            reason = f"the other fields are over {_FIELDS_MAX:,} bytes long and are not kept"
            yield Skipped(where, reason, number, kept=True)

    return read_items(path, read_one, LISTS)


def _item(value: Any, where: str, number: int, seen: dict[tuple[str, str], int]) -> Item:
    if not isinstance(value, dict):
        raise BadItemError("not a JSON object")
    fields = dict(value)
    content = _content(fields)
    own_id = fields.pop("id", None)
    key = None if own_id is None else checked_key(own_id, "`id`")
    ours = _our_values(fields)
    source = checked_source(ours.get("source") or source_of(fields))
    tags, invalid_tags = _tags(fields, ours)
    other_fields, omitted = _encode_fields(fields)
    occurrence = None
    if key is None and ours.get("sequence") is None:
        occurrence = seen.get((source, content), 0)
        seen[source, content] = occurrence + 1
    try:
        return Item(
            where=where,
            at=number,
            source=source,
            key=key,
            pieces=(content,),
            title=title_of(ours["title"]) if isinstance(ours.get("title"), str) else None,
            kind=label(ours.get("kind", KIND), "kind"),
            tags=tags,
            buckets=labels(ours["buckets"], "buckets", BUCKETS_PER_ATOM_MAX) if "buckets" in ours else None,
            sequence=optional_integer(ours.get("sequence"), "sequence"),
            trust=optional_integer(ours.get("trust"), "trust", TRUST_MAX),
            created=created_of(fields, ours),
            occurrence=occurrence,
            fields=other_fields,
            omitted=(*omitted, *("tags that are not valid" for _ in range(invalid_tags))),
        )
    except InvalidInputError as error:
        raise BadItemError(f"`metadata.{OURS}`: {error}") from None


def _content(fields: dict[str, Any]) -> str:
    for name in TEXTS:
        value = fields.get(name)
        if isinstance(value, str):
            del fields[name]
            return checked_content(value)
        if value is not None:
            raise BadItemError(f"`{name}` must be a string")
    raise BadItemError("there is no content: the key `memory`, `text` or `content` is required")


def created_of(fields: Mapping[str, Any], ours: Mapping[str, Any]) -> int | None:
    """Return the creation time of a memory in µs UTC, or None if it is missing or unreadable."""
    if "created" in ours:
        return optional_integer(ours["created"], "created")
    return created_from_value(fields.get("created_at") or None)


def _our_values(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = fields.get("metadata")
    values = metadata.get(OURS) if isinstance(metadata, dict) else None
    return values if isinstance(values, dict) else {}


def source_of(fields: Mapping[str, Any]) -> str:
    """Return the default source of a memory, derived from the memory's owner."""
    owner = next(
        (fields[name] for name in OWNERS if isinstance(fields.get(name), str) and fields[name]), None
    )
    return FORM if owner is None else f"{FORM}/{owner}"


def _tags(fields: Mapping[str, Any], ours: Mapping[str, Any]) -> tuple[tuple[str, ...], int]:
    metadata = fields.get("metadata")
    lists = [ours.get("tags"), fields.get("categories"), isinstance(metadata, dict) and metadata.get("tags")]
    return valid_tags([word for words in lists if isinstance(words, list) for word in words])


def _encode_fields(fields: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the remaining fields as JSON, and the names of parts that are not imported.

    If the fields are too long to store, return "" and ("fields",).
    """
    if not fields:
        return "", ()
    text = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadItemError("a string has a lone surrogate, so it is not valid Unicode") from None
    return (text, ()) if size <= _FIELDS_MAX else ("", ("fields",))


def write(store: Store, put: Put) -> ItemsExported:
    """Write each live atom as a memory whose id is the atom's key or id.

    Values that mem0 cannot represent are written to `metadata`. For atoms that were imported from mem0, the
    original fields are written again. Edges, provenance and history are not exported.
    """
    omitted: Counter[str] = Counter()
    count = 0
    with live_atoms(store) as atoms:
        put(b"[")
        for record in atoms.records():
            omitted["edges"] += sum(1 for _ in atoms.edges(record))
            text = json.dumps(
                _memory(atoms, record), ensure_ascii=False, sort_keys=True, separators=(",", ":")
            )
            put((b",\n" if count else b"\n") + text.encode())
            count += 1
        put(b"\n]\n")
    return ItemsExported.of(count, omitted)


def _memory(atoms: LiveAtoms, record: AtomRecord) -> dict[str, Any]:
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
            fields["created_at"] = (EPOCH + timedelta(microseconds=atom.created)).isoformat()
        except OverflowError:  # a year with more than four digits
            ours["created"] = atom.created
    values = {name: value for name, value in ours.items() if value is not None}
    merged = {**metadata, OURS: values} if isinstance(metadata, dict) else {OURS: values}
    return {"id": name_of(record), "memory": atom.content, "metadata": merged, **fields}
