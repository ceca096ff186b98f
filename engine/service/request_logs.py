"""Logs on stderr: one JSON object on each line, without content, queries or tokens."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
import traceback
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, TextIO

_FRAMES: Final = 12


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer."""

    method: str
    """The method, or `OTHER`."""

    route: str
    """The template of the path, such as `/v1/memories/{memory}/recall`."""

    status: int

    seconds: float
    """The time from the request's headers to the end of the answer."""

    sent: int
    """The bytes of the answer's body."""

    token: str
    """The name of the token, or an empty text."""

    peer: str
    """The address of the client."""


def log_requests(exchange: Exchange, file: TextIO | None = None) -> None:
    """Write one line about a request to `file`, or to stderr."""
    _write(
        file or sys.stderr,
        {
            "time": _time(),
            "method": exchange.method,
            "route": exchange.route,
            "status": exchange.status,
            "ms": round(exchange.seconds * 1000, 3),
            "bytes": exchange.sent,
            "token": exchange.token,
            "peer": exchange.peer,
        },
    )


def log_to_stderr() -> None:
    """Write the warnings and errors of all libraries as lines of JSON, too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


class JsonFormatter(logging.Formatter):
    """A record as one JSON object. Of an exception, it names the class and the place, but not the message.

    The message of an exception can quote a text that somebody stored.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for a record."""
        fields: dict[str, Any] = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info is not None and record.exc_info[0] is not None:
            fields["error"] = record.exc_info[0].__name__
            fields["where"] = where(record.exc_info[2])
        return json.dumps(fields)


def where(trace: TracebackType | None) -> list[str]:
    """Return the last calls of a traceback, the innermost first."""
    frames = traceback.extract_tb(trace)[-_FRAMES:]
    return [f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in reversed(frames)]


def _write(file: TextIO, fields: dict[str, Any]) -> None:
    # JSON in ASCII has neither line ends nor sequences that a terminal would obey.
    file.write(json.dumps(fields) + "\n")
    file.flush()


def _time(seconds: float | None = None) -> str:
    moment = dt.datetime.now(dt.UTC) if seconds is None else dt.datetime.fromtimestamp(seconds, dt.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
