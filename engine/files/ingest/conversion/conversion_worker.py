"""The process that converts files. `engine.files.ingest.conversion.conversion_process` starts it.

It reads files from its standard input, and writes their texts to its standard output. The libraries that
parse the files were not written for hostile input, so the process gives up all rights that it does not need.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any, Final, NoReturn

from engine.base.errors import EngineError
from engine.files.ingest.documents import OUT_OF_MEMORY, BadItemError, Converted, receive, send

TEXT_BYTES_MAX: Final = 64 << 20
"""The maximum number of bytes of the text of a file."""
_DEPTH_MAX: Final = 10_000
"""The maximum depth of recursion; the converter of HTML needs a few calls for each level of nesting."""

_REFUSED: Final = ("socket.", "subprocess.", "os.system", "os.exec", "os.spawn", "os.posix_spawn", "os.fork")
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def main(seconds_max: int, memory_max: int) -> None:
    """Convert files until standard input ends.

    Each message on standard input is [format, bytes]. The answer is [reason, kind], or else [null, null,
    title, created, pages, markdown].
    """
    # Ctrl-C reaches both processes. The ingest decides what happens then, and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(_DEPTH_MAX)
    _bound(resource.RLIMIT_AS, memory_max)
    _bound(resource.RLIMIT_CORE, 0)
    own_folders = tuple(os.path.join(os.path.realpath(path), "") for path in sys.path if path)  # noqa: PTH118
    sys.addaudithook(_guard(own_folders))
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            file_format, raw = receive(stdin)
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_PROF, seconds_max)
        send(stdout, _answer(file_format, raw))
        signal.setitimer(signal.ITIMER_PROF, 0)
        stdout.flush()


def _bound(what: int, maximum: int) -> None:
    try:
        resource.setrlimit(what, (maximum, maximum))
    except (OSError, ValueError):
        # macOS has no bound for memory. The other bounds hold there, too.
        return


def _guard(own: tuple[str, ...]) -> Callable[[str, tuple[Any, ...]], None]:
    """Return an audit hook that refuses connections, processes, and all files except Python's own files."""

    def refuse() -> NoReturn:
        raise PermissionError("a process that reads files may not do this")

    def guard(event: str, args: tuple[Any, ...]) -> None:
        if event.startswith(_REFUSED):
            refuse()
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITING:
                refuse()
            if isinstance(path, (str, bytes)) and not os.path.realpath(os.fsdecode(path)).startswith(own):
                refuse()

    return guard


def _answer(file_format: str, raw: bytes) -> list[Any]:
    try:
        answer = _converter(file_format)(raw)
        size = len(answer.markdown) + sum(len(text) for _, text in answer.pages or ())
        if size > TEXT_BYTES_MAX:
            raise BadItemError(f"the text of the file is over {TEXT_BYTES_MAX} characters long", "too large")
    except BadItemError as error:
        return [str(error), error.kind]
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # nothing that runs on can be trusted
    except RecursionError:
        return ["the file is nested too deeply", "broken"]
    except Exception as error:  # noqa: BLE001 -- the libraries raise all kinds of errors for broken files
        return [f"the file is broken: {_one_line(error)}", "broken"]
    return [None, None, answer.title, answer.created, answer.pages, answer.markdown]


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    text = text.encode("utf-8", "replace").decode()
    return text[:200] if text and not isinstance(error, EngineError) else type(error).__name__


def _converter(file_format: str) -> Callable[[bytes], Converted]:
    if file_format == "html":
        from engine.files.ingest.conversion.html_docx_conversion import from_html as convert
    elif file_format == "docx":
        from engine.files.ingest.conversion.html_docx_conversion import from_docx as convert
    elif file_format == "pdf":
        from engine.files.ingest.conversion.pdf_conversion import from_pdf as convert
    else:
        raise BadItemError(f"the format {file_format} is not known")
    return convert
