"""The scopes of what the holder of a token may do with a memory."""

from __future__ import annotations

from enum import IntEnum


class Scope(IntEnum):
    """What a token may do. Each scope includes those before it."""

    READ = 1
    """Query, verify answers, follow, export."""
    WRITE = 2
    """Append events."""
    ADMIN = 3
    """Destroy content, rebuild, sign; make, rename and delete memories."""
