"""The shapes of JSON values: each checks and decodes values, and describes itself as a JSON Schema.

A shape raises InvalidInputError for a value that it does not accept. The schemas are of the dialect 2020-12,
which OpenAPI 3.1 uses.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum
from typing import Any, Final, Protocol

from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.base.times import parse_time
from engine.base.validation import quoted

Schema = dict[str, Any]
Schemas = dict[str, Schema]
"""The schemas of records by name. A schema refers to them as `#/components/schemas/NAME`."""

REFERENCE: Final = "#/components/schemas/"


class Shape(Protocol):
    """The JSON values that a parameter accepts, or that a result or one of its fields can have."""

    def decode(self, value: Any, where: str) -> Any:
        """Return the Python value for a JSON value. Messages call the place of the value `where`.

        Raises:
            InvalidInputError: The value does not have this shape.
        """

    def read(self, texts: Sequence[str], where: str) -> Any:
        """Return the JSON value for the texts that a query string gives for one name.

        Raises:
            InvalidInputError: The texts do not have this shape, or cannot be written in a query string.
        """

    def schema(self, schemas: Schemas) -> Schema:
        """Return the JSON Schema, and add the schemas of records to `schemas`."""


def _refused(where: str, wanted: str, value: object) -> InvalidInputError:
    shown = quoted(value) if isinstance(value, str) else _KINDS.get(type(value), "something else")
    return InvalidInputError(f"{where} must be {wanted}, not {shown}")


_KINDS: Final = {
    type(None): "null", bool: "true or false", int: "an integer", float: "a number", list: "an array",
    dict: "an object",
}  # fmt: skip


def _only(texts: Sequence[str], where: str) -> str:
    if len(texts) != 1:
        raise InvalidInputError(f"{where} is given {len(texts)} times; give it once")
    return texts[0]


class AsText:
    """A shape whose values a query string contains as they are."""

    __slots__ = ()

    def read(self, texts: Sequence[str], where: str) -> Any:
        """Return the text."""
        return _only(texts, where)


class AsJson:
    """A shape whose values a query string contains as JSON."""

    __slots__ = ()

    def read(self, texts: Sequence[str], where: str) -> Any:
        """Return the object that the text contains as JSON."""
        try:
            return parse(_only(texts, where))
        except JsonError as error:
            raise InvalidInputError(f"{where} is not JSON: {error}") from error


@dataclass(frozen=True, slots=True)
class Plain:
    """A text, a truth value, an integer or a number."""

    kind: type
    name: str
    wanted: str

    def decode(self, value: Any, where: str) -> Any:
        """Return the value."""
        if self.kind is float and type(value) is int:
            return float(value)
        if type(value) is not self.kind:
            raise _refused(where, self.wanted, value)
        return value

    def read(self, texts: Sequence[str], where: str) -> Any:
        """Return the value that the text stands for."""
        text = _only(texts, where)
        try:
            return _TRUTHS[text] if self.kind is bool else self.kind(text)
        except (KeyError, ValueError):
            raise _refused(where, self.wanted, text) from None

    def schema(self, schemas: Schemas) -> Schema:
        """Return the type."""
        return {"type": self.name}


_TRUTHS: Final = {"true": True, "false": False}

TEXT: Final = Plain(str, "string", "a text")
TRUTH: Final = Plain(bool, "boolean", "true or false")
INTEGER: Final = Plain(int, "integer", "an integer")
NUMBER: Final = Plain(float, "number", "a number")


@dataclass(frozen=True, slots=True)
class Nothing:
    """The value null."""

    def decode(self, value: Any, where: str) -> None:
        """Return None."""
        if value is not None:
            raise _refused(where, "null", value)

    def read(self, texts: Sequence[str], where: str) -> Any:
        """Refuse every text: a query string has no null."""
        raise _refused(where, "left out", _only(texts, where))

    def schema(self, schemas: Schemas) -> Schema:
        """Return the type null."""
        return {"type": "null"}


@dataclass(frozen=True, slots=True)
class Anything(AsText):
    """Any JSON value."""

    def decode(self, value: Any, where: str) -> Any:
        """Return the value."""
        return value

    def schema(self, schemas: Schemas) -> Schema:
        """Return the schema that accepts everything."""
        return {}


@dataclass(frozen=True, slots=True)
class Base64(AsText):
    """Bytes, written in base64 (RFC 4648)."""

    def decode(self, value: Any, where: str) -> bytes:
        """Return the bytes."""
        try:
            return b64decode(TEXT.decode(value, where), validate=True)
        except ValueError:
            raise _refused(where, "base64", value) from None

    def schema(self, schemas: Schemas) -> Schema:
        """Return the schema of an encoded text."""
        return {"type": "string", "contentEncoding": "base64"}


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNIT: Final = " µs"


@dataclass(frozen=True, slots=True)
class Time(AsText):
    """A time of a result: ISO 8601 in JSON, µs since 1970 (UTC) in Python."""

    def decode(self, value: Any, where: str) -> int:
        """Return the time of a text from `engine.base.times.shown_time`, in µs."""
        text = TEXT.decode(value, where)
        if not text.endswith(_UNIT):
            return (parse_time(text, where) - _EPOCH) // timedelta(microseconds=1)
        number = text.removesuffix(_UNIT)
        if not (number.isascii() and number.removeprefix("-").isdecimal()):
            raise InvalidInputError(f"{where}: {text!r} is not a time")
        return int(number)

    def schema(self, schemas: Schemas) -> Schema:
        """Return the schema of a time."""
        return {"type": "string", "format": "date-time"}


@dataclass(frozen=True, slots=True)
class Moment:
    """A time, or the seq of an event: a text in ISO 8601, or an integer."""

    texts: bool = False
    """True if a text that is not a time is passed on as it is."""

    def decode(self, value: Any, where: str) -> int | datetime | str:
        """Return the integer or the datetime."""
        if type(value) is int:
            return value
        if not isinstance(value, str):
            raise _refused(where, "an integer or a time", value)
        try:
            return parse_time(value, where)
        except InvalidInputError:
            if self.texts:
                return value
            raise

    def read(self, texts: Sequence[str], where: str) -> Any:
        """Return the integer or the text."""
        text = _only(texts, where)
        return int(text[:20]) if text.removeprefix("-").isdecimal() and text.isascii() else text

    def schema(self, schemas: Schemas) -> Schema:
        """Return the two types."""
        text: Schema = {"type": "string"} if self.texts else {"type": "string", "format": "date-time"}
        return {"anyOf": [{"type": "integer"}, text]}


@dataclass(frozen=True, slots=True)
class Choice(AsText):
    """A member of an enum: its name in lower case if it is a number, otherwise its value."""

    kind: type[Enum]

    def members(self) -> dict[str, Enum]:
        """Return the members by their texts."""
        if issubclass(self.kind, IntEnum):
            return {member.name.lower(): member for member in self.kind}
        return {str(member.value): member for member in self.kind}

    def decode(self, value: Any, where: str) -> Any:
        """Return the member."""
        member = self.members().get(value) if isinstance(value, str) else None
        if member is None:
            raise _refused(where, f"one of {', '.join(self.members())}", value)
        return member

    def schema(self, schemas: Schemas) -> Schema:
        """Return the texts."""
        return {"type": "string", "enum": list(self.members())}


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array of values of one shape."""

    item: Shape
    make: Callable[[list[Any]], Any]

    def decode(self, value: Any, where: str) -> Any:
        """Return the sequence."""
        if not isinstance(value, list):
            raise _refused(where, "an array", value)
        return self.make([self.item.decode(item, f"{where}[{at}]") for at, item in enumerate(value)])

    def read(self, texts: Sequence[str], where: str) -> Any:
        """Return one item for each text."""
        return [self.item.read([text], where) for text in texts]

    def schema(self, schemas: Schemas) -> Schema:
        """Return the schema of an array."""
        return {"type": "array", "items": self.item.schema(schemas)}


