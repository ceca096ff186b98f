"""Adds one table to a TOML text without changing any other line."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.base.errors import ConflictError, InvalidInputError, RefusedError

_HEADER: Final = re.compile(r"^[ \t]*\[{1,2}[ \t]*([^\]\n]*?)[ \t]*\]{1,2}[ \t]*(?:#.*)?$")


def with_table(text: str, path: Sequence[str], value: Mapping[str, Any], *, replace: bool = False) -> str:
    """Return `text` with the table `value` at `path`, whose names are bare keys.

    The table is added at the end. With `replace`, an existing table is removed first; it must have a header.
    If the existing table is equal to `value`, the text is returned unchanged.

    Raises:
        InvalidInputError: the text is not TOML, or a value on the path is not a table.
        ConflictError: another value is at `path`, and `replace` is False.
        RefusedError: the table is written in a way that this function cannot replace.
    """
    before = _parsed(text)
    existing = _at(before, path)
    if existing == value:
        return text
    if existing is not None and not replace:
        raise ConflictError(f"{'.'.join(path)} is configured already", hint="replace it, or choose a name")
    kept = text if existing is None else _without(text, ".".join(path))
    newline = "\r\n" if "\r\n" in text else "\n"
    kept = kept.rstrip("\r\n \t")
    after = (kept + 2 * newline if kept else "") + written(path, value).replace("\n", newline)
    tables = before
    for name in path[:-1]:
        tables = tables.setdefault(name, {})
    tables[path[-1]] = value
    if _parsed_or_none(after) != before:
        raise RefusedError(
            f"{'.'.join(path)} is written in a way that cannot be changed automatically",
            hint="use --print and paste the entry",
        )
    return after


def written(path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return a table as TOML. The table's values may be texts, lists of texts, and tables of texts."""
    plain = {name: one for name, one in value.items() if not isinstance(one, Mapping)}
    lines = [f"[{'.'.join(path)}]", *(f"{name} = {_value(one)}" for name, one in plain.items())]
    tables = [written([*path, name], one) for name, one in value.items() if isinstance(one, Mapping)]
    return "\n".join(lines) + "\n" + "".join(f"\n{table}" for table in tables)


def _value(value: str | list[str]) -> str:
    # A string of JSON is a basic string of TOML, except that TOML requires an escape for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInputError(
            f"not TOML: {error}", hint="repair the file, or use --print and paste the entry"
        ) from None


def _parsed_or_none(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _at(tables: dict[str, Any], path: Sequence[str]) -> Any:
    """Return the value at `path`, or None.

    Raises:
        InvalidInputError: a value on the path is not a table.
    """
    found: Any = tables
    for depth, name in enumerate(path):
        if not isinstance(found, dict):
            raise InvalidInputError(f"{'.'.join(path[:depth])} is not a table", hint="repair the file")
        found = found.get(name)
        if found is None:
            return None
    return found


def _without(text: str, name: str) -> str:
    """Return the text without the lines of the table `name` and without the lines of its subtables.

    Empty lines and comments before the next header belong to the next table and are kept.
    """
    kept: list[str] = []
    removed: list[str] = []
    for line in text.splitlines(keepends=True):
        header = _HEADER.match(line.rstrip("\r\n"))
        table = "" if header is None else re.sub(r"[ \t\"']", "", header[1]) + "."
        if table.startswith(name + "."):
            removed.append(line)
            continue
        if table:
            kept += _trailing(removed)
            removed = []
        (removed or kept).append(line)
    return "".join([*kept, *_trailing(removed)])


def _trailing(lines: list[str]) -> list[str]:
    """Return the empty lines and comments at the end of the list `lines`."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return lines[end:]
