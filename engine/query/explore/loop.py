"""The loop of an exploration: a recall, then steps that a policy chooses, until there is a reason to stop.

question ── recall ──▶ hints ──▶ decide ──▶ peek · expand · neighbours · recall ──▶ context ──▶ decide …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from engine.base import limits
from engine.base.characters import checked_text
from engine.base.errors import ConflictError, InvalidInputError, NotFoundError
from engine.base.validation import atom_id, instance, integer, show_id
from engine.followers.names import page_title
from engine.ledger.queries import bodies_of, body_of, records_of
from engine.query.explore.context_text import context_text
from engine.query.explore.explore_actions import ARGUMENT_BYTES_MAX, Action, Verb
from engine.query.explore.explore_answers import Expanded, Hint, Hints, Neighbors, Peek, VerbAnswer
from engine.query.explore.explore_policy import Policy, Prompting, ReadingAtOnce
from engine.query.explore.explorer import Explorer
from engine.query.explore.gather import Gather, odds
from engine.query.explore.nodes import first_of, resolve_atom, resolve_node
from engine.query.explore.quotes import Quote, ReadText, quotes_of, weighted
from engine.query.explore.scope import scope_of
from engine.query.explore.state import (
    Exploration,
    Finding,
    Gathered,
    Result,
    State,
    Step,
    Stop,
    on_one_line,
    same,
)
from engine.query.file_pages import Pieces
from engine.query.filters import NO_FILTERS, Filters
from engine.query.prompt_text import CUT, tokens_of
from engine.query.recall.recall import recall
from engine.query.recall.recall_answer import joined_titles
from engine.query.view import View
from engine.query.written_days import day_written
from engine.text.language.question import analyze_question
from proofs.leaves import State as AtomState

STEPS_MAX: Final = 10
"""The largest number of steps, including the first recall."""

BUDGET: Final = 2000
"""The default budget: the number of tokens that all answers together may cost. `context` has the same default
budget."""

BUDGET_MIN: Final = 200
"""The smallest budget in tokens. It is enough for hints and one peek."""

STEP_TOKENS_MIN: Final = 60
"""A further step is made only if at least this many tokens of the budget are left. If fewer tokens are left,
the exploration ends."""

HINTS: Final = 5
"""The number of hints that each recall requests."""

FULL_ATOMS: Final = 10
"""The cost of an exploration is compared with the cost of a plain recall of this many whole atoms."""

STEP_TOKENS: Final = 500
"""Every step may cost up to this many tokens, as far as they are left. If more than twice this many are left,
a step may cost half of the tokens left. A longer answer is cut, so that a further step is possible."""

NEIGHBORS_TOKENS: Final = 200
"""The number of tokens that the connections of a node may cost. If a node has too many connections, only the
first are shown."""

REFUSED_MAX: Final = 4
"""An exploration ends after this many consecutive refused decisions. After each earlier refusal, the prompt
for a language model says what was wrong and what is allowed."""

NOTHING_NEW_MAX: Final = 2
"""An exploration ends after this many consecutive steps that found nothing new."""


SHARE_MIN: Final = 0.01
"""The least share of a text. A text that a policy chose to read is never worth nothing."""


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
    """Explore the memory step by step and collect the context that answers a question.

    The arguments are those of `Engine.explore`. If `policy` is None, the policy is
    `engine.query.explore.gather.Gather`.

    Raises:
        InvalidInputError: an argument is out of range, the query has no word to search for, `policy` is
            not a policy, or a decision of the policy is not an action.
    """
    playing = Gather() if policy is None else policy
    if isinstance(playing, type):
        raise InvalidInputError(f"policy must be a Policy object, not the class {playing.__name__}")
    instance(playing, Policy, "policy")
    instance(filters, Filters, "filters")
    if not checked_text(query, "query", limits.QUERY_BYTES_MAX).strip():
        raise InvalidInputError("the question is blank; give at least one word")
    _between(budget, "budget", BUDGET_MIN, limits.INTEGER_MAX)
    _between(steps, "steps", 1, STEPS_MAX)
    run = _Run(memory, Explorer(memory), query, budget, filters, on_step, playing)
    return run.exploration(run.follow(playing, steps))


def _between(value: object, what: str, least: int, most: int) -> None:
    if integer(value, what, most) < least:
        raise InvalidInputError(f"{what} must be {least} or more, not {value}")


@dataclass(slots=True)
class _Run:
    """An exploration in progress."""

    memory: View
    explorer: Explorer
    query: str
    budget: int
    filters: Filters
    on_step: Callable[[Step], None] | None
    policy: Policy
    found: Gathered = field(default_factory=Gathered)
    trace: list[Step] = field(default_factory=list)
    done: set[tuple[Verb, str]] = field(default_factory=set)
    failed: set[tuple[Verb, str]] = field(default_factory=set)
    prompt_tokens: int = 0
    without_news: int = 0
    refused: int = 0

    def follow(self, policy: Policy, steps: int) -> Stop:
        """Recall, then carry out the decisions of the policy until there is a reason to stop."""
        action = Action(Verb.RECALL, _argument(self.query))
        self.done.add((Verb.RECALL, _argument(self.query)))
        self._add_answer(action, self._recall(self.query), None)
        while True:
            if stop := self._stop_reason(steps):
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

    def _stop_reason(self, steps: int) -> Stop | None:
        if self.refused == REFUSED_MAX:
            return Stop.REFUSED
        if len(self.trace) == steps:
            return Stop.STEPS
        if self.budget - self.explorer.total < STEP_TOKENS_MIN:
            return Stop.BUDGET
        return Stop.NOTHING_NEW if self.without_news == NOTHING_NEW_MAX else None

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
        asked = action.verb, _argument(action.argument)
        if asked in self.failed:
            self._refuse(action, f"{Result.REFUSED}: this action failed before")
            return
        try:
            target = self._target(action)
            if again := self._repeats(action.verb, target):
                self._refuse(action, again)
                return
            self.done.add((action.verb, target))
            self._add_answer(action, self._answer(action, target), target)
        except (NotFoundError, ConflictError, InvalidInputError) as error:
            self.refused = 0
            self.failed.add(asked)
            self._note(action, Result.FAILED, str(error), None)

    def _target(self, action: Action) -> str:
        """Return the target of the action: the whole id of an atom, a tag in caseless form, or a query."""
        if action.verb is Verb.RECALL:
            return _argument(action.argument)
        with scope_of(self.memory) as scope:
            if action.verb is Verb.NEIGHBORS:
                node = resolve_node(scope, action.argument)
                if isinstance(node, Pieces):
                    return node.source
                return f"#{node}" if isinstance(node, str) else show_id(node.id)
            return show_id(first_of(resolve_atom(scope, action.argument)).id)

    def _repeats(self, verb: Verb, target: str) -> str | None:
        """Return the reason for refusing an action if it would repeat an earlier action, or else None."""
        if (verb, target) in self.done:
            return f"{Result.REFUSED}: this action was done before"
        if verb is Verb.PEEK and (Verb.EXPAND, target) in self.done:
            return f"{Result.REFUSED}: this atom was read before"
        return None

    def _answer(self, action: Action, target: str) -> VerbAnswer:
        left = self.budget - self.explorer.total
        most = min(left, max(STEP_TOKENS, left // 2))
        match action.verb:
            case Verb.PEEK:
                return self.explorer.explore_peek(target, budget=most)
            case Verb.EXPAND:
                return self.explorer.explore_expand(target, budget=most)
            case Verb.NEIGHBORS:
                return self.explorer.explore_neighbors(target, budget=min(left, NEIGHBORS_TOKENS))
        return self._recall(action.argument)

    def _recall(self, query: str) -> Hints:
        left = self.budget - self.explorer.total
        # Known hints are left out, except hints without a score, whose atoms were only found as neighbours.
        ids = [hint.id for hint in self.found.hints if hint.score]
        policy = self.policy
        read = None
        if isinstance(policy, ReadingAtOnce):
            read = partial(policy.read_at_once, left=left)
        return self.explorer.explore_recall(
            query, HINTS, filters=self.filters, known=ids, budget=left, read=read
        )

    def _add_answer(self, action: Action, answer: VerbAnswer, target: str | None) -> None:
        self.refused = 0
        of_atom = action.verb is not Verb.RECALL and target is not None and not target.startswith("#")
        new = self.found.take(answer, target if of_atom else None)
        if isinstance(answer, Hints):
            for hint in answer.hints:
                if hint.whole:
                    self._read(hint)
        self.without_news = 0 if new else self.without_news + 1
        self._note(action, Result.DONE, _outcome(answer), answer)

    def _read(self, hint: Hint) -> None:
        """Add the atom of a hint with the whole text to the context."""
        with scope_of(self.memory) as scope:
            record = scope.record(hint.id)
            text = body_of(scope.rows, record).content
        place = record.title, record.source, record.sequence
        finding = Finding(Verb.EXPAND, show_id(record.id), *place, text, whole=True)
        self.found.add(replace(finding, provenance=record.provenance, when=hint.when))

    def _refuse(self, action: Action | None, why: str) -> None:
        self.refused += 1
        self._note(action, Result.REFUSED, why, None)

    def _note(self, action: Action | None, result: Result, outcome: str, answer: VerbAnswer | None) -> None:
        cost = answer.cost_tokens if answer else 0
        number, total = len(self.trace) + 1, self.explorer.total
        step = Step(number, action, result, on_one_line(outcome), cost, total, answer)
        self.trace.append(step)
        if self.on_step is not None:
            self.on_step(step)

    def exploration(self, stop: Stop) -> Exploration:
        """Return the result of the exploration."""
        text = context_text(self.found.context)
        last = next(step.answer for step in reversed(self.trace) if step.answer is not None)
        with self.memory.searchable(self.filters) as rows:
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
            answer=answer_from(self.memory, self.query, self.found.context, self.found.hints),
        )


def _argument(query: str) -> str:
    """Return a question as the argument of an action: on one line, cut to ARGUMENT_BYTES_MAX bytes."""
    shown = on_one_line(query)
    if len(shown.encode()) <= ARGUMENT_BYTES_MAX:
        return shown
    return shown.encode()[: ARGUMENT_BYTES_MAX - len(CUT.encode())].decode(errors="ignore").rstrip() + CUT


def _outcome(answer: VerbAnswer) -> str:
    """Return a short description of an answer."""
    match answer:
        case Hints():
            texts = sum(hint.whole for hint in answer.hints)
            return _several(len(answer.hints), "hint") + (f", {_several(texts, 'text')}" if texts else "")
        case Neighbors():
            return _several(len(answer.triples), "connection")
        case Peek():
            return _several(len(answer.text), "char")
        case Expanded():
            return _several(len(answer.text), "char") + ("" if answer.next is None else ", cut")
    raise TypeError(f"{type(answer).__name__} is not an answer of a verb")


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def answer_from(
    memory: View, query: str, items: Sequence[Finding], hints: Sequence[Hint]
) -> tuple[Quote, ...]:
    """Return the sentences that answer a question, from the texts of the atoms among `items`.

    Args:
        memory: The memory that was explored.
        query: The question.
        items: The items of the context. Connections are left out.
        hints: The hints of the exploration. They tell how good an atom is, and which page the question asks
            for by its name. An atom without a score was read because a connection led to it, and counts as
            much as the best one.
    """
    read = {item.id: item for item in items if item.id is not None and item.verb is not Verb.NEIGHBORS}
    if not read:
        return ()
    scores = [(hint.id, odds(hint)) for hint in hints if hint.score]
    best = max((score for _, score in scores), default=0.0) or 1.0
    with scope_of(memory) as scope:
        records = zip(read.values(), records_of(scope.rows, list(map(atom_id, read))), strict=True)
        live = [(item, record) for item, record in records if record.state is AtomState.LIVE]
        bodies = bodies_of(scope.rows, [record for _, record in live])
        question = analyze_question(query, now=scope.log.time)
        weights = weighted(question, scope.weights(question.terms))
    texts = [
        ReadText(
            id=item.id or "",
            title=record.title,
            heading=joined_titles(page_title(body), record.title),
            source=record.source,
            sequence=record.sequence,
            content=body.content,
            share=max(_matching(scores, item.id, best) / best, SHARE_MIN),
            asked=any(hint.asked and same(item.id, hint.id) for hint in hints),
            created=record.created,
            digits=item.digits,
            provenance=record.provenance,
            day=day_written(record, body),
        )
        for (item, record), body in zip(live, bodies, strict=True)
    ]
    names = [entity.terms for entity in question.entities if entity.proper]
    return quotes_of(weights, names, sorted(texts, key=lambda text: -text.share))


def _matching(scores: Iterable[tuple[str, float]], id: str | None, default: float) -> float:  # noqa: A002
    return max((score for short, score in scores if same(id, short)), default=default)
