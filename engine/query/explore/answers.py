"""The answers of the four verbs, and the figures that every answer has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The figures of every answer: its cost, and the state of the memory that it was read from."""

    cost_tokens: int = 0
    """The tokens of this answer in its output form (`engine.query.explore.form`)."""
    total_tokens: int = 0
    """The tokens of this answer and all earlier ones."""
    seq: int = 0
    """The last event of the journal at the time of the answer."""
    root: str = ""
    """The overall root at that event, 64 hex digits; empty for a past state with content erased since."""


@dataclass(frozen=True, slots=True)
class Hint:
    """An atom that may be worth a look."""

    id: str
    """The first 8 digits of its id, or more if another atom's id begins with the same 8."""
    title: str
    """Its title, or the part of its text around the question's words; on one line."""
    score: int
    """Its score for the question, in per cent: `engine.query.explore.atom_answers`."""
    tokens: int
    """The approximate tokens of its whole text; an expand costs some 20 more."""


@dataclass(frozen=True, slots=True)
class Hints(Answer):
    """The answer of `explore_recall`."""

    hints: tuple[Hint, ...]
    """The best first."""
    entities: tuple[str, ...]
    """The entities that the question names; `explore_neighbors` accepts them as nodes."""


@dataclass(frozen=True, slots=True)
class Peek(Answer):
    """The answer of `explore_peek`: some 200 characters of an atom."""

    id: str
    title: str | None
    source: str | None
    text: str
    """The part around the question's words, or the beginning if there is no question; on one line."""
    chars: int
    """The number of characters of the whole text."""
    whole: bool
    """True if `text` is the whole text, apart from white space."""


@dataclass(frozen=True, slots=True)
class Expanded(Answer):
    """The answer of `explore_expand`: a whole atom. `created` is µs UTC."""

    id: str
    """The whole id."""
    short_id: str
    """The shortened id, as in `Hint`."""
    title: str | None
    text: str
    """The text from character `offset` on, cut if the budget has no room for all of it."""
    offset: int
    next: int | None
    """The character at which the rest of the text begins, or None."""
    kind: str
    tags: tuple[str, ...]
    edges: int
    """The number of its live edges, out and in; counted up to 1,000."""
    source: str | None
    sequence: int | None
    version: int
    """The number of this version, which is the latest."""
    created: int
    provenance: str


@dataclass(frozen=True, slots=True)
class Node:
    """The atom or tag whose neighbours an answer lists."""

    id: str | None
    """The shortened id, as in `Hint`; None for a tag."""
    name: str
    """An entity's name, an atom's title or the beginning of its text, or a tag with its `#`."""


@dataclass(frozen=True, slots=True)
class Triple:
    """`subject → predicate → object`, one connection of a node."""

    subject: str
    predicate: str
    """An edge type, or one of `has tag` and `next in source`, which are not edges and contain a space."""
    object: str
    direction: str
    """`out` if the node is the subject, `in` if it is the object."""
    id: str | None
    """The shortened id of the other end, as in `Hint`; None for a tag."""
    source: str | None
    """The shortened id of the atom that the edge names as its source (`relate --source`), if any."""


@dataclass(frozen=True, slots=True)
class Neighbors(Answer):
    """The answer of `explore_neighbors`."""

    node: Node
    triples: tuple[Triple, ...]
    """Edges in the order of (type, other end), then tags, then the neighbours in the source."""
    next: int | None
    """The offset of the next page; None for the last page."""
