"""The memories that a command serves to other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.cli.session import Session
from engine.memories.settings import find_memory, find_served

if TYPE_CHECKING:
    from engine.service.memories import Memories


def served_memories(session: Session, **options: Any) -> Memories:
    """Return the memories that --store and --memory name. `options` are further arguments of `Memories`.

    Raises:
        InvalidInputError: The store cannot be served.
        NotFoundError: There is nothing to serve, and the service would make no store.
    """
    from engine.service.memories import Memories

    memory = find_memory(session.store, session.memory)
    only = None if memory is None else memory.name
    memories = Memories(find_served(session.store, session.memory).url, only=only, **options)
    if memories.read_only:
        memories.require_any()
    return memories
