"""What an exploration has gathered so far: hints and context, each atom once."""

from __future__ import annotations

from dataclasses import replace

from engine.query.budget import ID_DIGITS
from engine.query.explore.actions import Verb
from engine.query.explore.answers import Answer, Expanded, Hint, Hints, Neighbors, Peek, Triple
from engine.query.explore.state import Finding, same


class Gathered:
    """Takes in answers; says of each whether it brought anything new."""

    def __init__(self) -> None:
        self.hints: list[Hint] = []
        self.entities: list[str] = []
        self.context: list[Finding] = []

    def take(self, answer: Answer, id: str | None) -> bool:  # noqa: A002  what it is called everywhere
        """Take in an answer; `id` is the whole id of the atom that was looked at, if one was.

        Raises:
            TypeError: it is not an answer of a verb.
        """
        match answer:
            case Hints():
                return self._named(answer.entities) + sum(map(self._hint, answer.hints)) > 0
            case Neighbors():
                return self._connections(answer, id)
            case Expanded(title=title, source=source, sequence=sequence, text=text):
                whole = answer.next is None and not answer.offset
                return self._finding(Finding(Verb.EXPAND, id, title, source, sequence, text, whole))
            case Peek(title=title, source=source, text=text, whole=whole):
                return self._finding(Finding(Verb.PEEK, id, title, source, None, text, whole))
        raise TypeError(f"{type(answer).__name__} is not an answer of a verb")

    def _named(self, entities: tuple[str, ...]) -> int:
        fresh = [name for name in entities if name not in self.entities]
        self.entities += fresh
        return len(fresh)

    def _hint(self, hint: Hint) -> bool:
        """Whether the atom was unknown; a known one keeps its place, and its better score."""
        for at, known in enumerate(self.hints):
            if same(known.id, hint.id):
                if hint.score > known.score:
                    self.hints[at] = replace(hint, id=known.id)
                return False
        self.hints.append(hint)
        return True

    def _connections(self, answer: Neighbors, id: str | None) -> bool:  # noqa: A002
        fresh = sum(
            self._hint(Hint(one.id, _line(one), 0, 0)) for one in answer.triples if one.id is not None
        )
        # Tags and neighbours in a source lead on, but say nothing that would answer a question.
        said = {text for one in self.context if one.verb is Verb.NEIGHBORS for text in one.text.splitlines()}
        lines = [_line(one) for one in answer.triples if " " not in one.predicate]
        edges = "\n".join(text for text in lines if text not in said)
        if edges:
            name = answer.node.name
            self.context.append(Finding(Verb.NEIGHBORS, id, name, None, None, edges, answer.next is None))
        return fresh > 0 or bool(edges)

    def _finding(self, found: Finding) -> bool:
        hinted = next((hint.id for hint in self.hints if same(found.id, hint.id)), "")
        found = replace(found, digits=max(ID_DIGITS, len(hinted)))
        for at, known in enumerate(self.context):
            if known.verb is not Verb.NEIGHBORS and known.id == found.id:
                self.context[at] = found
                return known.text != found.text
        self.context.append(found)
        return True


def _line(one: Triple) -> str:
    return f"{one.subject} → {one.predicate} → {one.object}"
