"""What an exploration knows after each step, all that a policy sees; what it has gathered, and ends with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from engine.query.budget import ID_DIGITS, body, heading
from engine.query.budget import on_one_line as plain_line
from engine.query.explore.actions import Action, Verb
from engine.query.explore.answers import Answer, Expanded, Hint, Hints, Neighbors, Peek, Triple
from engine.query.explore.form import unmarked


class Result(StrEnum):
    """What became of a decision."""

    DONE = "done"
    FAILED = "failed"
    """Carried out, and answered with an error: an unknown id, a name that several have."""
    REFUSED = "refused"
    """Not carried out: a step that was done before, or a decision that could not be read."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an exploration."""

    number: int
    """From 1; the first is the recall of the question."""
    action: Action | None
    """None where the decision could not be read."""
    result: Result
    outcome: str
    """What came of it, in words: `5 hints`, `200 chars`, `4 connections`, or why nothing did."""
    cost: int
    """Tokens of its answer."""
    total: int
    """Tokens of the answers of all steps so far."""
    answer: Answer | None = None
    """What the verb answered; None where it failed or was refused."""

    def __str__(self) -> str:
        """Its line in the trace, on one line and without markup, whatever was asked and found."""
        done = "decision" if self.action is None else _shown(self.action)
        return f"{self.number}. {on_one_line(f'{done} → {self.outcome}')}"


@dataclass(frozen=True, slots=True)
class Finding:
    """An item of the context: what is known of an atom, or the connections of a node."""

    verb: Verb
    """How it was found: RECALL for a hint that is all of its atom; PEEK, EXPAND or NEIGHBORS."""
    id: str | None
    """The whole id; None for the connections of a tag."""
    title: str | None
    source: str | None
    sequence: int | None
    text: str
    """The atom's text or a part of it; connections, one to a line."""
    whole: bool
    """Whether `text` is all of it."""
    digits: int = ID_DIGITS
    """So many digits of its id are shown: as many as its hint has."""

    def __str__(self) -> str:
        """Its lines in a prompt, each with its line end: a heading that nothing in it can forge, its text."""
        if self.verb is Verb.NEIGHBORS:
            lines = f"[connections] {on_one_line(self.title or '')}{body(self.text)}\n"
        else:
            place, id = self.sequence, (self.id or "").replace("-", "")  # noqa: A001  what it is called everywhere
            lines = (
                f"{heading(self.title, self.source, place, place, id, digits=self.digits)}{body(self.text)}\n"
            )
        return unmarked(lines)


@dataclass(frozen=True, slots=True)
class State:
    """What a policy decides by."""

    query: str
    hints: tuple[Hint, ...]
    """All so far, each atom once with its best score, in the order in which they came up. A neighbour's
    title is its triple, and its score and tokens are 0, if no recall has found it."""
    entities: tuple[str, ...]
    """Nodes that the question, or what was asked since, names."""
    context: tuple[Finding, ...]
    """What was found, in that order; an atom once, as far as it was read."""
    trace: tuple[Step, ...]
    spent: int
    """Tokens of all answers so far."""
    budget: int
    """Tokens that all answers may cost."""
    steps_left: int
    """Decisions that are left, this one among them; at least 1."""

    @property
    def left(self) -> int:
        """Tokens that are left."""
        return self.budget - self.spent

    def finding(self, id: str) -> Finding | None:  # noqa: A002
        """What the context has of the atom whose id begins with these digits."""
        return next(
            (one for one in self.context if one.verb is not Verb.NEIGHBORS and same(one.id, id)), None
        )

    def has_whole(self, id: str) -> bool:  # noqa: A002
        """Whether the context has the whole text of that atom."""
        found = self.finding(id)
        return found is not None and found.whole

    @property
    def unread(self) -> tuple[Hint, ...]:
        """The hints of which the context has nothing yet."""
        return tuple(hint for hint in self.hints if self.finding(hint.id) is None)


class Stop(StrEnum):
    """Why an exploration ended."""

    ANSWERED = "answered"
    """The policy had enough."""
    NOTHING = "nothing found"
    """There was nothing to have enough of."""
    STEPS = "steps used up"
    BUDGET = "budget used up"
    """What is left of it has no room for a further step."""
    NOTHING_NEW = "nothing new"
    """Steps in a row brought neither a hint nor a text that was not there."""
    REFUSED = "refused"
    """Decisions in a row could not be read, or asked for what had been done."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """A question explored. All costs are in tokens, as `engine.query.explore.form` counts them."""

    query: str
    steps: tuple[Step, ...]
    context: tuple[Finding, ...]
    """What was found, each atom once, as far as it was read."""
    text: str
    """The context for a prompt; nothing in it can pass for a heading or for markup."""
    answer_tokens: int
    """What `text` costs."""
    tokens: int
    """What the answers of all steps cost together; at most the budget."""
    prompt_tokens: int
    """What the prompts that asked a language model for decisions cost, where the policy is one that does."""
    full_tokens: int
    """What the first 10 atoms of a plain recall would cost with their whole texts."""
    full_atoms: int
    """How many these are: fewer than 10 where it finds no more."""
    seq: int
    """The last event of the journal that the last answer was read at."""
    root: str
    """The overall root then, 64 hex digits."""
    stopped: Stop

    @property
    def saving(self) -> int:
        """How much less `tokens` is than `full_tokens`, in per cent of it; negative where it is more.

        0 where a plain recall finds nothing.
        """
        return round(100 * (1 - self.tokens / self.full_tokens)) if self.full_tokens else 0

    def trace(self) -> tuple[str, ...]:
        """A line for each step: `2. peek(1f0c2a3b) → 200 chars`."""
        return tuple(map(str, self.steps))


def same(one: str | None, other: str) -> bool:
    """Whether two ids, each whole or shortened, are those of one atom."""
    first, second = (one or "").replace("-", "").lower(), other.replace("-", "").lower()
    return bool(first and second) and (first.startswith(second) or second.startswith(first))


def on_one_line(text: str) -> str:
    """A text as part of a line of a prompt: no line end, no control character, nothing like markup."""
    return unmarked(plain_line(text))


def _shown(action: Action) -> str:
    name, bracket, rest = str(action).partition("(")
    return f"{name.lower()}{bracket}{rest}"


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
