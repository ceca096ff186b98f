"""The two output forms of an answer: text and JSON. The number of tokens of the output is the answer's cost.

With `--json`, an answer is one line of JSON. In the library, on the command line and in the prompts of an
exploration, an answer is text. Over MCP, it is the text of `engine.mcp.lines`. All tokens of the output
count, including the tokens of the cost and the root.

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
from dataclasses import asdict
from enum import StrEnum
from typing import Any, Final

from engine.base.characters import visible
from engine.base.json_text import dumped
from engine.query.explore.answers import Answer, Expanded, Hints, Neighbors, Peek, Triple
from engine.query.prompt_text import INDENT, body, heading, on_one_line, origin

UNPRICED: Final = 99_999_999
"""A placeholder for the cost while the cost is counted. It is longer than any real cost, so the result may
be a few tokens too high but never too low."""

_MARKUP: Final = re.compile(r"<(?=[A-Za-z/|!?])")


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
            size = "" if hint.whole else f" ~{hint.tokens}"
            yield f"[{hint.score}%{size}{origin(hint.provenance)}] {hint.id} {on_one_line(hint.title)}"
        if answer.entities:
            yield f"[entities] {', '.join(map(on_one_line, answer.entities))}"
    elif isinstance(answer, Peek):
        title = heading(
            *(answer.title, answer.source, None, None, answer.id),
            digits=len(answer.id),
            provenance=answer.provenance,
        )
        yield title + body(answer.text)
    elif isinstance(answer, Expanded):
        place, name = answer.sequence, answer.short_id
        title = heading(answer.title, answer.source, place, place, name, digits=len(name))
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
