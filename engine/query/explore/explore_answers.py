"""The answers of the four verbs (recall, peek, expand, neighbors), and their two output forms, text and JSON.

The number of tokens of the output is the answer's cost. With `--json`, an answer is one line of JSON. In the
library, on the command line and in the prompts of an exploration, an answer is text. Over MCP, it is the text
of `engine.mcp.answer_lines`. All tokens of the output count, including the tokens of the cost and the root.

    [45% ~12] 1f0c2a3b Kettle                  a hint: score, tokens of the text, id and title
    [45%] 1f0c2a3b The kettle is descaled.     a hint with the whole text in place of the title
    [1f0c2a3b] notes/tea.md | Kettle           a heading, as in `engine.query.prompt_text`
      The kettle is descaled on Mondays.       lines of text, indented by two spaces
    [1f0c2a3b] daemon                          a node
      daemon → uses → json_rpc [9a2e17c4]      a triple and the id of the atom at the other end

Text in brackets at the beginning of a line is generated; every other line begins with a space. So no
content can forge a heading, a hint or the end of the text.

In both forms stored content cannot be mistaken for generated text or markup. In JSON, `<`, `>` and characters
that a terminal might interpret are escaped. In text, content is indented, and each `<` that could begin
markup is shown as `‹`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from engine.base.characters import visible
from engine.base.json_text import dumped
from engine.query.prompt_text import INDENT, INTERNAL, body, heading, on_one_line, origin

UNPRICED: Final = 99_999_999
"""A placeholder for the cost while the cost is counted. It is longer than any real cost, so the result may
be a few tokens too high but never too low."""


_MARKUP: Final = re.compile(r"<(?=[A-Za-z/|!?])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The figures in every answer: its cost, and the state of the memory from which the answer was read."""

    cost_tokens: int = 0
    """The number of tokens of this answer in its output form (`engine.query.explore.explore_answers`)."""
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
    """The atom's score for the question in per cent, as `engine.query.explore.verb_answers` defines it."""
    tokens: int
    """The approximate number of tokens of the atom's whole text. Reading the text with `explore_expand` costs
    about 20 tokens more."""
    whole: bool = False
    """True if `title` contains the atom's whole text on one line instead of a title."""
    provenance: str = INTERNAL
    when: str = ""
    """If `title` contains the whole text: what `engine.query.written_days` notes on it."""
    lead: bool = False
    """True for the best atom of a subject, if the question has several and no atom mentions them all."""
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
    when: str = ""
    """The day of the text and the times in `text` that depend on it (`engine.query.written_days`)."""


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
    when: str = ""
    """The day of the text and the times in it that depend on this day (`engine.query.written_days`)."""


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
    """The triples of edges, sorted by the name of their type and then by the other end, then the triples of
    tags, then the triples of neighbours in the source."""
    next: int | None
    """The offset at which the next page begins; None on the last page."""


VerbAnswer = Hints | Peek | Expanded | Neighbors
"""The answer of one of the four verbs."""


class Form(StrEnum):
    """The output form of an answer."""

    TEXT = "text"
    JSON = "json"


def plain(answer: Answer) -> dict[str, Any]:
    """Return an answer as a dictionary of JSON types: the content first, then the cost, seq and root."""
    fields = asdict(answer)
    about = {name: fields.pop(name) for name in ("cost_tokens", "total_tokens", "seq", "root")}
    return fields | about


def unmarked(text: str) -> str:
    """Escape invisible characters, and replace each `<` that could begin markup by `‹`."""
    return _MARKUP.sub("‹", visible(text))


def as_json(answer: Answer) -> str:
    """Return an answer as one line of JSON."""
    return dumped(plain(answer))


def text_of(answer: Answer) -> str:
    """Return an answer as text. Each line has a line end. The text is empty if nothing was found."""
    return unmarked("".join(f"{line}\n" for line in _lines(answer)))


def _lines(answer: Answer) -> Iterator[str]:
    if isinstance(answer, Hints):
        for hint in answer.hints:
            yield hint_line(hint)
        if answer.entities:
            yield f"[entities] {', '.join(map(on_one_line, answer.entities))}"
    elif isinstance(answer, Peek):
        title = heading(
            *(answer.title, answer.source, None, None, answer.id),
            digits=len(answer.id),
            provenance=answer.provenance,
            when=answer.when,
        )
        yield title + body(answer.text)
    elif isinstance(answer, Expanded):
        place, name = answer.sequence, answer.short_id
        title = heading(answer.title, answer.source, place, place, name, digits=len(name), when=answer.when)
        yield title + body(answer.text)
        yield f"[{_about(answer)}]"
    elif isinstance(answer, Neighbors):
        name = on_one_line(answer.node.name)
        yield f"[{answer.node.id}] {name}" if answer.node.id else f"[tag] {name}"
        yield from map(_triple, answer.triples)
        if answer.next is not None:
            yield f"[more from {answer.next}]"
    else:
        raise TypeError(f"{type(answer).__name__} is not an answer of a verb")


def hint_line(hint: Hint) -> str:
    """Return a hint as one line: score, cost, provenance, day, id, and title or text."""
    size = "" if hint.whole else f" ~{hint.tokens}"
    when = f", {hint.when}" if hint.when else ""
    return f"[{hint.score}%{size}{origin(hint.provenance)}{when}] {hint.id} {on_one_line(hint.title)}"


def _about(answer: Expanded) -> str:
    parts = [answer.kind] if answer.kind != "note" else []
    if answer.provenance != "internal":
        parts.append(answer.provenance)
    parts += [f"#{on_one_line(tag).replace(']', '⟧')}" for tag in answer.tags]
    parts.append(f"edges {answer.edges}")
    parts.append(f"version {answer.version}")
    if answer.offset:
        parts.append(f"from character {answer.offset}")
    if answer.next is not None:
        parts.append(f"more from character {answer.next}")
    return ", ".join(parts)


def _triple(one: Triple) -> str:
    subject, predicate, target = map(on_one_line, (one.subject, one.predicate, one.object))
    end = f" [{one.id}]" if one.id else ""
    source = f" (says {one.source})" if one.source else ""
    return f"{INDENT}{subject} → {predicate} → {target}{end}{source}"
