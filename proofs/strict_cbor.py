"""Strict decoding of untrusted CBOR: input is refused with a reason before it is processed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

from proofs.codec import unpack
from proofs.errors import ProofError
from proofs.forms import Check, FormError, fields
from proofs.hashing import DIGEST_BYTES

P = ParamSpec("P")
R = TypeVar("R")

DEPTH_MAX: Final = 16
"""The maximum nesting depth of arrays; a proof has at most five levels."""

ITEMS_MAX: Final = 1 << 20
"""The maximum number of items, arrays included.

The limit bounds memory, because a decoded item takes far more memory than its encoding. Even a list in a
proof of 16 MiB has fewer items.
"""

PATH_HASHES_MAX: Final = 64

_UINT, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _NULL = 0, 1, 2, 3, 4, 5, 0xF6
_WIDTHS: Final = {0xF4: 0, 0xF5: 0, 0xF9: 2, 0xFA: 4, 0xFB: 8}
"""The first byte of a boolean or float → the number of bytes that follow it."""
_LEAST: Final = (24, 1 << 8, 1 << 16, 1 << 32)
"""The smallest numbers that need 1, 2, 4 and 8 bytes after the first byte of an item."""


def decode_strict(raw: bytes, where: str, *, body: bool = False) -> Any:
    """Decode `raw`, which must be one item of canonical CBOR with only the types that the format allows.

    With `body`, maps, negative integers, booleans and floats are allowed too.

    All item heads are checked before cbor2 runs, because cbor2 acts on some tags, such as the tags of
    fractions and regular expressions, while it decodes. The time is linear in the length.

    Raises:
        ProofError: the bytes are not one item of this form (`encoding`), or have too many items (`size`).
    """
    _check_heads(raw, where, body)
    return with_reason("encoding", unpack, raw, where)


def with_reason(reason: str, read: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `read` and return the result; a FormError is converted to a ProofError with `reason`.

    Raises:
        ProofError: `read` raised a FormError.
    """
    try:
        return read(*args, **kwargs)
    except FormError as error:
        raise ProofError(reason, str(error)) from error


def checked_fields(value: Any, checks: tuple[Check, ...], where: str) -> list[Any]:
    """Return `value` if it is an array in which each item satisfies the check at its position in `checks`.

    Raises:
        ProofError: `value` is not an array, or an item does not satisfy its check (`form`).
    """
    return with_reason("form", fields, value, checks, where)


def checked_array(value: Any, where: str, *lengths: int) -> list[Any]:
    """Return `value` if it is an array whose length is one of `lengths`; without `lengths`, any array.

    Raises:
        ProofError: `value` is not an array, or has a different length (`form`).
    """
    if type(value) is not list or (lengths and len(value) not in lengths):
        raise ProofError("form", f"{where} is not an array of the right length")
    return value


def split_path(raw: bytes, where: str) -> list[bytes]:
    """Split the bytes of a path into hashes.

    Raises:
        ProofError: `raw` is not a whole number of hashes, or has more hashes than a path can have (`form`).
    """
    if type(raw) is not bytes or len(raw) % DIGEST_BYTES or len(raw) > DIGEST_BYTES * PATH_HASHES_MAX:
        raise ProofError("form", f"{where} is not a sequence of at most {PATH_HASHES_MAX} hashes")
    return [raw[at : at + DIGEST_BYTES] for at in range(0, len(raw), DIGEST_BYTES)]


def _check_heads(raw: bytes, where: str, body: bool) -> None:
    at = count = 0
    left = [1]
    while left:
        if not left[-1]:
            left.pop()
            continue
        left[-1] -= 1
        count += 1
        if count > ITEMS_MAX:
            raise ProofError("size", f"{where} has more than {ITEMS_MAX} items")
        if at >= len(raw):
            raise ProofError("encoding", f"{where} ends too early")
        at, items = _item(raw, at, where, body)
        if items:
            if len(left) > DEPTH_MAX:
                raise ProofError("encoding", f"{where} has arrays or maps more than {DEPTH_MAX} deep")
            left.append(items)
    if at > len(raw):
        raise ProofError("encoding", f"{where} ends too early")
    if at < len(raw):
        raise ProofError("encoding", f"{where} has bytes after its end")


def _item(raw: bytes, at: int, where: str, body: bool) -> tuple[int, int]:
    """Return an offset and the number of inner items of the item at `at`.

    If the item has inner items, the offset is the start of the first inner item. Otherwise the offset is the
    end of the item.
    """
    head = raw[at]
    if head == _NULL:
        return at + 1, 0
    if body and head in _WIDTHS:
        return at + 1 + _WIDTHS[head], 0
    at, number = _number(raw, at + 1, head & 31, where)
    major = head >> 5
    if major in {_BYTES, _TEXT}:
        return at + number, 0
    if body and major == _MAP:
        return at, 2 * number
    if major not in {_UINT, _ARRAY} and not (body and major == _NEGATIVE):
        raise ProofError("encoding", f"{where} has an item of a type that is not allowed")
    return at, number if major == _ARRAY else 0


def _number(raw: bytes, at: int, info: int, where: str) -> tuple[int, int]:
    """Return the offset after the head of an item, and the number in the head."""
    if info < _LEAST[0]:
        return at, info
    if info > 27:
        raise ProofError("encoding", f"{where} has an item without a definite length")
    end = at + (1 << (info - 24))
    number = int.from_bytes(raw[at:end], "big")
    if end > len(raw) or number < _LEAST[info - 24]:
        raise ProofError("encoding", f"{where} has a number that is not in its shortest form")
    return end, number
