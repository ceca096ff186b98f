"""Errors as JSON: problem details for HTTP (RFC 9457), with the codes and hints of `EngineError`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from engine.base import errors
from engine.base.errors import EngineError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

MEDIA_TYPE: Final = "application/problem+json"

STATUS: Final = {
    "invalid": 400,
    "limit": 413,
    "not_found": 404,
    "conflict": 409,
    "inconsistent": 409,
    "refused": 422,
    "busy": 503,
    "closed": 503,
    "locked": 423,
    "system": 503,
    "in_doubt": 504,
    "verification_failed": 500,
    "corrupt": 500,
    "failure": 500,
    "unauthorized": 401,
    "forbidden": 403,
    "too_many_requests": 429,
}
"""The code of an error → the status of the answer. A request may be repeated after 429, 503 and 504."""

_EXTRA: Final = ("seq", "event_id", "family", "known", "found")
"""The attributes of errors that are sent besides message, code and hint."""


def problem_fields(status: int, code: str, detail: str) -> dict[str, Any]:
    """Return the fields that every problem has."""
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }


def problem_of(error: EngineError) -> tuple[int, dict[str, Any]]:
    """Return the status and the JSON body for an error."""
    status = STATUS.get(error.code, 500)
    body = problem_fields(status, error.code, str(error))
    if error.hint:
        body["hint"] = error.hint
    extra = {name: value for name in _EXTRA if (value := getattr(error, name, None)) not in (None, "", -1)}
    return status, body | {name: list(v) if isinstance(v, tuple) else v for name, v in extra.items()}


def error_of(body: Any, status: int) -> EngineError:
    """Return the error that a body describes. An unknown body gives an EngineError with the status."""
    if not isinstance(body, dict) or not isinstance(body.get("detail"), str):
        return EngineError(f"the service answered with status {status}")
    detail, hint, code = body["detail"], _text(body, "hint"), _text(body, "code")
    if code == "in_doubt":
        seq = body.get("seq")
        event_id = _text(body, "event_id")
        return errors.InDoubtError(detail, seq=seq if type(seq) is int else -1, event_id=event_id, hint=hint)
    if code == "inconsistent":
        position = body.get("found")
        texts = tuple(map(str, position)) if isinstance(position, list) else ()
        return errors.InconsistentError(detail, known=_text(body, "known"), found=texts, hint=hint)
    if code == "corrupt":
        return errors.CorruptionError(detail, hint=hint, family=_text(body, "family"))
    return _CLASSES.get(code, EngineError)(detail, hint=hint)


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""


_CLASSES: Final = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, EngineError) and "code" in vars(kind)
}
"""Code → the class of the error."""

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
