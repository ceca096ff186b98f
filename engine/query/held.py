"""Texts that the memory holds already: found before a text is added, so that it is not stored twice.

A live atom *holds* a text if its content is equal, apart from white space and the case of the letters A to
Z, or nearly equal. Nearly equal texts are near-duplicates (`engine.query.duplicates`), and neither a number
nor a negation is in only one of them: `on 12 May` and `on 13 May` are different facts. Only atoms in a bucket
of the new text count, because a filter by bucket would not find the others. Entities do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from pyroaring import BitMap

from backends.base import Reader
from engine.base.errors import ConflictError, EngineError
from engine.base.model import Held, Receipt, State
from engine.base.validation import show_id
from engine.commands.atoms import Add, normalized_content
from engine.followers.index_view import IndexView
from engine.followers.tags import LIVE, members, union
from engine.ledger.entities import ENTITY
from engine.ledger.journal import read_log
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.duplicates import COMPARED_CHARS, are_near, share_words
from engine.query.filters import mentioning
from engine.query.snippets import beginning
from engine.query.view import View
from engine.store.store import Store
from engine.text.analyzer import index_terms
from engine.text.simhash import distance, fingerprint
from proofs.events import AtomBody
from proofs.sets import Group

COMPARED_MAX: Final = 64
"""The largest number of atoms whose texts are compared with the new text, once for each kind of equality."""

FEW: Final = 4
"""Reading this many atoms takes less time than reading the postings of a further term."""

ATTEMPTS_MAX: Final = 4
"""The number of times a text is compared with the memory while other processes append events. The last time,
these processes are locked out."""

NEGATIONS: Final = frozenset(
    ("cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "without")
)


def add_unless_held(view: View, command: Add, actor: str) -> Receipt:
    """Carry out `command` unless the memory holds the text already.

    No event comes between the comparison and the addition. If an atom holds the text, no event is appended:
    the receipt names that atom, and its field `held` says how similar the texts are.

    Raises:
        EngineError: as for `Store.commit`.
    """
    store = view.store
    for attempt in range(1, ATTEMPTS_MAX + 1):
        with store.exclusive() if attempt == ATTEMPTS_MAX else store.paused():
            body = _as_written(store, command)
            with view.searchable() as rows:
                found = held(rows, store.index.view(rows), body)
                size = read_log(rows).size
            if found is not None:
                return Receipt(found.id, (), State.LIVE, found)
            try:
                return store.commit([command], actor, if_head=size)[0]
            except ConflictError:
                if attempt == ATTEMPTS_MAX or read_log(store.backend).size == size:
                    raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _as_written(store: Store, command: Add) -> AtomBody:
    """Return the body that the event would have, with secrets redacted."""
    secrets = store.secret_filter
    try:
        body, screen = command.body(), None if secrets is None else secrets.screen()
        return body if screen is None else screen.atom(body)
    except EngineError as error:
        # A message may quote a secret.
        if secrets is not None:
            secrets.mask(error)
        raise


def held(rows: Reader, index: IndexView, body: AtomBody) -> Held | None:
    """Return the atom that holds a text, or None.

    If there are several, an equal text is preferred to a nearly equal text, then an atom of the same source,
    then the smaller distance, then the older atom. `rows` is a snapshot with records, tags and index at the
    head.

    Raises:
        CorruptionError: a row is missing or malformed.
    """
    counted = members(rows, LIVE) - members(rows, (Group.KIND, ENTITY))
    counted &= union(rows, ((Group.BUCKET, bucket) for bucket in body.buckets))
    terms = index_terms(body.content)
    found = _equal(rows, index, body.content, terms, counted)
    if not found and len(body.content) <= COMPARED_CHARS:
        head = [] if body.title is None else index_terms(body.title)
        found = _nearly_equal(rows, index, fingerprint(head + terms), frozenset(terms), counted)
    best = min(found, key=lambda one: (one.source != body.source, one.away, one.ordinal), default=None)
    return best and Held(best.id, best.equal, best.away, best.title, best.snippet)


class _Found(NamedTuple):
    """An atom that holds the text."""

    id: str
    equal: bool
    away: int
    title: str | None
    snippet: str
    source: str | None
    ordinal: int


def _equal(
    rows: Reader, index: IndexView, content: str, terms: Sequence[str], counted: BitMap
) -> list[_Found]:
    """Return those atoms in `counted` whose content has the same normal form as `content`."""
    distinct = list(dict.fromkeys(terms))
    dfs = dict(zip(distinct, index.dfs(distinct), strict=True))
    if not all(dfs.values()):
        return []
    for term in sorted(distinct, key=dfs.__getitem__):
        counted = counted & mentioning(index, term)
        if len(counted) <= FEW:
            break
    normal = normalized_content(content)
    return [
        _found(record, body, 0, equal=True)
        for record, body in _atoms(rows, counted)
        if normalized_content(body.content) == normal
    ]


def _nearly_equal(
    rows: Reader, index: IndexView, own: int, terms: frozenset[str], counted: BitMap
) -> list[_Found]:
    """Return those atoms in `counted` whose texts are nearly equal to the text with these terms."""
    fingerprints = index.facts.fingerprints
    near = BitMap(np.flatnonzero(are_near(fingerprints, np.uint64(own))).tolist()) & counted
    return [
        _found(record, body, distance(own, int(fingerprints[record.ordinal])), equal=False)
        for record, body in _atoms(rows, near)
        if len(body.content) <= COMPARED_CHARS and _say_the_same(terms, frozenset(index_terms(body.content)))
    ]


def _atoms(rows: Reader, ordinals: BitMap) -> Iterator[tuple[AtomRecord, AtomBody]]:
    records = records_of(rows, ids_at(rows, list(islice(ordinals, COMPARED_MAX))))
    return zip(records, bodies_of(rows, records), strict=True)


def _found(record: AtomRecord, body: AtomBody, away: int, *, equal: bool) -> _Found:
    shown = beginning(body.content)
    return _Found(show_id(record.id), equal, away, record.title, shown, record.source, record.ordinal)


def _say_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return True if two texts with these terms share words, and differ in no number and no negation."""
    return share_words(one, other) and not any(map(_changes_the_meaning, one ^ other))


def _changes_the_meaning(term: str) -> bool:
    return term in NEGATIONS or term.endswith("n't") or any(map(str.isdigit, term))
