"""The live atom that holds a text already, so that the text is not added a second time.

A live atom *holds* a text if its content is equal or nearly equal to the text. Equal texts differ at most in
white space and in the case of the letters A to Z. Nearly equal texts are near-duplicates
(`engine.index.copies.duplicates`) that contain the same numbers and negations: `on 12 May` and `on 13 May`
are different facts. Near copies (`engine.index.copies.near_copies`) are nearly equal, too, if they differ
only in fillers such as `the` or `really`. If they differ in another word, the text is added, because it may
say something new. An atom counts only if it is in a bucket of the new text, because a filter by that bucket
would not find other atoms. Entities do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from pyroaring import BitMap

from backends.base import Reader
from engine.base.model import Held
from engine.base.validation import show_id
from engine.followers.tags import LIVE, members, union
from engine.index.copies.duplicates import COMPARED_CHARS, share_words
from engine.index.copies.near_copies import comparable, equal_texts, first_atoms, near_copies_of
from engine.index.index_view import IndexView
from engine.ledger.entities import ENTITY
from engine.ledger.records import AtomRecord
from engine.text.analyzer import index_terms
from engine.text.language.snippets import beginning
from engine.text.simhash import are_near, distance, fingerprint
from proofs.events import AtomBody
from proofs.leaves import Group

NEGATIONS: Final = frozenset(
    ("cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "without")
)


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
    equal = _equal(rows, index, body.content, terms, counted)
    if not equal and len(body.content) <= COMPARED_CHARS:
        head = [] if body.title is None else index_terms(body.title)
        simhash = fingerprint(head + terms)
        equal = _nearly_equal(rows, index, simhash, frozenset(terms), counted)
        equal = equal or _reworded(rows, index, simhash, body.content, counted)
    best = min(equal, key=lambda one: (one.source != body.source, one.away, one.ordinal), default=None)
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
