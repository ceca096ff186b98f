"""What a claim can be about: each check raises ProofError (`input`) for what it cannot be."""

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

_IN_NO_NAME: Final = re.compile(f"[{WHITE_SPACE}{CONTROLS}A-Z]")


def check_id(value: object) -> None:
    """Refuse what is no id of an atom."""
    if type(value) is not bytes or len(value) != ID_BYTES or not any(value):
        raise ProofError("input", f"an atom's id has {ID_BYTES} bytes, not all zero")


def check_state(value: object, opened: object) -> None:
    """Refuse what is no state, and to open what is erased."""
    check_opened(opened)
    if type(value) is not State:
        raise ProofError("input", "a state is one of proofs.leaves.State")
    if opened and value is State.ERASED:
        raise ProofError("input", "what is erased has no payload to open")


def check_opened(value: object) -> None:
    """Refuse what does not say whether a payload is opened."""
    if type(value) is not bool:
        raise ProofError("input", "whether a payload is opened is true or false")


def check_edge(src: object, code: object, dst: object) -> None:
    """Refuse what is no edge."""
    check_id(src)
    check_id(dst)
    if src == dst:
        raise ProofError("input", "an edge joins two atoms, and not one to itself")
    if not edge_code(code):
        raise ProofError("input", "the code of an edge type is 01 to 7F, or two bytes from 8000 on")


def check_identity(value: object) -> None:
    """Refuse what is plainly no tag's identity: its absence is always true and says nothing.

    Whether a text beyond ASCII is folded and normalised is not looked at: that would take tables of Unicode.
    """
    if type(value) is not str or not 0 < len(_utf8(value)) <= IDENTITY_BYTES_MAX:
        raise ProofError("input", f"a tag's identity is text of 1 to {IDENTITY_BYTES_MAX} bytes")
    if value[0] == "#" or _IN_NO_NAME.search(value):
        raise ProofError(
            "input",
            f"no tag has the identity {value!r}: it has no # at its beginning, no white space, no control "
            "characters and no A to Z",
        )


def check_term(value: object) -> None:
    """Refuse what can be no term, for the same reason."""
    if type(value) is not str or not is_term(_utf8(value)):
        raise ProofError("input", "a term is text of 1 to 64 bytes, of which the first is above 01")
    if _IN_NO_NAME.search(value):
        raise ProofError(
            "input",
            f"no text has the term {value!r}: it has no white space, no control characters, no A to Z",
        )


def _utf8(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise ProofError("input", "text must not have lone surrogates") from error


def check_root(value: object) -> None:
    """Refuse what is no root."""
    if type(value) is not bytes or len(value) != DIGEST_BYTES:
        raise ProofError("input", f"a root has {DIGEST_BYTES} bytes")


def check_number(what: str, value: object, least: int, most: int) -> None:
    """Refuse what is no number within bounds."""
    if type(value) is not int or not least <= value <= most:
        raise ProofError("input", f"{what} is a whole number from {least} to {most}")
