"""Every query whose answer can contain the content of an atom, so that an erasure can search the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from backends.base import Reader
from engine.base.model import Direction
from engine.followers.tags import tag_counts
from engine.index.copies.duplicates import duplicates
from engine.ledger.journal import read_entry
from engine.ledger.queries import get_atom
from engine.query.context.neighbours import context
from engine.query.explore.explorer import Explorer
from engine.query.graph.across import across
from engine.query.graph.bright import structured_graph
from engine.query.graph.find import Form, find, get_edges
from engine.query.recall.recall import recall
from engine.query.view import View
from engine.store.past import history, history_item

QUERY_WORDS: Final = 6
"""The maximum number of words in a query. The words are taken from the pieces."""


def every_query(
    view: View, atom: str, seqs: Sequence[int], pieces: Sequence[str]
) -> Mapping[str, Callable[[], Any]]:
    """Return all queries whose answers could contain the content of an atom, as a mapping from name to query.

    Args:
        view: The store, and the caches of the queries.
        atom: The id of the atom.
        seqs: The seqs of the atom's events.
        pieces: Pieces of the content. Queries that take words get the first words of the pieces.
    """
    words = " ".join(" ".join(pieces).split()[:QUERY_WORDS])
    explorer = Explorer(view)
    index = view.store.index

    def read(query: Callable[[Reader], Any]) -> Callable[[], Any]:
        def run() -> Any:
            with view.searchable() as rows:
                return query(rows)

        return run

    return {
        "get": read(lambda rows: get_atom(rows, atom)),
        "find": read(lambda rows: find(rows, limit=50, form=Form.FULL)),
        "history": read(lambda rows: history(rows, atom)),
        "log": read(lambda rows: [history_item(rows, read_entry(rows, seq)) for seq in seqs]),
        "tags": read(tag_counts),
        "edges": read(lambda rows: get_edges(rows, atom, direction=Direction.BOTH, tombstoned=True)),
        "duplicates": read(lambda rows: duplicates(rows, index, of=atom)),
        "recall": read(lambda rows: recall(rows, view, words, limit=10).hits),
        "recall within a budget": read(lambda rows: recall(rows, view, words, budget=20_000).hits),
        "context": read(lambda rows: context(rows, view, words, 20_000)),
        "bright": read(lambda rows: structured_graph(rows, view, words, 10)),
        "across": read(lambda rows: across(rows, view, words, 10)),
        "explore-recall": lambda: explorer.explore_recall(words),
        "explore-peek": lambda: explorer.explore_peek(atom),
        "explore-expand": lambda: explorer.explore_expand(atom),
        "explore-neighbors": lambda: explorer.explore_neighbors(atom),
    }
