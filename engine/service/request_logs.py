"""Warnings and errors on stderr: one JSON object on each line, without content, queries or tokens."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
import traceback
from types import TracebackType
from typing import Any, Final

_FRAMES: Final = 12


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
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC)
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z"),
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
