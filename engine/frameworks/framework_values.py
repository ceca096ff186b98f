"""Storing a JSON value as an atom, so that the atom reads well and the value comes back exactly.

If one text of the value can stand for the whole value, this text is the content of the atom. The other fields
become entries of `meta`, so that filters find them. Fields that `meta` cannot store exactly are stored in one
entry as JSON. Otherwise, the content is the whole value as JSON. In both forms, a person who edits the atom's
content edits the value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from math import isfinite
from typing import Any, Final, NamedTuple

from engine.base import json_text, validation
from engine.base.errors import ConflictError, InvalidInputError, RefusedError
from engine.base.validation import quoted
from engine.commands.transaction import Transaction
from proofs.events import Scalar

Path = tuple[str | int, ...]
"""The place of a text in a value: the keys and positions that lead to it."""

PATH, REST, WHOLE, UNINDEXED = "value.path", "value.rest", "value.whole", "value.unindexed"
"""The keys of `meta` that the adapters use: the place of the content in the value; the part of the value that
is kept as JSON; the mark that the content is the whole value; the mark that no question finds the value. Any
other key is a field."""
_BITS_MAX: Final = 1023
"""The maximum number of bits of an integer. All such integers are in the range of floats."""
_OURS = frozenset({PATH, REST, WHOLE, UNINDEXED})


class Packed(NamedTuple):
    """A value as the content and the `meta` of an atom."""

    content: str
    meta: dict[str, Scalar]


def plain(value: object, screen: Callable[[str], str] = str, depth: int = 0) -> Any:
    """Return a copy of `value` that consists of dicts, lists, texts, numbers, booleans and None.

    Tuples become lists. `screen` is applied to each text that is not a key.

    Raises:
        InvalidInputError: the value is not JSON: it contains another type, a key that is not text, a number
            that is not finite or too large, or more than 64 levels.
    """
    if isinstance(value, str):
        return screen(str.__str__(value))  # an enumeration's own form would be its name
    if value is None or (isinstance(value, int) and value.bit_length() <= _BITS_MAX):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    if depth >= json_text.DEPTH_MAX:
        raise InvalidInputError(f"a value has more than {json_text.DEPTH_MAX} levels of lists and maps")
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise InvalidInputError("a value has a map with a key that is not text")
        return {str.__str__(key): plain(one, screen, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one, screen, depth + 1) for one in value]
    raise InvalidInputError(
        f"a value contains {quoted(value)}, which is not JSON: use texts, finite numbers, booleans, None, "
        "lists and maps"
    )


def pack(value: Any, path: Path | None) -> Packed:
    """Return the content and the `meta` for a value that `plain` returned.

    Args:
        value: The value.
        path: The place of the text that stands for the value. The text is a field of a map. None if there
            is no such text.
    """
    if path is not None:
        rest = deepcopy(value)
        *before, last = path
        text = _at(rest, before).pop(last)
        meta: dict[str, Scalar] = {name: one for name, one in rest.items() if _is_field(name, one)}
        rest = {name: one for name, one in rest.items() if name not in meta}
        meta[PATH] = _json(list(path))
        if rest:
            meta[REST] = _json(rest)
        if _is_valid(text, meta):
            return Packed(text, meta)
    return Packed(_json(value), {WHOLE: True})


def is_packed(meta: Mapping[str, Scalar]) -> bool:
    """Return True if `meta` belongs to a stored value, and not to an atom from another origin."""
    return PATH in meta or WHOLE in meta


def unpack(content: str, meta: Mapping[str, Scalar], what: str) -> dict[str, Any]:
    """Return the value of an atom with this content and `meta`.

    Raises:
        ConflictError: the content or the `meta` was edited, so the atom no longer contains a value; `what`
            names the atom.
    """
    try:
        if PATH not in meta:
            return _map(json.loads(content))
        *before, last = json.loads(str(meta[PATH]))
        value = _map(json.loads(str(meta.get(REST, "{}"))))
        value |= {name: one for name, one in meta.items() if name not in _OURS}
        _at(value, before)[last] = content
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ConflictError(
            f"{what} does not hold a value any more: {error}",
            hint="revise its text so that it is JSON again, or hide it with `engine tombstone`",
        ) from error
    return value


def only_text(value: Mapping[str, Any]) -> Path | None:
    """Return the place of the text in a value with exactly one text and no lists or maps; else None."""
    texts: Sequence[str] = [key for key, one in value.items() if isinstance(one, str)]
    if len(texts) != 1 or any(isinstance(one, dict | list) for one in value.values()):
        return None
    return (texts[0],)


def _map(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("it is JSON, but not a map")
    return value


def _is_field(name: str, value: Any) -> bool:
    """Return True if `meta` can store a field exactly. It cannot store 1.0, which would become 1."""
    try:
        value_kept = (validation.meta({name: value}) or {})[name]
    except InvalidInputError:
        return False
    return name not in _OURS and type(value_kept) is type(value) and value_kept == value


def _is_valid(text: str, meta: Mapping[str, Scalar]) -> bool:
    try:
        validation.content(text)
        validation.meta(meta)
    except InvalidInputError:
        return False
    return True


def _json(value: Any) -> str:
    """Return a value as JSON. Equal maps give equal texts, so storing a value again changes nothing."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value


def packed(tx: Transaction, value: object, path_of: Callable[[Any], Path | None], what: str) -> Packed:
    """Return the content and the `meta` for a value of the caller.

    First, each text is searched for secrets on its own, because JSON escapes the line breaks that end some
    secrets. Then the value is searched as JSON, because the name of a field (`password`) can make the field's
    text a secret.

    Args:
        tx: The transaction that stores the value.
        value: The value.
        path_of: Returns the place of the text that stands for the value, or None.
        what: The name of the value in errors.

    Raises:
        InvalidInputError: The value is not JSON.
        RefusedError: The value contains a secret that is refused, or that cannot be cut out.
    """
    clean = plain(value, lambda text: tx.screened(text, what))
    if tx.screen is not None:
        whole = pack(clean, None)
        screened = tx.screened(whole.content, what)
        if screened != whole.content:
            return Packed(_still_json(screened, what), whole.meta)
    return pack(clean, path_of(clean))


def _still_json(text: str, what: str) -> str:
    try:
        json.loads(text)
    except ValueError:
        raise RefusedError(
            f"the {what} contains a secret that cannot be cut out of it", hint="leave the secret out"
        ) from None
    return text
