"""A program that decides: it reads a prompt on its stdin and prints an action."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import nullcontext, suppress
from typing import Final

from engine.base.errors import EngineError, InvalidInputError, NotFoundError
from engine.base.validation import instance, quoted

SECONDS: Final = 120.0
"""So long a program may take for one decision."""

REPLY_BYTES_MAX: Final = 64 << 10

POLL_SECONDS: Final = 0.02


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
        with tempfile.TemporaryFile() as asked:  # a pipe would have to be written beside reading the reply
            asked.write(prompt.encode())
            asked.seek(0)
            try:
                child = subprocess.Popen(  # noqa: S603  the user's own program, and never a shell
                    self._words, stdin=asked, stdout=subprocess.PIPE, start_new_session=True
                )
            except OSError as error:
                raise EngineError(f"{self._name} cannot be run: {error.strerror}") from None
        with child.stdout or nullcontext():
            try:
                reply = self._reply(child)
            finally:
                _end(child)
        if child.returncode:
            raise EngineError(f"{self._name} ended with exit code {child.returncode}")
        try:
            return reply.decode()
        except UnicodeDecodeError:
            raise EngineError(f"{self._name} printed what is not UTF-8") from None

    def _reply(self, child: subprocess.Popen[bytes]) -> bytes:
        """What it prints until it has ended; whoever else still holds its output is not waited for."""
        deadline, reply, open_ = time.monotonic() + self._seconds, b"", True
        output = -1 if child.stdout is None else child.stdout.fileno()
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise EngineError(f"{self._name} took over {self._seconds:g} s to decide")
            if open_ and select.select([output], [], [], min(left, POLL_SECONDS))[0]:
                read = os.read(output, REPLY_BYTES_MAX)
                reply, open_ = reply + read, bool(read)
                if len(reply) > REPLY_BYTES_MAX:
                    raise EngineError(
                        f"{self._name} printed over {REPLY_BYTES_MAX} bytes; an action is a line"
                    )
            # Its exit code stays to be read, and its process group to be ended.
            elif os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return reply
            elif not open_:
                time.sleep(min(left, POLL_SECONDS))


def _end(child: subprocess.Popen[bytes]) -> None:
    """End all that is left of it and of what it started; then read its exit code."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
