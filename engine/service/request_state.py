"""Facts about a request that the application and the server exchange: keys of `scope["state"]` (ASGI)."""

from __future__ import annotations

from typing import Final

TOKEN: Final = "token"  # noqa: S105  the name of a key, not a token
"""The name of the token that the application has accepted."""

STREAM: Final = "stream"
"""True if the answer is a stream of events, which may last any time and ends when the server stops."""

STATUS: Final = "status"
"""The status with which the server has answered instead of the application."""

END: Final = "end"
"""A function without arguments that the server calls when the request has ended."""
