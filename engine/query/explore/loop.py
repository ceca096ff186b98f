"""The loop of an exploration: recall, then step by step what a policy decides, until it is enough.

question ── recall ──▶ hints ──▶ decide ──▶ peek · expand · neighbours · recall ──▶ context ──▶ decide …
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from engine.base import limits
from engine.base.errors import ConflictError, InvalidInputError, NotFoundError
from engine.base.validation import instance, integer, show_id, text_bytes
from engine.query.budget import CUT, tokens_of
from engine.query.explore.actions import ARGUMENT_BYTES_MAX, Action, Verb
from engine.query.explore.answers import Answer, Expanded, Hints, Neighbors, Peek
from engine.query.explore.explorer import Explorer
from engine.query.explore.nodes import resolve_node
from engine.query.explore.policy import Policy, Prompting
from engine.query.explore.scope import scope_of
from engine.query.explore.state import Exploration, Gathered, Result, State, Step, Stop, on_one_line
from engine.query.explore.walker import Walker
from engine.query.filters import NO_FILTERS, Filters
from engine.query.recall.recall import recall
from engine.query.view import View

STEPS_MAX: Final = 10
"""Steps of an exploration, its first recall among them (Standard "Memory Exploration": max 10)."""

BUDGET: Final = 2000
"""Tokens that all answers may cost, unless said otherwise; as of `context`."""

BUDGET_MIN: Final = 200
"""The smallest budget: hints, and a look at one of them."""

STEP_TOKENS_MIN: Final = 60
"""With fewer tokens left there is no room for a further step."""

HINTS: Final = 5
"""Hints that each recall asks for (the same Standard)."""

FULL_ATOMS: Final = 10
"""So many whole atoms an exploration is compared with."""

STEP_TOKENS: Final = 500
"""What any step may cost; beyond, an answer is cut at half of what is left, so that there is a next step."""

NEIGHBORS_TOKENS: Final = 200
"""What a look at connections may cost (about 100 in the same Standard): of a hub only the first are shown."""

REFUSED_MAX: Final = 2
"""So many refused decisions in a row end an exploration."""

BARREN_MAX: Final = 2
"""So many steps in a row that bring nothing new end it, too."""


def explore(
    memory: View,
    query: str,
    *,
    policy: Policy | None = None,
    budget: int = BUDGET,
    steps: int = STEPS_MAX,
    filters: Filters = NO_FILTERS,
    on_step: Callable[[Step], None] | None = None,
) -> Exploration:
    """Look into the memory step by step, and gather what answers a question.

    Arguments as of `Engine.explore`; without a policy `engine.query.explore.walker.Walker` decides.

    Raises:
        InvalidInputError: an argument is out of range, the query has nothing to search for, or the policy
            is none or decides on what is no action.
    """
    chosen = Walker() if policy is None else policy
    if isinstance(chosen, type):
        raise InvalidInputError(f"policy must be a Policy, not the class {chosen.__name__}: call it")
    instance(chosen, Policy, "policy")
    instance(filters, Filters, "filters")
    if not text_bytes(query, "query", limits.QUERY_BYTES_MAX).strip():
        raise InvalidInputError("the question is blank; ask with some words")
    _between(budget, "budget", BUDGET_MIN, limits.INTEGER_MAX)
    _between(steps, "steps", 1, STEPS_MAX)
    run = _Run(memory, Explorer(memory), query, budget, filters, on_step)
    return run.exploration(run.follow(chosen, steps))


def _between(value: object, what: str, least: int, most: int) -> None:
    if integer(value, what, most) < least:
        raise InvalidInputError(f"{what} is {value}; at least {least} is needed")


@dataclass(slots=True)
class _Run:
    """One exploration under way."""

    memory: View
    explorer: Explorer
    query: str
    budget: int
    filters: Filters
    told: Callable[[Step], None] | None
    found: Gathered = field(default_factory=Gathered)
    trace: list[Step] = field(default_factory=list)
    done: set[tuple[Verb, str]] = field(default_factory=set)
    prompt_tokens: int = 0
    barren: int = 0
    refused: int = 0

    def follow(self, policy: Policy, steps: int) -> Stop:
        """Recall, and carry out what the policy decides, until there is a reason to stop."""
        action = Action(Verb.RECALL, _argument(self.query))
        self.done.add((Verb.RECALL, _argument(self.query)))
        self._took(action, self._recall(self.query), None)
        while True:
            if stop := self._over(steps):
                return stop
            state = self._state(steps - len(self.trace))
            if isinstance(policy, Prompting):
                self.prompt_tokens += tokens_of(policy.prompt(state))
            try:
                action = policy.decide(state)
            except InvalidInputError as error:
                self._refuse(None, str(error))
                continue
            instance(action, Action, "the decision of a policy")
            if action.verb is Verb.ANSWER:
                return Stop.ANSWERED
            self._carry_out(action)

    def _over(self, steps: int) -> Stop | None:
        if self.refused == REFUSED_MAX:
            return Stop.REFUSED
        if len(self.trace) == steps:
            return Stop.STEPS
        if self.budget - self.explorer.total < STEP_TOKENS_MIN:
            return Stop.BUDGET
        return Stop.NOTHING_NEW if self.barren == BARREN_MAX else None

    def _state(self, steps_left: int) -> State:
        return State(
            query=self.query,
            hints=tuple(self.found.hints),
            entities=tuple(self.found.entities),
            context=tuple(self.found.context),
            trace=tuple(self.trace),
            spent=self.explorer.total,
            budget=self.budget,
            steps_left=steps_left,
        )

    def _carry_out(self, action: Action) -> None:
        try:
            meant = self._meant(action)
            if again := self._repeats(action.verb, meant):
                self._refuse(action, again)
                return
            self.done.add((action.verb, meant))
            self._took(action, self._answer(action, meant), meant)
        except (NotFoundError, ConflictError, InvalidInputError) as error:
            self.refused = 0
            self._note(action, Result.FAILED, str(error), None)

    def _meant(self, action: Action) -> str:
        """What an argument stands for: the whole id of an atom, a tag in its caseless form, a query."""
        if action.verb is Verb.RECALL:
            return _argument(action.argument)
        with scope_of(self.memory) as scope:
            if action.verb is Verb.NEIGHBORS:
                node = resolve_node(scope, action.argument)
                return f"#{node}" if isinstance(node, str) else show_id(node.id)
            return show_id(scope.record(action.argument).id)

    def _repeats(self, verb: Verb, meant: str) -> str | None:
        """Why this would bring nothing that is not there; None if it may."""
        if (verb, meant) in self.done:
            return "refused: this was done before"
        if verb is Verb.PEEK and (Verb.EXPAND, meant) in self.done:
            return "refused: this was read before"
        return None

    def _answer(self, action: Action, meant: str) -> Answer:
        left = self.budget - self.explorer.total
        most = min(left, max(STEP_TOKENS, left // 2))
        match action.verb:
            case Verb.PEEK:
                return self.explorer.explore_peek(meant, budget=most)
            case Verb.EXPAND:
                return self.explorer.explore_expand(meant, budget=most)
            case Verb.NEIGHBORS:
                return self.explorer.explore_neighbors(meant, budget=min(left, NEIGHBORS_TOKENS))
        return self._recall(action.argument)

    def _recall(self, query: str) -> Hints:
        left = self.budget - self.explorer.total
        # What was hinted at is not paid for again, but for what only a neighbour named.
        known = [hint.id for hint in self.found.hints if hint.score]
        return self.explorer.explore_recall(query, HINTS, filters=self.filters, known=known, budget=left)

    def _took(self, action: Action, answer: Answer, meant: str | None) -> None:
        self.refused = 0
        of_atom = action.verb is not Verb.RECALL and meant is not None and not meant.startswith("#")
        new = self.found.take(answer, meant if of_atom else None)
        self.barren = 0 if new else self.barren + 1
        self._note(action, Result.DONE, _outcome(answer), answer)

    def _refuse(self, action: Action | None, why: str) -> None:
        self.refused += 1
        self._note(action, Result.REFUSED, why, None)

    def _note(self, action: Action | None, result: Result, outcome: str, answer: Answer | None) -> None:
        cost = answer.cost_tokens if answer else 0
        number, total = len(self.trace) + 1, self.explorer.total
        step = Step(number, action, result, on_one_line(outcome), cost, total, answer)
        self.trace.append(step)
        if self.told is not None:
            self.told(step)

    def exploration(self, stop: Stop) -> Exploration:
        """What all this came to."""
        text = "".join(map(str, self.found.context))
        last = next(step.answer for step in reversed(self.trace) if step.answer is not None)
        with self.memory.searchable() as rows:
            full = recall(
                rows,
                self.memory,
                self.query,
                limit=FULL_ATOMS,
                budget=limits.INTEGER_MAX,
                filters=self.filters,
            )
        return Exploration(
            query=self.query,
            steps=tuple(self.trace),
            context=tuple(self.found.context),
            text=text,
            answer_tokens=tokens_of(text),
            tokens=self.explorer.total,
            prompt_tokens=self.prompt_tokens,
            full_tokens=full.tokens,
            full_atoms=len(full.hits),
            seq=last.seq,
            root=last.root,
            stopped=Stop.NOTHING if stop is Stop.ANSWERED and not self.found.hints else stop,
        )


def _argument(query: str) -> str:
    """A question as the argument of an action: on one line, and not at any length."""
    shown = on_one_line(query)
    if len(shown.encode()) <= ARGUMENT_BYTES_MAX:
        return shown
    return shown.encode()[: ARGUMENT_BYTES_MAX - len(CUT.encode())].decode(errors="ignore").rstrip() + CUT


def _outcome(answer: Answer) -> str:
    """What came of a step, in words."""
    match answer:
        case Hints():
            return _several(len(answer.hints), "hint")
        case Neighbors():
            return _several(len(answer.triples), "connection")
        case Peek():
            return _several(len(answer.text), "char")
        case Expanded():
            return _several(len(answer.text), "char") + ("" if answer.next is None else ", cut")
    raise TypeError(f"{type(answer).__name__} is not an answer of a verb")


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
