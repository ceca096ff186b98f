"""Values of `Engine` as JSON values: the encoder against the rules, written out without any shortcut."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum, IntEnum
from pathlib import PurePath, PurePosixPath
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.json_text import TIME_FIELDS, encode
from engine.base.scopes import Scope
from engine.base.times import shown_time
from engine.query.recall.recall_answer import Role


class Pair(NamedTuple):
    """A tuple with names, which is an array in JSON."""

    first: Any
    second: Any


@dataclass(frozen=True)
class Thing:
    """An object with fields whose names matter."""

    created: Any
    meta: Any
    detail: Any
    items: Any


class Text(str):
    """A text of a class of its own."""

    __slots__ = ()


def plainly(value: Any, field: str = "") -> Any:
    """Return the JSON value by the rules alone."""
    if isinstance(value, Enum):
        return value.name.lower() if isinstance(value, IntEnum) else value.value
    if value is None or isinstance(value, (str, bool, float)):
        return value
    if isinstance(value, int):
        return shown_time(value) if field in TIME_FIELDS else value
    if is_dataclass(value):
        given = {one.name: getattr(value, one.name) for one in fields(value)}
        return {name: plainly(item, name) for name, item in given.items()}
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode()
    if isinstance(value, Mapping) and field in {"meta", "detail", "fields"}:
        inner = {key: field if isinstance(item, Mapping) else "" for key, item in value.items()}
        return {str(key): plainly(item, inner[key]) for key, item in value.items()}
    if isinstance(value, Mapping):
        return {str(key): plainly(item, str(key)) for key, item in value.items()}
    return [plainly(item) for item in value] if isinstance(value, Collection) else _moment_or_path(value)


def _moment_or_path(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    assert isinstance(value, PurePath)
    return str(value)


SINGLE = (
    st.none()
    | st.booleans()
    | st.integers(0, 1 << 60)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.text(max_size=5).map(Text)
    | st.binary(max_size=5)
    | st.sampled_from([*Scope, *Role, PurePosixPath("a/b"), Scope.READ])
    | st.datetimes(timezones=st.just(UTC))
)
KEYS = st.sampled_from(["created", "at", "meta", "detail", "fields", "other", "last_event"])


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, max_size=3)
    return (
        several
        | several.map(tuple)
        | st.builds(Pair, inner, inner)
        | st.frozensets(st.integers(0, 9), max_size=3)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.builds(Thing, inner, inner, inner, inner)
    )


@given(value=st.recursive(SINGLE, _larger, max_leaves=12), field=KEYS)
def test_a_value_is_encoded_by_the_rules(value: Any, field: str) -> None:
    """Each value has the JSON text that the rules give, with its fields in the same order."""
    assert json.dumps(encode(value, field)) == json.dumps(plainly(value, field))


def test_a_value_without_a_json_form_is_refused() -> None:
    """Neither a class nor any other object is encoded as something else."""
    for value in (Thing, object(), range):
        with pytest.raises(TypeError, match="has no JSON form"):
            encode(value)
