"""The state of an exploration, from which a policy decides the next step, and its result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from engine.query.explore.explore_actions import Action, Verb
from engine.query.explore.explore_answers import (
    Expanded,
    Hint,
    Hints,
    Neighbors,
    Peek,
    Triple,
    VerbAnswer,
    unmarked,
)
from engine.query.explore.quotes import Quote
from engine.query.prompt_text import ID_DIGITS, INTERNAL, body, heading
from engine.query.prompt_text import on_one_line as plain_line


class Result(StrEnum):
    """The result of a decision of the policy: the action was carried out, failed or was refused."""

    DONE = "done"
    FAILED = "failed"
    """The action ended with an error, for example because of an unknown id or an ambiguous name."""
    REFUSED = "refused"
    """No action was carried out. Either the action would repeat an earlier action, or the decision could not
    be parsed."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an exploration."""

    number: int
    """The number of the step. The recall of the question is step 1."""
    action: Action | None
    """The action; None if the decision could not be parsed."""
    result: Result
    outcome: str
    """The result in words: `5 hints`, `200 chars`, `4 connections`, or the reason for an error or refusal."""
    cost: int
    """The number of tokens of the answer to this step."""
    total: int
    """The number of tokens of the answers to all steps so far."""
    answer: VerbAnswer | None = None
    """The answer of the verb; None if the step failed or was refused."""

    def __str__(self) -> str:
        """Return the line of this step in the trace, without a line end or markup."""
        done = "decision" if self.action is None else _shown(self.action)
        return f"{self.number}. {on_one_line(f'{done} → {self.outcome}')}"


@dataclass(frozen=True, slots=True)
class Finding:
    """An item of the context: the text of an atom, or the connections of a node."""

    verb: Verb
    """The verb whose answer contained this item: PEEK, EXPAND or NEIGHBORS."""
    id: str | None
    """The whole id of the atom; None for the connections of a tag."""
    title: str | None
    source: str | None
    sequence: int | None
    text: str
    """The atom's text or a part of the text, or the connections of a node, one connection per line."""
    whole: bool
    """True if `text` is the whole text of the atom, or contains all connections of the node."""
    digits: int = ID_DIGITS
    """The number of shown digits of the id. The hint for the atom shows the same number of digits."""
    provenance: str = INTERNAL
    when: str = ""
    """The day of the text and the times in it that depend on this day (`engine.query.written_days`)."""

    def __str__(self) -> str:
        """Return the item as lines of a prompt: a heading, which content cannot imitate, then the text."""
        if self.verb is Verb.NEIGHBORS:
            lines = f"[connections] {on_one_line(self.title or '')}{body(self.text)}\n"
        else:
            place, id = self.sequence, (self.id or "").replace("-", "")  # noqa: A001  what it is called everywhere
            head = heading(
                *(self.title, self.source, place, place, id),
                digits=self.digits,
                provenance=self.provenance,
                when=self.when,
            )
            lines = f"{head}{body(self.text)}\n"
        return unmarked(lines)


@dataclass(frozen=True, slots=True)
class State:
    """The state of an exploration, from which a policy decides the next step."""

    query: str
    hints: tuple[Hint, ...]
    """All hints so far, in the order in which they were found. There is one hint for each atom, with the best
    score of the atom. If the atom was only found as a neighbour, the title of its hint is the triple that led
    to it, and the score and tokens are 0."""
    entities: tuple[str, ...]
    """The entities named in the question and in further queries."""
    context: tuple[Finding, ...]
    """The items of the context in the order in which they were found, each atom once."""
    trace: tuple[Step, ...]
    spent: int
    """The number of tokens of all answers so far."""
    budget: int
    """The number of tokens that all answers together may cost."""
    steps_left: int
    """The number of decisions left, including the next decision; at least 1."""

    @property
    def left(self) -> int:
        """The number of tokens that are left of the budget."""
        return self.budget - self.spent

    def finding(self, id: str) -> Finding | None:  # noqa: A002
        """Return the finding in the context for the atom whose id begins with these digits, or None."""
        return next(
            (one for one in self.context if one.verb is not Verb.NEIGHBORS and same(one.id, id)), None
        )

    def has_whole(self, id: str) -> bool:  # noqa: A002
        """Return True if the context contains the whole text of the atom."""
        finding = self.finding(id)
        return finding is not None and finding.whole

    @property
    def unread(self) -> tuple[Hint, ...]:
        """The hints for atoms whose text is not in the context."""
        return tuple(hint for hint in self.hints if self.finding(hint.id) is None)


