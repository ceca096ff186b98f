"""Items of a key-value store as atoms: a namespace is a source, and a key is a key within the source.

The adapter for LangGraph is built on this module, which does not import LangGraph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.base import limits
from engine.base.errors import InvalidInputError, RefusedError
from engine.base.model import Receipt
from engine.base.validation import integer, show_id
from engine.base.validation import provenance as checked_provenance
from engine.commands.atoms import ERASED, Add, Revise, Revive, Tombstone, is_destroyed
from engine.commands.transaction import Transaction
from engine.engine import Engine
from engine.frameworks.framework_atoms import (
    Held,
    coded,
    decoded,
    hits_of,
    live_records,
    parts_of,
    records_passing,
    snapshot,
    source_of,
    sources_in,
    values_of,
)
from engine.frameworks.framework_values import UNINDEXED, only_text, packed, unpack
from engine.ledger.records import id_of_key, read_atom
from engine.query.filters import Filters
from proofs.leaves import State

FRAMEWORK: Final = "langgraph"
"""The bucket of every item, and the first part of its source."""

Namespace = tuple[str, ...]
Matches = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item and its times, in µs since 1970, UTC."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created: int
    updated: int
    score: float | None = None
    """The score of recall, if the item was found by a question."""


@dataclass(frozen=True, slots=True)
class PutItem:
    """A command that sets the value of an item. If the value is None, the command hides the item."""

    namespace: Namespace
    key: str
    value: Mapping[str, Any] | None
    indexed: bool = True
    """If False, no question finds the item."""
    provenance: str = "internal"

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that add, revise, revive or hide the item. If nothing would change, append none.

        Raises:
            InvalidInputError: The value is not JSON, or a part of the name is not valid.
            RefusedError: The value was erased earlier, or a name contains a secret.
        """
        source, key = _names(self.namespace, self.key)
        if tx.screened(source, "source") != source or tx.screened(key, "key") != key:
            raise RefusedError(
                "the namespace or the key of an item contains a secret",
                hint="name items by something that everybody may know",
            )
        atom = id_of_key(tx.id_key, source, key)
        record = tx.atom(atom)
        if self.value is None:
            if record is None:
                return Receipt(show_id(atom), (), State.TOMBSTONED)
            return Tombstone(show_id(atom), "deleted").decide(tx)
        if not isinstance(self.value, Mapping):
            raise InvalidInputError(f"the value of an item must be a map, not {type(self.value).__name__}")
        content, meta = packed(tx, self.value, only_text, "value")
        if not self.indexed:
            meta = meta | {UNINDEXED: True}
        if record is None or record.state is State.ERASED:
            # The name of an erased item may be used again, but not the erased text.
            if record is not None and is_destroyed(tx.rows, tx.id_key, content):
                raise RefusedError(ERASED, hint="put a different value")
            return Add(
                content,
                source=source,
                key=key,
                buckets=(FRAMEWORK,),
                provenance=self.provenance,
                meta=meta,
                force=record is not None,
            ).decide(tx)
        revived = Revive(show_id(atom), "stored again").decide(tx).events
        revised = Revise(show_id(atom), content, meta=meta).decide(tx)
        return Receipt(revised.subject, revived + revised.events, revised.state)


