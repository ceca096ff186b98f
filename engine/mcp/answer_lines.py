"""The compact text of answers. A model reads this text; the cost of an answer is the number of its tokens.

    [45% ~120] 1f0c2a3b Kettle                a hint: score, tokens of the whole text, id and title
    [38%] 9a2e17c4 Vinegar descales kettles.  a hint with the whole text in place of the title
    [1f0c2a3b external] tea.md | Kettle       a heading: id, provenance unless internal, source and title
      The kettle is descaled on Mondays.      lines of text, indented by two spaces
      → uses 580d70b2 json_rpc (9a2e17c4)     an edge to another atom, and the atom that states the relation
      ← mentions 1f0c2a3b Kettle              an edge from another atom
    [57 tokens]                               the last line: notes, and the cost of the whole answer

Every line begins with generated text in brackets or with spaces, so no content can imitate a heading, a hint
or the end of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from engine.base.errors import InvalidInputError

if TYPE_CHECKING:
    from engine.query.explore.explore_answers import Answer, Expanded, Hints, Neighbors, Peek, Triple

NAME_CHARS: Final = 40
"""The maximum length of a title or a source in the heading of a peek, in characters."""

UNPRICED: Final = "99999 tokens"
"""The placeholder for the cost in the last line while the tokens of the answer are counted."""

NOTHING: Final = "nothing found\n"


def closed(lines: str, *notes: str) -> str:
    """Return `lines` and the last line of the answer: the notes and the answer's cost in tokens."""
    return lines + _last(*notes, f"{cost_of(lines, *notes)} tokens")


def cost_of(lines: str, *notes: str) -> int:
    """Return the cost that `closed` writes for the same arguments."""
    return counted(lines + _last(*notes, UNPRICED))