@dataclass(frozen=True, slots=True)
class TupleOf:
    """An array with a fixed number of values, each of its own shape."""

    items: tuple[Shape, ...]

    def decode(self, value: Any, where: str) -> tuple[Any, ...]:
        """Return the tuple."""
        if not isinstance(value, list) or len(value) != len(self.items):
            raise _refused(where, f"an array of {len(self.items)} values", value)
        pairs = enumerate(zip(self.items, value, strict=True))
        return tuple(shape.decode(item, f"{where}[{at}]") for at, (shape, item) in pairs)

    def read(self, texts: Sequence[str], where: str) -> Any:
        """Return one item for each text."""
        return list(texts)

    def schema(self, schemas: Schemas) -> Schema:
        """Return the schema of the array."""
        items = [shape.schema(schemas) for shape in self.items]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


@dataclass(frozen=True, slots=True)
class MapOf(AsJson):
    """An object whose values have one shape."""

    item: Shape

    def decode(self, value: Any, where: str) -> dict[str, Any]:
        """Return the dict."""
        if not isinstance(value, dict):
            raise _refused(where, "an object", value)
        return {key: self.item.decode(item, f"{where}.{key}") for key, item in value.items()}

    def schema(self, schemas: Schemas) -> Schema:
        """Return the schema of an object."""
        return {"type": "object", "additionalProperties": self.item.schema(schemas)}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record."""

    name: str
    shape: Shape
    required: bool
    """False if the field may be missing."""


@dataclass(frozen=True, slots=True)
class Record(AsJson):
    """An object with named fields: a dataclass."""

    name: str
    about: str
    """The summary of the class."""
    fields: tuple[Field, ...]
    make: Callable[..., Any]
    open: bool = False
    """True if unknown fields are ignored, as in the results of a newer service."""

    def decode(self, value: Any, where: str) -> Any:
        """Return an instance of the class."""
        if not isinstance(value, dict):
            raise _refused(where, "an object", value)
        by_name = {field.name: field for field in self.fields}
        unknown = [] if self.open else [name for name in value if name not in by_name]
        if unknown:
            raise InvalidInputError(f"{where} has no field {quoted(unknown[0])}", hint=_fields(by_name))
        missing = [field.name for field in self.fields if field.required and field.name not in value]
        if missing:
            raise InvalidInputError(f"{where} needs the field {missing[0]}", hint=_fields(by_name))
        given = {
            name: by_name[name].shape.decode(item, f"{where}.{name}")
            for name, item in value.items()
            if name in by_name
        }
        return self.make(**given)

    def schema(self, schemas: Schemas) -> Schema:
        """Return a reference to the schema of the record."""
        if self.name not in schemas:
            schemas[self.name] = {}  # the name is taken while the fields are described
            schemas[self.name] = self._described(schemas)
        return {"$ref": f"{REFERENCE}{self.name}"}

    def _described(self, schemas: Schemas) -> Schema:
        schema: Schema = {
            "type": "object",
            "description": self.about,
            "properties": {field.name: field.shape.schema(schemas) for field in self.fields},
            "required": [field.name for field in self.fields if field.required],
        }
        return schema if self.open else schema | {"additionalProperties": False}


def _fields(known: dict[str, Field]) -> str:
    return f"the fields are {', '.join(known)}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value of one of several shapes; the first shape that accepts the value decodes it."""

    shapes: tuple[Shape, ...]

    def decode(self, value: Any, where: str) -> Any:
        """Return the result of the first shape that fits."""
        return self._first("decode", value, where)

    def read(self, texts: Sequence[str], where: str) -> Any:
        """Return the values that the first shape that fits reads."""
        return self._first("read", texts, where)

    def _first(self, method: str, value: Any, where: str) -> Any:
        refused = InvalidInputError("")
        for shape in self.shapes:
            try:
                return getattr(shape, method)(value, where)
            except InvalidInputError as error:
                # The error of the last shape that accepts more than null says most.
                refused = refused if isinstance(shape, Nothing) else error
        raise refused

    def schema(self, schemas: Schemas) -> Schema:
        """Return the schemas of the shapes."""
        return {"anyOf": [shape.schema(schemas) for shape in self.shapes]}