class Stop(StrEnum):
    """The reason why an exploration ended."""

    ANSWERED = "answered"
    """The policy decided that the context is enough."""
    NOTHING = "nothing found"
    """The policy ended an exploration in which no hint was found."""
    STEPS = "steps used up"
    BUDGET = "budget used up"
    """The rest of the budget is too small for another step."""
    NOTHING_NEW = "nothing new"
    """Several consecutive steps found neither a new hint nor a new text."""
    REFUSED = "refused"
    """Several consecutive decisions were unreadable or were repetitions of earlier actions."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """The result of an exploration. All costs are numbers of tokens, as in `explore_answers`."""

    query: str
    steps: tuple[Step, ...]
    context: tuple[Finding, ...]
    """The items of the context, each atom once."""
    text: str
    """The context for a prompt. Content in it cannot imitate a heading or markup."""
    answer_tokens: int
    """The cost of `text`."""
    tokens: int
    """The cost of the answers of all steps; at most the budget."""
    prompt_tokens: int
    """The cost of the prompts that a policy with a language model sent; 0 for other policies."""
    full_tokens: int
    """The cost of a plain recall of 10 atoms with their whole texts, for comparison with `tokens`."""
    full_atoms: int
    """The number of atoms counted in `full_tokens`: 10, or fewer if a plain recall finds fewer."""
    seq: int
    """The seq of the last event in the journal when the last answer was read."""
    root: str
    """The overall root after the event `seq`, 64 hex digits."""
    stopped: Stop
    answer: tuple[Quote, ...] = ()
    """The sentences of the context's atoms that answer the question. Empty if none does, for
    example if the question is about something that the memory never mentions."""

    @property
    def saving(self) -> int:
        """The amount in per cent by which `tokens` is below `full_tokens`; negative if `tokens` is above it.

        The value is 0 if a plain recall finds nothing.
        """
        return round(100 * (1 - self.tokens / self.full_tokens)) if self.full_tokens else 0

    def trace(self) -> tuple[str, ...]:
        """Return one line for each step, for example `2. peek(1f0c2a3b) → 200 chars`."""
        return tuple(map(str, self.steps))


def same(one: str | None, other: str) -> bool:
    """Return True if two ids, each whole or shortened, can belong to the same atom."""
    first, second = (one or "").replace("-", "").lower(), other.replace("-", "").lower()
    return bool(first and second) and (first.startswith(second) or second.startswith(first))


def on_one_line(text: str) -> str:
    """Return a text as one line of a prompt, without line ends, control characters and markup."""
    return unmarked(plain_line(text))


def _shown(action: Action) -> str:
    name, bracket, rest = str(action).partition("(")
    return f"{name.lower()}{bracket}{rest}"


class Gathered:
    """Collects hints, entities and findings from the answers of an exploration."""

    def __init__(self) -> None:
        self.hints: list[Hint] = []
        self.entities: list[str] = []
        self.context: list[Finding] = []

    def take(self, answer: VerbAnswer, id: str | None) -> bool:  # noqa: A002  what it is called everywhere
        """Add an answer, and return True if it contains anything new.

        `id` is the whole id of the atom that was read, if the verb read an atom.

        Raises:
            TypeError: `answer` is not an answer of a verb.
        """
        match answer:
            case Hints():
                return self._named(answer.entities) + sum(map(self._hint, answer.hints)) > 0
            case Neighbors():
                return self._connections(answer, id)
            case Expanded(title=title, source=source, sequence=sequence, text=text):
                whole = answer.next is None and not answer.offset
                finding = Finding(Verb.EXPAND, id, title, source, sequence, text, whole)
                return self.add(replace(finding, provenance=answer.provenance, when=answer.when))
            case Peek(title=title, source=source, text=text, whole=whole):
                finding = Finding(Verb.PEEK, id, title, source, None, text, whole)
                return self.add(replace(finding, provenance=answer.provenance, when=answer.when))
        raise TypeError(f"{type(answer).__name__} is not an answer of a verb")

    def _named(self, entities: tuple[str, ...]) -> int:
        fresh = [name for name in entities if name not in self.entities]
        self.entities += fresh
        return len(fresh)

    def _hint(self, hint: Hint) -> bool:
        """Add a hint, and return True if there was no hint for its atom.

        If there was a hint for the atom, keep the hint with the higher score and return False.
        """
        for at, older in enumerate(self.hints):
            if same(older.id, hint.id):
                if hint.score > older.score:
                    self.hints[at] = replace(hint, id=older.id)
                return False
        self.hints.append(hint)
        return True

    def _connections(self, answer: Neighbors, id: str | None) -> bool:  # noqa: A002
        fresh = sum(
            self._hint(Hint(one.id, _line(one), 0, 0)) for one in answer.triples if one.id is not None
        )
        # Tags and neighbours in a source lead to other atoms, but do not answer a question themselves.
        shown = {text for one in self.context if one.verb is Verb.NEIGHBORS for text in one.text.splitlines()}
        lines = [_line(one) for one in answer.triples if " " not in one.predicate]
        edges = "\n".join(text for text in lines if text not in shown)
        if edges:
            name = answer.node.name
            self.context.append(Finding(Verb.NEIGHBORS, id, name, None, None, edges, answer.next is None))
        return fresh > 0 or bool(edges)

    def add(self, found: Finding) -> bool:
        """Add the text of an atom, and return True if the text was not known."""
        hinted = next((hint.id for hint in self.hints if same(found.id, hint.id)), "")
        found = replace(found, digits=max(ID_DIGITS, len(hinted)))
        for at, finding in enumerate(self.context):
            if finding.verb is not Verb.NEIGHBORS and finding.id == found.id:
                self.context[at] = found
                return finding.text != found.text
        self.context.append(found)
        return True


def _line(one: Triple) -> str:
    return f"{one.subject} → {one.predicate} → {one.object}"
