"""What a detector of secrets is, and detectors that are made from a pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Detector:
    """A detector for one kind of secret."""

    kind: str
    """The name of the kind, which is part of the label that replaces a secret: `[REDACTED:kind]`."""
    find: Callable[[str], Iterator[Span]]
    """A function that yields the position (start and end) of each secret in a text, in order."""
    usual: bool = True
    """True if policies use the detector by default; False if a policy must name the kind to use it."""
    literals: tuple[str, ...] = ()
    """Every text with such a secret contains at least one of these strings. Empty if none are known."""
    issued: bool = False
    """True if the secret is one token that contains one of `literals`."""


def matching(
    kind: str,
    pattern: str,
    *literals: str,
    check: Callable[[re.Match[str]], bool] | None = None,
    flags: re.RegexFlag = re.NOFLAG,
    usual: bool = True,
    issued: bool = False,
) -> Detector:
    """Return a detector for texts that match `pattern` and are accepted by `check`.

    The secret is the group `secret` of a match or, if the pattern has no such group, the whole match. Every
    text that matches the pattern contains at least one of `literals`.
    """
    compiled = re.compile(pattern, re.ASCII | flags)
    has_group = "secret" in compiled.groupindex

    def find(text: str) -> Iterator[Span]:
        for match in compiled.finditer(text):
            if check is None or check(match):
                yield match.span("secret" if has_group and match["secret"] else 0)

    return Detector(kind, find, usual, literals, issued)
