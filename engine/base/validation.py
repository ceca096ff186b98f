"""The border: what may come in, and in what form it is kept. Everything here runs before a write.

Text is kept as it was given. Only tags are brought to a normal form, because two spellings of one
tag must meet (SPEC: Text rules and limits).
"""

from __future__ import annotations

import re
import struct
import unicodedata
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from engine.base import limits
from engine.base.errors import InvalidInputError, LimitError
from engine.base.unicode14 import is_assigned
from proofs.codec import pack
from proofs.further import Scalar, is_scalar
from proofs.sets import tag_identity

Choice = TypeVar("Choice", bound=StrEnum)

PROVENANCES = ("internal", "external", "quarantine")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LABEL = re.compile(r"[a-z0-9._-]{1,32}")
_META_KEY = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEX_ID = re.compile(r"[0-9a-fA-F]{32}")
_NEVER = re.compile("[\x00\ufffe\uffff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_COMBINING_CANDIDATES = re.compile(rf"[^\x00-\u02ff]{{{limits.COMBINING_RUN_MAX + 1}}}")
_PLAIN_TAG = re.compile(r"[0-9A-Za-z]+(?:[-_./][0-9A-Za-z]+)*")
_TAG_CATEGORIES_REFUSED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def text_bytes(value: object, what: str, most: int) -> str:
    """`value`, if it is text that UTF-8 can hold in `most` bytes without a harmful character.

    Raises:
        LimitError: longer than `most` bytes, or over 30 combining marks in a row.
        InvalidInputError: not text, a lone surrogate, NUL, U+FFFE or U+FFFF.
    """
    if not isinstance(value, str):
        raise InvalidInputError(f"{what} must be text, not {type(value).__name__}")
    try:
        size = len(value) if value.isascii() else len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{what} has a lone surrogate at character {error.start}: it is not valid Unicode text"
        ) from None
    if size > most:
        raise LimitError(f"{what} has {size} bytes; at most {most} are allowed")
    if found := _NEVER.search(value):
        raise InvalidInputError(f"{what} has U+{ord(found[0]):04X} at character {found.start()}")
    if not value.isascii():
        _check_combining(value, what)
    return value


def _check_combining(value: str, what: str) -> None:
    # Marks stand above U+02FF, so only texts with a long enough run up there are looked at closely.
    if not _COMBINING_CANDIDATES.search(value):
        return
    run = 0
    for character in value:
        run = run + 1 if unicodedata.category(character)[0] == "M" else 0
        if run > limits.COMBINING_RUN_MAX:
            raise LimitError(f"{what} has over {limits.COMBINING_RUN_MAX} combining marks in a row")


def quoted(value: object) -> str:
    """A value as an error message may show it: not at any length, and whatever it is."""
    try:
        return ascii(value)[:80]
    except ValueError:  # CPython writes out no integer of over 4,300 digits, in whatever it stands
        return f"a {type(value).__name__} with a number of thousands of digits"


def content(value: object) -> str:
    """The text of an atom: not blank, at most 1 MiB.

    Raises:
        InvalidInputError: see `text_bytes`, or blank.
    """
    kept = text_bytes(value, "content", limits.CONTENT_BYTES_MAX)
    if not kept.strip():
        raise InvalidInputError("content is blank; give some text")
    return kept


def line(value: object, what: str, most: int) -> str:
    """Text on one line, without control characters; may be empty.

    Raises:
        InvalidInputError: see `text_bytes`, or a control character or line break.
    """
    kept = text_bytes(value, what, most)
    if found := _CONTROL.search(kept):
        raise InvalidInputError(f"{what} has the control character U+{ord(found[0]):04X}")
    return kept


def optional_line(value: object, what: str, most: int) -> str | None:
    """None, or a `line` that is not empty."""
    return None if value is None else _filled(value, what, most)


def _filled(value: object, what: str, most: int) -> str:
    kept = line(value, what, most)
    if not kept:
        raise InvalidInputError(f"{what} is empty; leave it out instead")
    return kept


def label(value: object, what: str) -> str:
    """A name of ours: 1 to 32 of a-z, 0-9, dot, underscore, hyphen.

    Raises:
        InvalidInputError: anything else.
    """
    if not isinstance(value, str) or not _LABEL.fullmatch(value):
        raise InvalidInputError(f"{what} {quoted(value)} is not 1 to 32 of a-z 0-9 . _ -")
    return value


def labels(values: object, what: str, most: int) -> tuple[str, ...]:
    """Labels, sorted, without repeats.

    Raises:
        InvalidInputError: one is not a label, or `values` is a single text.
        LimitError: more than `most`.
    """
    kept = {label(value, what) for value in several(values, what)}
    if len(kept) > most:
        raise LimitError(f"{len(kept)} values of {what}; at most {most} are allowed")
    return tuple(sorted(kept))


