"""A LangGraph store whose items are atoms of a memory (docs/frameworks.md)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.base.errors import InvalidInputError, system_failure
from engine.engine import Engine
from engine.frameworks.framework_calls import in_thread
from engine.frameworks.stored_items import Items, Namespace, StoredItem
from engine.frameworks.value_conditions import condition

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )
except ImportError as error:
    raise system_failure(error) from error

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MemrootStore(BaseStore):
    """A `BaseStore` in an open memory. Safe to use from several threads.

    An item is an atom in the bucket `langgraph`: its namespace is the source, and its key is the key. Putting
    an item again revises the atom, and deleting it hides the atom; the history stays in the journal. A search
    with a query is a recall. A time to live (`ttl`) is refused.

    Args:
        memory: The memory; the caller closes it.
        provenance: The provenance of new items: `internal`, `external` or `quarantine`.
    """

    supports_ttl = False

    def __init__(self, memory: Engine, *, provenance: str = "internal") -> None:
        self._items = Items(memory, provenance=provenance)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations. Reads see the store as it was before the writes of the batch.

        The writes are carried out at the end, all or none, in one durable batch. If several writes put or
        delete the same item, the last write counts.

        Raises:
            NotImplementedError: An item is put with a time to live. Nothing was written.
            InvalidInputError: An operation is not valid. Nothing was written.
        """
        operations = list(ops)
        changes: dict[tuple[Namespace, str], PutOp] = {}
        for op in operations:
            if isinstance(op, PutOp):
                if op.ttl is not None:
                    raise NotImplementedError("TTL is not supported by MemrootStore: set ttl=None")
                changes[tuple(op.namespace), op.key] = op
        results = [self._answer(op) for op in operations]
        if changes:
            self._items.put(
                [(name, key, op.value, op.index is not False) for (name, key), op in changes.items()]
            )
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations as `batch` does, in another thread, so that the event loop goes on."""
        operations = list(ops)
        return await in_thread(lambda: self.batch(operations))

    def _answer(self, op: Op) -> Result:
        match op:
            case GetOp():
                item = self._items.get(tuple(op.namespace), op.key)
                return None if item is None else Item(**_fields(item))
            case SearchOp():
                items = self._items.search(
                    tuple(op.namespace_prefix),
                    query=op.query,
                    matches=condition(op.filter) if op.filter else None,
                    limit=op.limit,
                    offset=op.offset,
                )
                return [SearchItem(**_fields(item), score=item.score) for item in items]
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
        raise InvalidInputError(f"{type(op).__name__} is not an operation of a LangGraph store")

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        names = [one for one in self._items.namespaces() if all(_fits(one, two) for two in conditions)]
        if op.max_depth is not None:
            names = sorted({one[: op.max_depth] for one in names})
        return names[op.offset : op.offset + op.limit]


def _fits(namespace: Namespace, wanted: MatchCondition) -> bool:
    path = tuple(wanted.path)
    if wanted.match_type not in {"prefix", "suffix"}:
        raise InvalidInputError(f"a namespace is matched by prefix or suffix, not by {wanted.match_type!r}")
    if len(namespace) < len(path):
        return False
    part = (
        namespace[: len(path)] if wanted.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    )
    return all(two in ("*", one) for one, two in zip(part, path, strict=True))


def _fields(item: StoredItem) -> dict[str, Any]:
    return {
        "namespace": item.namespace,
        "key": item.key,
        "value": item.value,
        "created_at": _EPOCH + timedelta(microseconds=item.created),
        "updated_at": _EPOCH + timedelta(microseconds=item.updated),
    }
