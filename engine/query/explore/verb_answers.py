"""Build the answers of the four verbs: hints, peeks, whole texts, and the connections of a node.

A hint is a line of about twenty tokens. The score of a hint in per cent is 100 · s / (s + c), where s is the
score of the atom in recall, and c is the highest score that the question's words alone can give to any atom.
So the words alone give at most 50 %; a higher score means that other signals of recall raised it. Words that
occur in no atom lower all scores. Hints are in the order of recall, with one exception: if the question asks
for a page by its name, the beginning of the page comes first. Its score is at least the best score.

Connections are triples `subject → predicate → object`. Edges come first, sorted by the name of their type and
then by the id of the other end, except that edges `mentions` follow all others: hundreds of texts can mention
a person, and few say what she is. Then come the tags of an
atom, and its neighbours in its source. Hidden atoms and hidden edges are left out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import chain, islice
from typing import Final, NamedTuple

import numpy as np

from engine.base import limits
from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.model import Direction
from engine.base.validation import atom_id, integer, positive, several, show_id
from engine.commands.edges import known_type
from engine.followers.names import page_title
from engine.followers.tags import members
from engine.ledger.entities import MENTIONS
from engine.ledger.queries import (
    bodies_of,
    body_of,
    data_of,
    edge_types_at,
    edges_at,
    exact_type_in,
    far_end,
    record_at,
    records_of,
    source_in,
)
from engine.ledger.records import AtomRecord, EdgeRecord, read_atom, type_name
from engine.query.explore.explore_answers import Expanded, Hint, Peek, Triple
from engine.query.explore.nodes import FoundNode, asked_page, check_of, first_of, page_name, passing
from engine.query.explore.scope import Scope
from engine.query.file_pages import Pieces, edges_of_pieces
from engine.query.filters import Filters
from engine.query.prompt_text import CHARS_PER_TOKEN_MAX, tokens_of
from engine.query.recall.recall import recall
from engine.query.recall.recall_answer import Hit, joined_titles
from engine.query.written_days import day_written, note_of
from engine.text.language.question import analyze_question
from engine.text.language.snippets import Snippets, beginning
from proofs.events import AtomBody
from proofs.leaves import Group, State, tag_identity

TITLE_CHARS: Final = 40
"""The largest length of a hint's title in characters, which are about 10 tokens of English."""

SHARED_CHARS: Final = 16
"""The number of characters to which a title is shortened if several hints have the same title. A part of each
text follows the shortened title, so that these hints can be told apart."""

PEEK_CHARS: Final = 200

SCORE_WITHOUT_HITS: Final = 50
"""The score of a page that the question asks for by its name, if recall finds nothing."""

EDGES_COUNTED: Final = 1000
"""The edges of an atom are counted only up to this number."""


HAS_TAG: Final = "has tag"


NEXT: Final = "next in source"
"""The predicate of triples that connect neighbours in a source. It cannot be an edge type, because edge types
have no spaces."""


NEIGHBORS_MAX: Final = 100
"""The largest number of triples on one page."""


def hints_of(
    scope: Scope, query: str, limit: int, filters: Filters, known: Collection[str]
) -> tuple[tuple[Hint, ...], tuple[DatedText, ...]]:
    """Return hints for the best hits of a question, and the whole texts of these hits.

    The best hits of the subjects of the question come first, then the others, the best first.

    `known` contains ids, or the first digits of ids. Atoms with these ids are left out.
    """
    per_page = scope.memory.config.per_page and scope.memory.config.per_page + len(known)
    answer = recall(
        *(scope.rows, scope.memory, query), limit=limit + len(known), filters=filters, per_page=per_page
    )
    weights = scope.weights(answer.terms)
    ceiling = sum(weights.values()) * (scope.memory.config.bm25.k1 + 1)
    starts = tuple(one.replace("-", "") for one in known)
    leads = answer.leads()
    unknown = [hit for hit in answer.hits if not hit.id.replace("-", "").startswith(starts)]
    hits = sorted(unknown, key=lambda hit: hit.id not in leads)[:limit]
    atoms = [atom_id(hit.id) for hit in hits]
    records = records_of(scope.rows, atoms)
    bodies = bodies_of(scope.rows, records)
    scores = [round(100 * hit.score / (hit.score + ceiling)) for hit in hits]
    rows = zip(atoms, _titles(hits, weights), scores, bodies, strict=True)
    hints = (
        Hint(
            *(scope.short_id(atom), title, score, tokens_of(body.content)),
            provenance=hit.provenance,
            lead=hit.id in leads,
        )
        for hit, (atom, title, score, body) in zip(hits, rows, strict=True)
    )
    texts = map(dated_text, records, bodies)
    found_hints = list(zip(hints, texts, strict=True))
    if asked := _asked(scope, answer.core, filters, starts):
        best = max((hint.score for hint, _ in found_hints), default=SCORE_WITHOUT_HITS)
        others = [one for one in found_hints if one[0].id != asked[0].id]
        found_hints = [(replace(asked[0], score=best), asked[1]), *others][:limit]
    return tuple(hint for hint, _ in found_hints), tuple(text for _, text in found_hints)


