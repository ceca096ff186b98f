"""The further fields of a body: optional fields in a map at its end (SPEC, section 3.4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import cbor2

from proofs import limits
from proofs.forms import FormError, many, text

Scalar = bool | int | float | str
"""The type of a value in `meta`."""

_META_KEY: Final = text(limits.META_KEY_BYTES_MAX, 1)
_META_TEXT: Final = text(limits.META_TEXT_BYTES_MAX)


def is_scalar(value: object) -> bool:
    """Return whether a value may occur in `meta`: a boolean, a number or a text.

    Each number has one form: an integer within ±(2^53 − 1), or a finite float that is not an integer.
    """
    if type(value) is int:
        return abs(value) <= limits.META_INTEGER_MAX
    if type(value) is float:
        return math.isfinite(value) and not value.is_integer()
    return type(value) is bool or _META_TEXT(value)


def is_meta(value: object) -> bool:
    """Return whether `value` may be the `meta` of an atom."""
    return (
        type(value) is dict
        and 0 < len(value) <= limits.META_ENTRIES_MAX
        and all(map(_META_KEY, value))
        and all(map(is_scalar, value.values()))
        and len(cbor2.dumps(value, canonical=True)) <= limits.META_BYTES_MAX
    )


FURTHER: Final[tuple[tuple[str, Callable[[Any], bool]], ...]] = (
    ("request", text(limits.REQUEST_BYTES_MAX, 1)),
    ("origin", text(limits.ORIGIN_BYTES_MAX, 1)),
    ("meta", is_meta),
    ("aliases", many(text(limits.ALIAS_BYTES_MAX, 1), limits.ALIASES_MAX, 1)),
    ("folder", text(limits.FOLDER_BYTES_MAX, 1)),
)
"""The name and check of each further field, indexed by the number of the field.

Every body may have the first two fields; the body of an atom may have all of them.
"""
OF_EVERY_BODY: Final = 2
"""The number of further fields that every body may have."""


def read_further(value: Any, allowed: int, where: str) -> dict[str, Any]:
    """Return the further fields in the map `value` at the end of a body.

    Only the first `allowed` fields of `FURTHER` are accepted.

    Raises:
        FormError: `value` is not a map of allowed fields, or the map is empty.
    """
    if type(value) is not dict or not value:
        raise FormError(f"{where}: the item after the fields is not a map of further fields")
    fields = {}
    for number, item in value.items():
        if type(number) is not int or not 0 <= number < allowed or not FURTHER[number][1](item):
            raise FormError(f"{where}: further field {number!r:.20} is malformed")
        fields[FURTHER[number][0]] = tuple(item) if type(item) is list else item
    return fields
