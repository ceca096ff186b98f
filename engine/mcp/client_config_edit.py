"""Adds one entry to the configuration of a client, in JSON or TOML, and changes nothing else of the text.

A JSON text may contain comments, and commas before closing brackets: many editors allow both in their
settings.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from engine.base.errors import ConflictError, InvalidInputError, RefusedError

_STRING = r'"(?:[^"\\\n]|\\.)*+"'
_COMMENT: Final = re.compile(r"//[^\n]*+|/\*.*?\*/", re.DOTALL)
_COMMENTED: Final = re.compile(f"{_STRING}|(?P<blank>{_COMMENT.pattern})", re.DOTALL)
_SURPLUS: Final = re.compile(rf"{_STRING}|[\[{{,]\s*+,|(?P<blank>,)(?=\s*+[}}\]])", re.DOTALL)
"""Matches a comma before a closing bracket. There must be a value before the comma."""
_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_DECODER: Final = json.JSONDecoder()
_WHITE: Final = " \t\r\n"


Step = str | int
"""A step of a path in a JSON value: the name of a member, or the index of an element of an array."""


class _Member(NamedTuple):
    name: Step
    """The name of a member of an object, or the index of an element of an array."""
    begin: int
    """The index of the quotation mark before the name, or of the element."""
    value: int
    """The index of the first character of the value."""
    end: int
    """The index of the first character after the value."""


def with_member(text: str, path: Sequence[Step], value: Any, *, replace: bool = False) -> str:
    """Return `text` with `value` at `path`, a list of the names of nested members, outermost first.

    Missing objects and arrays are added. An empty text counts as an empty object. With `replace`, an existing
    value is replaced. If the existing value is equal to `value`, the text is returned unchanged.

    Raises:
        InvalidInputError: the text is not JSON, or a value on the path has another type.
        ConflictError: another value is at `path`, and `replace` is False.
    """
    plain, found = _along(text, path)
    if not found:
        begun = text + "\n" if text and not text.endswith("\n") else text
        return begun + json.dumps(_nested(path, value), indent=2, ensure_ascii=False) + "\n"
    last, missing = found[-1], path[len(found) - 1 :]
    if missing:
        return _inserted(text, plain, last.value, missing[0], _nested(missing[1:], value))
    if _DECODER.raw_decode(plain, last.value)[0] == value:
        return text
    if not replace:
        raise ConflictError(f"{_dotted(path)} is configured already", hint="replace it, or choose a name")
    return text[: last.value] + _written(value, text, _indent_at(text, last.begin)) + text[last.end :]


def elements_at(text: str, path: Sequence[Step]) -> list[Any]:
    """Return the elements of the array at `path`, or [] if there is none.

    Raises:
        InvalidInputError: the text is not JSON, or a value on the path has another type.
    """
    plain, found = _along(text, [*path, 0])
    if len(found) <= len(path):
        return []
    return list(_DECODER.raw_decode(plain, found[len(path)].value)[0])


def value_of(text: str) -> Any:
    """Return the value of a text in JSON with comments; None if it has none.

    Raises:
        InvalidInputError: the text is not JSON.
    """
    plain, found = _along(text, [])
    return _DECODER.raw_decode(plain, found[0].value)[0] if found else None


def with_element(text: str, path: Sequence[Step], value: Any) -> str:
    """Return `text` with `value` as the last element of the array at `path`, which is added if it is missing.

    Raises:
        InvalidInputError: the text is not JSON, or a value on the path has another type.
    """
    return with_member(text, [*path, len(elements_at(text, path))], value)


def without_elements(text: str, path: Sequence[Step], is_unwanted: Callable[[Any], bool]) -> str:
    """Return `text` without the unwanted elements of the array at `path`, or without an array of only these.

    Raises:
        InvalidInputError: the text is not JSON, or a value on the path has another type.
    """
    for number, one in reversed([*enumerate(elements_at(text, path))]):
        if is_unwanted(one):
            text = _without_member(text, [*path, number])
    return text


def _without_member(text: str, path: Sequence[Step]) -> str:
    """Return `text` without the member at `path`, and without the values on the path that are then empty."""
    plain, found = _along(text, path)
    start, gone = found[-2].value, found[-1]
    members, _ = _members(plain, start)
    if len(members) == 1 and len(path) > 1:
        return _without_member(text, path[:-1])
    number = members.index(gone)
    if number == 0 and len(members) > 1:
        return text[: gone.begin] + text[members[1].begin :]
    return text[: members[number - 1].end if number else start + 1] + text[gone.end :]


def _along(text: str, path: Sequence[Step]) -> tuple[str, list[_Member]]:
    """Return the text without comments, and what it has of a path: the outermost value, and its members.

    Raises:
        InvalidInputError: the text is not JSON, or a value on the path has another type.
    """
    plain = _without_comments(text)
    at = _skip(plain, 0)
    if at == len(plain):
        return plain, []
    found = [_Member("", at, at, _checked_end(plain, at))]
    for depth, name in enumerate(path):
        bracket, kind = ("[", "an array") if isinstance(name, int) else ("{", "an object")
        if plain[found[-1].value] != bracket:
            where = _dotted(path[:depth]) or "the JSON text"
            raise InvalidInputError(f"{where} is not {kind}", hint="repair the file")
        same = [one for one in _members(plain, found[-1].value)[0] if one.name == name]
        if len(same) > 1:
            raise InvalidInputError(f"the key {name!r} occurs twice", hint="remove one of the two")
        if not same:
            break
        found += same
    return plain, found


def _dotted(path: Sequence[Step]) -> str:
    return ".".join(map(str, path))


def _nested(path: Sequence[Step], value: Any) -> Any:
    for name in reversed(path):
        value = [value] if isinstance(name, int) else {name: value}
    return value


def _without_comments(text: str) -> str:
    """Return the text with spaces in place of comments and surplus commas; its length does not change."""

    def blanked(found: re.Match[str]) -> str:
        blank = found["blank"]
        return found[0] if blank is None else "".join(one if one in "\r\n" else " " for one in blank)

    text = _SURPLUS.sub(blanked, _COMMENTED.sub(blanked, text))
    return " " + text[1:] if text.startswith("\ufeff") else text


def _checked_end(plain: str, at: int) -> int:
    """Return the end of the JSON value that begins at `at`; the text must end after it.

    Raises:
        InvalidInputError: the text is not JSON; the message has the line and the column.
    """
    try:
        _, end = _DECODER.raw_decode(plain, at)
    except json.JSONDecodeError as error:
        raise _malformed(plain, error.pos, error.msg) from None
    except (ValueError, RecursionError):
        raise _malformed(plain, at, "the value is too deep, or a number is too long") from None
    if (after := _skip(plain, end)) < len(plain):
        raise _malformed(plain, after, "unexpected text after the value")
    return end


def _malformed(plain: str, at: int, reason: str) -> InvalidInputError:
    line, column = plain.count("\n", 0, at) + 1, at - plain.rfind("\n", 0, at)
    return InvalidInputError(
        f"line {line}, column {column}: not JSON: {reason}",
        hint="repair the file, or use --print and paste the entry",
    )


def _skip(plain: str, at: int) -> int:
    while at < len(plain) and plain[at] in _WHITE:
        at += 1
    return at


def _members(plain: str, start: int) -> tuple[list[_Member], int]:
    """Return the members of the object or array from `start` on, and the index of its closing bracket."""
    members: list[_Member] = []
    at = _skip(plain, start + 1)
    while plain[at] not in "]}":
        begin = value = _skip(plain, at + 1) if plain[at] == "," else at
        name: Step = len(members)
        if plain[start] == "{":
            name, after = _DECODER.raw_decode(plain, begin)
            value = _skip(plain, _skip(plain, after) + 1)
        _, end = _DECODER.raw_decode(plain, value)
        members.append(_Member(name, begin, value, end))
        at = _skip(plain, end)
    return members, at


def _inserted(text: str, plain: str, start: int, name: Step, value: Any) -> str:
    """Return the text with a new last member in the object or array from `start` on; comments are kept."""
    members, close = _members(plain, start)
    outer = _indent_at(text, start)
    own_lines = bool(members) and "\n" in text[start : members[-1].begin]
    indent = _indent_at(text, members[-1].begin) if own_lines else outer + _unit(text)
    end = members[-1].end if members else start + 1
    rest = text[end:close].rstrip(_WHITE)
    comma = "," if members and "," not in _COMMENT.sub("", rest) else ""
    newline = _newline(text)
    label = "" if isinstance(name, int) else f"{json.dumps(name, ensure_ascii=False)}: "
    member = f"{label}{_written(value, text, indent)}"
    return f"{text[:end]}{comma}{rest}{newline}{indent}{member}{newline}{outer}{text[close:]}"


def _written(value: Any, text: str, indent: str) -> str:
    """Return a value as JSON in the layout of `text`; every line after the first begins with `indent`."""
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (_newline(text) + indent).join(lines)


def _newline(text: str) -> str:
    """Return the line end of the text: that of Windows if it occurs."""
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """Return the white space of one level of indentation, taken from the first indented line."""
    indent = _INDENT.search(text)
    return indent[1] if indent else "  "


def _indent_at(text: str, at: int) -> str:
    """Return the white space at the beginning of the line that contains the index `at`."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


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
    table = tables = _parsed(text)
    for depth, name in enumerate(path[:-1], 1):
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise InvalidInputError(f"{_dotted(path[:depth])} is not a table", hint="repair the file")
    existing = table.get(path[-1])
    if existing == value:
        return text
    if existing is not None and not replace:
        raise ConflictError(f"{_dotted(path)} is configured already", hint="replace it, or choose a name")
    rest = text if existing is None else _without(text, ".".join(path))
    newline = _newline(text)
    rest = rest.rstrip("\r\n \t")
    after = (rest + 2 * newline if rest else "") + written(path, value).replace("\n", newline)
    table[path[-1]] = value
    with suppress(tomllib.TOMLDecodeError):
        if tomllib.loads(after) == tables:
            return after
    raise RefusedError(
        f"{'.'.join(path)} is written in a way that cannot be changed automatically",
        hint="use --print and paste the entry",
    )


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


def _without(text: str, name: str) -> str:
    """Return the text without the lines of the table `name` and without the lines of its subtables.

    Empty lines and comments before the next header belong to the next table and are kept.
    """
    lines_left: list[str] = []
    removed: list[str] = []
    for line in text.splitlines(keepends=True):
        header = _HEADER.match(line.rstrip("\r\n"))
        table = "" if header is None else re.sub(r"[ \t\"']", "", header[1]) + "."
        if table.startswith(name + "."):
            removed.append(line)
            continue
        if table:
            lines_left += _trailing(removed)
            removed = []
        (removed or lines_left).append(line)
    return "".join([*lines_left, *_trailing(removed)])


def _trailing(lines: list[str]) -> list[str]:
    """Return the empty lines and comments at the end of the list `lines`."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return lines[end:]
