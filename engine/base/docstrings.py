"""Docstrings in the layout of this project, from which commands and operations take their descriptions."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_SECTION: Final = re.compile(r"^(Args|Returns|Yields|Raises):$", re.MULTILINE)
_ARGUMENT: Final = re.compile(r"^    \*{0,2}(\w+): (.*(?:\n        .*)*)", re.MULTILINE)


class Described(NamedTuple):
    """A docstring in the layout of this project."""

    summary: str
    """The first paragraph, on one line."""
    about: str
    """The other paragraphs before the sections, one on each line, and then the text of `Returns`."""
    arguments: dict[str, str]
    """The text for each argument, on one line."""


def described(docstring: str) -> Described:
    """Return the parts of a docstring that `inspect.getdoc` returned."""
    before, *rest = _SECTION.split(docstring)
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    paragraphs = [" ".join(part.split()) for part in before.split("\n\n") if part.strip()]
    returned = " ".join(sections.get("Returns", "").split())
    arguments = {name: " ".join(text.split()) for name, text in _ARGUMENT.findall(sections.get("Args", ""))}
    about = [*paragraphs[1:], *([f"Returns: {returned}"] if returned else [])]
    return Described(paragraphs[0] if paragraphs else "", "\n\n".join(about), arguments)
