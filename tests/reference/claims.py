"""SPEC 20.1: the bases and claims that a verifier accepts, and their checks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.reference.forms import INTEGER_MAX, code
from tests.reference.refused import need

Basis = tuple[str, bytes, bytes, int | None] | tuple[str, bytes, int, bytes]
"""A basis: ("root", store id, overall root, log size or None) or ("log", store id, log size, log root)."""
Claim = tuple[int, bytes, int | None, bool]
"""A claim: its number, its subject, a state or None, and True if the proof must open the payload.

The claims `atom` and `edge` have a state: 0 live, 1 tombstoned, 2 erased; the claims `tag`, `no-tag` and
`tags` have state 0 or 1. Only the claims `atom`, `edge` and `event` can open a payload.
"""

ATOM, NO_ATOM, EDGE, NO_EDGE, TAG, NO_TAG, TAGGED, NONE_TAGGED, TERM, NO_TERM = range(1, 11)
EVENT, PREFIX, ROOT, PREFIX_ROOT, EDGES_OF, TAGS_OF, SEEN = range(11, 18)
STATE_CLAIMS, LIST_CLAIMS = (*range(1, 11), EDGES_OF, TAGS_OF), range(7, 11)
LABELLED = (*range(5, 11), TAGS_OF)
STATES = {ATOM: (0, 1, 2), EDGE: (0, 1, 2), TAG: (0, 1), NO_TAG: (0, 1), TAGS_OF: (0, 1)}
WITH_PAYLOAD = (ATOM, EDGE, EVENT)
SEQ_MAX = (1 << 53) - 1


def in_order(basis: Basis, claims: Sequence[Claim]) -> list[Claim]:
    """Check the basis and the claims, and return the claims in the order of their witnesses."""
    need(is_basis(basis), "input")
    need(len(claims) > 0, "input")
    for number, subject, state, opens in claims:
        need(number in range(1, 18) and isinstance(subject, bytes) and is_subject(number, subject), "input")
        need(state in STATES.get(number, (None,)) and not isinstance(state, bool), "input")
        need(not opens or (number in WITH_PAYLOAD and state != 2), "input")
        need(not opens or number != EVENT or any(subject), "input")
    need(len({claim[:2] for claim in claims}) == len(claims), "input")
    return sorted(claims, key=lambda claim: claim[:2])


def parts_of(basis: Basis) -> tuple[bytes, bytes, int | None]:
    """Return the store id, the root and the log size of a basis of either kind."""
    last, other = basis[3], basis[2]
    if isinstance(other, bytes):
        return basis[1], other, last if isinstance(last, int) else None
    return basis[1], last if isinstance(last, bytes) else b"", other


def is_basis(basis: Basis) -> bool:
    """Return True if the fields of a basis have the required widths and bounds."""
    if len(basis) != 4 or basis[0] not in ("root", "log"):
        return False
    store_id, root, size = parts_of(basis)
    least = 0 if basis[0] == "root" else 1
    sized = (size is None and least == 0) or (isinstance(size, int) and least <= size <= INTEGER_MAX)
    return sized and isinstance(store_id, bytes) and len(store_id) == 16 and len(root) == 32


SPACES = "\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""The white space of SPEC 3.1."""


def is_subject(number: int, subject: bytes) -> bool:
    """Return True if a claim with this number can have this subject."""
    if number in (ATOM, NO_ATOM, TAGS_OF):
        return is_id(subject)
    if number in (EDGE, NO_EDGE):
        source, target = subject[:16], subject[-16:]
        return is_id(source) and is_id(target) and source != target and code(subject[16:-16])
    if number in (TAG, NO_TAG):
        return is_id(subject[:16]) and is_set(subject[16:])
    if number in (TAGGED, NONE_TAGGED):
        return subject[:4] <= subject[4:8] and is_set(subject[8:])
    if number in (TERM, NO_TERM):
        term = decoded(subject[8:])
        bounded = subject[:4] <= subject[4:8] and 9 <= len(subject) <= 72
        return bounded and subject[8] > 1 and term is not None and is_dense(term)
    if number == PREFIX:
        return len(subject) == 40 and any(subject[:8])
    if number == EDGES_OF:
        typed = len(subject) == 17 or code(subject[17:])
        return len(subject) >= 17 and subject[0] < 2 and is_id(subject[1:17]) and typed
    if number == SEEN:
        return len(subject) == 56 and 1 <= int.from_bytes(subject[16:24], "big") <= SEQ_MAX + 1
    if number == EVENT:
        return len(subject) == 8 and int.from_bytes(subject, "big") <= SEQ_MAX
    return len(subject) == 32


LABEL = "[a-z0-9._-]{1,32}"
VALUES = {
    3: LABEL,
    4: LABEL,
    5: LABEL,
    6: "[^\0-\x1f\x7f-\x9f\u2028\u2029]+",
    7: "[0-9]{4}-[0-9]{2}-[0-9]{2}",
}
"""The values of the groups 3 to 7: bucket, kind, provenance, source, day."""


def is_set(data: bytes) -> bool:
    """Return True if the bytes are a group and a value of the group."""
    if data[:1] == b"\2":
        return is_identity(data[1:])
    text = decoded(data[1:])
    known = 0 < len(data) <= 513 and data[0] in VALUES and text is not None
    return known and re.fullmatch(VALUES[data[0]], text or "") is not None


def is_id(data: bytes) -> bool:
    """Return True if the bytes are a valid id of an atom."""
    return len(data) == 16 and any(data)


def is_identity(data: bytes) -> bool:
    """Return True if the bytes are a valid identity of a tag."""
    text = decoded(data)
    return text is not None and 1 <= len(data) <= 1024 and text[0] != "#" and is_dense(text)


def is_dense(text: str) -> bool:
    """Return True if a text has no white space, no control characters and no A to Z."""
    return re.search(f"[{SPACES}\0-\x1f\x7f-\x9fA-Z]", text) is None


def decoded(data: bytes) -> str | None:
    """Return the text of UTF-8 bytes, or None if they are invalid."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
