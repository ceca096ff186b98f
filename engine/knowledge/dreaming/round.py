"""The atoms that a round of the dreamer has to read, derived from the journal and the dreamer's cursor.

A round is a pass over all new and changed atoms. It may take several cycles.

    meta/dream   version · since · head · ordinals · phase · at · atoms · digest of the limits · anchor

The journal records the additions of the dreamer, but not the atoms to which it added nothing. So the row
`meta/dream` (the cursor) records the progress of a round. All atoms are read again if the cursor is lost, or
if it was written by a different version, with different limits or for a different journal.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from pyroaring import BitMap

from backends.base import Batch, Reader
from engine.base import limits
from engine.base.errors import CorruptionError, InvalidInputError
from engine.base.validation import PROVENANCES, instance, integer
from engine.knowledge.dreaming.dream_commands import DREAMER
from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.knowledge.dreaming.name_uses import Name, Names
from engine.knowledge.dreaming.survey import Survey
from engine.knowledge.graph_encoding import is_implied
from engine.ledger.journal import read_header
from engine.ledger.layout import DREAM, decode_header, fields, journal_key, unpack
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import Lookup
from proofs.codec import pack
from proofs.events import AtomDetail, EventKind
from proofs.forms import raw_up_to, sized, uint

VERSION: Final = 1

_CONTENT_EVENTS = frozenset({EventKind.ATOM_ADDED, EventKind.ATOM_REVISED, EventKind.ATOM_REVIVED})


class Phase(IntEnum):
    """The phase of a round. First, names are learned from all atoms; then tags and edges are added."""

    DONE = 0
    LEARNING = 1
    ENRICHING = 2


class Cursor(NamedTuple):
    """The progress of a round.

    The round reads the atoms that actors other than the dreamer changed in the events `since` to `head`.
    """

    since: int
    """The first event of the round; 0 for a round over all atoms."""
    head: int
    ordinals: int
    """The number of ordinals that were assigned before the event `head`."""
    phase: Phase
    at: int
    """The first ordinal whose atom has not been read in this phase."""
    atoms: int
    """The number of texts in the store when the last round over all atoms began."""


NO_CURSOR: Final = Cursor(0, 0, 0, Phase.DONE, 0, 0)

_FIELDS = (
    uint(VERSION), uint(limits.SEQ_MAX), uint(limits.SEQ_MAX), uint(limits.ORDINAL_MAX + 1), uint(max(Phase)),
    uint(limits.ORDINAL_MAX + 1), uint(limits.ORDINAL_MAX + 1), sized(8), raw_up_to(32),
)  # fmt: skip


def read_cursor(rows: Lookup, digest: bytes, size: int) -> Cursor:
    """Return the stored cursor, or `NO_CURSOR` if there is no valid cursor.

    A cursor is valid if it was stored with the same limits (`digest`) and for the same journal, which now has
    `size` events.
    """
    raw = rows.get(DREAM)
    if raw is None:
        return NO_CURSOR
    try:
        version, *numbers, limits_digest, anchor = fields(
            unpack(raw, "dream cursor"), _FIELDS, "dream cursor"
        )
    except CorruptionError:
        return NO_CURSOR
    since, head, ordinals, phase, at, atoms = numbers
    if (version, limits_digest) != (VERSION, digest) or not 0 < head <= size or anchor != _anchor(rows, head):
        return NO_CURSOR
    return Cursor(since, head, ordinals, Phase(phase), at, atoms)


def cursor_batch(rows: Lookup, cursor: Cursor, digest: bytes) -> Batch:
    """Return the batch that stores this cursor."""
    batch = Batch()
    batch.put(DREAM, pack([VERSION, *map(int, cursor), digest, _anchor(rows, cursor.head)]))
    return batch


def _anchor(rows: Lookup, head: int) -> bytes:
    """Return the commitment of the last event before `head`. The commitment identifies the journal."""
    return read_header(rows, head - 1)[0].commitment


class Round(NamedTuple):
    """The work of a round: the atoms to read from the cursor up to the head, and the known names."""

    cursor: Cursor
    texts: BitMap
    """The ordinals of the texts that actors other than the dreamer added, changed or revived."""
    names: Names
    """All names that are known, with their entities."""
    fresh: list[Name]
    """The names that became known since the last round. Older atoms that contain such a name are also
    read."""


def begin_round(cursor: Cursor, size: int, survey: Survey) -> Cursor:
    """Return the cursor of the current round. If no round is in progress, begin a round up to the head."""
    if cursor.phase is not Phase.DONE:
        return cursor
    atoms = len(survey.texts)
    if atoms >= survey.config.regrown * cursor.atoms:
        # In a larger store, names and phrases that were too rare or too common may be suitable as tags.
        return Cursor(0, size, survey.view.documents, Phase.LEARNING, 0, atoms)
    return Cursor(cursor.head, size, survey.view.documents, Phase.LEARNING, 0, cursor.atoms)


def round_of(rows: Reader, cursor: Cursor, size: int, survey: Survey) -> Round:
    """Return the work of the round to which this cursor belongs, in a journal of `size` events."""
    if cursor.since:
        changed, by_dreamer = _changed_ordinals(rows, cursor, size)
        texts, new = survey.texts & changed, survey.entities & (changed | by_dreamer)
    else:
        texts, new = survey.texts & BitMap(range(cursor.ordinals)), survey.entities
    names, fresh = Names(), []
    for ordinal, name in _known(rows, survey, names):
        if ordinal in new:
            fresh.append(name)
    return Round(cursor, texts, names, fresh)


def _changed_ordinals(rows: Reader, cursor: Cursor, size: int) -> tuple[BitMap, BitMap]:
    """Return the ordinals of the atoms that other actors changed, and of those that the dreamer changed.

    The first set covers the events of the round; the second set covers the events after the round. A
    change is an event that adds, revises or revives an atom.
    """
    changed, by_dreamer = BitMap(), BitMap()
    scanned = rows.scan(journal_key(cursor.since), journal_key(size))
    for seq, (_, raw) in enumerate(scanned, cursor.since):
        header = decode_header(raw, seq)
        if header.kind not in _CONTENT_EVENTS or not isinstance(header.detail, AtomDetail):
            continue
        if header.actor != DREAMER:
            if seq < cursor.head:
                changed.add(header.detail.ordinal)
        elif seq >= cursor.head:
            by_dreamer.add(header.detail.ordinal)
    return changed, by_dreamer


def _known(rows: Reader, survey: Survey, names: Names) -> list[tuple[int, Name]]:
    """Add the names of the internal entities to `names`. Return each name with the ordinal of its entity."""
    present = []
    ordinals = survey.entities.to_array()
    records = records_of(rows, ids_at(rows, ordinals))
    for ordinal, record, body in zip(ordinals, records, bodies_of(rows, records), strict=True):
        # A name from an external text is not added to internal atoms. An entity that the dreamer made for the
        # end of a relation can have a common word as its name.
        implied = is_implied(body) and read_header(rows, record.created_seq)[0].actor == DREAMER
        if record.provenance == PROVENANCES[0] and not implied:
            name = names.add(body.content, record.id, body.aliases or ())
            if name is not None:
                present.append((ordinal, name))
    return present


def check_bounds(config: object, budget: object, seconds: object) -> None:
    """Check the limits `budget` and `seconds` of a cycle.

    Raises:
        InvalidInputError: the budget is below 1, or the seconds are not a number above 0.
    """
    instance(config, DreamConfig, "config")
    if budget is not None and integer(budget, "budget") < 1:
        raise InvalidInputError("budget must be 1 atom or more")
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0
    ):
        raise InvalidInputError(f"seconds must be a number above 0, not {seconds!r}")
