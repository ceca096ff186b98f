"""Answers of the service: JSON, lines of JSON, and problems."""

from __future__ import annotations

import logging
import traceback
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from engine.base.errors import EngineError, SystemFailureError, TooManyRequestsError
from engine.base.json_text import dumped
from engine.remote.wire.problems import MEDIA_TYPE, STATUS, problem_fields, problem_of

LINES: Final = "application/x-ndjson"
HEADERS: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}

log = logging.getLogger(__name__)


def answer(value: Any, status: int = 200) -> Response:
    """Return an answer whose body is a JSON value."""
    return Response(dumped(value), status, HEADERS, "application/json")


def line(value: Any) -> bytes:
    """Return a JSON value as one line."""
    return f"{dumped(value)}\n".encode()


def for_client(error: EngineError) -> EngineError:
    """Return the error that a client is told. The log describes a failure of the system, and it does not.

    The message of such a failure names the place of the store.
    """
    if not isinstance(error, SystemFailureError):
        return error
    log.warning("a request failed: %s", error)
    return SystemFailureError("the service cannot do this now", hint="repeat the request later")


def problem(error: EngineError, **extra: Any) -> Response:
    """Return the answer for an error, with further fields."""
    status, body = problem_of(for_client(error))
    headers = dict(HEADERS)
    if status == STATUS["unauthorized"]:
        headers["www-authenticate"] = 'Bearer realm="memroot"'
    if status in (429, 503):
        headers["retry-after"] = str(error.seconds if isinstance(error, TooManyRequestsError) else 1)
    return Response(dumped(body | extra), status, headers, MEDIA_TYPE)


async def on_engine_error(request: Request, error: Exception) -> Response:
    """Answer a request that raised an EngineError."""
    del request
    assert isinstance(error, EngineError)  # noqa: S101  the application registers it for this class
    return problem(error)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Answer a request with a wrong path or method."""
    del request
    assert isinstance(error, HTTPException)  # noqa: S101  as above
    code = {404: "not_found", 405: "invalid"}.get(error.status_code, "failure")
    text = {
        404: "there is no such address; GET /v1/openapi.json describes all addresses",
        405: "the address does not accept this method",
    }.get(error.status_code, str(error.detail))
    body = problem_fields(error.status_code, code, text) | {"title": error.detail}
    return Response(dumped(body), error.status_code, HEADERS | dict(error.headers or {}), MEDIA_TYPE)


async def on_disconnect(request: Request, error: Exception) -> Response:
    """End a request whose client closed the connection before its body arrived. Nobody reads the answer."""
    del request, error
    return Response(status_code=400)


async def on_failure(request: Request, error: Exception) -> Response:
    """Answer a request that failed for an unexpected reason; log where, without any content."""
    del request
    place = "".join(traceback.format_tb(error.__traceback__))
    log.error("unexpected %s:\n%s", type(error).__name__, place)
    return problem(EngineError("the service failed", hint="its log tells where; report the fault"))
