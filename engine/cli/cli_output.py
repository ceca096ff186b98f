"""Output of the command line: results on stdout, everything else on stderr, control characters escaped."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from engine.base.errors import EngineError
from engine.cli.shown_parts import Fields, Shown, Table, shown

if TYPE_CHECKING:
    from engine.base.model import Receipt


STDIN = "-"
"""The file name that means stdin or stdout."""


def counted(number: int, what: str) -> str:
    """Return a number with its noun: `1 atom`, `1,200 atoms`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a command failed, and the exit code."""

    exit_code: int
    code: str
    message: str
    hint: str = ""

    @classmethod
    def of(cls, error: EngineError) -> Failure:
        """Return the failure for an error."""
        return cls(error.exit_code, error.code, str(error), error.hint)


def receipt_data(receipt: Receipt) -> dict[str, Any]:
    """Return the receipt of a command as JSON types. The field `held` is included only if it has a value."""
    from engine.base.json_text import encode

    data = {**encode(receipt), "changed": receipt.changed}
    if receipt.held is None:
        del data["held"]
    return data


class Output:
    """The output of one run of the command line. Set `json`, `quiet` and `plain` before the first use."""

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
        """True if stdout is a terminal that can show tables and colours."""
        return not (self.plain or self.json) and _for_eyes(sys.stdout)

    @property
    def live(self) -> bool:
        """True if a progress bar may be shown on stderr."""
        return not (self.plain or self.quiet) and sys.stderr.isatty()

    @property
    def can_ask(self) -> bool:
        """True if a person can be asked: stdin and stderr are terminals, and the result is text."""
        return not self.json and sys.stdin.isatty() and sys.stderr.isatty()

    def note(self, message: str) -> None:
        """Print one line that is not a result to stderr, unless `--quiet` is given."""
        if not self.quiet:
            sys.stderr.write(shown(message, line=True) + "\n")

    def listed(self, number: int, what: str, limit: int | None = None) -> None:
        """Print a note with the length of a list, and state whether `limit` may have cut the list off.

        Nothing is printed with --json, whose result contains the number.
        """
        if not self.json:
            cut = f"; there may be more, because --limit is {limit}" if number == limit else ""
            self.note((counted(number, what) if number else f"no {what}s") + cut)

    def answer(
        self, data: Any, text: Iterable[Shown], *, count: int | None = None, failure: Failure | None = None
    ) -> int:
        """Print the result of a command and its failure, if any; return the exit code.

        Args:
            data: The result for `--json`, JSON types only.
            text: The result as text; not iterated with `--json`.
            count: The number of results in `data`. Default: its length if it is a list, otherwise 1.
            failure: The failure to report after the result.
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
        """Print a part of the result immediately; with `--json`, print nothing until the end."""
        if not self.json:
            self._show(item)
            sys.stdout.flush()

    def fail(self, failure: Failure) -> int:
        """Report that a command failed without a result; return the exit code."""
        if self.json:
            self._envelope(None, 0, failure)
        self._complain(failure)
        return failure.exit_code

    def json_line(self, data: Any) -> None:
        """Print one value of a stream of JSON Lines."""
        from engine.base.json_text import dumped

        sys.stdout.write(dumped(data, spaces=True, ascii_only=not _is_utf8(sys.stdout)) + "\n")

    def exact(self, text: str) -> None:
        """Print text byte for byte; on a terminal, escape control characters."""
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
                "namespace": None,  # other programs' objects of this shape have one; a memory does not
                "count": count,
                "data": data,
                "error": error,
            }
        )

    def _complain(self, failure: Failure) -> None:
        sys.stdout.flush()  # Flush, so that the result precedes the error if both streams go to one file.
        # The error is printed even with --quiet: an exit code without a reason is not useful.
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
