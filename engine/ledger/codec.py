"""Decoding of stored rows with `proofs.codec`. Each error in this module means that a row is damaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from engine.base.errors import CorruptionError
from proofs import codec, forms
from proofs.errors import ProofError
from proofs.events import Body, EventKind, Header
from proofs.forms import Check, FormError

P = ParamSpec("P")
R = TypeVar("R")


def unpack(raw: bytes, where: str) -> Any:
    """Return the value whose canonical CBOR is `raw`. `where` names the row in the error.

    Raises:
        CorruptionError: `raw` is not CBOR, or not the canonical encoding of the decoded value.
    """
    try:
        return codec.unpack(raw, where)
    except FormError as error:
        raise CorruptionError(str(error)) from error


def decode_stored(decode: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `decode`, a function of `proofs`, on a stored row and return its result.

    Raises:
        CorruptionError: `decode` raises an error.
    """
    try:
        return decode(*args, **kwargs)
    except (FormError, ProofError) as error:
        raise CorruptionError(str(error)) from error


def fields(value: Any, checks: tuple[Check, ...], where: str) -> list[Any]:
    """Return `value` if it is an array with one item for each check, and each item satisfies its check.

    Raises:
        CorruptionError: `value` is not such an array; the message names the position of the faulty item.
    """
    try:
        return forms.fields(value, checks, where)
    except FormError as error:
        raise CorruptionError(str(error)) from error


def decode_header(raw: bytes, seq: int) -> Header:
    """Decode the header of event `seq`.

    Raises:
        CorruptionError: `raw` is not the canonical encoding of a header of this format, or the sequence
            number in the header is not `seq`.
    """
    try:
        return codec.decode_header(raw, seq)
    except FormError as error:
        raise CorruptionError(str(error), hint=error.hint, family="journal", seq=seq) from error


def decode_body(kind: EventKind, raw: bytes, where: str) -> Body:
    """Decode the body of an event of `kind`. `where` names the row in the error.

    Raises:
        CorruptionError: `raw` is not the canonical encoding of a body of an event of `kind`.
    """
    try:
        return codec.decode_body(kind, raw, where)
    except FormError as error:
        raise CorruptionError(str(error)) from error
