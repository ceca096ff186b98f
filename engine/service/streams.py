"""Long answers, which end early if their token is revoked meanwhile."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

from starlette.responses import StreamingResponse
from starlette.types import Send

from engine.service.answers import HEADERS, LINES

log: Final = logging.getLogger("engine.service")


class Lines(StreamingResponse):
    """Lines of JSON that are sent part by part.

    `may_go_on` is called before each part. If it returns False, the answer ends without its last chunk, so
    that no client takes the answer for complete.

    Args:
        parts: The parts of the answer.
        may_go_on: Returns False if the token of the request is no longer valid.
    """

    def __init__(self, parts: AsyncGenerator[bytes, None], may_go_on: Callable[[], Awaitable[bool]]) -> None:
        super().__init__(parts, headers=HEADERS, media_type=LINES)
        self._parts, self._may_go_on = parts, may_go_on

    async def stream_response(self, send: Send) -> None:
        """Send the answer (called by Starlette)."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._parts) as parts:
            async for part in parts:
                if not await self._may_go_on():
                    log.warning("an answer was cut off, because its token is no longer valid")
                    return
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
