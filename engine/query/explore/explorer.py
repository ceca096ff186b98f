"""The four verbs: recall hints, peek, expand, follow neighbours; each answer with what it costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, TypeVar

from engine.base import limits
from engine.base.errors import InvalidInputError
from engine.base.model import Direction
from engine.base.validation import (
    choice,
    instance,
    integer,
    optional_integer,
    positive,
    quoted,
    several,
    text_bytes,
)
from engine.ledger.queries import ID_DIGITS_MIN, resolve_id
from engine.query.budget import tokens_of
from engine.query.explore.answers import Answer, Expanded, Hints, Neighbors, Peek
from engine.query.explore.form import UNPRICED, Form, as_json, text_of
from engine.query.explore.looks import PEEK_CHARS, expanded_of, hints_of, longest, peek_of
from engine.query.explore.nodes import entities_in, node_of, page_of, resolve_node
from engine.query.explore.scope import Scope, scope_of
from engine.query.filters import NO_FILTERS, Filters
from engine.query.view import View

A = TypeVar("A", bound=Answer)

HINTS_MAX: Final = 50

KNOWN_MAX: Final = 1000

PEEK_STEP: Final = 20
"""A peek that is over its budget is made shorter by so many characters at a time."""

REMEMBERED: Final = 1000
"""The questions behind so many hints are remembered for peeks."""


class Explorer:
    """A way through a memory: what was asked, and what it has cost so far. For one thread."""

    def __init__(self, memory: View, *, form: Form | str = Form.TEXT, spent: int = 0) -> None:
        """Explore a memory, or the past of one.

        Costs are counted in the `form` in which the answers are handed out; `spent` are tokens spent before.
        """
        self.memory = memory
        self.total = integer(spent, "spent")
        self._rendered: Callable[[Answer], str]
        self._rendered = as_json if choice(Form, form, "form") is Form.JSON else text_of
        self._asked: dict[bytes, str] = {}
        self._head = b"", 0
        self._root = ""

    def explore_recall(
        self,
        query: str,
        limit: int = 5,
        *,
        filters: Filters = NO_FILTERS,
        known: Collection[str] = (),
        budget: int | None = None,
    ) -> Hints:
        """Hints at the atoms that answer a question best, and the entities that it names.

        Args:
            query: What you want to know, in words.
            limit: At most so many hints: 1 to 50. Five cost about 100 tokens as text.
            filters: What an atom must be.
            known: Ids, or their first digits, of atoms that need no further hint; at most 1,000.
            budget: Tokens that the answer may cost; fewer hints if need be.

        Raises:
            InvalidInputError: the query has nothing to search for; a bound is out of range or too small.
        """
        instance(filters, Filters, "filters")
        positive(limit, "limit", HINTS_MAX)
        checked = [self._digits(one) for one in several(known, "known")]
        if len(checked) > KNOWN_MAX:
            raise InvalidInputError(f"{len(checked)} known ids; at most {KNOWN_MAX} are allowed")
        with self._scope() as scope:
            found = hints_of(scope, query, limit, filters, checked)
            whole = Hints(found, entities_in(scope, query))
            atoms = {hint.id: resolve_id(scope.rows, hint.id) for hint in found}
        answer = self._most(len(found), budget, lambda most: replace(whole, hints=found[:most]))
        for hint in answer.hints:
            self._asked.pop(atoms[hint.id], None)
            self._asked[atoms[hint.id]] = query
        while len(self._asked) > REMEMBERED:
            del self._asked[next(iter(self._asked))]
        return self._paid(answer)

    def explore_peek(self, id: str, query: str | None = None, *, budget: int | None = None) -> Peek:  # noqa: A002
        """Some 200 characters of an atom, around the words of the question.

        Args:
            id: An atom's id, or its first digits: 4 or more.
            query: What was asked; None for the question whose hints named the atom last, if one did.
            budget: Tokens that the answer may cost; fewer characters if need be.

        Raises:
            NotFoundError: there is no such live atom.
            ConflictError: several atoms' ids begin so.
            InvalidInputError: the budget is too small.
        """
        most = optional_integer(budget, "budget")
        asked = None if query is None else text_bytes(query, "query", limits.QUERY_BYTES_MAX)
        with self._scope() as scope:
            record = scope.record(id)
            if asked is None:
                asked = self._asked.get(record.id)
            costs = []
            for chars in range(PEEK_CHARS, 0, -PEEK_STEP):
                answer = self._priced(peek_of(scope, record, asked, chars))
                if most is None or answer.cost_tokens <= most:
                    return self._paid(answer)
                costs.append(answer.cost_tokens)
            raise _too_small(most, min(costs))

    def explore_expand(self, id: str, *, budget: int | None = None, offset: int = 0) -> Expanded:  # noqa: A002
        """The whole text of an atom, and what else is recorded of it.

        Args:
            id: An atom's id, or its first digits: 4 or more.
            budget: Tokens that the answer may cost; the text is cut if need be, and `next` says where.
            offset: The character of the text to begin at.

        Raises:
            NotFoundError: there is no such live atom.
            ConflictError: several atoms' ids begin so.
            InvalidInputError: the budget is too small, or the text ends before `offset`.
        """
        most = optional_integer(budget, "budget")
        with self._scope() as scope:
            answer = expanded_of(scope, scope.record(id), offset)

        def beginning(text: str) -> Expanded:
            rest = None if len(text) == len(answer.text) else offset + len(text)
            return self._priced(replace(answer, text=text, next=rest))

        if most is None:
            return self._paid(beginning(answer.text))
        kept = longest(answer.text, most, lambda text: beginning(text).cost_tokens)
        if kept is None:
            costs = (beginning(answer.text[:1]).cost_tokens, beginning(answer.text).cost_tokens)
            raise _too_small(most, min(costs))
        return self._paid(beginning(kept))

    def explore_neighbors(
        self,
        node: str,
        direction: Direction | str = Direction.BOTH,
        *,
        limit: int = 20,
        offset: int = 0,
        budget: int | None = None,
    ) -> Neighbors:
        """What an atom or a tag is connected to, as triples.

        Args:
            node: An id or its first digits, an entity's name, a `#tag`, or a word that only one goes by.
            direction: `out`: the node is the subject; `in`: it is the object; `both`.
            limit: At most so many triples: 1 to 100.
            offset: How many to pass over: `next` of the page before.
            budget: Tokens that the answer may cost; fewer triples if need be.

        Raises:
            NotFoundError: nothing is called so.
            ConflictError: several atoms are.
            InvalidInputError: a bound is out of range, or the budget too small.
        """
        way = choice(Direction, direction, "direction")
        with self._scope() as scope:
            found = resolve_node(scope, node)
            triples, after = page_of(scope, found, way, limit, offset)
            whole = Neighbors(node_of(scope, found), triples, after)

        def beginning(most: int) -> Neighbors:
            return replace(
                whole, triples=triples[:most], next=after if most == len(triples) else offset + most
            )

        return self._paid(self._most(len(triples), budget, beginning))

    @staticmethod
    def _digits(known: object) -> str:
        """The hexadecimal digits of an id or of its beginning: 4 or more."""
        digits = str(known).replace("-", "").lower()
        if len(digits) < ID_DIGITS_MIN or not set(digits) <= set("0123456789abcdef"):
            raise InvalidInputError(f"the known id {quoted(known)} is not a UUID or the beginning of one")
        return digits

    @contextmanager
    def _scope(self) -> Iterator[Scope]:
        with scope_of(self.memory) as scope:
            head = scope.log.frontier.root(), scope.log.size
            if self._head != head:
                # Some 12 ms, and the same for every answer until the head moves.
                store = self.memory.store
                self._root = "" if store.erased_since is not None else store.roots(scope.rows).overall.hex()
                self._head = head
            yield scope

    def _most(self, number: int, budget: int | None, beginning: Callable[[int], A]) -> A:
        """`beginning(n)` with the largest n up to `number` that the budget has room for."""
        most = optional_integer(budget, "budget")
        least = min(1, number)
        if most is None or self._priced(beginning(number)).cost_tokens <= most:
            return beginning(number)
        if (cost := self._priced(beginning(least)).cost_tokens) > most:
            raise _too_small(most, min(cost, self._priced(beginning(number)).cost_tokens))
        costs = range(least, number + 1)
        fitting = bisect_right(costs, most, key=lambda n: self._priced(beginning(n)).cost_tokens)
        return beginning(costs[fitting - 1])

    def _priced(self, answer: A) -> A:
        """The answer with what it says of itself: as of which event, under which root, at what cost."""
        answer = replace(answer, seq=self._head[1] - 1, root=self._root)
        unpriced = replace(answer, cost_tokens=UNPRICED, total_tokens=UNPRICED + self.total)
        cost = tokens_of(self._rendered(unpriced))
        return replace(answer, cost_tokens=cost, total_tokens=self.total + cost)

    def _paid(self, answer: A) -> A:
        answer = self._priced(answer)
        self.total = answer.total_tokens
        return answer


def _too_small(budget: int | None, cost: int) -> InvalidInputError:
    return InvalidInputError(f"a budget of {budget} tokens is too small: the shortest answer costs {cost}")
