"""A session of the OpenAI Agents SDK whose items are atoms of a memory (docs/frameworks.md).

`MemrootSession` has the methods of the SDK's protocol `Session`, so this module does not import the SDK.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final, Protocol
from uuid import uuid4

from engine.base.errors import InvalidInputError
from engine.base.model import Receipt
from engine.base.validation import integer
from engine.base.validation import provenance as checked_provenance
from engine.commands.atoms import Add, Tombstone
from engine.commands.transaction import Transaction
from engine.engine import Engine
from engine.frameworks.framework_atoms import Held, records_passing, snapshot, source_of, values_of
from engine.frameworks.framework_calls import in_thread
from engine.frameworks.framework_values import Path, packed, unpack
from engine.ledger.records import AtomRecord
from engine.query.filters import Filters

FRAMEWORK: Final = "openai-agents"
"""The bucket of every session item, and the first part of the item's source."""


class Settings(Protocol):
    """The part of the SDK's `SessionSettings` that a session uses."""

    limit: int | None
    """The maximum number of items that `get_items` returns if its caller gives no limit."""


@dataclass(frozen=True, slots=True)
class AppendItem:
    """A command that appends an item to a session. `key` identifies the item within the session."""

    source: str
    item: dict[str, Any]
    key: str
    provenance: str = "internal"

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that adds the item; append nothing if an item with this key is already recorded.

        Raises:
            RefusedError: The text of the item was erased earlier, or contains a secret that is refused.
        """
        content, meta = packed(tx, self.item, _text_of, "item")
        return Add(
            content,
            source=self.source,
            key=self.key,
            sequence=tx.next_ordinal,  # it rises with each item, also if several programs append
            buckets=(FRAMEWORK,),
            provenance=self.provenance,
            meta=meta,
        ).decide(tx)


class MemrootSession:
    """A session in an open memory: the history of one conversation. Safe to use from several threads.

    An item is an atom in the bucket `openai-agents`: the session is its source, and the text of a message is
    its content. Items that are popped or cleared are hidden; the history stays in the journal.

    Args:
        session_id: The name of the conversation.
        memory: The memory; the caller closes it.
        session_settings: Settings with the field `limit`, such as the SDK's `SessionSettings`; None for none.
        provenance: The provenance of new items: `internal`, `external` or `quarantine`.

    Raises:
        InvalidInputError: `session_id` is empty or not text, or `provenance` is unknown.
    """

    def __init__(
        self,
        session_id: str,
        memory: Engine,
        *,
        session_settings: Settings | None = None,
        provenance: str = "internal",
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._memory = memory
        self._source = source_of(FRAMEWORK, (session_id,), "the id of a session")
        self._provenance = checked_provenance(provenance)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items, the oldest first.

        Args:
            limit: The maximum number of items, counted from the newest. None means the limit in the settings,
                or all items if the settings have no limit.

        Raises:
            InvalidInputError: `limit` is negative.
            ConflictError: The text of an item was edited and is no longer JSON.
        """
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return await in_thread(partial(self._newest, limit))

    async def add_items(self, items: list[Any]) -> None:
        """Append items, all or none, in one durable batch.

        Raises:
            InvalidInputError: An item is not a map, or is not JSON. Nothing was written.
        """
        commands = [self._append(item) for item in items]
        if commands:
            await in_thread(partial(self._memory.apply, commands))

    async def pop_item(self) -> Any:
        """Hide the newest item and return it; return None if there is no item."""
        return await in_thread(self._pop)

    async def clear_session(self) -> None:
        """Hide all items."""
        await in_thread(self._clear)

    def _append(self, item: Any) -> AppendItem:
        if not isinstance(item, dict):
            raise InvalidInputError(f"an item of a session must be a map, not {type(item).__name__}")
        return AppendItem(self._source, item, uuid4().hex, self._provenance)

    def _newest(self, limit: int | None) -> list[Any]:
        held = self._held(None if limit is None else integer(limit, "limit"))
        return [_item(one) for one in reversed(held)]

    def _held(self, most: int | None = None) -> list[Held]:
        """Return the items, the newest first. An item keeps its place when its text is revised."""
        with snapshot(self._memory) as rows:
            filters = Filters(buckets=(FRAMEWORK,), sources=(self._source,))
            records = sorted(records_passing(rows, filters), key=_added, reverse=True)
            return list(islice(values_of(rows, records), most))

    def _pop(self) -> Any:
        while held := self._held(1):
            # If another program popped the same item, the next one is tried.
            if self._memory.apply([Tombstone(held[0].id, "popped")])[0].changed:
                return _item(held[0])
        return None

    def _clear(self) -> None:
        commands = [Tombstone(one.id, "cleared") for one in self._held()]
        for _ in self._memory.apply_many(commands):
            continue


def _added(record: AtomRecord) -> int:
    return record.created_seq


def _item(held: Held) -> Any:
    return unpack(held.body.content, held.body.meta or {}, f"atom {held.id}")


def _text_of(item: dict[str, Any]) -> Path | None:
    """Return the place of the text of a message; None if the item has no text, or several texts."""
    content = item.get("content")
    if isinstance(content, str):
        return ("content",)
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        return ("content", 0, "text") if isinstance(content[0].get("text"), str) else None
    return None
