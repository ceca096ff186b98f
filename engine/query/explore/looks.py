"""Looking at one atom: a peek at the stretch that matters, or all of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import islice
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.model import Direction
from engine.base.validation import integer, show_id
from engine.language.question import analyze_question
from engine.ledger.queries import body_of, edges_at
from engine.ledger.records import AtomRecord
from engine.query.budget import CHARS_PER_TOKEN_MAX
from engine.query.explore.answers import Expanded, Peek
from engine.query.explore.scope import Scope
from engine.query.snippets import Snippets, beginning

PEEK_CHARS: Final = 200

EDGES_COUNTED: Final = 1000
"""The edges of a hub are counted up to here."""


def peek_of(scope: Scope, record: AtomRecord, query: str | None, chars: int) -> Peek:
    """At most `chars` characters of an atom: where the words of `query` are, else its beginning."""
    content = body_of(scope.rows, record).content
    terms = analyze_question(query, now=scope.log.time).terms if query else ()
    weights = scope.weights(terms)
    text = beginning(content, chars)
    whole = text == " ".join(content.split())
    if weights and not whole:
        text = Snippets(weights, chars).around(content)
    return Peek(
        id=scope.short_id(record.id),
        title=record.title,
        source=record.source,
        text=text,
        chars=len(content),
        whole=whole,
    )


def expanded_of(scope: Scope, record: AtomRecord, offset: int) -> Expanded:
    """An atom from character `offset` of its text on.

    Raises:
        InvalidInputError: the text ends before.
    """
    content = body_of(scope.rows, record).content
    if integer(offset, "offset") and offset >= len(content):
        raise InvalidInputError(f"offset {offset} is beyond the {len(content)} characters of the text")
    edges = edges_at(scope.rows, record.id, Direction.BOTH, ())
    return Expanded(
        id=show_id(record.id),
        short_id=scope.short_id(record.id),
        title=record.title,
        text=content[offset:],
        offset=offset,
        next=None,
        kind=record.kind,
        tags=record.tags,
        edges=sum(1 for _ in islice(edges, EDGES_COUNTED)),
        source=record.source,
        sequence=record.sequence,
        version=record.version,
        created=record.created,
        provenance=record.provenance,
    )


def longest(text: str, budget: int, cost: Callable[[str], int]) -> str | None:
    """The longest beginning of `text` that `cost` puts within `budget`, ending after a word if it can.

    None where not even one character is within. A longer beginning is taken never to cost less.
    """
    reach = min(len(text), budget * CHARS_PER_TOKEN_MAX)
    if reach == len(text) and cost(text) <= budget:
        return text
    end = bisect_right(range(1, reach + 1), budget, key=lambda chars: cost(text[:chars]))
    if not end:
        return None
    for at in range(end, end // 2, -1):
        if text[at - 1].isspace():
            return text[:at]
    return text[:end]