class DatedText(NamedTuple):
    """The whole text of an atom, and the day on which it was written."""

    content: str
    day: date | None


def dated_text(record: AtomRecord, body: AtomBody) -> DatedText:
    """Return the text of an atom with its day."""
    return DatedText(body.content, day_written(record, body))


def asks_when(query: str | None) -> bool:
    """Return True if a question asks for a time."""
    return query is not None and analyze_question(query).asks_when


def _asked(
    scope: Scope, core: str, filters: Filters, known: tuple[str, ...]
) -> tuple[Hint, DatedText] | None:
    """Return the hint for the beginning of the page that the question asks for, and the whole text."""
    page = asked_page(scope, core)
    if page is None:
        return None
    try:
        record = first_of(passing(scope, page, filters))
    except NotFoundError:
        return None  # the page does not meet the conditions
    if record.id.hex().startswith(known):
        return None
    body = body_of(scope.rows, record)
    title = beginning(joined_titles(page_title(body), record.title) or body.content, TITLE_CHARS)
    tokens = tokens_of(body.content)
    return Hint(
        scope.short_id(record.id), title, 0, tokens, provenance=record.provenance, asked=True
    ), dated_text(record, body)


def _titles(hits: list[Hit], weights: dict[str, float]) -> list[str]:
    headings = [hit.heading for hit in hits]
    titles = [None if heading is None else beginning(heading, TITLE_CHARS) for heading in headings]
    shared = Counter(titles)
    shown = []
    for hit, title in zip(hits, titles, strict=True):
        if title is None:
            title = Snippets(weights, TITLE_CHARS).around(hit.snippet)
        elif shared[title] > 1:
            start = beginning(title, SHARED_CHARS)
            title = f"{start}: {Snippets(weights, TITLE_CHARS - len(start)).around(hit.snippet)}"
        shown.append(title)
    return shown


def peek_of(scope: Scope, record: AtomRecord, query: str | None, chars: int) -> Peek:
    """Return at most `chars` characters of an atom's text, around the words of `query` or at its start."""
    body = body_of(scope.rows, record)
    content = body.content
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
        provenance=record.provenance,
        when=note_of(day_written(record, body), text, asked=asks_when(query)),
    )


def expanded_of(scope: Scope, found: AtomRecord | Pieces, offset: int, query: str | None) -> Expanded:
    """Return an atom with the part of its text from character `offset` to the end.

    For a page, return the fields of its first piece, but the text and the number of edges of all pieces.
    `query` is the question that led to the atom, or None.

    Raises:
        InvalidInputError: the text ends before `offset`.
    """
    records = found.records if isinstance(found, Pieces) else (found,)
    record = records[0]
    bodies = bodies_of(scope.rows, records)
    content = "\n\n".join(body.content for body in bodies)
    if integer(offset, "offset") and offset >= len(content):
        raise InvalidInputError(f"offset {offset} is beyond the {len(content)} characters of the text")
    edges = chain.from_iterable(edges_at(scope.rows, one.id, Direction.BOTH, ()) for one in records)
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
        when=note_of(day_written(record, bodies[0]), content[offset:], asked=asks_when(query)),
    )


def longest(text: str, budget: int, cost: Callable[[str], int]) -> str | None:
    """Return the longest beginning of `text` whose `cost` is at most `budget`.

    If possible, the beginning is cut after a word. Return None if even the first character costs more than
    `budget`. `cost` must never be lower for a longer text than for a shorter text.
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


@dataclass(frozen=True, slots=True)
class WantedEdges:
    """The connections to return."""

    direction: Direction
    codes: tuple[bytes, ...]
    """The types of the edges; empty for all edges, tags and neighbours in the source."""
    passes: Callable[[AtomRecord], bool]
    """A function that returns True for an atom at the other end that may be returned."""


def wanted_edges(scope: Scope, direction: Direction, types: Collection[str], filters: Filters) -> WantedEdges:
    """Return the connections that the arguments describe.

    Raises:
        InvalidInputError: a filter is not valid for its field.
        NotFoundError: there is no such type of edges.
    """
    codes = tuple(known_type(scope.rows, name) for name in several(types, "types"))
    return WantedEdges(direction, codes, check_of(scope, filters))


def page_of(
    scope: Scope, found: FoundNode, wanted: WantedEdges, limit: int, offset: int
) -> tuple[tuple[Triple, ...], int | None]:
    """Return at most `limit` triples after the first `offset` triples, and the offset of the next page.

    On the last page, the offset of the next page is None.

    Raises:
        InvalidInputError: `limit` or `offset` is out of range.
    """
    positive(limit, "limit", NEIGHBORS_MAX)
    start = integer(offset, "offset", limits.ORDINAL_MAX)
    triples = _triples(scope, found, wanted)
    page = list(islice(triples, start, start + limit + 1))
    return tuple(make() for make in page[:limit]), start + limit if len(page) > limit else None


LazyTriple = Callable[[], Triple]
"""A function that builds a triple.

