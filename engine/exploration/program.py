"""A program that decides: it reads a prompt on its stdin and prints an action."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from typing import Final

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
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InvalidInputError(f"the command that decides cannot be read: {error}") from None
        if not self._words:
            raise InvalidInputError("the command that decides is blank")
        if shutil.which(self._words[0]) is None:
            raise NotFoundError(f"there is no program {self._words[0]!r} to decide")
        self._seconds = seconds

    def __call__(self, prompt: str) -> str:
        """What the program prints for `prompt`; what it says on stderr is passed on.

        Raises:
            EngineError: it fails, takes too long, or prints too much or what is not UTF-8.
        """
        try:
            done = subprocess.run(  # noqa: S603  the user's own program, and never a shell
                self._words, input=prompt.encode(), stdout=subprocess.PIPE, timeout=self._seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise EngineError(f"{self._words[0]!r} took over {self._seconds:g} s to decide") from None
        except OSError as error:
            raise EngineError(f"{self._words[0]!r} cannot be run: {error.strerror}") from None
        if done.returncode:
            raise EngineError(f"{self._words[0]!r} ended with exit code {done.returncode}")
        if len(done.stdout) > REPLY_BYTES_MAX:
            raise EngineError(f"{self._words[0]!r} printed {len(done.stdout)} bytes; an action is a line")
        try:
            return done.stdout.decode()
        except UnicodeDecodeError:
            raise EngineError(f"{self._words[0]!r} printed what is not UTF-8") from None
