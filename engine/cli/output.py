"""What leaves the command line: data on stdout, everything else on stderr, nothing a terminal would obey.

Rich is handed `Text` objects only, so that no markup in a content is read.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, TextIO

from engine.base.errors import EngineError
from engine.cli.shapes import Fields, Shown, Table, dumped, shown
from engine.front.times import shown_time

if TYPE_CHECKING:
    from engine.base.model import Receipt

STDIN = "-"
"""What stands for stdin, or stdout, where a file is named."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a command did not succeed."""

    exit_code: int
    code: str
    message: str
    hint: str = ""

    @classmethod
    def of(cls, error: EngineError) -> Failure:
        """What an error says."""
        return cls(error.exit_code, error.code, str(error), error.hint)


_TIMES = frozenset({"at", "created", "created_at", "last_event", "time", "updated"})
"""Fields that hold µs UTC in the engine and ISO 8601 here."""


def plain(value: Any, name: str = "") -> Any:
    """`value` in the types of JSON: enums by name, times in ISO 8601, bytes in hex."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), field.name) for field in fields(value)}
    if isinstance(value, IntEnum):
        return value.name.lower()
    if isinstance(value, Enum):
        return value.value
    if name == "meta":
        return value  # a key of it may be that of a time of ours
    if isinstance(value, Mapping):
        return {str(key): plain(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if name in _TIMES and type(value) is int:
        return shown_time(value)
    return value


def receipt_data(receipt: Receipt) -> dict[str, Any]:
    """The receipt of a command for `--json`."""
    return {**plain(receipt), "changed": receipt.changed}


class Output:
    """Where one run of the command line writes. Set `json`, `quiet`, `plain` before the first use."""

    def __init__(self) -> None:
        self.json = False
        self.quiet = False
        self.plain = False
        self.command: str | None = None
        self._start = time.perf_counter()
        for stream in (sys.stdout, sys.stderr):
            if reconfigure := getattr(stream, "reconfigure", None):
                reconfigure(errors="backslashreplace")

    @property
    def rich(self) -> bool:
        """Whether stdout is shown to a person who wants it lined up and coloured."""
        return not (self.plain or self.json) and _for_eyes(sys.stdout)

    @property
    def live(self) -> bool:
        """Whether a progress bar may move on stderr."""
        return not (self.plain or self.quiet) and sys.stderr.isatty()

    def note(self, message: str) -> None:
        """Say something that is not data, in one line on stderr, unless `--quiet`."""
        if not self.quiet:
            sys.stderr.write(shown(message, line=True) + "\n")

    def answer(
        self, data: Any, text: Iterable[Shown], *, count: int | None = None, failure: Failure | None = None
    ) -> int:
        """Print the answer of a command, and its failure if it has one; returns the exit code.

        Args:
            data: For `--json`, plain values only.
            text: The same for people; not iterated in JSON mode.
            count: How many results `data` holds: by default its length if it is a list, else 1.
            failure: Set where the answer exists and is bad news.
        """
        if count is None:
            count = len(data) if isinstance(data, list) else 1
        if self.json:
            self._envelope(data, count, failure)
        else:
            for item in text:
                self._show(item)
        if failure is not None:
            self._complain(failure)
        return failure.exit_code if failure else 0

    def show(self, item: Shown) -> None:
        """Print a part of an answer as it comes; nothing with `--json`, where it comes as a whole."""
        if not self.json:
            self._show(item)
            sys.stdout.flush()

    def fail(self, failure: Failure) -> int:
        """Report that a command has no answer; returns the exit code."""
        if self.json:
            self._envelope(None, 0, failure)
        self._complain(failure)
        return failure.exit_code

    def json_line(self, data: Any) -> None:
        """Print one value of a stream of JSON Lines."""
        sys.stdout.write(dumped(data, ascii_only=not _is_utf8(sys.stdout)) + "\n")

    def exact(self, text: str) -> None:
        """Print a content and nothing else: byte for byte, unless a terminal would obey it."""
        if sys.stdout.isatty():
            sys.stdout.write(shown(text) + "\n")
            return
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())

    def _envelope(self, data: Any, count: int, failure: Failure | None) -> None:
        error = failure and {"code": failure.code, "message": failure.message, "hint": failure.hint}
        self.json_line(
            {
                "status": "error" if failure else "success",
                "command": self.command,
                "duration_ms": round((time.perf_counter() - self._start) * 1000, 1),
                "namespace": None,
                "count": count,
                "data": data,
                "error": error,
            }
        )

    def _complain(self, failure: Failure) -> None:
        sys.stdout.flush()  # so that in one stream the answer stands before what is wrong with it
        # Also with --quiet: an exit code without a reason helps nobody.
        hint = f"\nhint: {shown(failure.hint, line=True)}" if failure.hint else ""
        sys.stderr.write(f"error: {shown(failure.message, line=True)}{hint}\n")

    def _show(self, item: Shown) -> None:
        if self.rich:
            from engine.cli.terminal import show

            show(item)
        elif isinstance(item, str):
            sys.stdout.write(shown(item) + "\n")
        elif isinstance(item, Table):
            for row in item.rows:
                _write_fields(row)
        elif isinstance(item, Fields):
            _write_fields(text for text, _ in item.spans)
        else:
            sys.stdout.write("".join(shown(text, line=True) for text, _ in item) + "\n")


def _for_eyes(stream: TextIO) -> bool:
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))


def _is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "utf-8").lower().replace("-", "") == "utf8"


def _write_fields(fields: Iterable[str]) -> None:
    sys.stdout.write("\t".join(shown(field, line=True) for field in fields) + "\n")
