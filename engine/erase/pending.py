"""The row that says what is being erased, from the first commit of an erasure until it is done."""

from __future__ import annotations

from typing import NamedTuple

from engine.base import limits
from engine.ledger.codec import fields, unpack
from engine.ledger.layout import ERASING
from engine.ledger.records import Lookup
from proofs.codec import pack
from proofs.forms import sized, text, uint


class Pending(NamedTuple):
    """An erasure that is not done; all that finishing it takes."""

    id: bytes
    reason: str
    actor: str
    remember: int
    """1: keep hashes of the contents, so that they are refused if they come again; 0: keep none."""


_FIELDS = (sized(16), text(limits.REASON_BYTES_MAX), text(limits.LABEL_CHARS_MAX), uint(1))


def encode_pending(pending: Pending) -> bytes:
    """The row."""
    return pack(list(pending))


def read_pending(rows: Lookup) -> Pending | None:
    """The erasure that is not done; None where there is none.

    Raises:
        CorruptionError: the row is not one of these.
    """
    raw = rows.get(ERASING)
    return None if raw is None else Pending(*fields(unpack(raw, "erasing"), _FIELDS, "erasing"))
