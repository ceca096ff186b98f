"""What the four verbs answer with, and what every answer says about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What every answer of a verb says: its price, and of which memory it is true."""

    cost_tokens: int = 0
    """What it costs a language model in the form it is handed out (`engine.query.explore.form`)."""
    total_tokens: int = 0
    """What this answer and all before it cost together."""
    seq: int = 0
    """The last event of the journal that it was read at."""
    root: str = ""
    """The overall root then, 64 hex digits; empty for a past of which content was erased since."""


@dataclass(frozen=True, slots=True)
class Hint:
    """An atom that may be worth a look."""

    id: str
    """The first digits of its id: 8, or as many as no other atom's id begins with."""
    title: str
    """Its title, or the stretch of its text in which the question's words are; on one line."""
    score: int
    """How well it answers the question, in per cent: `engine.query.explore.looks`."""
    tokens: int
    """What its whole text costs, about: so much, and some 20 more, takes an expand."""


@dataclass(frozen=True, slots=True)
class Hints(Answer):
    """The answer of `explore_recall`."""

    hints: tuple[Hint, ...]
    """The best first."""
    entities: tuple[str, ...]
    """The entities that the question names: nodes that `explore_neighbors` knows."""


@dataclass(frozen=True, slots=True)
class Peek(Answer):
    """The answer of `explore_peek`: some 200 characters of an atom."""

    id: str
    title: str | None
    source: str | None
    text: str
    """On one line: where the question's words are, if there was one; else the beginning."""
    chars: int
    """How many characters the whole text has."""
    whole: bool
    """Whether `text` is all of it, but for white space."""


@dataclass(frozen=True, slots=True)
class Expanded(Answer):
    """The answer of `explore_expand`: a whole atom. `created` is µs UTC."""

    id: str
    """All of it."""
    short_id: str
    """As in `Hint`."""
    title: str | None
    text: str
    """From character `offset` on: all that there is, or as much as the budget has room for."""
    offset: int
    next: int | None
    """The character at which the rest begins; None where there is no rest."""
    kind: str
    tags: tuple[str, ...]
    edges: int
    """How many live edges it has, out and in; 1,000 stands for that or more."""
    source: str | None
    sequence: int | None
    version: int
    """How many versions there have been; this is the last."""
    created: int
    provenance: str


@dataclass(frozen=True, slots=True)
class Node:
    """What neighbours were asked for: an atom or a tag."""

    id: str | None
    """As in `Hint`; None for a tag."""
    name: str
    """An entity's name, an atom's title or the beginning of its text, a tag with its `#`."""


@dataclass(frozen=True, slots=True)
class Triple:
    """`subject → predicate → object`; one of the two is the node, the other is `id`."""

    subject: str
    predicate: str
    """An edge type; or `has tag` or `next in source`, which are no edges and have a space in them."""
    object: str
    direction: str
    """`out`: the node is the subject; `in`: it is the object."""
    id: str | None
    """The other end, as in `Hint`; None for a tag."""
    source: str | None
    """The atom that says so, where the edge was made by `relate --source`; as in `Hint`."""


@dataclass(frozen=True, slots=True)
class Neighbors(Answer):
    """The answer of `explore_neighbors`."""

    node: Node
    triples: tuple[Triple, ...]
    """Edges in the order of (type, other end), then tags, then the atoms beside it in its source."""
    next: int | None
    """The offset at which the next page begins; None where this is the last."""
