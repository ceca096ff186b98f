"""The sources of atoms from frameworks: the framework, then the parts of a name, separated by `/`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from engine.base.errors import InvalidInputError
from engine.base.validation import quoted

_CODED: Final = re.compile("[%/*\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
"""The characters that a source may not contain, or that have a meaning in a filter of sources."""


def coded(part: str, what: str) -> str:
    """Return a part of a name in the form for a source or a key. Unusual characters are written as `%2A`.

    Raises:
        InvalidInputError: the part is empty, or is not text; `what` names it in the message.
    """
    if not isinstance(part, str) or not part:
        raise InvalidInputError(f"{what} must be text that is not empty, not {quoted(part)}")
    return _CODED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), part)


def decoded(text: str) -> str:
    """Return the part of a name for which `coded` returned `text`."""
    return unquote(text, errors="strict")


def source_of(framework: str, parts: Sequence[str], what: str) -> str:
    """Return the source of the atoms with this name, such as `langgraph:users/ada`.

    Raises:
        InvalidInputError: a part is empty, or is not text; `what` names it in the message.
    """
    return f"{framework}:" + "/".join(coded(part, what) for part in parts)


def parts_of(source: str) -> tuple[str, ...]:
    """Return the parts of the name for which `source_of` returned `source`."""
    return tuple(decoded(part) for part in source.partition(":")[2].split("/"))