def several(values: object, what: str) -> Iterable[object]:
    """`values`, if it is more than one text: a single one would be taken letter by letter.

    Raises:
        InvalidInputError: it is not.
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidInputError(f"{what} must be a list of texts, not {type(values).__name__}")
    return values


def tag(value: object) -> str:
    """A tag in its kept form: NFC, without a leading `#`, white space as single hyphens.

    Raises:
        InvalidInputError: empty, or a character that is invisible, private or unassigned.
        LimitError: over 256 bytes.
    """
    if isinstance(value, str) and len(value) <= limits.TAG_BYTES_MAX and _PLAIN_TAG.fullmatch(value):
        return value
    given = text_bytes(value, "tag", 4 * limits.TAG_BYTES_MAX)
    for character in given:
        if not character.isspace() and (
            unicodedata.category(character) in _TAG_CATEGORIES_REFUSED or not is_assigned(ord(character))
        ):
            raise InvalidInputError(f"tag has the character U+{ord(character):04X}, which nobody can see")
    kept = unicodedata.normalize("NFC", "-".join(given.split())).lstrip("#")
    if not kept:
        raise InvalidInputError("tag is empty")
    if len(kept.encode()) > limits.TAG_BYTES_MAX:
        raise LimitError(f"tag has {len(kept.encode())} bytes; at most {limits.TAG_BYTES_MAX} are allowed")
    return kept


def folded_tag(value: object) -> str:
    """The identity of a tag as people write it, in any case, with or without `#`.

    Raises:
        InvalidInputError: as `tag`.
    """
    return tag_identity(tag(value))


def tags(values: object) -> tuple[str, ...]:
    """Tags in their kept form, sorted by identity; of one identity the first spelling stays.

    Raises:
        InvalidInputError: see `tag`.
        LimitError: more than 256.
    """
    kept: dict[str, str] = {}
    for value in several(values, "tags"):
        spelled = tag(value)
        kept.setdefault(tag_identity(spelled), spelled)
    if len(kept) > limits.TAGS_PER_ATOM_MAX:
        raise LimitError(f"{len(kept)} tags; at most {limits.TAGS_PER_ATOM_MAX} are allowed")
    return tuple(kept[identity] for identity in sorted(kept))


def aliases(values: object) -> tuple[str, ...] | None:
    """Other names, each on one line, in the given order, without duplicates; None for an empty list.

    Raises:
        InvalidInputError: see `line`, or one is empty.
        LimitError: more than 32.
    """
    given = several(() if values is None else values, "aliases")
    kept = tuple(dict.fromkeys(_filled(alias, "alias", limits.ALIAS_BYTES_MAX) for alias in given))
    if len(kept) > limits.ALIASES_MAX:
        raise LimitError(f"{len(kept)} aliases; at most {limits.ALIASES_MAX} are allowed")
    return kept or None


def meta(values: object) -> dict[str, Scalar] | None:
    """A map of booleans, numbers and texts, in the key order of canonical CBOR; None for an empty map.

    A float without a fraction is stored as an integer.

    Raises:
        InvalidInputError: no such map, or a number that not every reader of JSON would keep.
        LimitError: too many entries, or too many bytes of one or of all.
    """
    if values is None:
        return None
    if not isinstance(values, Mapping):
        raise InvalidInputError(f"meta must be a map, not {type(values).__name__}")
    for key in values:
        if not isinstance(key, str) or not _META_KEY.fullmatch(key):
            raise InvalidInputError(f"meta key {quoted(key)} is not 1 to 64 of a-z A-Z 0-9 . _ -")
    if len(values) > limits.META_ENTRIES_MAX:
        raise LimitError(f"{len(values)} entries of meta; at most {limits.META_ENTRIES_MAX} are allowed")
    kept = {key: _scalar(key, values[key]) for key in sorted(values, key=lambda key: (len(key), key))}
    if kept and (size := len(pack(kept))) > limits.META_BYTES_MAX:
        raise LimitError(f"meta has {size} bytes of CBOR; at most {limits.META_BYTES_MAX} are allowed")
    return kept or None


def _scalar(key: str, value: object) -> Scalar:
    if isinstance(value, str):
        return str(text_bytes(value, f"meta {key}", limits.META_TEXT_BYTES_MAX))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, (bool, int, float)) or not is_scalar(value):
        raise InvalidInputError(
            f"meta {key} must be a text, true, false, a finite number or an integer within ±(2^53 − 1), "
            f"not {quoted(value)}"
        )
    return value


def created(value: object) -> int | None:
    """When a text was written, in µs since 1970 UTC, from a number of these or a time with a zone.

    Raises:
        InvalidInputError: neither.
        LimitError: before the year 1 or after the year 9999.
    """
    if isinstance(value, datetime):
        value = microseconds(value)
    return None if value is None else integer(value, "created", limits.CREATED_MAX, limits.CREATED_MIN)


def integer(value: object, what: str, most: int = limits.INTEGER_MAX, least: int = 0) -> int:
    """A whole number from `least` to `most`.

    Raises:
        InvalidInputError: not an integer (`True` and `False` are refused), or below `least`.
        LimitError: over `most`.
    """
    if type(value) is not int or value < least:
        raise InvalidInputError(f"{what} must be a whole number of at least {least}, not {quoted(value)}")
    if value > most:
        raise LimitError(f"{what} is {quoted(value)}; at most {most} is allowed")
    return value


def optional_integer(value: object, what: str, most: int = limits.INTEGER_MAX) -> int | None:
    """None, or an `integer`."""
    return None if value is None else integer(value, what, most)


def positive(value: object, what: str, most: int) -> int:
    """A whole number from 1 to `most`.

    Raises:
        InvalidInputError: 0, or see `integer`.
    """
    kept = integer(value, what, most)
    if not kept:
        raise InvalidInputError(f"{what} must be 1 to {most}")
    return kept


def microseconds(value: object, what: str = "time") -> int:
    """A time as µs since 1970 in UTC, negative before: `value` if it is a number, else that of a datetime.

    Raises:
        InvalidInputError: neither of them, or a datetime without a zone.
        LimitError: a number out of the range of years that an atom's `created` may have.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise InvalidInputError(f"{what} {value.isoformat()} has no zone; add one, such as +00:00")
        value = (value - _EPOCH) // timedelta(microseconds=1)
    return integer(value, what, least=limits.CREATED_MIN)


