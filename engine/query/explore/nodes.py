"""Nodes: what agents name, and which atom or tag it is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from engine.base import limits
from engine.base.errors import ConflictError, EngineError, InvalidInputError, NotFoundError
from engine.base.validation import line, quoted
from engine.base.validation import tag as kept_tag
from engine.followers.columns import title_hash
from engine.followers.tags import members
from engine.ledger.entities import ENTITY, entity_id, entity_name
from engine.ledger.queries import ID_DIGITS_MIN, body_of, record_at, resolve_id
from engine.ledger.records import AtomRecord, read_atom
from engine.query.explore.scope import Scope
from engine.text.analyzer import index_terms
from proofs.leaves import State
from proofs.sets import Group, tag_identity

if TYPE_CHECKING:
    from pyroaring import BitMap

SHOWN: Final = 5
"""So many of several atoms that a word may mean are named."""

CANDIDATES: Final = 256
"""So many entities that may have a word in their names are looked at."""

WORDS_LOOKED_AT: Final = 64
RUN_WORDS_MAX: Final = 4
"""Runs of so many words of the first so many of a question are looked up as names."""

_MARKS: Final = ".,;:!?\"'()[]{}“”‘’«»…"
_HEX: Final = frozenset("0123456789abcdefABCDEF-")
ID_DIGITS: Final = 32


def resolve_node(scope: Scope, given: str) -> AtomRecord | str:
    """The live atom that `given` names, or the tag, in its caseless form.

    In this order: a tag with its `#`; a whole id that is recorded; an entity's name; 4 or more of an id's
    first digits; a title; a tag without its `#`; words that only one entity's name has.

    Raises:
        InvalidInputError: blank, or more than one line.
        NotFoundError: it is none of them.
        ConflictError: several atoms go by it; the message names some.
    """
    asked = line(given, "node", limits.QUERY_BYTES_MAX).strip()
    if not asked:
        raise InvalidInputError("the node is blank; give an id, an entity's name or a #tag")
    if asked.startswith("#"):
        return _tag(scope, asked) or _entity(scope, asked) or _nothing(asked)
    digits = len(asked.replace("-", "")) if set(asked) <= _HEX else 0
    found = (_recorded(scope, asked) if digits == ID_DIGITS else None) or _entity(scope, asked)
    if found is None and ID_DIGITS_MIN <= digits < ID_DIGITS:
        found = _by_id(scope, asked)
    return found or _titled(scope, asked) or _tag(scope, asked) or _by_words(scope, asked) or _nothing(asked)


def _nothing(asked: str) -> str:
    raise NotFoundError(
        f"nothing is called {quoted(asked)}",
        hint="give an id, an entity's name or a #tag; explore_recall finds texts by their words",
    )


def _entity(scope: Scope, asked: str) -> AtomRecord | None:
    try:
        atom = entity_id(scope.memory.store.identity.id_key, entity_name(asked))
    except InvalidInputError:
        return None  # what is no name may be something else
    record = read_atom(scope.rows, atom)
    return record if record and record.kind == ENTITY and record.state is State.LIVE else None


def _recorded(scope: Scope, asked: str) -> AtomRecord | None:
    return scope.record(asked) if read_atom(scope.rows, resolve_id(scope.rows, asked)) else None


def _by_id(scope: Scope, asked: str) -> AtomRecord | None:
    try:
        return scope.record(asked)
    except NotFoundError:
        return None  # a word may look like digits: cafe, dead, 2026


def _by_words(scope: Scope, asked: str) -> AtomRecord | None:
    """The only live entity whose name has all these words."""
    from pyroaring import BitMap

    terms = set(index_terms(asked))
    found = scope.entities if terms else BitMap()
    for term in sorted(terms):
        found = found & mentioning(scope, term)
    records = (record_at(scope.rows, ordinal) for ordinal in islice(found, CANDIDATES))
    # The index knows their titles, too, and these are no names.
    named = (one for one in records if terms <= set(index_terms(body_of(scope.rows, one).content)))
    return _only(scope, asked, list(islice(named, SHOWN + 1)))


def mentioning(scope: Scope, term: str) -> BitMap:
    """The ordinals of all contents with this term, dead ones too."""
    from pyroaring import BitMap

    found = BitMap()
    for part in scope.view.postings(term):
        found |= BitMap(part.offsets.astype("u4") + part.start)
    return found


def _titled(scope: Scope, asked: str) -> AtomRecord | None:
    import numpy as np

    hashes = np.array([title_hash(asked)], np.uint64)
    having = scope.places.titled(hashes, scope.live_mask, scope.view.documents)
    records = (record_at(scope.rows, ordinal) for _, ordinal in having)
    texts = (record for record in records if record.kind != ENTITY)
    return _only(scope, asked, list(islice(texts, SHOWN + 1)))


def _only(scope: Scope, asked: str, records: Sequence[AtomRecord]) -> AtomRecord | None:
    if len(records) <= 1:
        return records[0] if records else None
    names = ", ".join(f"{scope.short_id(one.id)} {quoted(scope.name(one))}" for one in records[:SHOWN])
    more = " and more" if len(records) > SHOWN else ""
    raise ConflictError(f"{quoted(asked)} may be several: {names}{more}", hint="give one of these ids")


def _tag(scope: Scope, asked: str) -> str | None:
    try:
        identity = tag_identity(kept_tag(asked))
    except EngineError:
        return None  # what can be no tag is none
    return identity if members(scope.rows, (Group.TAG, identity)) & scope.live else None


def entities_in(scope: Scope, query: str) -> tuple[str, ...]:
    """The names of the live entities that a question names, as they come in it; at most 5.

    Looked for are all runs of up to 4 of its first 64 words, longer ones first; none may share a word.
    """
    words = query.split()[:WORDS_LOOKED_AT]
    if not scope.entities:
        return ()
    found: dict[int, str] = {}
    taken: set[int] = set()
    for length in range(min(RUN_WORDS_MAX, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            run = set(range(start, start + length))
            if run & taken:
                continue
            name = " ".join(words[start : start + length])
            record = _entity(scope, name) or _entity(scope, name.strip(_MARKS))
            if record is not None:
                found[start] = body_of(scope.rows, record).content
                taken |= run
    names = dict.fromkeys(found[start] for start in sorted(found))
    return tuple(names)[:SHOWN]
