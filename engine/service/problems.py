"""Answers of the server itself, which come before those of the application: problem details (RFC 9457)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from starlette.types import Receive, Scope, Send

from engine.remote.wire.problems import MEDIA_TYPE, problem_fields

CONTENT_TYPE: Final = MEDIA_TYPE.encode()


@dataclass(frozen=True)
class Problem:
    """Why a request is refused. An ASGI application that answers with it."""

    status: int
    code: str
    detail: str
    headers: dict[str, str] = field(default_factory=dict)

    def body(self) -> bytes:
        """The JSON text."""
        return json.dumps(problem_fields(self.status, self.code, self.detail)).encode()

    def head(self) -> list[tuple[bytes, bytes]]:
        """The headers."""
        given = [(name.lower().encode(), text.encode()) for name, text in self.headers.items()]
        return [
            (b"content-type", CONTENT_TYPE),
            (b"content-length", str(len(self.body())).encode()),
            *given,
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        del scope, receive
        await send({"type": "http.response.start", "status": self.status, "headers": self.head()})
        await send({"type": "http.response.body", "body": self.body()})