It is called only for the triples on the page, because reading names and ids takes the most time.
"""


def _triples(scope: Scope, found: FoundNode, wanted: WantedEdges) -> Iterator[LazyTriple]:
    if isinstance(found, str):
        return _of_tag(scope, found, wanted)
    if isinstance(found, Pieces):
        return _of_page(scope, found, wanted)
    return _of_atom(scope, found, wanted)


def _of_page(scope: Scope, page: Pieces, wanted: WantedEdges) -> Iterator[LazyTriple]:
    """Yield the triples of a page: the edges of its pieces to other atoms, then the tags of the pieces."""
    title = page_name(scope, page)
    seen: set[tuple[bytes, bytes, bool]] = set()
    for code in _types_by_name(scope, [record.id for record in page.records], wanted):
        for piece, edge, other in edges_of_pieces(scope.rows, page, wanted.direction, (code,)):
            key = edge.type, other.id, edge.src == piece.id
            if key not in seen and wanted.passes(other):
                seen.add(key)
                yield partial(_of_edge, scope, edge, title, piece.id, other)
    if wanted.direction is not Direction.IN and not wanted.codes:
        tags = {tag_identity(tag): tag for record in page.records for tag in record.tags}
        for identity in sorted(tags):
            yield partial(Triple, title, HAS_TAG, f"#{tags[identity]}", "out", None, None)


def _of_tag(scope: Scope, tag: str, wanted: WantedEdges) -> Iterator[LazyTriple]:
    if wanted.direction is Direction.OUT or wanted.codes:
        return
    for ordinal in members(scope.rows, (Group.TAG, tag)) & scope.live:
        record = record_at(scope.rows, ordinal)
        if wanted.passes(record):
            yield partial(_has_tag, scope, record, tag)


def _has_tag(scope: Scope, record: AtomRecord, tag: str) -> Triple:
    return Triple(scope.name(record), HAS_TAG, f"#{tag}", "in", scope.short_id(record.id), None)


def _of_atom(scope: Scope, record: AtomRecord, wanted: WantedEdges) -> Iterator[LazyTriple]:
    title = scope.name(record)
    codes = _types_by_name(scope, [record.id], wanted)
    edges = (edge for code in codes for edge in edges_at(scope.rows, record.id, wanted.direction, (code,)))
    for edge in edges:
        other = read_atom(scope.rows, far_end(edge, record.id))
        if other is not None and other.state is State.LIVE and wanted.passes(other):
            yield partial(_of_edge, scope, edge, title, record.id, other)
    if wanted.codes:
        return
    if wanted.direction is not Direction.IN:
        for tag in sorted(record.tags, key=tag_identity):
            yield partial(Triple, title, HAS_TAG, f"#{tag}", "out", None, None)
        yield from _beside(scope, record, title, wanted.passes, after=True)
    if wanted.direction is not Direction.OUT:
        yield from _beside(scope, record, title, wanted.passes, after=False)


def _types_by_name(scope: Scope, atoms: Iterable[bytes], wanted: WantedEdges) -> list[bytes]:
    """Return the wanted types of the edges of some atoms, sorted by name, `mentions` last.

    Codes are derived from names by a hash of the store, so their order says nothing.
    """
    codes = wanted.codes or set().union(
        *(edge_types_at(scope.rows, atom, wanted.direction) for atom in atoms)
    )
    named = sorted((type_name(scope.rows, code), code) for code in set(codes))
    return [code for _, code in sorted(named, key=lambda one: one[0] == MENTIONS)]


def _of_edge(scope: Scope, edge: EdgeRecord, own: str, atom: bytes, other: AtomRecord) -> Triple:
    data = data_of(edge)
    exact = exact_type_in(data)
    kind = type_name(scope.rows, edge.type) if exact is None else exact
    name, source = scope.name(other), _short_id_if_live(scope, source_in(data))
    if edge.src == atom:
        return Triple(own, kind, name, "out", scope.short_id(other.id), source)
    return Triple(name, kind, own, "in", scope.short_id(other.id), source)


def _short_id_if_live(scope: Scope, atom: bytes | None) -> str | None:
    """Return the shortened id of an atom if it is live, else None."""
    record = None if atom is None else read_atom(scope.rows, atom)
    return scope.short_id(record.id) if record is not None and record.state is State.LIVE else None


def _beside(
    scope: Scope, record: AtomRecord, own: str, passes: Callable[[AtomRecord], bool], *, after: bool
) -> Iterator[LazyTriple]:
    neighbours = scope.positions.beside(np.array([record.ordinal], np.int64), scope.live_mask, after=after)
    if neighbours[0] < 0:
        return
    other = record_at(scope.rows, int(neighbours[0]))
    if other.source != record.source or not passes(
        other
    ):  # the 64-bit hashes of two sources can collide in the index
        return
    name, short = scope.name(other), scope.short_id(other.id)
    ends = (own, NEXT, name, "out") if after else (name, NEXT, own, "in")
    yield partial(Triple, *ends, short, None)
