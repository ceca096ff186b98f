"""What questions in words are answered with: recall and what is made of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from engine.base.error_translation import translated
from engine.base.validation import instance
from engine.ledger.queries import records_of, resolve_id
from engine.query.duplicates import DuplicateGroup, duplicates
from engine.query.explore.form import Form
from engine.query.filters import NO_FILTERS, Filters
from engine.query.places import PlacesCache
from engine.query.recall.answer import Recall
from engine.query.recall.config import RecallConfig
from engine.store.past import AsOf
from engine.store.store import Store

if TYPE_CHECKING:
    from engine.query.context.inflate import Context
    from engine.query.explore.explorer import Explorer
    from engine.query.explore.policy import Policy
    from engine.query.explore.result import Exploration
    from engine.query.explore.state import Step
    from engine.query.graph.bright import BrightGraph, BrightNode
    from engine.reading import Reading


class Answers(ABC):
    """The questions in words that a memory answers; the other queries are those of `engine.reading`."""

    def __init__(self, store: Store, config: RecallConfig) -> None:
        self.store = store
        """For the parts of the engine itself; its methods raise the backends' errors, too."""
        self.config = config
        self.places = PlacesCache()
        """Who stands where, for the parts of the engine itself."""

    @abstractmethod
    def as_of(self, moment: AsOf) -> AbstractContextManager[Reading]:
        """The memory as it was at a moment, to ask any query of."""

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        budget: int | None = None,
        filters: Filters = NO_FILTERS,
        explain: bool = False,
        as_of: AsOf | None = None,
    ) -> Recall:
        """The live atoms that answer a question best.

        Args:
            query: What you want to know, in words.
            limit: At most so many hits; 10 where there is no budget either.
            budget: Tokens that the hits' whole texts, with a heading each, may cost together.
            filters: What an atom must be.
            explain: Say what each signal added, and what was nearly a hit.
            as_of: Ask the memory as it was then.
        """
        from engine.query.recall.recall import recall  # the whole protocol: not for every program

        instance(filters, Filters, "filters")
        if as_of is not None:
            with self.as_of(as_of) as past:
                return past.recall(query, limit=limit, budget=budget, filters=filters, explain=explain)
        store = self.store
        with translated(), store.view(store.tags, store.index) as rows:
            return recall(
                rows,
                store.index,
                self.places,
                query,
                limit=limit,
                budget=budget,
                filters=filters,
                config=self.config,
                explain=explain,
            )

    def context(
        self,
        query: str,
        *,
        budget: int = 2000,
        filters: Filters = NO_FILTERS,
        as_of: AsOf | None = None,
    ) -> Context:
        """What answers a question, with what stands around it, as a text for a prompt (Standard 065).

        Args:
            query: What you want to know, in words.
            budget: Tokens that the text may cost, all of it counted; at least 16.
            filters: What an atom must be, also one that only stands beside a hit.
            as_of: Ask the memory as it was then.

        Raises:
            InvalidInputError: the budget is too small, or the query has nothing to search for.
        """
        from engine.query.context.inflate import checked_budget, hits_wanted
        from engine.query.context.neighbours import inflated
        from engine.query.recall.recall import recall  # the whole protocol: not for every program

        instance(filters, Filters, "filters")
        limit = hits_wanted(checked_budget(budget))
        if as_of is not None:
            with self.as_of(as_of) as past:
                return past.context(query, budget=budget, filters=filters)
        store = self.store
        with translated(), store.view(store.tags, store.index) as rows:
            found = recall(
                rows, store.index, self.places, query, limit=limit, filters=filters, config=self.config
            )
            return inflated(rows, store.index.view(rows), found, filters, budget)

    def duplicates(self, *, limit: int = 100, of: str | None = None) -> list[DuplicateGroup]:
        """Groups of live atoms that say almost the same, each with the one to keep; changes nothing.

        Args:
            limit: At most so many groups, in the order of the atoms to keep.
            of: Only the group of this atom.

        Raises:
            NotFoundError: `of` was never recorded.
        """
        store = self.store
        with translated(), store.view(store.tags, store.index) as rows:
            return duplicates(rows, store.index, limit=limit, of=of)

    def held_back(self, id: str) -> str | None:  # noqa: A002
        """Why a live atom answers no question: it was superseded, or repeats what was; None if it may.

        Raises:
            NotFoundError: it was never recorded.
        """
        from engine.query.filters import marked
        from engine.query.recall.retired import Retired

        store = self.store
        with translated(), store.view(store.tags, store.index) as rows:
            (record,) = records_of(rows, [resolve_id(rows, id)])
            found = marked(rows, NO_FILTERS)
            return Retired(rows, store.index.view(rows), found).why(record.ordinal) if found else None

    def bright_nodes(
        self, query: str, *, limit: int = 10, filters: Filters = NO_FILTERS, as_of: AsOf | None = None
    ) -> tuple[BrightNode, ...]:
        """The atoms that a question lights up, the brightest first (Standard 065: Bright Node Protocol).

        Args:
            query: What you want to know, in words.
            limit: At most so many: 1 to 50.
            filters: What an atom must be.
            as_of: Ask the memory as it was then.
        """
        return self.structured_graph(query, limit=limit, filters=filters, as_of=as_of).nodes

    def structured_graph(
        self, query: str, *, limit: int = 10, filters: Filters = NO_FILTERS, as_of: AsOf | None = None
    ) -> BrightGraph:
        """As `bright_nodes`, and what the lit atoms have to do with one another: at most 200 relations."""
        from engine.query.graph.bright import checked_limit, graph_of
        from engine.query.recall.recall import recall

        instance(filters, Filters, "filters")
        most = checked_limit(limit)
        if as_of is not None:
            with self.as_of(as_of) as past:
                return past.structured_graph(query, limit=limit, filters=filters)
        store = self.store
        with translated(), store.view(store.tags, store.index) as rows:
            answer = recall(
                rows, store.index, self.places, query, limit=most, filters=filters, config=self.config
            )
            return graph_of(rows, store.index.view(rows), answer)

    def explorer(self, *, form: Form | str = Form.TEXT, spent: int = 0) -> Explorer:
        """A way through this memory by small steps, each with what it costs: `engine.Explorer`."""
        from engine.query.explore.explorer import Explorer

        return Explorer(self, form=form, spent=spent)

    def explore(
        self,
        query: str,
        *,
        policy: Policy | None = None,
        budget: int = 2000,
        steps: int = 10,
        filters: Filters = NO_FILTERS,
        on_step: Callable[[Step], None] | None = None,
        as_of: AsOf | None = None,
    ) -> Exploration:
        """Look into the memory step by step, and gather what answers a question (Memory Exploration).

        Args:
            query: What you want to know, in words.
            policy: Who decides; None for one of ours, which needs no language model.
            budget: Tokens that all answers together may cost; at least 200.
            steps: At most so many: 1 to 10.
            filters: What an atom must be to be hinted at.
            on_step: Called with each step as soon as it is done.
            as_of: Explore the memory as it was then.

        Raises:
            InvalidInputError: a bound is out of range, or the query has nothing to search for.
        """
        from engine.query.explore.loop import explore

        if as_of is not None:
            with self.as_of(as_of) as past:
                return past.explore(
                    query, policy=policy, budget=budget, steps=steps, filters=filters, on_step=on_step
                )
        return explore(
            self, query, policy=policy, budget=budget, steps=steps, filters=filters, on_step=on_step
        )
