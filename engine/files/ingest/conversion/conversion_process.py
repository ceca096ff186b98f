"""Convert files in another process, so that a file cannot do harm or use too much time or memory.

The process opens no file, no connection and no other process, and its memory and processor time are bounded
(`worker`). The process is started for the first file, and is started again if a file caused it to end.
"""

from __future__ import annotations

import signal
import subprocess
from threading import Timer
from typing import BinaryIO, Final, cast

from engine.files.ingest.documents import OUT_OF_MEMORY, BadItemError, Converted, receive, send, start_reader

SECONDS_MAX: Final = 60
"""The maximum number of seconds of processor time for one file."""
WAIT_FACTOR: Final = 10
"""The maximum time for one file, as a multiple of `SECONDS_MAX`: other processes may need the processor."""
MEMORY_MAX: Final = 2 << 30
"""The maximum memory of the process in bytes, if the operating system can limit it."""

_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from engine.files.ingest.conversion.conversion_worker import main; main(*map(int, sys.argv[2:]))"
)


class Converter:
    """Converts files, one after another. `close` ends the process."""

    def __init__(self, *, seconds_max: int = SECONDS_MAX, memory_max: int = MEMORY_MAX) -> None:
        self._limits = seconds_max, memory_max
        self._process: subprocess.Popen[bytes] | None = None

    def convert(self, raw: bytes, file_format: str) -> Converted:
        """Return the text of a file.

        Args:
            raw: The bytes of the file.
            file_format: One of the keys of `formats.LIBRARIES`.

        Raises:
            BadItemError: the file is broken or encrypted, has no text, or exceeds a bound.
        """
        process = self._process = self._process or self._started()
        # The timer is for a process that waits; one that works is ended by its bound of processor time.
        timer = Timer(WAIT_FACTOR * self._limits[0], process.kill)
        timer.start()
        try:
            send(cast("BinaryIO", process.stdin), [file_format, raw])
            cast("BinaryIO", process.stdin).flush()
            reason, kind, *values = receive(cast("BinaryIO", process.stdout))
        except (OSError, EOFError):
            process.wait()
            self.close()
            if process.returncode in {-signal.SIGPROF, -signal.SIGKILL}:
                raise BadItemError("reading the file takes too long", "too large") from None
            if process.returncode == OUT_OF_MEMORY:
                raise BadItemError("reading the file takes too much memory", "too large") from None
            raise BadItemError("the file cannot be read: its reader ended unexpectedly", "broken") from None
        finally:
            timer.cancel()
        if reason is not None:
            raise BadItemError(reason, kind)
        title, created, pages, markdown = values
        return Converted(title, created, None if pages is None else tuple(map(tuple, pages)), markdown)

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            return start_reader(_PROGRAM, *self._limits)
        except (OSError, ValueError) as error:
            raise BadItemError(f"the file cannot be read: no process could be started ({error})") from None

    def close(self) -> None:
        """End the process, if it runs, and wait for its end."""
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close(stream)
            if process.poll() is None:
                process.kill()
            process.wait()


def _close(stream: object) -> None:
    try:
        cast("BinaryIO", stream).close()
    except OSError:  # bytes for a process that has ended were still in the buffer
        return
