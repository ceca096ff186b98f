"""The answers of the four verbs (recall, peek, expand, neighbors), and the figures in every answer."""

from __future__ import annotations

from dataclasses import dataclass

from engine.query.prompt_text import INTERNAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The figures in every answer: its cost, and the state of the memory from which the answer was read."""

    cost_tokens: int = 0
    """The number of tokens of this answer in its output form (`engine.query.explore.form`)."""
    total_tokens: int = 0
    """The number of tokens of this answer and all earlier answers of the exploration."""
    seq: int = 0
    """The seq of the last event in the journal when the answer was read."""
    root: str = ""
    """The overall root after the event `seq`, 64 hex digits.

    The field is empty if the answer was read from a past state and content has been erased since then.
    """


@dataclass(frozen=True, slots=True)
class Hint:
    """An atom that may answer the question, described on one line."""

    id: str
    """The first 8 digits of the atom's id, or more digits if another id begins with the same 8 digits."""
    title: str
    """The atom's title, or the part of its text around the question's words, on one line."""
    score: int
    """The atom's score for the question in per cent, as `engine.query.explore.atom_answers` defines it."""
    tokens: int
    """The approximate number of tokens of the atom's whole text. Reading the text with `explore_expand` costs
    about 20 tokens more."""
    whole: bool = False
    """True if `title` contains the atom's whole text on one line instead of a title."""
    provenance: str = INTERNAL
    asked: bool = False
    """True if the question asks for the atom's page by its name, as `what is a kettle?` asks for `Kettle`."""


@dataclass(frozen=True, slots=True)
class Hints(Answer):
    """The answer of `explore_recall`."""

    hints: tuple[Hint, ...]
    """The hints, the best first."""
    entities: tuple[str, ...]
    """The entities that the question names; `explore_neighbors` accepts them as nodes."""


@dataclass(frozen=True, slots=True)
class Peek(Answer):
    """The answer of `explore_peek`: about 200 characters of an atom."""

    id: str
    title: str | None
    source: str | None
    text: str
    """The part of the text around the question's words, on one line. Without a question, it is the beginning
    of the text."""
    chars: int
    """The number of characters of the whole text."""
    whole: bool
    """True if `text` is the whole text, apart from white space."""
    provenance: str = INTERNAL


@dataclass(frozen=True, slots=True)
class Expanded(Answer):
    """The answer of `explore_expand`: a whole atom. `created` is in microseconds since 1970 (UTC)."""

    id: str
    """The whole id of the atom."""
    short_id: str
    """The shortened id of the atom, as in `Hint`."""
    title: str | None
    text: str
    """The text from character `offset` to the end of the text, or a shorter part if the budget is too
    small."""
    offset: int
    next: int | None
    """The offset at which the rest of the atom's text begins; None if `text` reaches the end of the atom's
    text."""
    kind: str
    tags: tuple[str, ...]
    edges: int
    """The number of live edges from and to the atom. At most 1,000 edges are counted."""
    source: str | None
    sequence: int | None
    version: int
    """The number of the latest version of the atom. The answer contains this version."""
    created: int
    provenance: str


@dataclass(frozen=True, slots=True)
class Node:
    """The atom or tag whose neighbours an answer lists."""

    id: str | None
    """The shortened id of the atom, as in `Hint`; None for a tag."""
    name: str
    """An entity's name, an atom's title or the beginning of its text, or a tag with its `#`."""


@dataclass(frozen=True, slots=True)
class Triple:
    """One connection of a node: `subject → predicate → object`."""

    subject: str
    predicate: str
    """An edge type, or else `has tag` or `next in source`, which do not stand for edges. These two contain
    spaces, and an edge type cannot."""
    object: str
    direction: str
    """`out` if the node is the subject, `in` if it is the object."""
    id: str | None
    """The shortened id of the atom at the other end of the connection, as in `Hint`; None for a tag."""
    source: str | None
    """The shortened id of the atom that is recorded as the edge's source (`relate --source`), or None."""


@dataclass(frozen=True, slots=True)
class Neighbors(Answer):
    """The answer of `explore_neighbors`."""

    node: Node
    triples: tuple[Triple, ...]
    """The triples of edges in the order of (type, other end), then the triples of tags, then the triples of
    neighbours in the source."""
    next: int | None
    """The offset at which the next page begins; None on the last page."""


VerbAnswer = Hints | Peek | Expanded | Neighbors
"""The answer of one of the four verbs."""
