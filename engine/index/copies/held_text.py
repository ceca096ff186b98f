"""The live atom that holds a text already, so that the text is not added a second time.

A live atom *holds* a text if its content is equal or nearly equal to the text. Equal texts differ at most in
white space and in the case of the letters A to Z. Nearly equal texts are near-duplicates
(`engine.index.copies.duplicates`) that contain the same numbers and negations: `on 12 May` and `on 13 May`
are different facts. Texts are nearly equal, too, if they differ only in fillers such as `the` or `really`. An
atom counts only if it is in a bucket of the new text, because a filter by that bucket would not find other
atoms. Entities do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from pyroaring import BitMap

from backends.base import Reader
from engine.base.characters import normalized_content
from engine.base.validation import show_id
from engine.followers.tags import LIVE, members, union
from engine.index.copies.duplicates import COMPARED_CHARS, share_words
from engine.index.index_view import IndexView
from engine.ledger.entities import ENTITY
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.text.analyzer import index_terms
from engine.text.language.snippets import beginning
from engine.text.simhash import are_near, distance, fingerprint
from proofs.events import AtomBody
from proofs.leaves import Group

if TYPE_CHECKING:
    from engine.base.model import Held

COMPARED_MAX: Final = 64
"""The largest number of atoms that are read to find the copies of one text."""

FEW: Final = 4
"""If at most this many atoms are left, they are read, because reading the postings of a further term would
take longer."""

_FILLERS: Final = "a an the that this also too very realli quite rather just still so well inde actual"
FILLERS: Final = frozenset(_FILLERS.split())
"""Terms of words that can be left out, or exchanged for each other, without changing what a text says."""

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
    own = fingerprint([*([] if body.title is None else index_terms(body.title)), *terms])
    holding = _same_words(rows, index, own, body.content, terms, counted)
    if not any(one.equal for one in holding) and len(body.content) <= COMPARED_CHARS:
        holding += _nearly_equal(rows, index, own, frozenset(terms), counted)
    best = min(
        holding,
        key=lambda one: (not one.equal, one.source != body.source, one.away, one.ordinal),
        default=None,
    )
    if best is None:
        return None
    from engine.base.model import Held

    return Held(best.id, best.equal, best.away, best.title, best.snippet)


class _Found(NamedTuple):
    """An atom that holds the new text."""

    id: str
    equal: bool
    away: int
    title: str | None
    snippet: str
    source: str | None
    ordinal: int


def _same_words(
    rows: Reader, index: IndexView, own: int, content: str, terms: Sequence[str], counted: BitMap
) -> list[_Found]:
    """Return the atoms in `counted` whose contents are equal to `content`, or differ only in fillers.

    `own` is the fingerprint of the text.
    """
    normal, kept = normalized_content(content), [term for term in terms if term not in FILLERS]
    there = []
    for record, body in _having(rows, index, kept or terms, counted):
        equal = normalized_content(body.content) == normal
        if equal or (len(kept) > 1 and _without_fillers(body.content) == kept):
            away = 0 if equal else distance(own, int(index.facts.fingerprints[record.ordinal]))
            there.append(_found(record, body, away, equal=equal))
    return there


def _without_fillers(content: str) -> list[str]:
    return [term for term in index_terms(content) if term not in FILLERS]


def _nearly_equal(
    rows: Reader, index: IndexView, own: int, terms: frozenset[str], counted: BitMap
) -> list[_Found]:
    """Return the atoms in `counted` whose texts are nearly equal to a text with these terms."""
    fingerprints = index.facts.fingerprints
    near = BitMap(np.flatnonzero(are_near(fingerprints, np.uint64(own))).tolist()) & counted
    return [
        _found(record, body, distance(own, int(fingerprints[record.ordinal])), equal=False)
        for record, body in _first_atoms(rows, near)
        if len(body.content) <= COMPARED_CHARS and _say_the_same(terms, frozenset(index_terms(body.content)))
    ]


def equal_texts(
    rows: Reader, index: IndexView, content: str, among: BitMap
) -> list[tuple[AtomRecord, AtomBody]]:
    """Return the atoms in `among` whose contents have the same normal form as `content`.

    Contents have the same normal form if they differ at most in white space and in the case of the letters A
    to Z. Titles are not compared. At most `COMPARED_MAX` atoms are read.
    """
    normal = normalized_content(content)
    having = _having(rows, index, index_terms(content), among)
    return [(record, body) for record, body in having if normalized_content(body.content) == normal]


def _having(
    rows: Reader, index: IndexView, terms: Sequence[str], among: BitMap
) -> Iterator[tuple[AtomRecord, AtomBody]]:
    """Yield atoms in `among` with their bodies, among them all that have the terms, if these are few."""
    distinct = list(dict.fromkeys(terms))
    dfs = dict(zip(distinct, index.dfs(distinct), strict=True))
    if not all(dfs.values()):
        return iter(())
    for term in sorted(distinct, key=dfs.__getitem__):
        among = among & index.ordinals_with(term)
        if len(among) <= FEW:
            break
    return _first_atoms(rows, among)


def _first_atoms(rows: Reader, ordinals: BitMap) -> Iterator[tuple[AtomRecord, AtomBody]]:
    """Yield the first `COMPARED_MAX` of these atoms with their bodies."""
    records = records_of(rows, ids_at(rows, list(islice(ordinals, COMPARED_MAX))))
    return zip(records, bodies_of(rows, records), strict=True)


def _found(record: AtomRecord, body: AtomBody, away: int, *, equal: bool) -> _Found:
    shown = beginning(body.content)
    return _Found(show_id(record.id), equal, away, record.title, shown, record.source, record.ordinal)


def _say_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return True if texts with these terms share enough words, and all numbers and negations."""
    return share_words(one, other) and not any(map(_changes_the_meaning, one ^ other))


def _changes_the_meaning(term: str) -> bool:
    return term in NEGATIONS or term.endswith("n't") or any(map(str.isdigit, term))
