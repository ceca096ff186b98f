"""Explore a memory in one call, and return the texts that answer a question best within a token budget.

A model that explores step by step receives every hint, and each hint costs tokens. Here the loop runs next to
the memory with the policy `Walker`, and only the chosen texts cost tokens. So the texts of hits that the loop
did not read can be chosen, too:

    the loop of `engine.query.explore.loop`  ──▶ connections, texts of further recalls ─┐
    a recall of the question                 ──▶ texts, the best first ─────────────────┴─▶ choose ──▶ text

The worth of a text is

    (score / best score) / fourth root of (tokens of the text / mean tokens of the candidates)

The texts are considered in the order of their worth, and a text is chosen if

    worth / best worth  >=  (tokens chosen so far + tokens of this text) / budget

So an answer is short if few texts stand out, and long if many texts are equally good. It never costs more
than the budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from math import sqrt
from typing import Final

from engine.base import limits
from engine.base.errors import InvalidInputError
from engine.base.validation import atom_id, integer
from engine.ledger.queries import short_id
from engine.query.explore.explore_actions import Verb
from engine.query.explore.explore_answers import Hints, unmarked
from engine.query.explore.explore_policy import odds
from engine.query.explore.explorer import Explorer
from engine.query.explore.loop import BUDGET, STEPS_MAX, answer_from, explore
from engine.query.explore.quotes import Quote
from engine.query.explore.state import Exploration, Finding, same
from engine.query.filters import NO_FILTERS, Filters
from engine.query.prompt_text import body, body_within, heading, tokens_of
from engine.query.recall.recall import recall
from engine.query.view import View

GATHERED_TOKENS: Final = 1000
"""The default budget in tokens. Most answers cost about half of the budget."""

GATHERED_TOKENS_MIN: Final = 32

HITS: Final = 20
"""The number of hits whose texts can be chosen, in addition to the texts that the loop read."""

READING: Final = 4
"""The loop's budget is this many times the budget of the answer, but at least `loop.BUDGET` tokens."""

LONG: Final = 1 / 3
"""If a text costs more than this share of the budget, a part of it may be chosen: about 200 characters around
the words of the question."""

CONNECTIONS: Final = 1 / 4
"""The largest share of the budget that the connections of a node may cost."""


@dataclass(frozen=True, slots=True)
class Gathering:
    """The texts that an exploration gathered."""

    text: str
    """The texts with their headings. If a heading shows no source, its source is the same as in the heading
    before."""
    tokens: int
    """The cost of `text`."""
    items: tuple[Finding, ...]
    """The texts, in the order of `text`."""
    answer: tuple[Quote, ...]
    """The sentences of the texts that answer the question, the best first; empty if none does. They are not
    part of `text`."""
    exploration: Exploration
    """The loop: its steps, the cost of the steps, and the state of the memory that the loop read."""


