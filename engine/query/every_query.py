"""Every query whose answer can contain the content of atoms, so that an erasure can search the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
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

QUESTIONS_MAX: Final = 4
"""The maximum number of questions. Their words are taken from pieces with even distances."""


def every_query(
    view: View, atoms: Sequence[str], seqs: Sequence[int], pieces: Sequence[str]
) -> Mapping[str, Sequence[Callable[[], Any]]]:
    """Return all queries whose answers could contain the content of atoms: name → the calls of the query.

    Args:
        view: The store, and the caches of the queries.
        atoms: The ids of the atoms.
        seqs: The seqs of the atoms' events.
        pieces: Pieces of the contents. Queries that take words get words of the pieces.
    """
    step = max(1, -(-len(pieces) // min(len(atoms), QUESTIONS_MAX)))
    questions = [
        " ".join(" ".join(pieces[at:]).split()[:QUERY_WORDS]) for at in range(0, max(len(pieces), 1), step)
    ]
    explorer = Explorer(view)
    index = view.store.index

    def read(query: Callable[[Reader], Any]) -> Callable[[], Any]:
        def run() -> Any:
            with view.searchable() as rows:
                return query(rows)

        return run

    def each(values: Sequence[str], query: Callable[[Reader, str], Any]) -> list[Callable[[], Any]]:
        def about(value: str) -> Callable[[], Any]:
            return read(lambda rows: query(rows, value))

        return list(map(about, values))

    on_atoms, asked = partial(each, atoms), partial(each, questions)
    return {
        "get": on_atoms(get_atom),
        "find": [read(lambda rows: find(rows, limit=50, form=Form.FULL))],
        "history": on_atoms(history),
        "log": [read(lambda rows: [history_item(rows, read_entry(rows, seq)) for seq in seqs])],
        "tags": [read(tag_counts)],
        "edges": on_atoms(
            lambda rows, atom: get_edges(rows, atom, direction=Direction.BOTH, tombstoned=True)
        ),
        "duplicates": on_atoms(lambda rows, atom: duplicates(rows, index, of=atom)),
        "recall": asked(lambda rows, words: recall(rows, view, words, limit=10).hits),
        "recall within a budget": asked(lambda rows, words: recall(rows, view, words, budget=20_000).hits),
        "context": asked(lambda rows, words: context(rows, view, words, 20_000)),
        "bright": asked(lambda rows, words: structured_graph(rows, view, words, 10)),
        "across": asked(lambda rows, words: across(rows, view, words, 10)),
        "explore-recall": [partial(explorer.explore_recall, words) for words in questions],
        "explore-peek": [partial(explorer.explore_peek, atom) for atom in atoms],
        "explore-expand": [partial(explorer.explore_expand, atom) for atom in atoms],
        "explore-neighbors": [partial(explorer.explore_neighbors, atom) for atom in atoms],
    }