def counted(text: str) -> int:
    """Return the estimated number of tokens of a text, but at least one token for four characters.

    Without this minimum, the number would be too low for texts with long words.
    """
    from engine.query.prompt_text import tokens_of

    return max(tokens_of(text), -(-len(text) // 4))


def error_lines(code: str, message: str, hint: str) -> str:
    """Return an error as text: the code and the message on one line, and the hint on a second line."""
    from engine.query.explore.explore_answers import unmarked
    from engine.query.prompt_text import on_one_line

    lines = [f"error {code}: {message}", *([f"hint: {hint}"] if hint else [])]
    return unmarked("\n".join(map(on_one_line, lines)))


def within(
    items: Sequence[str], budget: int, *notes: str, more: Callable[[int], str], rest: bool = False
) -> str:
    """Return as many items as the budget allows, but at least one, and the last line of the answer.

    `rest` is True if there are more items than `items`. If items are left out or `rest` is True, the last
    line contains the note `more(n)`, where n is the number of items shown.
    If a single item costs too much, its end is cut off.

    Raises:
        InvalidInputError: the budget is too small for the generated words of the first item.
    """
    for many in range(len(items), 0, -1):
        shown = "".join(items[:many])
        left_out = (more(many),) if many < len(items) or rest else ()
        if cost_of(shown, *left_out, *notes) <= budget:
            return closed(shown, *left_out, *notes)
        if many == 1:
            return closed(_cut(shown, budget, *left_out, *notes), *left_out, *notes)
    return closed(NOTHING, *notes)


def _cut(line: str, budget: int, *notes: str) -> str:
    """Return as much of a line as the budget allows, at least the words in brackets at its beginning."""
    from engine.query.prompt_text import CUT

    least = line.find("]") + 1
    shown, length = line, len(line)
    while (over := cost_of(shown, *notes) - budget) > 0:
        if length <= least:
            raise InvalidInputError(
                f"a budget of {budget} tokens is too small: the shortest answer costs {budget + over}"
            )
        length = max(least, length - over)
        shown = f"{line[:length].rstrip()}{CUT}\n"
    return shown


def time_of(microseconds: int) -> str:
    """Return a time in ISO 8601, in UTC, without fractions of a second."""
    from engine.base.times import shown_time

    shown = shown_time(microseconds)
    return f"{shown.partition('.')[0]}Z" if "." in shown else shown


def compact(answer: Answer, *, pinned: bool = False) -> str:
    """Return the answer of a verb as text. With `pinned`, the last line contains the seq and the root."""
    from engine.query.explore.explore_answers import Expanded, Hints, Neighbors, Peek, unmarked

    notes: list[str] = []
    match answer:
        case Hints():
            lines = list(_hints(answer))
        case Peek():
            lines = [_peek(answer)]
            notes.append("whole" if answer.whole else f"of {answer.chars} characters")
        case Expanded():
            lines = [_expanded(answer)]
            notes += _about(answer)
        case Neighbors():
            lines = list(_neighbors(answer))
            if answer.next is not None:
                notes.append(f"more: offset {answer.next}")
        case _:
            raise TypeError(f"{type(answer).__name__} is not an answer of a verb")
    if pinned:
        notes.append(f"as of {answer.seq} root {answer.root[:16] or 'unknown'}")
    text = unmarked("".join(f"{line}\n" for line in lines)) or NOTHING
    return text + _last(*notes, f"{answer.cost_tokens} tokens")


def item(id: str, provenance: str, about: Iterable[str], title: str | None, text: str) -> str:  # noqa: A002
    """Return the line of an atom in a list: the id, generated words, the title and a part of the text."""
    from engine.query.explore.explore_answers import unmarked
    from engine.query.prompt_text import on_one_line, origin

    words = "".join(f" {word}" for word in about)
    shown = " | ".join(on_one_line(part) for part in (title, text) if part)
    return unmarked(f"[{id}{origin(provenance)}{words}] {shown}".rstrip() + "\n")


def _last(*notes: str) -> str:
    return f"[{'; '.join(notes)}]"


def _hints(answer: Hints) -> Iterator[str]:
    from engine.query.explore.explore_answers import hint_line
    from engine.query.prompt_text import on_one_line

    yield from map(hint_line, answer.hints)
    if answer.entities:
        yield f"[entities] {', '.join(map(on_one_line, answer.entities))}"


def _peek(answer: Peek) -> str:
    from engine.query.prompt_text import body, heading
    from engine.text.language.snippets import beginning

    title, source = (
        None if name is None else beginning(name, NAME_CHARS) for name in (answer.title, answer.source)
    )
    digits = len(answer.id)
    head = heading(
        *(title, source, None, None, answer.id), digits=digits, provenance=answer.provenance, when=answer.when
    )
    return head + body(answer.text)


def _expanded(answer: Expanded) -> str:
    from engine.query.prompt_text import body, heading

    place, name = answer.sequence, answer.short_id
    head = heading(
        *(answer.title, answer.source, place, place, name),
        digits=len(name),
        provenance=answer.provenance,
        when=answer.when,
    )
    return head + body(answer.text)


def _about(answer: Expanded) -> Iterator[str]:
    from engine.query.prompt_text import on_one_line

    tags = " ".join(f"#{on_one_line(tag).replace(']', '⟧')}" for tag in answer.tags)
    if tags:
        yield tags
    kind = "" if answer.kind == "note" else f"{answer.kind} "
    yield f"{kind}{answer.provenance} {time_of(answer.created)} version {answer.version} edges {answer.edges}"
    if answer.offset:
        yield f"from character {answer.offset}"
    if answer.next is not None:
        yield f"more: offset {answer.next}"


def _neighbors(answer: Neighbors) -> Iterator[str]:
    from engine.query.prompt_text import on_one_line

    name = on_one_line(answer.node.name)
    yield f"[{answer.node.id}] {name}" if answer.node.id else f"[tag] {name}"
    yield from map(_edge, answer.triples)
    if not answer.triples:
        yield "  no connections"


def _edge(one: Triple) -> str:
    from engine.query.prompt_text import on_one_line

    arrow, other = ("→", one.object) if one.direction == "out" else ("←", one.subject)
    end = f"{one.id} " if one.id else ""
    source = f" ({one.source})" if one.source else ""
    return f"  {arrow} {on_one_line(one.predicate)} {end}{on_one_line(other)}{source}"