def gather(
    memory: View,
    query: str,
    *,
    budget: int = GATHERED_TOKENS,
    steps: int = STEPS_MAX,
    filters: Filters = NO_FILTERS,
) -> Gathering:
    """Explore the memory, and return the gathered texts.

    Args:
        memory: The memory, or a past state of it.
        query: The question, in words.
        budget: The tokens that the text and the quotes of the answer may cost together, at least 32.
        steps: The largest number of steps of the loop, 1 to 10.
        filters: The conditions that the texts must meet.

    Raises:
        InvalidInputError: an argument is out of range, or the query has no word to search for.
    """
    if integer(budget, "budget", limits.INTEGER_MAX) < GATHERED_TOKENS_MIN:
        raise InvalidInputError(f"budget must be {GATHERED_TOKENS_MIN} or more, not {budget}")
    found = explore(memory, query, budget=max(BUDGET, READING * budget), steps=steps, filters=filters)
    candidates = _candidates(memory, query, found, filters)
    scores = {item.id or "": score for score, item in candidates if item.verb is not Verb.NEIGHBORS}
    ranked = by_worth(candidates)
    items, text = _gathered(memory, query, ranked, budget)
    hints = [hint for step in found.steps if isinstance(step.answer, Hints) for hint in step.answer.hints]
    answer = answer_from(memory, query, items, scores.__getitem__, hints)
    if answer:
        answer = (answer[0].within(budget // 2), *answer[1:])
        # The texts leave room for the first quote; the others are kept as far as there is room for them.
        if tokens_of(text) > budget - answer[0].tokens:
            items, text = _gathered(memory, query, ranked, budget - answer[0].tokens)
        costs = accumulate((quote.tokens for quote in answer), initial=tokens_of(text))
        answer = answer[: sum(cost <= budget for cost in costs) - 1]
    return Gathering(text, tokens_of(text), items, answer, found)


def _gathered(
    memory: View, query: str, ranked: list[tuple[float, Finding]], budget: int
) -> tuple[tuple[Finding, ...], str]:
    """Return the chosen items in the order of the text, and the text."""
    items = tuple(_in_groups(_chosen(memory, query, ranked, budget)))
    return items, unmarked("".join(_lines(items)))


def _candidates(
    memory: View, query: str, found: Exploration, filters: Filters
) -> list[tuple[float, Finding]]:
    """Return the candidates, each with its score divided by the best score."""
    shares = _shares(found)
    with memory.searchable() as rows:
        hits = recall(*(rows, memory, query), limit=HITS, budget=limits.INTEGER_MAX, filters=filters).hits
        best = hits[0].score if hits else 1.0
        candidates = [
            (
                max(hit.score / best, _again(shares, hit.id)),
                Finding(
                    *(Verb.EXPAND, hit.id, hit.title, hit.source, hit.sequence, hit.content or "", True),
                    digits=len(short_id(rows, atom_id(hit.id))),
                    provenance=hit.provenance,
                ),
            )
            for hit in hits
        ]
    known = {hit.id for hit in hits}
    for item in found.context:
        if item.verb is Verb.NEIGHBORS:
            candidates.append((1.0, item))
        elif item.id not in known:
            candidates.append((_again(shares, item.id or ""), item))
    return candidates


def by_worth(candidates: list[tuple[float, Finding]]) -> list[tuple[float, Finding]]:
    """Return the candidates in the order of their worth, each with its worth divided by the best worth.

    Connections come first, because nothing can replace them. Of two texts with equal scores, the shorter one
    is worth more, because the tokens that it saves pay for another text. Measured on five sets, for as many
    tokens as ten whole texts cost: exponents of the cost from 0.2 to 0.3 find more on each set than 0, and
    more than the ten whole texts.
    """
    links = [one for one in candidates if one[1].verb is Verb.NEIGHBORS]
    texts = [(score, _cost(item), item) for score, item in candidates if item.verb is not Verb.NEIGHBORS]
    mean = sum(cost for _, cost, _ in texts) / max(len(texts), 1)
    worths = [(score / sqrt(sqrt(cost / mean)), item) for score, cost, item in texts]
    best = max((worth for worth, _ in worths), default=0.0) or 1.0
    return links + sorted(((worth / best, item) for worth, item in worths), key=lambda one: -one[0])


def _shares(found: Exploration) -> list[tuple[str, float]]:
    """Return the short id and the score of each hint of the loop's recalls.

    A score is given as a share of the best score in the first recall, at most 1.
    """
    recalls = [step.answer.hints for step in found.steps if isinstance(step.answer, Hints)]
    best = max(map(odds, recalls[0]), default=0.0) or 1.0
    return [(hint.id, min(odds(hint) / best, 1.0)) for hint in chain(*recalls)]


def _again(shares: list[tuple[str, float]], id: str) -> float:  # noqa: A002
    """Return the best score of an atom in the loop's recalls, or 0 if they did not return the atom."""
    return max((share for short, share in shares if same(short, id)), default=0.0)


def _chosen(
    memory: View, query: str, candidates: list[tuple[float, Finding]], budget: int
) -> Iterator[Finding]:
    """Yield the chosen texts, the best first. The best text is cut if it exceeds the budget."""
    spent = 0
    for worth, item in candidates:
        most = int(budget * (CONNECTIONS if item.verb is Verb.NEIGHBORS else worth)) - spent
        kept: Finding | None = item
        if item.verb is Verb.NEIGHBORS:
            kept = _within(item, min(most, budget - spent))
        elif _cost(item) > most:
            kept = _part(memory, query, item) if _cost(item) > budget * LONG else None
            if kept is not None and _cost(kept) > most:
                kept = None
            if kept is None and not spent:
                kept = _within(item, budget)
        if kept is not None:
            spent += _cost(kept)
            yield kept


def _part(memory: View, query: str, item: Finding) -> Finding:
    text = Explorer(memory).explore_peek(item.id or "", query).text
    return replace(item, verb=Verb.PEEK, text=text, whole=False)


def _within(item: Finding, tokens: int) -> Finding | None:
    """Return an item, cut to at most `tokens` tokens, or None if this leaves no text."""
    if _cost(item) <= tokens:
        return item
    left = tokens - _cost(replace(item, text=""))
    text = body_within(item.text, left) if left > 0 else ""
    return replace(item, text=text.strip("\n"), whole=False) if text.strip() else None


def _cost(item: Finding) -> int:
    return tokens_of(str(item))


def _in_groups(items: Iterable[Finding]) -> Iterator[Finding]:
    """Yield connections and texts without a source, then the texts of each source, sorted by position."""
    groups: dict[str, list[Finding]] = {"": []}
    for item in items:
        groups.setdefault(item.source or "", []).append(item)
    for source, group in groups.items():
        yield from sorted(group, key=lambda one: one.sequence or 0) if source else group


def _lines(items: Iterable[Finding]) -> Iterator[str]:
    source = title = None
    for item in items:
        if item.verb is Verb.NEIGHBORS:
            yield str(item)
        elif item.source != source:
            # A text without a title of its own may consist of the title.
            yield str(replace(item, title=None) if item.title == item.text.strip() else item)
        else:
            shown = None if item.title in (title, item.text.strip()) else item.title
            name = (item.id or "").replace("-", "")
            head = heading(shown, None, None, None, name, digits=item.digits, provenance=item.provenance)
            yield f"{head}{body(item.text)}\n"
        source, title = item.source, item.title
