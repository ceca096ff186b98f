"""Finds out whether the memory already holds a text, so that the text is not added a second time.

A live atom *holds* a text if its content is equal or nearly equal to the text. Equal texts differ at most in
white space and in the case of the letters A to Z. Nearly equal texts are near-duplicates
(`engine.query.duplicates`) that contain the same numbers and negations: `on 12 May` and `on 13 May` are
different facts. Near copies (`engine.query.near_copies`) are nearly equal, too, if they differ only in
fillers such as `the` or `really`. If they differ in another word, the text is added, because it may say
something new. An atom counts only if it is in a bucket of the new text, because a filter by that bucket would
not find other atoms. Entities do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from pyroaring import BitMap

from backends.base import Reader
from engine.base.errors import ConflictError, EngineError
from engine.base.model import Held, Receipt, State
from engine.base.validation import show_id
from engine.commands.atoms import Add
from engine.followers.index_view import IndexView
from engine.followers.requests import Once
from engine.followers.tags import LIVE, members, union
from engine.ledger.entities import ENTITY
from engine.ledger.journal import read_log
from engine.ledger.records import AtomRecord
from engine.query.duplicates import COMPARED_CHARS, are_near, share_words
from engine.query.near_copies import comparable, equal_texts, first_atoms, near_copies_of
from engine.query.snippets import beginning
from engine.query.view import View
from engine.store.store import Store
from engine.text.analyzer import index_terms
from engine.text.simhash import distance, fingerprint
from proofs.events import AtomBody
from proofs.sets import Group

ATTEMPTS_MAX: Final = 4
"""The largest number of comparisons of a text with the memory. If another process appends events in the
meantime, the comparison is repeated. During the last comparison, other processes are locked out."""

NEGATIONS: Final = frozenset(
    ("cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "without")
)


def add_unless_held(view: View, command: Add, actor: str, once: Once | None = None) -> Receipt:
    """Run `command` unless the memory already holds the text.

    No event is appended between the comparison and the addition. If an atom holds the text, nothing is added.
    Then the receipt has the id of that atom, and its field `held` says how similar the texts are. If `once`
    is given and its key was used already, the receipt is that of the first time.

    Raises:
        EngineError: as for `Commits.all`.
    """
    store = view.store
    for attempt in range(1, ATTEMPTS_MAX + 1):
        with store.exclusive() if attempt == ATTEMPTS_MAX else store.paused():
            if once is not None and store.recorded(actor, once):
                return store.commit([command], actor, request=once)[0]
            body = _as_written(store, command)
            with view.searchable() as rows:
                found = held(rows, store.index.view(rows), body)
                size = read_log(rows).size
            if found is not None:
                return Receipt(found.id, (), State.LIVE, found)
            try:
                return store.commit([command], actor, if_head=size, request=once)[0]
            except ConflictError:
                if attempt == ATTEMPTS_MAX or read_log(store.backend).size == size:
                    raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _as_written(store: Store, command: Add) -> AtomBody:
    """Return the body that the event would have after the redaction of secrets."""
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

    If several atoms hold the text, atoms with an equal text are preferred, then atoms of the same source,
    then atoms at a smaller distance, then older atoms. `rows` is a snapshot with records, tags and index at
    the head.

    Raises:
        CorruptionError: a row is missing or malformed.
    """
    counted = members(rows, LIVE) - members(rows, (Group.KIND, ENTITY))
    counted &= union(rows, ((Group.BUCKET, bucket) for bucket in body.buckets))
    terms = index_terms(body.content)
    found = _equal(rows, index, body.content, terms, counted)
    if not found and len(body.content) <= COMPARED_CHARS:
        head = [] if body.title is None else index_terms(body.title)
        own = fingerprint(head + terms)
        found = _nearly_equal(rows, index, own, frozenset(terms), counted)
        found = found or _reworded(rows, index, own, body.content, counted)
    best = min(found, key=lambda one: (one.source != body.source, one.away, one.ordinal), default=None)
    return best and Held(best.id, best.equal, best.away, best.title, best.snippet)


class _Found(NamedTuple):
    """An atom that holds the new text."""

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
    """Return the atoms in `counted` whose content has the same normal form as `content`."""
    return [
        _found(record, body, 0, equal=True)
        for record, body in equal_texts(rows, index, content, terms, counted)
    ]


def _nearly_equal(
    rows: Reader, index: IndexView, own: int, terms: frozenset[str], counted: BitMap
) -> list[_Found]:
    """Return the atoms in `counted` whose texts are nearly equal to a text with these terms."""
    fingerprints = index.facts.fingerprints
    near = BitMap(np.flatnonzero(are_near(fingerprints, np.uint64(own))).tolist()) & counted
    return [
        _found(record, body, distance(own, int(fingerprints[record.ordinal])), equal=False)
        for record, body in first_atoms(rows, near)
        if len(body.content) <= COMPARED_CHARS and _say_the_same(terms, frozenset(index_terms(body.content)))
    ]


def _reworded(rows: Reader, index: IndexView, own: int, text: str, counted: BitMap) -> list[_Found]:
    """Return the atoms in `counted` whose texts differ from `text` only in fillers.

    `own` is the fingerprint of the text.
    """
    copies = near_copies_of(rows, index, text, counted & comparable(rows))
    same = BitMap([ordinal for ordinal, rewording in copies if rewording.adds_nothing])
    fingerprints = index.facts.fingerprints
    return [
        _found(record, body, distance(own, int(fingerprints[record.ordinal])), equal=False)
        for record, body in first_atoms(rows, same)
    ]


def _found(record: AtomRecord, body: AtomBody, away: int, *, equal: bool) -> _Found:
    shown = beginning(body.content)
    return _Found(show_id(record.id), equal, away, record.title, shown, record.source, record.ordinal)


def _say_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return True if texts with these terms share enough words, and all numbers and negations."""
    return share_words(one, other) and not any(map(_changes_the_meaning, one ^ other))


def _changes_the_meaning(term: str) -> bool:
    return term in NEGATIONS or term.endswith("n't") or any(map(str.isdigit, term))
