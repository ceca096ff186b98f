"""Read files ahead in other processes, so that reading and writing take place at the same time.

Reading and splitting Markdown takes about as long as writing the atoms. Other processes are started only for
many files. They are plain programs with pipes: they inherit no lock and no thread of this process, and do not
import the main module of the program that ingests. The result of an ingest is the same, whichever process
reads a file.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, cast

from engine.files.ingest.conversion.conversion_process import Converter
from engine.files.ingest.documents import (
    READY,
    Item,
    SourceFile,
    decode_files,
    decode_items,
    encode_files,
    encode_items,
    receive,
    send,
    start_reader,
)
from engine.files.ingest.file_reading import read_file

if TYPE_CHECKING:
    from engine.commands.secrets.filter import Screen

FILES_MIN: Final = 400
"""The smallest number of files for which other processes are started. Starting a process takes as long
as reading 400 files (measured: 0.15 s)."""

_PROCESSES: Final = 2
"""The number of processes that read ahead. Two processes read faster than this process writes, even if this
process never waits (measured on two cores)."""

Read = Callable[[SourceFile], Iterable[Item]]
"""A function that returns the items of a file, as `read_file` does. It must be called in the order of the
files."""

_PROGRAM: Final = (
    "import json, sys; listed = sys.stdin.buffer.read(); sys.path[:] = json.loads(sys.argv[1]);"
    " from engine.files.ingest.parallel_reading import main; main(listed)"
)
"""The program of a reading process. It reads the list of files before its slow imports, so that the writer
of the list does not wait."""

_AHEAD_BYTES: Final = 1 << 20
"""The number of bytes by which a process may be ahead: the size of its pipe."""


@contextmanager
def reading(files: Sequence[SourceFile], screen: Screen | None) -> Iterator[Read]:
    """Return a function that reads the files in the given order. Other processes may read them in advance.

    These processes end when the block ends, or earlier. If one of them cannot be started or ends early, its
    files are read in this process.

    Args:
        files: The files that will be read.
        screen: The secrets filter for texts before they are split. With a filter, all files are read in this
            process, because the filter counts what it finds.
    """
    # Lines are read here, because such a file may have any size; converted files have a process of their own.
    sent = [file for file in files if file.format in {"markdown", "text"}]
    with ExitStack() as stack:
        converter = Converter()
        stack.callback(converter.close)

        def read_here(file: SourceFile) -> Iterable[Item]:
            return read_file(file, screen=screen, convert=converter.convert)

        if screen is not None or len(sent) < FILES_MIN or not _has_cores():
            yield read_here
            return
        readers: deque[_Ahead] = deque()
        for share in range(_PROCESSES):
            readers.append(_Ahead(_started(sent[share::_PROCESSES])))
            stack.callback(readers[-1].end)

        def read(file: SourceFile) -> Iterable[Item]:
            if file.format not in {"markdown", "text"}:
                return read_here(file)
            readers.rotate(-1)
            return readers[-1].read(file)

        yield read


class _Ahead:
    """Reads files in a process that reads ahead, or in this process if the other is missing or fails."""

    def __init__(self, process: subprocess.Popen[bytes] | None) -> None:
        self._process = process
        self._is_ready = False

    def read(self, file: SourceFile) -> Iterable[Item]:
        """Return the items of `file`, which must be the next file of the process."""
        if self._process is not None:
            try:
                values = self._next(_pipe(self._process.stdout))
                if values is not None:
                    return decode_items(values)
            except (OSError, EOFError, ValueError):
                self.end()
        return read_file(file)

    def _next(self, stream: BinaryIO) -> Any:
        if not self._is_ready:
            if stream.read(len(READY)) != READY:
                raise EOFError("this is not the process that reads files")
            self._is_ready = True
        return receive(stream)

    def end(self) -> None:
        """End the process and wait for its end."""
        if self._process is not None:
            _end(self._process)
            self._process = None


def _has_cores() -> bool:
    """Return True if this process may use more than one core."""
    allowed = getattr(os, "sched_getaffinity", None)
    return ((os.cpu_count() or 1) if allowed is None else len(allowed(0))) > 1


def _started(files: Sequence[SourceFile]) -> subprocess.Popen[bytes] | None:
    """Start a process that reads the files. Return None if this is not possible."""
    name = Path(sys.executable or "").name.lower()
    if getattr(sys, "frozen", False) or not name.startswith(("python", "pypy")):
        return None  # the program that contains the interpreter would be started
    try:
        process = start_reader(_PROGRAM, ahead_bytes=_AHEAD_BYTES)
    except (OSError, ValueError):
        return None
    try:
        with _pipe(process.stdin) as stdin:
            stdin.write(encode_files(files))
    except OSError:
        _end(process)
        return None
    except BaseException:
        _end(process)
        raise
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    _pipe(process.stdout).close()


def _pipe(stream: IO[bytes] | None) -> BinaryIO:
    if stream is None:
        raise OSError("the process was started without this pipe")
    return cast("BinaryIO", stream)


def main(listed: bytes) -> None:
    """Read files in a process that reads ahead: write a message for each to standard output.

    `listed` is the result of `documents.encode_files`.

    The message is null if reading the file raises an error. Then the ingest reads the file again, and raises
    the error itself.
    """
    # Ctrl-C reaches both processes. The ingest decides what happens then, and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Parsing makes many small objects and hardly any cycles, so a search after every 700 objects is in vain.
    gc.freeze()
    gc.set_threshold(100_000)
    output = sys.stdout.buffer
    output.write(READY)
    for file in decode_files(listed):
        try:
            message = encode_items(read_file(file))
        except Exception:  # noqa: BLE001 -- see above
            message = None
        send(output, message)
