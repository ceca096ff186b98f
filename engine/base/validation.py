"""Functions that validate the values passed in by callers, and convert them to their stored form.

All these functions are called before any write. Text is stored unchanged. Only tags are normalised, because
two spellings of one tag must be equal (SPEC: Text rules and limits).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

from engine.base import limits
from engine.base.characters import checked_text, lazy, may_stand_in_tag
from engine.base.errors import InvalidInputError, LimitError, callers
from proofs.codec import pack
from proofs.events import Scalar, is_scalar
from proofs.leaves import tag_identity

Choice = TypeVar("Choice", bound=StrEnum)

_CACHED = 1024
"""The number of different labels and tags for which the result of the check is cached. Most atoms have labels
and tags that earlier atoms had, too."""

PROVENANCES = ("internal", "external", "quarantine")

_LABEL = re.compile(r"[a-z0-9._-]{1,32}")
_META_KEY = lazy(r"[A-Za-z0-9._-]{1,64}")
_UUID = lazy("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_PLAIN_TAG = re.compile(r"[0-9A-Za-z]+(?:[-_./][0-9A-Za-z]+)*")


def quoted(value: object) -> str:
    """Return `value` in the form in which error messages show it: in ASCII, at most 80 characters."""
    try:
        return ascii(value)[:80]
    except ValueError:  # CPython does not format integers of over 4,300 digits, even inside other values
        return f"a value of type {type(value).__name__} with a number of over 4,300 digits"


def content(value: object) -> str:
    """Return `value` if it can be the text of an atom: not blank, at most 1 MiB.

    Raises:
        InvalidInputError: see `checked_text`, or `value` is blank.
    """
    if (
        type(value) is str
        and value.isascii()
        and 0 < len(value) <= limits.CONTENT_BYTES_MAX
        and "\x00" not in value
        and not value.isspace()
    ):
        return value
    text = checked_text(value, "content", limits.CONTENT_BYTES_MAX)
    if not text.strip():
        raise InvalidInputError("content is blank; give some text")
    return text


def line(value: object, what: str, most: int) -> str:
    """Return `value` if it is one line of text without control characters. It may be empty.

    Raises:
        InvalidInputError: see `checked_text`, or `value` has a control character or line break.
    """
    if type(value) is str and len(value) <= most and value.isascii() and value.isprintable():
        return value
    text = checked_text(value, what, most)
    if match := _CONTROL.search(text):
        raise InvalidInputError(f"{what} has the control character U+{ord(match[0]):04X}")
    return text


def optional_line(value: object, what: str, most: int) -> str | None:
    """Return `value` if it is None or a line of text that is not empty. Raises the same errors as `line`."""
    return None if value is None else _nonempty_line(value, what, most)


def _nonempty_line(value: object, what: str, most: int) -> str:
    text = line(value, what, most)
    if not text:
        raise InvalidInputError(f"{what} is empty; omit it instead")
    return text


def label(value: object, what: str) -> str:
    """Return `value` if it is a label: 1 to 32 characters from a-z, 0-9, dot, underscore and hyphen.

    Raises:
        InvalidInputError: `value` is not a label.
    """
    if (
        isinstance(value, str)
        and len(value) <= 32
        and (_is_label(value) if type(value) is str else _LABEL.fullmatch(value))
    ):
        return value
    raise InvalidInputError(
        f"{what} {quoted(value)} is not valid: it must have 1 to 32 characters, each a lower-case ASCII "
        "letter, a digit or one of `._-`"
    )


@lru_cache(maxsize=_CACHED)
def _is_label(value: str) -> bool:
    return _LABEL.fullmatch(value) is not None


def labels(values: object, what: str, most: int) -> tuple[str, ...]:
    """Return labels sorted and without duplicates.

    Raises:
        InvalidInputError: one of `values` is not a label, or `values` is a single text.
        LimitError: there are more than `most` labels.
    """
    if type(values) is tuple and len(values) == 1:
        return (label(values[0], what),)
    unique = {label(value, what) for value in several(values, what)}
    if len(unique) > most:
        raise LimitError(f"there are {len(unique)} values of {what}; at most {most} are allowed")
    return tuple(sorted(unique))


def several(values: object, what: str) -> Iterable[object]:
    """Return `values` if it is iterable. A text is rejected: iterating would split it into its characters.

    Exceptions that an iterable of the caller raises pass through `translated` unchanged.

    Raises:
        InvalidInputError: `values` is text or bytes, or is not iterable.
    """
    if type(values) is tuple or type(values) is list:
        return values
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidInputError(f"{what} must be a list of texts, not {type(values).__name__}")
    return callers(values)


def tag(value: object) -> str:
    """Return a tag in its stored form: in NFC, without leading `#`, with hyphens in place of white space.

    Raises:
        InvalidInputError: the tag is empty, or has an invisible, private-use or unassigned character.
        LimitError: the tag is over 256 bytes long.
    """
    if isinstance(value, str) and len(value) <= limits.TAG_BYTES_MAX and _PLAIN_TAG.fullmatch(value):
        return value
    text = checked_text(value, "tag", 4 * limits.TAG_BYTES_MAX)
    for character in text:
        if not may_stand_in_tag(character):
            raise InvalidInputError(
                f"tag has the character U+{ord(character):04X}, which is invisible, private-use or unassigned"
            )
    normal = unicodedata.normalize("NFC", "-".join(text.split())).lstrip("#")
    if not normal:
        raise InvalidInputError("tag is empty")
    if len(normal.encode()) > limits.TAG_BYTES_MAX:
        raise LimitError(f"tag has {len(normal.encode())} bytes; at most {limits.TAG_BYTES_MAX} are allowed")
    return normal


def folded_tag(value: object) -> str:
    """Return the identity of a tag: the caseless text that is the same for all spellings of the tag.

    The tag may be given in any case, and with or without a leading `#`.

    Raises:
        InvalidInputError: see `tag`.
        LimitError: see `tag`.
    """
    return tag_identity(tag(value))


def tags(values: object) -> tuple[str, ...]:
    """Return tags in their stored form, sorted by identity.

    If a tag occurs in several spellings, the first one is kept.

    Raises:
        InvalidInputError: see `tag`.
        LimitError: see `tag`, or there are more than 256 tags.
    """
    spellings: dict[str, str] = {}
    for value in several(values, "tags"):
        identity, spelling = _parts_of_tag(value) if type(value) is str else _parts_of_any_tag(value)
        spellings.setdefault(identity, spelling)
    if len(spellings) > limits.TAGS_PER_ATOM_MAX:
        raise LimitError(f"there are {len(spellings)} tags; at most {limits.TAGS_PER_ATOM_MAX} are allowed")
    return tuple(spellings[identity] for identity in sorted(spellings))


def _parts_of_any_tag(value: object) -> tuple[str, str]:
    spelling = tag(value)
    return tag_identity(spelling), spelling


_parts_of_tag = lru_cache(maxsize=_CACHED)(_parts_of_any_tag)
"""Return the identity and the stored form of a tag. The type of the tag must be exactly `str`."""


def aliases(values: object) -> tuple[str, ...] | None:
    """Return aliases in order, without duplicates, or None if the list is empty. Each alias is one line.

    Raises:
        InvalidInputError: see `line`, or an alias is empty.
        LimitError: there are more than 32 aliases.
    """
    items = several(() if values is None else values, "aliases")
    unique = tuple(dict.fromkeys(_nonempty_line(item, "alias", limits.ALIAS_BYTES_MAX) for item in items))
    if len(unique) > limits.ALIASES_MAX:
        raise LimitError(f"there are {len(unique)} aliases; at most {limits.ALIASES_MAX} are allowed")
    return unique or None


def meta(values: object) -> dict[str, Scalar] | None:
    """Return the map `values` in the key order of canonical CBOR, or None if it is empty.

    Each value must be a boolean, a number or a text. A float without a fractional part becomes an integer.

    Raises:
        InvalidInputError: `values` is not such a map, or contains a number that some JSON parsers would
            change.
        LimitError: the map has too many entries, or one entry or the whole map has too many bytes.
    """
    if values is None:
        return None
    if not isinstance(values, Mapping):
        raise InvalidInputError(f"meta must be a map, not {type(values).__name__}")
    _meta_keys(values)
    entries = {key: _scalar(key, values[key]) for key in sorted(values, key=lambda key: (len(key), key))}
    if entries and (size := len(pack(entries))) > limits.META_BYTES_MAX:
        raise LimitError(f"meta has {size} bytes of CBOR; at most {limits.META_BYTES_MAX} are allowed")
    return entries or None


def meta_conditions(values: object) -> dict[str, tuple[Scalar, ...]]:
    """Return the conditions on meta in `values`: a map from keys to a value, or to a list of values.

    Raises:
        InvalidInputError: `values` is not a map, a key is malformed or has no value, or a value is neither a
            boolean, a number nor a text.
        LimitError: there are too many keys, or a text has too many bytes.
    """
    if not isinstance(values, Mapping):
        raise InvalidInputError(f"meta must be a map, not {type(values).__name__}")
    _meta_keys(values)
    conditions = {}
    for key, given in values.items():
        several_values = isinstance(given, (list, tuple, set, frozenset))
        conditions[key] = tuple(_scalar(key, value) for value in (given if several_values else (given,)))
        if not conditions[key]:
            raise InvalidInputError(f"meta {key} has no value; give one value or several")
    return conditions


def _meta_keys(values: Mapping[object, object]) -> None:
    """Check the keys of a map of meta.

    Raises:
        InvalidInputError: a key is not a text of 1 to 64 allowed characters.
        LimitError: there are too many keys.
    """
    for key in values:
        if not isinstance(key, str) or not _META_KEY.fullmatch(key):
            raise InvalidInputError(
                f"meta key {quoted(key)} is not valid: a key has 1 to 64 characters, each an ASCII letter, "
                "a digit or one of `._-`"
            )
    if len(values) > limits.META_ENTRIES_MAX:
        raise LimitError(f"meta has {len(values)} entries; at most {limits.META_ENTRIES_MAX} are allowed")


def _scalar(key: str, value: object) -> Scalar:
    if isinstance(value, str):
        return str(checked_text(value, f"meta {key}", limits.META_TEXT_BYTES_MAX))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, (bool, int, float)) or not is_scalar(value):
        raise InvalidInputError(
            f"meta {key} must be a text, true, false, a finite number or an integer within ±(2^53 − 1), "
            f"not {quoted(value)}"
        )
    return value


def integer(value: object, what: str, most: int = limits.INTEGER_MAX, least: int = 0) -> int:
    """Return `value` if it is an integer from `least` to `most`.

    Raises:
        InvalidInputError: `value` is not an integer (`True` and `False` are refused), or is below `least`.
        LimitError: `value` is over `most`.
    """
    if type(value) is not int or value < least:
        raise InvalidInputError(f"{what} must be a whole number of at least {least}, not {quoted(value)}")
    if value > most:
        raise LimitError(f"{what} is {quoted(value)}; at most {most} is allowed")
    return value


def optional_integer(value: object, what: str, most: int = limits.INTEGER_MAX) -> int | None:
    """Return `value` if it is None or an integer from 0 to `most`. Raises the same errors as `integer`."""
    return None if value is None else integer(value, what, most)


def positive(value: object, what: str, most: int) -> int:
    """Return `value` if it is an integer from 1 to `most`.

    Raises:
        InvalidInputError: see `integer`, or `value` is 0.
        LimitError: `value` is over `most`.
    """
    number = integer(value, what, most)
    if not number:
        raise InvalidInputError(f"{what} must be between 1 and {most}")
    return number


def buckets(value: object) -> tuple[str, ...]:
    """Return the buckets of an atom as sorted labels. Raises the same errors as `labels`."""
    return labels(value, "buckets", limits.BUCKETS_PER_ATOM_MAX)


def provenance(value: object) -> str:
    """Return `value` if it is `internal`, `external` or `quarantine`.

    Raises:
        InvalidInputError: `value` is not one of these texts.
    """
    if value not in PROVENANCES:
        raise InvalidInputError(f"provenance {quoted(value)} is not one of {', '.join(PROVENANCES)}")
    return str(value)


def choice(kind: type[Choice], value: object, what: str) -> Choice:
    """Return the member of the enum `kind` whose value is `value`.

    If `value` is itself a member of `kind`, return this member.

    Raises:
        InvalidInputError: `kind` has no such member.
    """
    try:
        return kind(str(value))
    except ValueError:
        words = ", ".join(member.value for member in kind)
        raise InvalidInputError(f"{what} {quoted(value)} is not one of {words}") from None


def instance(value: object, kind: type, what: str) -> None:
    """Check that `value` is an instance of `kind`.

    Raises:
        InvalidInputError: `value` is not an instance of `kind`.
    """
    if not isinstance(value, kind):
        raise InvalidInputError(f"{what} must be a {kind.__name__}, not {type(value).__name__}")


def callback(value: object, what: str) -> None:
    """Check that `value` can be called.

    Raises:
        InvalidInputError: `value` cannot be called.
    """
    if not callable(value):
        raise InvalidInputError(f"{what} must be a function, not {type(value).__name__}")


def atom_id(value: object, what: str = "atom id") -> bytes:
    """Return the 16 bytes of an id that is given as a `uuid.UUID`, as the text of a UUID, or as 16 bytes.

    The text has one spelling: lower-case hexadecimal digits with dashes, 8-4-4-4-12. A mistyped id must not
    be taken for another one, whose absence could then be proved.

    Raises:
        InvalidInputError: `value` is not an id, or all its bytes are zero.
    """
    if isinstance(value, bytes) and len(value) == 16:
        raw = value
    elif isinstance(value, str):
        if not _UUID.fullmatch(value):
            raise InvalidInputError(
                f"{what} {quoted(value)} is not a UUID in lower case, of the form 8-4-4-4-12"
            )
        raw = bytes.fromhex(value.replace("-", ""))
    else:
        from uuid import UUID  # it takes 3 ms, and most processes have no such value

        if not isinstance(value, UUID):
            raise InvalidInputError(f"{what} must be a UUID, not {type(value).__name__}")
        raw = value.bytes
    if raw == bytes(16):
        raise InvalidInputError(f"{what} is all zeros, which is not a valid id")
    return raw


def show_id(raw: bytes) -> str:
    """Return an id as the text of a UUID."""
    plain = raw.hex()
    return f"{plain[:8]}-{plain[8:12]}-{plain[12:16]}-{plain[16:20]}-{plain[20:]}"
