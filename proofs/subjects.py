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


def check_id(given: object) -> None:
    """Refuse what is no id of an atom."""
    if type(given) is not bytes or len(given) != ID_BYTES or not any(given):
        raise ProofError("input", f"an atom's id has {ID_BYTES} bytes, not all zero")


def check_state(given: object, opened: object) -> None:
    """Refuse what is no state, and to open what is erased."""
    check_opened(opened)
    if type(given) is not State:
        raise ProofError("input", "a state is one of proofs.leaves.State")
    if opened and given is State.ERASED:
        raise ProofError("input", "what is erased has no payload to open")


def check_opened(given: object) -> None:
    """Refuse what does not say whether a payload is opened."""
    if type(given) is not bool:
        raise ProofError("input", "whether a payload is opened is true or false")


def check_edge(src: object, code: object, dst: object) -> None:
    """Refuse what is no edge."""
    check_id(src)
    check_id(dst)
    if src == dst:
        raise ProofError("input", "an edge joins two atoms, and not one to itself")
    if not edge_code(code):
        raise ProofError("input", "the code of an edge type is 01 to 7F, or two bytes from 8000 on")


def check_identity(given: object) -> None:
    """Refuse what is plainly no tag's identity: its absence is always true and says nothing.

    Whether a text beyond ASCII is folded and normalised is not looked at: that would take tables of Unicode.
    """
    if type(given) is not str or not 0 < len(_utf8(given)) <= IDENTITY_BYTES_MAX:
        raise ProofError("input", f"a tag's identity is text of 1 to {IDENTITY_BYTES_MAX} bytes")
    if given[0] == "#" or _IN_NO_NAME.search(given):
        raise ProofError(
            "input",
            f"no tag has the identity {given!r}: it has no # at its beginning, no white space, no control "
            "characters and no A to Z",
        )


def check_term(given: object) -> None:
    """Refuse what can be no term, for the same reason."""
    if type(given) is not str or not is_term(_utf8(given)):
        raise ProofError("input", "a term is text of 1 to 64 bytes, of which the first is above 01")
    if _IN_NO_NAME.search(given):
        raise ProofError(
            "input",
            f"no text has the term {given!r}: it has no white space, no control characters, no A to Z",
        )


def _utf8(given: str) -> bytes:
    try:
        return given.encode()
    except UnicodeEncodeError as error:
        raise ProofError("input", "text must not have lone surrogates") from error


def check_root(given: object) -> None:
    """Refuse what is no root."""
    if type(given) is not bytes or len(given) != DIGEST_BYTES:
        raise ProofError("input", f"a root has {DIGEST_BYTES} bytes")


def check_number(what: str, given: object, least: int, most: int) -> None:
    """Refuse what is no number within bounds."""
    if type(given) is not int or not least <= given <= most:
        raise ProofError("input", f"{what} is a whole number from {least} to {most}")
