"""What a round has to look at, told from the journal and from how far the dreamer has come.

    meta/dream   version · since · head · ordinals · phase · at · atoms · digest of the limits · anchor

The journal says what was added, but not what was looked at in vain, so that a row beside it does: the
cursor. One that is lost, of another version, of other limits or of another journal counts as none: then
everything is looked at again.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from pyroaring import BitMap

from backends.base import Batch, Reader
from engine.base import limits
from engine.base.errors import CorruptionError, InvalidInputError
from engine.base.validation import PROVENANCES, instance, integer
from engine.knowledge.dreaming.commands import DREAMER
from engine.knowledge.dreaming.config import DreamConfig
from engine.knowledge.dreaming.pages import Name, Names
from engine.knowledge.dreaming.survey import Survey
from engine.ledger.codec import decode_header, fields, unpack
from engine.ledger.journal import read_header
from engine.ledger.layout import DREAM, journal_key
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import Lookup
from proofs.codec import pack
from proofs.events import AtomDetail, EventKind
from proofs.forms import raw_up_to, sized, uint

VERSION: Final = 1

_SAYING = frozenset({EventKind.ATOM_ADDED, EventKind.ATOM_REVISED, EventKind.ATOM_REVIVED})


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


class Round(NamedTuple):
    """What is to be done from the cursor to the round's head."""

    cursor: Cursor
    texts: BitMap
    """Atoms that others put in, changed or brought back."""
    names: Names
    """All that are known."""
    fresh: list[Name]
    """Those that are known since the last round: they are spread to older atoms, too."""


def begun(cursor: Cursor, size: int, survey: Survey) -> Cursor:
    """The cursor of the round that is on, or of a new one up to the head."""
    if cursor.phase is not Phase.DONE:
        return cursor
    atoms = len(survey.texts)
    if atoms >= survey.config.regrown * cursor.atoms:
        # What was too rare or too common may have become worth a tag: so it is the rarer, the more there is.
        return Cursor(0, size, survey.view.documents, Phase.LEARNING, 0, atoms)
    return Cursor(cursor.head, size, survey.view.documents, Phase.LEARNING, 0, cursor.atoms)


def round_of(rows: Reader, cursor: Cursor, size: int, survey: Survey) -> Round:
    """What the round of this cursor has to look at, in a journal of `size` events."""
    if cursor.since:
        said, dreamt = _told_of(rows, cursor, size)
        texts, new = survey.texts & said, survey.entities & (said | dreamt)
    else:
        texts, new = survey.texts & BitMap(range(cursor.ordinals)), survey.entities
    names, fresh = Names(), []
    for ordinal, name in _known(rows, survey, names):
        if ordinal in new:
            fresh.append(name)
    return Round(cursor, texts, names, fresh)


def _told_of(rows: Reader, cursor: Cursor, size: int) -> tuple[BitMap, BitMap]:
    """The ordinals that others spoke of in the round's events, and those of the dreamer since its head."""
    said, dreamt = BitMap(), BitMap()
    scanned = rows.scan(journal_key(cursor.since), journal_key(size))
    for seq, (_, raw) in enumerate(scanned, cursor.since):
        header = decode_header(raw, seq)
        if header.kind not in _SAYING or not isinstance(header.detail, AtomDetail):
            continue
        if header.actor != DREAMER:
            if seq < cursor.head:
                said.add(header.detail.ordinal)
        elif seq >= cursor.head:
            dreamt.add(header.detail.ordinal)
    return said, dreamt


def _known(rows: Reader, survey: Survey, names: Names) -> list[tuple[int, Name]]:
    """The entities that may be spread, by ordinal; `names` gets them all."""
    found = []
    ordinals = survey.entities.to_array()
    records = records_of(rows, ids_at(rows, ordinals))
    for ordinal, record, body in zip(ordinals, records, bodies_of(rows, records), strict=True):
        # A name that came from outside is not spread over what is our own.
        if record.provenance == PROVENANCES[0]:
            name = names.add(body.content, record.id)
            if name is not None:
                found.append((ordinal, name))
    return found


def checked(config: object, budget: object, seconds: object) -> None:
    """Refuse bounds with which nothing would ever be done.

    Raises:
        InvalidInputError: the budget is below 1, or the seconds are no number above 0.
    """
    instance(config, DreamConfig, "config")
    if budget is not None and integer(budget, "budget") < 1:
        raise InvalidInputError("budget must be 1 atom or more")
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0
    ):
        raise InvalidInputError(f"seconds must be a number above 0, not {seconds!r}")
