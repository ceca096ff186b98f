"""How far the dreamer has come: a row beside the journal, which nothing but time depends on.

    meta/dream   version · since · head · ordinals · phase · at · atoms · digest of the limits · anchor

The journal says what was added, but not what was looked at in vain. A row that is lost, of another
version, of other limits or of another journal counts as none: then everything is looked at again.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from backends.base import Batch
from engine.base import limits
from engine.base.errors import CorruptionError
from engine.ledger.codec import fields, unpack
from engine.ledger.journal import read_header
from engine.ledger.layout import DREAM
from engine.ledger.records import Lookup
from proofs.codec import pack
from proofs.forms import raw_up_to, sized, uint

VERSION: Final = 1


class Phase(IntEnum):
    """What a round is at."""

    DONE = 0
    LEARNING = 1
    ENRICHING = 2


class Cursor(NamedTuple):
    """A round looks at what others put in, or changed, in the events from `since` up to `head`."""

    since: int
    """0: at everything."""
    head: int
    ordinals: int
    """How many had been given at the head."""
    phase: Phase
    at: int
    """The first ordinal that is still to be looked at in this phase."""
    atoms: int
    """How many texts there were when everything was looked at last."""


NEVER: Final = Cursor(0, 0, 0, Phase.DONE, 0, 0)

_FIELDS = (
    uint(VERSION), uint(limits.SEQ_MAX), uint(limits.SEQ_MAX), uint(limits.ORDINAL_MAX + 1), uint(max(Phase)),
    uint(limits.ORDINAL_MAX + 1), uint(limits.ORDINAL_MAX + 1), sized(8), raw_up_to(32),
)  # fmt: skip


def read_cursor(rows: Lookup, digest: bytes, size: int) -> Cursor:
    """The cursor for these limits in a journal of `size` events; `NEVER` where there is none that fits."""
    raw = rows.get(DREAM)
    if raw is None:
        return NEVER
    try:
        version, *numbers, said, anchor = fields(unpack(raw, "dream cursor"), _FIELDS, "dream cursor")
    except CorruptionError:
        return NEVER
    since, head, ordinals, phase, at, atoms = numbers
    if (version, said) != (VERSION, digest) or not 0 < head <= size or anchor != _anchor(rows, head):
        return NEVER
    return Cursor(since, head, ordinals, Phase(phase), at, atoms)


def cursor_batch(rows: Lookup, cursor: Cursor, digest: bytes) -> Batch:
    """What to write to have this cursor."""
    batch = Batch()
    batch.put(DREAM, pack([VERSION, *map(int, cursor), digest, _anchor(rows, cursor.head)]))
    return batch


def _anchor(rows: Lookup, head: int) -> bytes:
    """The id of the last event before the head: another journal has another."""
    return read_header(rows, head - 1)[0].commitment
