"""An external program in place of a language model: it reads a prompt on stdin and prints an action."""

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
from pathlib import Path
from typing import Final

from engine.base.error_translation import system_failure
from engine.base.errors import EngineError, InvalidInputError, NotFoundError
from engine.base.validation import instance, quoted

SECONDS: Final = 120.0
"""The default time limit in seconds for one decision."""

REPLY_BYTES_MAX: Final = 64 << 10

POLL_SECONDS: Final = 0.02


class Program:
    """Runs an external program once for each prompt, without a shell."""

    def __init__(self, command: str, seconds: float = SECONDS) -> None:
        """Set the command line, which is split into words by the rules of a POSIX shell.

        Raises:
            InvalidInputError: the command line has no words, or a quote that is not closed.
            NotFoundError: there is no such program.
        """
        instance(command, str, "the decision command")
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InvalidInputError(f"the decision command cannot be parsed: {error}") from None
        if not self._words:
            raise InvalidInputError("the decision command is blank")
        if shutil.which(self._words[0]) is None:
            exists = "/" in self._words[0] and Path(self._words[0]).is_file()
            raise NotFoundError(
                f"there is no program {quoted(self._words[0])} for the decision command",
                hint="the file is there, but not executable: use `chmod +x`" if exists else "",
            )
        self._name = quoted(self._words[0])
        self._seconds = seconds

    def __call__(self, prompt: str) -> str:
        """Run the program with `prompt` on stdin, and return its output. Its stderr is passed through.

        Raises:
            EngineError: the program fails, takes too long, prints too much, or prints text that is not UTF-8.
        """
        # The prompt is in a file, because a pipe would have to be written while the reply is read.
        with tempfile.TemporaryFile() as stdin:
            stdin.write(prompt.encode())
            stdin.seek(0)
            try:
                child = subprocess.Popen(  # noqa: S603  the user's own program, and never a shell
                    self._words, stdin=stdin, stdout=subprocess.PIPE, start_new_session=True
                )
            except OSError as error:
                raise system_failure(error, f"{self._name} cannot be run") from None
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
            raise EngineError(f"{self._name} printed text that is not UTF-8") from None

    def _reply(self, child: subprocess.Popen[bytes]) -> bytes:
        """Return the output of the program when it ends, even if child processes keep its stdout open."""
        deadline, reply, open_ = time.monotonic() + self._seconds, b"", True
        output = -1 if child.stdout is None else child.stdout.fileno()
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise EngineError(f"{self._name} took longer than {self._seconds:g} s to decide")
            if open_ and select.select([output], [], [], min(left, POLL_SECONDS))[0]:
                read = os.read(output, REPLY_BYTES_MAX)
                reply, open_ = reply + read, bool(read)
                if len(reply) > REPLY_BYTES_MAX:
                    raise EngineError(
                        f"{self._name} printed over {REPLY_BYTES_MAX} bytes; it must print one line"
                    )
            # With WNOWAIT the exit code, and so the process group, continues to exist until `_end`.
            elif os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return reply
            elif not open_:
                time.sleep(min(left, POLL_SECONDS))


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the program and its children that are still running, then collect the exit code."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
