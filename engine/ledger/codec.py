"""Reading stored bytes: the codec of `proofs.codec`, whose refusals mean here that a row is damaged."""

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
    """The value whose canonical bytes are `raw`; `where` names the row in the error.

    Raises:
        CorruptionError: not CBOR, or not the canonical bytes of what it decodes to.
    """
    try:
        return codec.unpack(raw, where)
    except FormError as error:
        raise CorruptionError(str(error)) from error


def reading(read: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What `read`, a function of `proofs`, makes of a stored row.

    Raises:
        CorruptionError: it refuses the bytes.
    """
    try:
        return read(*args, **kwargs)
    except (FormError, ProofError) as error:
        raise CorruptionError(str(error)) from error


def fields(value: Any, checks: tuple[Check, ...], where: str) -> list[Any]:
    """`value` itself, if it is an array whose items satisfy `checks` one by one.

    Raises:
        CorruptionError: it is not; the position is named.
    """
    try:
        return forms.fields(value, checks, where)
    except FormError as error:
        raise CorruptionError(str(error)) from error


def decode_header(raw: bytes, seq: int) -> Header:
    """The header stored at `seq`.

    Raises:
        CorruptionError: not the canonical bytes of a header of this format with this seq.
    """
    try:
        return codec.decode_header(raw, seq)
    except FormError as error:
        raise CorruptionError(str(error), hint=error.hint, family="journal", seq=seq) from error


def decode_body(kind: EventKind, raw: bytes, where: str) -> Body:
    """The body of an event of `kind`.

    Raises:
        CorruptionError: not the canonical bytes of such a body.
    """
    try:
        return codec.decode_body(kind, raw, where)
    except FormError as error:
        raise CorruptionError(str(error)) from error
