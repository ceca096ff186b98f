"""Which files of a folder are left out, according to the caller's patterns and to files named `.gitignore`.

The patterns have the syntax of `.gitignore`. The last pattern that matches a path decides. The patterns of
the caller come after the patterns of every `.gitignore`. The patterns of a nested folder come after the
patterns of the folders above it. An excluded folder is not entered, so nothing in it can be included again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine.base.errors import InvalidInputError
from engine.files.ingest.documents import BadItemError, open_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

EXCLUDED: Final = "excluded"
"""The kind of the entries that a pattern excludes (`PassedOver.kind`)."""
GITIGNORE: Final = b".gitignore"
GITIGNORE_BYTES_MAX: Final = 1 << 20
"""The maximum number of bytes that are read from a `.gitignore`."""
ASTERISKS_MAX: Final = 4
"""The maximum number of asterisks between two slashes of a pattern, and the maximum number of parts `**`.
With five asterisks, comparing one long name could take seconds, because patterns are regular expressions.
"""


class Exclusions:
    """The patterns that apply below one folder. `enter` must be called for a folder before its entries."""

    def __init__(self, patterns: Sequence[Any] = (), *, gitignore: bool = True) -> None:
        """Compile the patterns of the caller.

        Args:
            patterns: The patterns of the caller, relative to the top folder.
            gitignore: Read the files named `.gitignore`.

        Raises:
            InvalidInputError: a pattern is invalid.
        """
        self._given: GitIgnoreSpec | None = None
        if patterns:
            for pattern in patterns:
                if not isinstance(pattern, str):
                    raise InvalidInputError(f"a pattern must be text, not {type(pattern).__name__}")
                if (problem := _problem(pattern)) is not None:
                    raise InvalidInputError(f"the pattern {pattern!r} {problem}")
            self._given = _compiled(patterns)
        self._reads_gitignore = gitignore
        self._by_folder: dict[str, GitIgnoreSpec] = {}

    def enter(self, relative: bytes, path: bytes) -> Iterator[str]:
        """Read the `.gitignore` of a folder; yield the problems with it.

        Args:
            relative: The path of the folder, relative to the top folder, with `/` at its end; empty for the
                top folder itself.
            path: The path at which the folder is opened.
        """
        if not self._reads_gitignore:
            return
        try:
            with open_regular(Path(os.fsdecode(os.path.join(path, GITIGNORE)))) as stream:  # noqa: PTH118 -- bytes
                raw = stream.read(GITIGNORE_BYTES_MAX + 1)
        except FileNotFoundError:
            return
        except (BadItemError, OSError) as error:
            yield f"the file .gitignore is not used: {getattr(error, 'strerror', error)}"
            return
        if len(raw) > GITIGNORE_BYTES_MAX:
            yield f"the file .gitignore is not used: it is over {GITIGNORE_BYTES_MAX} bytes long"
            return
        lines = os.fsdecode(raw.removeprefix(b"\xef\xbb\xbf")).splitlines()
        usable = []
        for number, line in enumerate(lines, 1):
            if (problem := _problem(line)) is None:
                usable.append(line)
            else:
                yield f"line {number} of .gitignore is not used: it {problem}"
        if any(line.strip() for line in usable):
            self._by_folder[os.fsdecode(relative)] = _compiled(usable)

    def excludes(self, relative: bytes) -> bool:
        """Return True if a pattern excludes a path.

        `relative` is relative to the top folder, and ends in `/` if it is the path of a folder.
        """
        if self._given is None and not self._by_folder:
            return False
        path = os.fsdecode(relative)
        verdict = None if self._given is None else self._given.check_file(path).include
        folder = path.rstrip("/")
        while verdict is None and folder:
            folder = folder.rpartition("/")[0]
            above = f"{folder}/" if folder else ""
            spec = self._by_folder.get(above)
            if spec is not None:
                verdict = spec.check_file(path[len(above) :]).include
        return bool(verdict)


def is_below(source: str, tops: AbstractSet[str]) -> bool:
    """Return True if a source, or one of the folders above it, is among `tops`."""
    while source:
        if source in tops:
            return True
        source = source.rpartition("/")[0]
    return False


def _compiled(patterns: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # imported here because most folders have no patterns

    return GitIgnoreSpec.from_lines(patterns)


def _problem(pattern: str) -> str | None:
    """Return the reason why a pattern cannot be used, as the end of a sentence, or None."""
    parts = pattern.split("/")
    if max([part.count("*") for part in parts] + [parts.count("**")]) > ASTERISKS_MAX:
        return f"has more than {ASTERISKS_MAX} asterisks"
    try:
        _compiled([pattern])
    except ValueError:
        return "is not a valid pattern"
    return None
