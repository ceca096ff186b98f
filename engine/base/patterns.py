"""Regular expressions that are compiled when they are first used.

Compiling an expression takes 0.1 to 0.5 ms, and most processes of the command line use only a few
expressions.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    """A regular expression that is compiled when one of its attributes is first read."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for attributes that are not set, so each method is looked up here only once.
        value = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, value)
        return value


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern `re.compile(source, flags)`, which is compiled when it is first used.

    An error in `source` is raised at that time, too.
    """
    return cast("re.Pattern[str]", _Lazy(source, flags))
