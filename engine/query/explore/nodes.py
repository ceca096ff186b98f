"""Nodes: find the atom, the page or the tag that an agent or a question names.

A question names an entity in its words, or asks for a page: `what is a kettle?` asks for the page `Kettle`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

import numpy as np
from pyroaring import BitMap

from engine.base import limits
from engine.base.errors import ConflictError, EngineError, InvalidInputError, NotFoundError
from engine.base.validation import atom_id, folded_tag, line, quoted
from engine.followers.names import has_aliases, named, page_title
from engine.followers.tags import members
from engine.ledger.entities import ENTITY, entity_id, entity_name
from engine.ledger.queries import (
    body_of,
    record_at,
)
from engine.ledger.records import AtomRecord, read_atom
from engine.query.explore.explore_answers import Node
from engine.query.explore.scope import NAME_CHARS, Scope
from engine.query.file_pages import Pieces, pieces_named
from engine.query.filters import NO_FILTERS, Filters, allowed, meets_categories
from engine.text.analyzer import index_terms
from engine.text.language.snippets import beginning
from engine.text.simhash import title_hash
from proofs.leaves import Group, State

SHOWN: Final = 5
"""The largest number of atoms that the error message for an ambiguous name lists."""

CANDIDATES: Final = 256
"""The largest number of entities that are read to find the entities with given words in their names."""

WORDS_LOOKED_AT: Final = 64
"""Only this many words at the beginning of a question are searched for names of entities."""
RUN_WORDS_MAX: Final = 4
"""The largest number of consecutive words that are looked up as one name."""

_MARKS: Final = ".,;:!?\"'()[]{}“”‘’«»…"
ID_DIGITS: Final = 32


_ASKING: Final = frozenset(
    [
        "what",
        "what's",
        "whats",
        "who",
        "who's",
        "is",
        "are",
        "was",
        "were",
        "does",
        "do",
        "did",
        "a",
        "an",
        "the",
        "mean",
        "means",
        "meant",
        "by",
        "meaning",
        "definition",
        "of",
        "define",
        "explain",
        "describe",
    ]
)
"""The English words around the name in a question that asks what or who something is."""


NAME_WORDS_MAX: Final = 8


WORD_CHARS_MIN: Final = 3
"""The length of the shortest plural of an acronym. Shorter words are looked up only as they are."""


_QUESTION_MARKS: Final = "?!.,;:\"'()“”‘’«»…？！。"


FoundNode = AtomRecord | Pieces | str
"""The meaning of a name: an atom, a page, or a tag in its caseless form."""


def resolve_node(scope: Scope, name: str) -> FoundNode:
    """Return the live atom or the page with this name, or the tag in its caseless form.

    These interpretations of the name are tried in order: a tag with `#`; the whole id of an atom; the name of
    an entity; at least the first 4 digits of an id; the path, the title or an alias of a page; the title of
    an atom, or its alias; the alias of an entity; a tag without `#`; words that occur in the name of only one
    entity.

    Raises:
        InvalidInputError: the name is blank or has more than one line.
        NotFoundError: there is no such atom, page or tag.
        ConflictError: several atoms or pages have this name; the message lists some of them, with their
            sources.
    """
    name = line(name, "node", limits.QUERY_BYTES_MAX).strip()
    if not name:
        raise InvalidInputError("the node is blank; give an id, an entity's name or a #tag")
    if name.startswith("#"):
        return _tag(scope, name) or _entity(scope, name) or _nothing(name)
    return (
        (scope.record(name) if _is_recorded_id(scope, name) else _entity(scope, name))
        or _by_id(scope, name)
        or pieces_named(scope.rows, name)
        or _titled(scope, name)
        or _only(scope, name, _aliased(scope, name))
        or _tag(scope, name)
        or _by_words(scope, name)
        or _nothing(name)
    )


def resolve_atom(scope: Scope, name: str) -> AtomRecord | Pieces:
    """Return the live atom whose id is or begins with `name`, or else the result of `resolve_node`.

    Raises:
        InvalidInputError: the name is blank or has more than one line, or stands for a tag.
        NotFoundError: there is no such atom or page.
        ConflictError: several ids begin with these digits, or several atoms or pages have this name.
    """
    try:
        return scope.record(name)
    except (InvalidInputError, NotFoundError) as error:
        digits = name.replace("-", "") if isinstance(name, str) else ""
        if not digits or len(digits) >= ID_DIGITS or digits[0] == "#":
            raise
        record = _page_or_title(scope, name)
        if record is None:
            raise error from None
        return record


def first_of(found: AtomRecord | Pieces) -> AtomRecord:
    """Return an atom itself, or the first piece of a page."""
    return found.records[0] if isinstance(found, Pieces) else found


def _page_or_title(scope: Scope, name: str) -> AtomRecord | Pieces | None:
    name = line(name, "name", limits.QUERY_BYTES_MAX).strip()
    return (pieces_named(scope.rows, name) or _titled(scope, name)) if name else None


def _nothing(name: str) -> str:
    raise NotFoundError(
        f"no atom, page or tag is named {quoted(name)}",
        hint="give an id, an entity's name or a #tag, or search for words with explore_recall",
    )


def _entity(scope: Scope, name: str) -> AtomRecord | None:
    try:
        atom = entity_id(scope.memory.store.identity.id_key, entity_name(name))
    except InvalidInputError:
        return None  # not valid as an entity's name, but it may be a title or a tag
    record = read_atom(scope.rows, atom)
    return record if record and record.kind == ENTITY and record.state is State.LIVE else None


def _aliased(scope: Scope, name: str) -> list[AtomRecord]:
    """Return the live entities with this alias."""
    ordinals = [one for one in named(scope.rows, name) if one in scope.entities]
    return [record_at(scope.rows, ordinal) for ordinal in ordinals[: SHOWN + 1]]


def _named_or_aliased(scope: Scope, name: str) -> AtomRecord | None:
    """Return the live entity with this name, or the only one with this alias."""
    record = _entity(scope, name)
    if record is None and has_aliases(scope.rows) and len(aliases := _aliased(scope, name)) == 1:
        return aliases[0]
    return record


def _is_recorded_id(scope: Scope, name: str) -> bool:
    try:
        return read_atom(scope.rows, atom_id(name)) is not None
    except InvalidInputError:
        return False


def _by_id(scope: Scope, name: str) -> AtomRecord | None:
    try:
        return scope.record(name)
    except (InvalidInputError, NotFoundError):
        return None  # words can look like hexadecimal digits: cafe, dead, 2026


def _by_words(scope: Scope, name: str) -> AtomRecord | None:
    """Return the live entity whose name has all these words, or None.

    Raises:
        ConflictError: the names of several entities have all these words.
    """
    terms = set(index_terms(name))
    entities = scope.entities if terms else BitMap()
    for term in sorted(terms):
        entities = entities & scope.index.ordinals_with(term)
    records = (record_at(scope.rows, ordinal) for ordinal in islice(entities, CANDIDATES))
    # The index also covers an entity's title, which is its type and not part of its name.
    named = (one for one in records if terms <= set(index_terms(body_of(scope.rows, one).content)))
    return _only(scope, name, list(islice(named, SHOWN + 1)))


def _titled(scope: Scope, name: str) -> AtomRecord | None:
    hashes = np.array([title_hash(name)], np.uint64)
    titled = scope.positions.titled(hashes, scope.live_mask, scope.index.documents)
    aliased = (ordinal for ordinal in named(scope.rows, name) if ordinal in scope.live)
    ordinals = dict.fromkeys((*(ordinal for _, ordinal in titled), *aliased))
    records = (record_at(scope.rows, ordinal) for ordinal in ordinals)
    texts = (record for record in records if record.kind != ENTITY)
    return _only(scope, name, list(islice(texts, SHOWN + 1)))


def _only(scope: Scope, name: str, records: Sequence[AtomRecord]) -> AtomRecord | None:
    if len(records) <= 1:
        return records[0] if records else None
    names = ", ".join(
        f"{scope.short_id(one.id)} {quoted(scope.name(one))}" + (f" in {one.source}" if one.source else "")
        for one in records[:SHOWN]
    )
    more = " and more" if len(records) > SHOWN else ""
    raise ConflictError(f"{quoted(name)} is ambiguous: {names}{more}", hint="give one of these ids")


def _tag(scope: Scope, name: str) -> str | None:
    try:
        identity = folded_tag(name)
    except EngineError:
        return None  # not valid as a tag
    return identity if members(scope.rows, (Group.TAG, identity)) & scope.live else None


def entities_in(scope: Scope, query: str) -> tuple[str, ...]:
    """Return the names of live entities in a question, in the order of the question; at most 5.

    Every sequence of at most 4 of the first 64 words is looked up, longer sequences first. Names do not
    overlap.
    """
    words = query.split()[:WORDS_LOOKED_AT]
    if not scope.entities:
        return ()
    entities: dict[int, str] = {}
    taken: set[int] = set()
    for length in range(min(RUN_WORDS_MAX, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            run = set(range(start, start + length))
            if run & taken:
                continue
            name = " ".join(words[start : start + length])
            record = _named_or_aliased(scope, name) or _named_or_aliased(scope, name.strip(_MARKS))
            if record is not None:
                entities[start] = body_of(scope.rows, record).content
                taken |= run
    names = dict.fromkeys(entities[start] for start in sorted(entities))
    return tuple(names)[:SHOWN]


def node_of(scope: Scope, found: FoundNode) -> Node:
    """Return an atom, a page or a tag as the node of an answer.

    The id of a page is that of its first piece.
    """
    if isinstance(found, str):
        return Node(None, f"#{found}")
    if isinstance(found, Pieces):
        return Node(scope.short_id(found.records[0].id), page_name(scope, found))
    return Node(scope.short_id(found.id), scope.name(found))


def passing(scope: Scope, found: AtomRecord | Pieces, filters: Filters) -> AtomRecord | Pieces:
    """Return an atom, or the pieces of a page that pass `filters`.

    Raises:
        InvalidInputError: a filter is not valid for its field.
        NotFoundError: neither the atom nor any of the pieces passes the filters.
    """
    if filters == NO_FILTERS:
        return found
    passes = check_of(scope, filters)
    if isinstance(found, Pieces):
        records = tuple(filter(passes, found.records))
        if records:
            return Pieces(found.source, records)
    elif passes(found):
        return found
    raise NotFoundError(f"{scope.short_id(first_of(found).id)} is there, but does not pass the filter")


def check_of(scope: Scope, filters: Filters) -> Callable[[AtomRecord], bool]:
    """Return a function that returns True if an atom passes `filters`.

    Raises:
        InvalidInputError: a filter is not valid for its field.
    """
    if filters == NO_FILTERS:
        return lambda record: True
    ordinals, wanted = allowed(scope.rows, filters), filters.categories

    def passes(record: AtomRecord) -> bool:
        return record.ordinal in ordinals and meets_categories(scope.rows, record, wanted)

    return passes


def page_name(scope: Scope, page: Pieces) -> str:
    """Return the title or the path of a page, shortened to NAME_CHARS characters."""
    return beginning(page_title(body_of(scope.rows, page.records[0])) or page.source, NAME_CHARS)


def asked_page(scope: Scope, core: str) -> Pieces | None:
    """Return the page whose title, file name or alias a question asks for; None if there is not exactly one.

    The question consists of a name alone, or asks in English what or who something is. A word of the name may
    have an `s` at its end that the word in the question lacks, and vice versa.

    Args:
        scope: The memory.
        core: The question without phrases such as "tell me about".
    """
    for name in _names(core):
        try:
            pieces = pieces_named(scope.rows, name)
        except (ConflictError, InvalidInputError):
            continue  # several pages have the name, or a word has a character that no name can have
        if pieces is not None:
            return pieces
    return None


def _names(core: str) -> Iterator[str]:
    """Yield the names that the question may ask for, the longest first."""
    words = " ".join(core.split())[: limits.QUERY_BYTES_MAX].strip(_QUESTION_MARKS).split()
    end = len(words)
    while end and words[end - 1].casefold() in _ASKING:
        end -= 1
    for start in range(len(words)):
        if 0 < end - start <= NAME_WORDS_MAX:
            yield from _in_numbers([word.strip(_QUESTION_MARKS) for word in words[start:end]])
        if words[start].strip(_QUESTION_MARKS).casefold() not in _ASKING:
            return


def _in_numbers(words: list[str]) -> Iterator[str]:
    """Yield a name, then the name with one of its words in the other number."""
    yield " ".join(words)
    for at, word in reversed(list(enumerate(words))):
        if len(word) >= WORD_CHARS_MIN:
            other = word[:-1] if word[-1] in "sS" else f"{word}s"
            yield " ".join([*words[:at], other, *words[at + 1 :]])
