"""A quick check of a store: random events, and all rows that are derived from them.

For each event, proofs are made and verified: the log contains the event, and the trees agree with the stored
atom or edge, its tags and its terms. A damaged row is found only if a chosen event depends on it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from backends.base import Reader
from engine.base.errors import CorruptionError, NotFoundError, RefusedError
from engine.commands.evidence import Evidence
from engine.followers.log import check_log_state
from engine.ledger.journal import read_entry, read_log
from engine.ledger.queries import body_of
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from engine.text.analyzer import index_terms
from engine.trust.audit.comparison import check_record
from engine.trust.proving.prove import prove_present
from proofs.claims import AtomIs, AtomsMentioning, Claim, EdgeIs, EventIs, HasTag
from proofs.events import AtomDetail, EdgeDetail
from proofs.leaves import State, tag_identity

SECONDS: Final = 5.0
"""The time, in seconds, after which no further event is chosen."""

EVENTS_MAX: Final = 2000
"""The maximum number of events that are chosen."""

TERMS_EVERY: Final = 8
"""One term is checked for each group of this many events. A proof lists all atoms with the term."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The result of a quick check that found no damage."""

    seed: int
    """The seed of the choice. With the same seed, the same events are chosen."""
    events: int
    """The number of events in the journal."""
    chosen: int
    """The number of events that were chosen and checked."""
    claims: int
    """The number of claims that were proven."""


def sample(
    store: Store, *, seed: int | None = None, seconds: float = SECONDS, progress: Progress = no_progress
) -> Sample:
    """Check the head of the log, and then random events, at least one, until the time is over.

    Args:
        store: The store. Followers that lack events are updated first.
        seed: The seed of the choice; None for a random seed.
        seconds: The time after which no further event is chosen.
        progress: Called with (events checked, EVENTS_MAX).

    Raises:
        CorruptionError: A row is damaged. The message names the event with which the damage was found, and
            the seed.
    """
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    choice, until = random.Random(seed), time.monotonic() + seconds  # noqa: S311  not a matter of secrecy
    events = claims = 0
    with store.view(*store.followers) as rows:
        log = read_log(rows)
        check_log_state(rows, log)
        evidence = Evidence(store.trees)
        evidence.move_to(rows, log)
        while events < min(EVENTS_MAX, log.size) and (not events or time.monotonic() < until):
            seq = choice.randrange(log.size)
            try:
                wanted = list(_claims(rows, evidence, seq, terms=not events % TERMS_EVERY))
                prove_present(store, wanted)
            except (RefusedError, NotFoundError) as error:
                raise CorruptionError(
                    f"the rows that follow from event {seq} are damaged: {error}",
                    hint=f"chosen with the seed {seed}; run `engine verify-root` for the whole store",
                    seq=seq,
                ) from error
            events, claims = events + 1, claims + len(wanted)
            progress(events, EVENTS_MAX)
    return Sample(seed, log.size, events, claims)


def _claims(rows: Reader, evidence: Evidence, seq: int, *, terms: bool) -> Iterator[Claim]:
    """Yield the claims that must be true of an event and of its subject."""
    entry = read_entry(rows, seq)
    detail = entry.header.detail
    yield EventIs(seq, opened=entry.body is not None and seq > 0)
    if isinstance(detail, EdgeDetail):
        edge = evidence.edge(*detail)
        if edge is None:
            raise NotFoundError("the record of the edge is missing")
        check_record(rows, edge)
        yield EdgeIs(*detail, state=edge.state, opened=False)
    elif isinstance(detail, AtomDetail):
        record = evidence.atom(detail.id)
        if record is None:
            raise NotFoundError("the record of the atom is missing")
        check_record(rows, record)
        yield AtomIs(detail.id, state=record.state, opened=False)
        if record.state is State.LIVE:
            for tag in record.tags[:2]:
                yield HasTag(detail.id, tag_identity(tag))
            by_length = sorted(set(index_terms(body_of(rows, record).content)), key=len) if terms else []
            if by_length:
                yield AtomsMentioning(by_length[-1])
