"""An answer as lines for a prompt or a terminal.

    [45% ~12] 1f0c2a3b Kettle                  a hint: its score, what its text costs, its id
    [1f0c2a3b] notes/tea.md | Kettle           a heading, as in `engine.query.budget`
      The kettle is descaled on Mondays.       a text, two spaces before each line
    [1f0c2a3b] daemon                          a node
      daemon → uses → json_rpc [9a2e17c4]      a triple and its other end

What stands in brackets at the beginning of a line is ours; every other line begins with a space. So no
content can forge a heading, a hint or the end of the text, and no markup is left in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.query.budget import INDENT, body, heading, on_one_line
from engine.query.explore.answers import Answer, Expanded, Hints, Neighbors, Peek, Triple
from engine.query.explore.form import unmarked


def text_of(answer: Answer) -> str:
    """The lines of an answer, each with its line end; none for hints of which there are none."""
    return unmarked("".join(f"{line}\n" for line in _lines(answer)))


def _lines(answer: Answer) -> Iterator[str]:
    if isinstance(answer, Hints):
        for hint in answer.hints:
            yield f"[{hint.score}% ~{hint.tokens}] {hint.id} {on_one_line(hint.title)}"
        if answer.entities:
            yield f"[entities] {', '.join(map(on_one_line, answer.entities))}"
    elif isinstance(answer, Peek):
        yield _headed(answer.id, answer.source, answer.title) + body(answer.text)
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


def _headed(id: str, source: str | None, title: str | None) -> str:  # noqa: A002  what it is called everywhere
    return heading(title, source, None, None, id, digits=len(id))


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
    said = f" (says {one.source})" if one.source else ""
    return f"{INDENT}{subject} → {predicate} → {target}{end}{said}"
