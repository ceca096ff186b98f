"""The four verbs of exploration (recall, peek, expand, neighbors). Every answer states its cost."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, TypeVar

from engine.base import limits
from engine.base.characters import checked_text
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
)
from engine.ledger.queries import ID_DIGITS_MIN, resolve_id
from engine.query.explore.explore_answers import (
    UNPRICED,
    Answer,
    Expanded,
    Form,
    Hint,
    Hints,
    Neighbors,
    Peek,
    as_json,
    text_of,
)
from engine.query.explore.nodes import entities_in, first_of, node_of, passing, resolve_atom, resolve_node
from engine.query.explore.scope import Scope, scope_of
from engine.query.explore.verb_answers import (
    PEEK_CHARS,
    DatedText,
    asks_when,
    expanded_of,
    hints_of,
    longest,
    page_of,
    peek_of,
    wanted_edges,
)
from engine.query.filters import NO_FILTERS, Filters
from engine.query.prompt_text import on_one_line, tokens_of
from engine.query.view import View
from engine.query.written_days import note_of

A = TypeVar("A", bound=Answer)

HINTS_MAX: Final = 50

CANDIDATES: Final = 20
"""The number of hints from which `explore_recall(read=...)` lets a function choose."""

KNOWN_MAX: Final = 1000

PEEK_STEP: Final = 20
"""A peek that costs more than its budget is shortened by this many characters, repeatedly if necessary."""

REMEMBERED: Final = 1000
"""For this many of the latest hints, the question that led to the hint is stored. A peek at the atom of such
a hint shows the text around the words of the question."""


class Explorer:
    """One exploration of a memory. It stores the questions and adds up the costs. Not thread-safe."""

    def __init__(
        self,
        memory: View,
        *,
        form: Form | str | Callable[[Answer], str] = Form.TEXT,
        spent: int = 0,
        count: Callable[[str], int] = tokens_of,
    ) -> None:
        """Explore a memory in its present state or in a past state.

        The cost of an answer is the number of tokens of its output. `form` determines the output: it is an
        output form, or a function that returns the output for an answer. `count` returns the number of tokens
        of an output. The total cost begins at `spent` tokens.
        """
        self._count = count
        self.memory = memory
        self.total = integer(spent, "spent")
        if callable(form):
            self._rendered = form
        else:
            self._rendered = as_json if choice(Form, form, "form") is Form.JSON else text_of
        self._questions: dict[bytes, str] = {}
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
        texts: Sequence[int] = (0,),
        fits: Callable[[Hints], bool] | None = None,
        read: Callable[[Sequence[Hint]], Collection[str]] | None = None,
    ) -> Hints:
        """Return hints for the atoms that answer a question best, and the entities that the question names.

        Args:
            query: The question, in words.
            limit: The largest number of hints, 1 to 50. Five hints cost about 100 tokens as text.
            filters: The conditions that an atom must meet.
            known: Ids of atoms to leave out, or the first digits of ids; at most 1,000.
            budget: The tokens that the answer may cost. The answer contains fewer hints if necessary.
            texts: Limits on the tokens that the answer may cost with texts. Hints contain the whole texts of
                short atoms in place of their titles, the best hint first, as far as these tokens suffice. The
                limits are tried in order until an answer fits.
            fits: A function that returns False if an answer is too large; None if every answer fits. The
                last answer is returned even if it does not fit.
            read: A function that chooses among the hints for the best 20 atoms and returns ids. A chosen hint
                contains the whole text of its atom, as far as the budget suffices. The answer has the first
                `limit` hints and the chosen ones.

        Raises:
            InvalidInputError: the query has no word to search for, `limit` is out of range, or `budget`
                is too small.
        """
        instance(filters, Filters, "filters")
        positive(limit, "limit", HINTS_MAX)
        checked = [self._digits(one) for one in several(known, "known")]
        if len(checked) > KNOWN_MAX:
            raise InvalidInputError(f"{len(checked)} known ids; at most {KNOWN_MAX} are allowed")
        with self._scope() as scope:
            candidates = limit if read is None else max(limit, CANDIDATES)
            hints, contents = hints_of(scope, query, candidates, filters, checked)
            whole = Hints(hints, entities_in(scope, query))
            atoms = {hint.id: resolve_id(scope.rows, hint.id) for hint in hints}
        asked = asks_when(query)
        if read is not None:
            whole = self._with_chosen(whole, contents, limit, read(whole.hints), budget, asked=asked)
        for most in texts:
            shown = self._with_texts(whole, contents, most, asked=asked) if integer(most, "texts") else whole
            answer = self._shortened(shown, budget)
            if fits is None or fits(self._priced(answer)):
                break
        for hint in answer.hints:
            self._questions.pop(atoms[hint.id], None)
            self._questions[atoms[hint.id]] = query
        while len(self._questions) > REMEMBERED:
            del self._questions[next(iter(self._questions))]
        return self._charged(answer)

    def _shortened(self, whole: Hints, budget: int | None) -> Hints:
        return self._within(len(whole.hints), budget, lambda most: replace(whole, hints=whole.hints[:most]))

    def _with_chosen(
        self,
        answer: Hints,
        contents: Sequence[DatedText],
        limit: int,
        chosen: Collection[str],
        budget: int | None,
        *,
        asked: bool,
    ) -> Hints:
        """Return the first `limit` hints and the chosen ones.

        The whole texts of chosen atoms stand in place of titles, as far as the budget suffices.
        """
        pairs = list(zip(answer.hints, contents, strict=True))
        pairs = [one for at, one in enumerate(pairs) if at < limit or one[0].id in chosen]
        answer = replace(answer, hints=tuple(hint for hint, _ in pairs))
        for at, (hint, content) in enumerate(pairs):
            if hint.id in chosen:
                with_text = _with_text(answer, at, content, asked=asked)
                if budget is None or self._priced(with_text).cost_tokens <= budget:
                    answer = with_text
        return answer

    def _with_texts(self, answer: Hints, contents: Collection[DatedText], most: int, *, asked: bool) -> Hints:
        """Put the whole texts of short atoms in place of titles, in at most `most` tokens altogether."""
        for at, content in enumerate(contents):
            if answer.hints[at].tokens > most:
                continue
            with_text = _with_text(answer, at, content, asked=asked)
            if self._priced(with_text).cost_tokens <= most:
                answer = with_text
        return answer

    def explore_peek(
        self,
        id: str,  # noqa: A002
        query: str | None = None,
        *,
        filters: Filters = NO_FILTERS,
        budget: int | None = None,
    ) -> Peek:
        """Return about 200 characters of an atom's text, around the words of the question.

        Args:
            id: The id of an atom, or at least the first 4 digits of the id; or the path, the title or an
                alias of a page, which stands for its first piece.
            query: The question. If it is None, the last question whose answer contained a hint for this atom
                is used.
            filters: The conditions that the atom must meet.
            budget: The tokens that the answer may cost. The answer contains fewer characters if necessary.

        Raises:
            NotFoundError: there is no such live atom, or it does not meet the conditions.
            ConflictError: the ids of several atoms begin with these digits.
            InvalidInputError: the budget is too small.
        """
        most = optional_integer(budget, "budget")
        question = None if query is None else checked_text(query, "query", limits.QUERY_BYTES_MAX)
        with self._scope() as scope:
            record = first_of(passing(scope, resolve_atom(scope, id), filters))
            if question is None:
                question = self._questions.get(record.id)
            costs = []
            for chars in range(PEEK_CHARS, 0, -PEEK_STEP):
                answer = self._priced(peek_of(scope, record, question, chars))
                if most is None or answer.cost_tokens <= most:
                    return self._charged(answer)
                costs.append(answer.cost_tokens)
            raise _too_small(most, min(costs))

    def explore_expand(
        self,
        id: str,  # noqa: A002
        *,
        filters: Filters = NO_FILTERS,
        budget: int | None = None,
        offset: int = 0,
    ) -> Expanded:
        """Return an atom with its whole text and its other recorded fields.

        Args:
            id: The id of an atom, or at least the first 4 digits of the id; or the path, the title or an
                alias of a page. Then the text is that of all pieces, and the other fields are those of the
                first piece.
            filters: The conditions that the atom must meet. Pieces of a page that do not meet them are left
                out.
            budget: The tokens that the answer may cost. The text is cut if necessary, and the field `next` of
                the answer is the offset of the rest.
            offset: The number of characters to skip at the beginning of the text.

        Raises:
            NotFoundError: there is no such live atom, or it does not meet the conditions.
            ConflictError: the ids of several atoms begin with these digits.
            InvalidInputError: the budget is too small, or the text ends before `offset`.
        """
        most = optional_integer(budget, "budget")
        with self._scope() as scope:
            found = passing(scope, resolve_atom(scope, id), filters)
            answer = expanded_of(scope, found, offset, self._questions.get(first_of(found).id))

        def beginning(text: str) -> Expanded:
            rest = None if len(text) == len(answer.text) else offset + len(text)
            return self._priced(replace(answer, text=text, next=rest))

        if most is None:
            return self._charged(beginning(answer.text))
        fitting = longest(answer.text, most, lambda text: beginning(text).cost_tokens)
        if fitting is None:
            costs = (beginning(answer.text[:1]).cost_tokens, beginning(answer.text).cost_tokens)
            raise _too_small(most, min(costs))
        return self._charged(beginning(fitting))

    def explore_neighbors(
        self,
        node: str,
        direction: Direction | str = Direction.BOTH,
        *,
        types: Collection[str] = (),
        filters: Filters = NO_FILTERS,
        limit: int = 20,
        offset: int = 0,
        budget: int | None = None,
    ) -> Neighbors:
        """Return the connections of an atom or a tag, as triples.

        Args:
            node: An id or the first digits of an id, the name of an entity, the path, title or alias of a
                page, a title, a `#tag`, or words that occur in the name of only one entity. The connections
                of a page are those of all its pieces.
            direction: `out` for the triples in which the node is the subject, `in` for the triples in which
                it is the object, or `both`.
            types: The types of the edges to return; empty for all edges, tags and neighbours in the source.
            filters: The conditions that the atom at the other end must meet.
            limit: The largest number of triples, 1 to 100.
            offset: The number of triples to skip. For the next page, give `next` of the previous answer.
            budget: The tokens that the answer may cost. The answer contains fewer triples if necessary.

        Raises:
            NotFoundError: no atom or tag has this name, or there is no such type of edges.
            ConflictError: several atoms have this name.
            InvalidInputError: `limit` or `offset` is out of range, or the budget is too small.
        """
        side = choice(Direction, direction, "direction")
        with self._scope() as scope:
            node_found = resolve_node(scope, node)
            wanted = wanted_edges(scope, side, types, filters)
            triples, after = page_of(scope, node_found, wanted, limit, offset)
            whole = Neighbors(node_of(scope, node_found), triples, after)

        def beginning(most: int) -> Neighbors:
            return replace(
                whole, triples=triples[:most], next=after if most == len(triples) else offset + most
            )

        return self._charged(self._within(len(triples), budget, beginning))

    @staticmethod
    def _digits(known: object) -> str:
        """Check an id, or the first digits (at least 4) of an id, and return the digits without hyphens."""
        digits = str(known).replace("-", "")
        if len(digits) < ID_DIGITS_MIN or not set(digits) <= set("0123456789abcdef"):
            raise InvalidInputError(f"the known id {quoted(known)} is not a UUID or the beginning of a UUID")
        return digits

    @contextmanager
    def _scope(self) -> Iterator[Scope]:
        with scope_of(self.memory) as scope:
            head = scope.log.frontier.root(), scope.log.size
            if self._head != head:
                # Computing the root takes about 12 ms, so it is cached until the head moves.
                store = self.memory.store
                self._root = "" if store.erased_since is not None else store.roots(scope.rows).overall.hex()
                self._head = head
            yield scope

    def _within(self, number: int, budget: int | None, beginning: Callable[[int], A]) -> A:
        """Return the answer `beginning(n)` for the largest n up to `number` that the budget allows."""
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
        """Return a copy of the answer in which the seq, the root and the costs are filled in."""
        answer = replace(answer, seq=self._head[1] - 1, root=self._root)
        unpriced = replace(answer, cost_tokens=UNPRICED, total_tokens=UNPRICED + self.total)
        cost = self._count(self._rendered(unpriced))
        return replace(answer, cost_tokens=cost, total_tokens=self.total + cost)

    def _charged(self, answer: A) -> A:
        """Fill in the seq, the root and the costs of the answer, and add its cost to the total."""
        answer = self._priced(answer)
        self.total = answer.total_tokens
        return answer


def _too_small(budget: int | None, cost: int) -> InvalidInputError:
    return InvalidInputError(f"a budget of {budget} tokens is too small: the shortest answer costs {cost}")


def _with_text(answer: Hints, at: int, text: DatedText, *, asked: bool) -> Hints:
    """Return the answer with the whole text of an atom in place of the title of its hint."""
    hints = list(answer.hints)
    when = note_of(text.day, text.content, asked=asked)
    hints[at] = replace(hints[at], title=on_one_line(text.content), whole=True, when=when)
    return replace(answer, hints=tuple(hints))