def provenance(value: object) -> str:
    """`internal`, `external` or `quarantine`.

    Raises:
        InvalidInputError: anything else.
    """
    if value not in PROVENANCES:
        raise InvalidInputError(f"provenance {quoted(value)} is not one of {', '.join(PROVENANCES)}")
    return str(value)


def choice(kind: type[Choice], value: object, what: str) -> Choice:
    """The member of an enum of texts that `value` is or names.

    Raises:
        InvalidInputError: it is none.
    """
    try:
        return kind(str(value))
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise InvalidInputError(f"{what} {quoted(value)} is not one of {known}") from None


def instance(value: object, kind: type, what: str) -> None:
    """Refuse what is not of a class of ours.

    Raises:
        InvalidInputError: it is not.
    """
    if not isinstance(value, kind):
        raise InvalidInputError(f"{what} must be a {kind.__name__}, not {type(value).__name__}")


def weight(value: object) -> bytes:
    """An edge's weight as binary32, big-endian.

    Raises:
        InvalidInputError: not a number, NaN, infinite, negative zero, or too large for binary32.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInputError(f"weight must be a number, not {quoted(value)}")
    try:
        kept = struct.pack(">f", value)
    except (OverflowError, struct.error):
        raise InvalidInputError(f"weight {quoted(value)} does not fit in 32 bits") from None
    exponent = kept[0] & 0x7F, kept[1] & 0x80
    if exponent == (0x7F, 0x80) or kept == b"\x80\x00\x00\x00":
        raise InvalidInputError(f"weight {quoted(value)} is not a finite number (negative zero is none)")
    return kept


def atom_id(value: object, what: str = "atom id") -> bytes:
    """The 16 bytes of an id given as a UUID, as its text, or as bytes.

    Raises:
        InvalidInputError: not an id, or all zero.
    """
    if isinstance(value, uuid.UUID):
        raw = value.bytes
    elif isinstance(value, bytes) and len(value) == 16:
        raw = value
    elif isinstance(value, str):
        plain = value.replace("-", "")
        if not _HEX_ID.fullmatch(plain):
            raise InvalidInputError(f"{what} {quoted(value)} is not a UUID")
        raw = bytes.fromhex(plain)
    else:
        raise InvalidInputError(f"{what} must be a UUID, not {type(value).__name__}")
    if raw == bytes(16):
        raise InvalidInputError(f"{what} is all zero, which is no id")
    return raw


def show_id(raw: bytes) -> str:
    """An id as people and JSON see it: a UUID."""
    plain = raw.hex()
    return f"{plain[:8]}-{plain[8:12]}-{plain[12:16]}-{plain[16:20]}-{plain[20:]}"
