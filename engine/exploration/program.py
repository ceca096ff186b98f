"""A program that decides: it reads a prompt on its stdin and prints an action."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
from contextlib import nullcontext, suppress
from typing import Final

from engine.border import instance, quoted
from engine.errors import EngineError, InvalidInputError, NotFoundError

SECONDS: Final = 120.0
"""So long a program may take for one decision."""

REPLY_BYTES_MAX: Final = 64 << 10


class Program:
    """Asks a program, started anew for each prompt, without a shell."""

    def __init__(self, command: str, seconds: float = SECONDS) -> None:
        """A command line, split as a POSIX shell splits words.

        Raises:
            InvalidInputError: it has no words, or an open quote.
            NotFoundError: there is no such program.
        """
        instance(command, str, "the command that decides")
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InvalidInputError(f"the command that decides cannot be read: {error}") from None
        if not self._words:
            raise InvalidInputError("the command that decides is blank")
        if shutil.which(self._words[0]) is None:
            raise NotFoundError(f"there is no program {quoted(self._words[0])} to decide")
        self._name = quoted(self._words[0])
        self._seconds = seconds

    def __call__(self, prompt: str) -> str:
        """What the program prints for `prompt`; what it says on stderr is passed on.

        Raises:
            EngineError: it fails, takes too long, or prints too much or what is not UTF-8.
        """
        late = threading.Event()

        def stop() -> None:
            late.set()
            _kill(child)

        try:
            child = subprocess.Popen(  # noqa: S603  the user's own program, and never a shell
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise EngineError(f"{self._name} cannot be run: {error.strerror}") from None
        timer = threading.Timer(self._seconds, stop)
        writer = threading.Thread(target=_write, args=(child, prompt.encode()), daemon=True)
        with child:
            timer.start()
            writer.start()
            # No more is read than an action may have: a program may print for ever.
            reply = child.stdout.read(REPLY_BYTES_MAX + 1) if child.stdout else b""
            if len(reply) > REPLY_BYTES_MAX:
                _kill(child)
            code = child.wait()
            timer.cancel()
        return self._read(reply, code, late=late.is_set())

    def _read(self, reply: bytes, code: int, *, late: bool) -> str:
        if late:
            raise EngineError(f"{self._name} took over {self._seconds:g} s to decide")
        if len(reply) > REPLY_BYTES_MAX:
            raise EngineError(f"{self._name} printed over {REPLY_BYTES_MAX} bytes; an action is a line")
        if code:
            raise EngineError(f"{self._name} ended with exit code {code}")
        try:
            return reply.decode()
        except UnicodeDecodeError:
            raise EngineError(f"{self._name} printed what is not UTF-8") from None


def _write(child: subprocess.Popen[bytes], prompt: bytes) -> None:
    # It need not read all of it, or any.
    with suppress(OSError), child.stdin or nullcontext():
        if child.stdin:
            child.stdin.write(prompt)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End the program and all that it started; its process group is its own."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
