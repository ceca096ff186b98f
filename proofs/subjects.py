"""Validation of the subjects of claims. Each check raises ProofError (`input`) for an invalid value."""

from __future__ import annotations

import re
from typing import Final

from proofs.characters import CONTROLS, WHITE_SPACE
from proofs.errors import ProofError
from proofs.forms import edge_code
from proofs.hashing import DIGEST_BYTES
from proofs.leaves import State
from proofs.rows import is_term

ID_BYTES: Final = 16
IDENTITY_BYTES_MAX: Final = 1024

_FORBIDDEN: Final = re.compile(f"[{WHITE_SPACE}{CONTROLS}A-Z]")


def check_id(value: object) -> None:
    """Raise ProofError if `value` is not the id of an atom."""
    if type(value) is not bytes or len(value) != ID_BYTES or not any(value):
        raise ProofError("input", f"an atom's id has {ID_BYTES} bytes, not all zero")


def check_state(value: object, opened: object) -> None:
    """Raise ProofError if `value` is not a state, or if the claim opens the payload of an erased subject."""
    check_opened(opened)
    if type(value) is not State:
        raise ProofError("input", "a state must be one of proofs.leaves.State")
    if opened and value is State.ERASED:
        raise ProofError("input", "an erased atom or edge has no payload to open; use opened=False")


def check_opened(value: object) -> None:
    """Raise ProofError if `value` is not a boolean."""
    if type(value) is not bool:
        raise ProofError("input", "opened must be True or False")


def check_edge(src: object, code: object, dst: object) -> None:
    """Raise ProofError if no edge can have these ids and this type code."""
    check_id(src)
    check_id(dst)
    if src == dst:
        raise ProofError("input", "an edge must join two different atoms")
    if not edge_code(code):
        raise ProofError(
            "input", "the code of an edge type is one byte from 01 to 7F, or two bytes from 8000 to FFFF"
        )


def check_identity(value: object) -> None:
    """Raise ProofError if `value` cannot be the identity of a tag. Only ASCII is checked completely.

    A claim that no atom has such a tag would be true of every store and so show nothing. Beyond
    ASCII, case folding and normalisation are not checked, because that would need Unicode tables.
    """
    if type(value) is not str or not 0 < len(_utf8(value)) <= IDENTITY_BYTES_MAX:
        raise ProofError("input", f"a tag's identity is text of 1 to {IDENTITY_BYTES_MAX} bytes")
    if value[0] == "#" or _FORBIDDEN.search(value):
        raise ProofError(
            "input",
            f"{value!r} is not the identity of a tag: it must not begin with # or contain white space, "
            "control characters or A to Z",
        )


def check_term(value: object) -> None:
    """Raise ProofError if `value` cannot be a term.

    A claim that no atom contains such a term would be true of every store and so show nothing.
    """
    if type(value) is not str or not is_term(_utf8(value)):
        raise ProofError("input", "a term is text of 1 to 64 bytes, and its first byte is above 01")
    if _FORBIDDEN.search(value):
        raise ProofError(
            "input",
            f"{value!r} is not a term: it must not contain white space, control characters or A to Z",
        )


def _utf8(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise ProofError("input", "text must not have lone surrogates") from error


def check_root(value: object) -> None:
    """Raise ProofError if `value` is not a root."""
    if type(value) is not bytes or len(value) != DIGEST_BYTES:
        raise ProofError("input", f"a root has {DIGEST_BYTES} bytes")


def check_number(what: str, value: object, least: int, most: int) -> None:
    """Raise ProofError if `value` is not an integer from `least` to `most`."""
    if type(value) is not int or not least <= value <= most:
        raise ProofError("input", f"{what} must be an integer from {least} to {most}")
