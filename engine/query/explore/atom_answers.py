"""Build the answers about atoms: hints, peeks and whole texts.

A hint is a line of about twenty tokens. The score of a hint in per cent is 100 · s / (s + c), where s is the
score of the atom in recall, and c is the highest score that the question's words alone can give to any atom.
So the words alone give at most 50 %; a higher score means that other signals of recall raised it. Words that
occur in no atom lower all scores. Hints are in the order of recall, with one exception: if the question asks
for a page by its name, the beginning of the page comes first. Its score is at least the best score.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.model import Direction
from engine.base.validation import atom_id, integer, show_id
from engine.followers.names import page_title
from engine.ledger.queries import bodies_of, body_of, edges_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.explore.answers import Expanded, Hint, Peek
from engine.query.explore.asked_page import asked_page
from engine.query.explore.nodes import first_of, passing
from engine.query.explore.scope import Scope
from engine.query.file_pages import Pieces
from engine.query.filters import Filters
from engine.query.prompt_text import CHARS_PER_TOKEN_MAX, tokens_of
from engine.query.recall.recall import recall
from engine.query.recall.recall_answer import Hit, joined_titles
from engine.text.language.question import analyze_question
from engine.text.language.snippets import Snippets, beginning

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


def hints_of(
    scope: Scope, query: str, limit: int, filters: Filters, known: Collection[str]
) -> tuple[tuple[Hint, ...], tuple[str, ...]]:
    """Return hints for the best hits of a question, the best first, and the whole texts of these hits.

    `known` contains ids, or the first digits of ids. Atoms with these ids are left out.
    """
    per_page = scope.memory.config.per_page and scope.memory.config.per_page + len(known)
    answer = recall(
        *(scope.rows, scope.memory, query), limit=limit + len(known), filters=filters, per_page=per_page
    )
    weights = scope.weights(answer.terms)
    ceiling = sum(weights.values()) * (scope.memory.config.bm25.k1 + 1)
    starts = tuple(one.replace("-", "") for one in known)
    hits = [hit for hit in answer.hits if not hit.id.replace("-", "").startswith(starts)][:limit]
    atoms = [atom_id(hit.id) for hit in hits]
    bodies = bodies_of(scope.rows, records_of(scope.rows, atoms))
    scores = [round(100 * hit.score / (hit.score + ceiling)) for hit in hits]
    found = zip(atoms, _titles(hits, weights), scores, bodies, strict=True)
    hints = (
        Hint(scope.short_id(atom), title, score, tokens_of(body.content), provenance=hit.provenance)
        for hit, (atom, title, score, body) in zip(hits, found, strict=True)
    )
    found_hints = list(zip(hints, (body.content for body in bodies), strict=True))
    if asked := _asked(scope, answer.core, filters, starts):
        best = max((hint.score for hint, _ in found_hints), default=SCORE_WITHOUT_HITS)
        others = [one for one in found_hints if one[0].id != asked[0].id]
        found_hints = [(replace(asked[0], score=best), asked[1]), *others][:limit]
    return tuple(hint for hint, _ in found_hints), tuple(content for _, content in found_hints)


def _asked(scope: Scope, core: str, filters: Filters, known: tuple[str, ...]) -> tuple[Hint, str] | None:
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
    ), body.content


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
        provenance=record.provenance,
    )


def expanded_of(scope: Scope, found: AtomRecord | Pieces, offset: int) -> Expanded:
    """Return an atom with the part of its text from character `offset` to the end.

    For a page, return the fields of its first piece, but the text and the number of edges of all pieces.

    Raises:
        InvalidInputError: the text ends before `offset`.
    """
    records = found.records if isinstance(found, Pieces) else (found,)
    record = records[0]
    content = "\n\n".join(body.content for body in bodies_of(scope.rows, records))
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
