"""Filters and entries of meta as people write them.

A filter is one line of text, such as `tag:kitchen -tag:draft source:notes/* after:2026-01-01`. It is a
sequence of terms with spaces between them. A term is a name, a colon and a value. A value with spaces is put
in double quotes, with the escapes of JSON: `source:"my notes.md"`. A term whose name is in `REPEATED` may
occur several times. The conditions have the meaning that they have in `engine.query.filters.Filters`. A term
`meta.KEY:VALUE` asks for an entry of meta. VALUE is a text if it is in quotes, or if it is not a JSON number,
true or false. If several terms have the same key, an entry with any of their values matches.

An entry of meta is a text such as `project=atlas`, `priority=2`, `done=true` or `version="2"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.base.times import Moment, parse_moment, parse_time
from engine.base.validation import quoted
from engine.query.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from proofs.events import Scalar


REPEATED: Final = {
    "tag": "tags",
    "-tag": "without_tags",
    "bucket": "buckets",
    "source": "sources",
    "kind": "kinds",
    "provenance": "provenances",
    "category": "categories",
}
"""The name of a term → the field of `Filters` to which the term adds its value."""

TIMES: Final = {"after": "since", "since": "since", "before": "until", "until": "until"}
"""The name of a term → the field of `Filters` that the term sets to a time."""

META: Final = "meta."

NAMES: Final = (*REPEATED, "meta.KEY", "after", "before", "superseded", "as_of")

_TERM: Final = re.compile(
    r'\s*(?P<name>meta\.[\w.-]+|-?[a-z_]+):(?P<value>"(?:[^"\\]|\\.)*"|[^\s"]\S*)(?=\s|$)', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The meaning of a filter text."""

    filters: Filters = NO_FILTERS
    as_of: Moment | None = None
    """The moment of the memory to query; None for now."""


def parse_filter(text: str) -> Wanted:
    """Return the filters that `text` describes. A blank text sets no condition.

    Raises:
        InvalidInputError: a term is not `name:value`, its name is unknown, it may not be repeated, or its
            value is not valid.
    """
    fields: dict[str, Any] = {}
    at = 0
    while rest := text[at:].strip():
        term = _TERM.match(text, at)
        if term is None:
            shown = rest.split(maxsplit=1)[0]
            raise InvalidInputError(f"{quoted(shown)} in the filter is not name:value", hint=_hint())
        name, value = term["name"], _value(term["value"])
        if name.startswith(META):
            values = fields.setdefault("meta", {}).setdefault(name.removeprefix(META), [])
            values.append(parse_value(term["value"], name))
        elif name in REPEATED:
            fields[REPEATED[name]] = (*fields.get(REPEATED[name], ()), value)
        else:
            field, read = _single(name, value)
            if field in fields:
                raise InvalidInputError(f"the filter has two terms {name}:", hint=_hint())
            fields[field] = read
        at = term.end()
    as_of = fields.pop("as_of", None)
    return Wanted(Filters(**fields), as_of)


def _value(written: str) -> str:
    if not written.startswith('"'):
        return written
    try:
        return str(parse(written))
    except JsonError as error:
        raise InvalidInputError(f"{quoted(written)} in the filter is not one quoted text: {error}") from None


def _single(name: str, value: str) -> tuple[str, object]:
    """Return the field that a term sets, and its value.

    Raises:
        InvalidInputError: there is no such term, or its value is not valid.
    """
    if name in TIMES:
        return TIMES[name], parse_time(value, name)
    if name == "as_of":
        return name, parse_moment(value, name)
    if name == "superseded":
        if value not in {"yes", "no"}:
            raise InvalidInputError(f"superseded:{quoted(value)} is neither superseded:yes nor superseded:no")
        return name, value == "yes"
    raise InvalidInputError(f"the filter has no term {quoted(name)}", hint=_hint())


def _hint() -> str:
    return f"the terms are {' '.join(f'{name}:' for name in NAMES)}"


def parse_value(text: str, where: str) -> Scalar:
    """Return the value that `text` stands for: a JSON string, number, true or false, or else the text itself.

    Args:
        text: The text.
        where: The beginning of the error message: what contains the text.

    Raises:
        InvalidInputError: the text is a JSON list, a JSON object or null.
    """
    try:
        value = parse(text)
    except JsonError:
        return text
    if not isinstance(value, (bool, int, float, str)):
        raise InvalidInputError(
            f"{where}: the value must be text, a number, true or false",
            hint="put it in double quotes to make it a text",
        )
    return value


def parse_meta(given: Iterable[str], option: str) -> dict[str, Scalar]:
    """Parse texts of the form KEY=VALUE, and return them as entries of an atom's meta.

    Args:
        given: The texts.
        option: The option that contains them, for error messages.

    Raises:
        InvalidInputError: a text is not KEY=VALUE, its value is a JSON list, a JSON object or null, or a key
            is given twice.
    """
    conditions = parse_conditions(given, option)
    for key, values in conditions.items():
        if len(values) > 1:
            raise InvalidInputError(f"{option} gives {quoted(key)} twice; an atom has one value for a key")
    return {key: values[0] for key, values in conditions.items()}


def parse_conditions(given: Iterable[str], option: str) -> dict[str, tuple[Scalar, ...]]:
    """Parse texts of the form KEY=VALUE, and return each key with its values in order.

    Args:
        given: The texts.
        option: The option that contains them, for error messages.

    Raises:
        InvalidInputError: a text is not KEY=VALUE, or its value is a JSON list, a JSON object or null.
    """
    conditions: dict[str, tuple[Scalar, ...]] = {}
    for entry in given:
        key, equals, text = entry.partition("=")
        if not equals:
            raise InvalidInputError(f"{option} {quoted(entry)} is not KEY=VALUE")
        conditions[key] = (*conditions.get(key, ()), parse_value(text, f"{option} {quoted(entry)}"))
    return conditions