class Items:
    """The items in an open memory. Safe to use from several threads.

    Args:
        memory: The memory; the caller closes it.
        provenance: The provenance of new items: `internal`, `external` or `quarantine`.
    """

    def __init__(self, memory: Engine, *, provenance: str = "internal") -> None:
        self._memory = memory
        self._provenance = checked_provenance(provenance)

    def get(self, namespace: Namespace, key: str) -> StoredItem | None:
        """Return an item, or None if the item is missing or was deleted."""
        source, coded_key = _names(namespace, key)
        with snapshot(self._memory) as rows:
            atom = id_of_key(self._memory.store.identity.id_key, source, coded_key)
            record = read_atom(rows, atom)
            live = record is not None and record.state is State.LIVE
            held = next(values_of(rows, [record] if record is not None and live else []), None)
        return None if held is None else _item(held)

    def put(self, changes: Sequence[tuple[Namespace, str, Mapping[str, Any] | None, bool]]) -> None:
        """Make all changes (namespace, key, value or None, indexed), or none, in one durable batch."""
        self._memory.apply([PutItem(*change, self._provenance) for change in changes])

    def search(
        self,
        prefix: Namespace,
        *,
        query: str | None = None,
        matches: Matches | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[StoredItem]:
        """Return the items whose namespaces begin with `prefix`.

        Args:
            prefix: The first parts of the namespaces; empty for all items.
            query: A question. The items that answer it best come first, as in recall. Without a question, the
                item that was stored last comes first.
            matches: A condition on the value; None for no condition.
            limit: The maximum number of items.
            offset: The number of items to leave out at the beginning.

        Raises:
            InvalidInputError: `limit` or `offset` is negative.
            ConflictError: The text of an item was edited and is no longer JSON.
        """
        need = integer(limit, "limit") + integer(offset, "offset")
        filters = Filters(buckets=(FRAMEWORK,), sources=_sources(prefix))
        if not limit:
            return []
        items = self._ranked(query, filters, matches, need) if query else self._newest(filters, matches, need)
        return items[offset:need]

    def _newest(self, filters: Filters, matches: Matches | None, need: int) -> list[StoredItem]:
        items: list[StoredItem] = []
        with snapshot(self._memory) as rows:
            for held in values_of(rows, records_passing(rows, filters)):
                item = _item(held)
                if matches is None or matches(item.value):
                    items.append(item)
                    if len(items) == need:
                        break
        return items

    def _ranked(self, query: str, filters: Filters, matches: Matches | None, need: int) -> list[StoredItem]:
        """Recall more and more hits until enough of them match."""
        most = need
        while True:
            most = min(most, limits.RESULTS_MAX)
            scores = self._scores(query, filters, most)
            with snapshot(self._memory) as rows:
                records = live_records(rows, list(scores))
                ranked = [
                    _item(held, scores[held.id])
                    for held in values_of(rows, records.values())
                    if UNINDEXED not in (held.body.meta or {})
                ]
            ranked = [item for item in ranked if matches is None or matches(item.value)]
            if len(ranked) >= need or len(scores) < most or most == limits.RESULTS_MAX:
                return ranked
            most *= 4

    def _scores(self, query: str, filters: Filters, most: int) -> dict[str, float]:
        """Return the ids of the atoms that answer a question, the best first, each with its score.

        Recall folds near-duplicates into one hit, but in a key-value store each near-duplicate is an item. It
        gets the score of the hit.
        """
        hits = hits_of(self._memory, query, most, filters)
        return {one: hit.score for hit in hits for one in (hit.id, *hit.duplicates)}

    def namespaces(self) -> list[Namespace]:
        """Return the namespaces that have items, sorted."""
        with snapshot(self._memory) as rows:
            return sorted(map(parts_of, sources_in(rows, FRAMEWORK, f"{FRAMEWORK}:")))


def _names(namespace: Namespace, key: str) -> tuple[str, str]:
    if not namespace:
        raise InvalidInputError("the namespace of an item is empty; give at least one part")
    return source_of(FRAMEWORK, namespace, "a part of a namespace"), coded(key, "the key of an item")


def _sources(prefix: Namespace) -> tuple[str, ...]:
    """Return the patterns that match the source of each namespace that begins with `prefix`."""
    source = source_of(FRAMEWORK, prefix, "a part of a namespace")
    return (source, f"{source}/*") if prefix else (f"{source}*",)


def _item(held: Held, score: float | None = None) -> StoredItem:
    record, body = held
    value = unpack(body.content, body.meta or {}, f"atom {held.id}")
    return StoredItem(
        parts_of(record.source or ""),
        decoded(record.key or ""),
        value,
        record.created,
        record.updated,
        score,
    )
