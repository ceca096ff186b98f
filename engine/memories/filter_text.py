"""Filters written as one line of text, such as `tag:kitchen -tag:draft source:notes/* after:2026-01-01`.

A filter is a sequence of terms with spaces between them. A term is a name, a colon and a value. A value with
spaces is put in double quotes, with the escapes of JSON: `source:"my notes.md"`. Terms whose name is in
`REPEATED` may occur several times. The conditions have the meaning that they have in
`engine.query.filters.Filters`. A term `meta.KEY:VALUE` asks for an entry of meta. VALUE is a text if it is in
quotes, or if it is not a JSON number, true or false. If several terms have the same key, an entry with any of
their values matches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.base.time_text import Moment, parse_moment, parse_time
from engine.base.validation import quoted
from engine.memories.meta_text import parse_value
from engine.query.filters import NO_FILTERS, Filters

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
