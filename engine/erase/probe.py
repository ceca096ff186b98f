"""Looking for what is erased, before and after: in the store's files, and along every way of asking.

That it is found before shows that the looking works; only then does not finding it after mean anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final

from backends.base import Reader
from engine.base.errors import EngineError
from engine.base.model import Direction
from engine.erase.raw import search
from engine.followers.tags import tag_counts
from engine.ledger.journal import read_entry
from engine.ledger.queries import get_atom
from engine.query.context.neighbours import context
from engine.query.duplicates import duplicates
from engine.query.explore.explorer import Explorer
from engine.query.graph.bright import structured_graph
from engine.query.graph.find import Form, find, get_edges
from engine.query.recall.recall import recall
from engine.query.view import View
from engine.store.past import history, history_item

_ECHOED: Final = frozenset({"query", "terms", "question", "path", "reason"})
"""Fields of answers that repeat what was asked, or what whoever erased said."""

QUERY_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where pieces of the content were found."""

    files: tuple[str, ...]
    """Names of files of the store, its folder left out."""
    answers: tuple[str, ...]
    """Names of the ways of asking: get, recall, find, …"""


def look(asked: View, atom: str, seqs: Sequence[int], pieces: Sequence[str]) -> Sighting:
    """Look for `pieces` of the content of `atom`, whose events are `seqs`, everywhere."""
    files = asked.store.backend.files()
    found = search(files, [piece.encode() for piece in pieces])
    names = sorted({path.rpartition("/")[2] for path in found})
    answers = [name for name, ask in _ways(asked, atom, seqs, pieces).items() if _mentions(ask, pieces)]
    return Sighting(tuple(names), tuple(answers))


def _ways(
    asked: View, atom: str, seqs: Sequence[int], pieces: Sequence[str]
) -> Mapping[str, Callable[[], Any]]:
    """Every way of asking that could show the content, by its name."""
    words = " ".join(" ".join(pieces).split()[:QUERY_WORDS])
    explorer = Explorer(asked)
    index = asked.store.index

    def read(ask: Callable[[Reader], Any]) -> Callable[[], Any]:
        def asking() -> Any:
            with asked.searchable() as rows:
                return ask(rows)

        return asking

    return {
        "get": read(lambda rows: get_atom(rows, atom)),
        "find": read(lambda rows: find(rows, limit=50, form=Form.FULL)),
        "history": read(lambda rows: history(rows, atom)),
        "log": read(lambda rows: [history_item(rows, read_entry(rows, seq)) for seq in seqs]),
        "tags": read(tag_counts),
        "edges": read(lambda rows: get_edges(rows, atom, direction=Direction.BOTH, tombstoned=True)),
        "duplicates": read(lambda rows: duplicates(rows, index, of=atom)),
        "recall": read(lambda rows: recall(rows, asked, words, limit=10).hits),
        "recall within a budget": read(lambda rows: recall(rows, asked, words, budget=20_000).hits),
        "context": read(lambda rows: context(rows, asked, words, 20_000)),
        "bright": read(lambda rows: structured_graph(rows, asked, words, 10)),
        "explore-recall": lambda: explorer.explore_recall(words),
        "explore-peek": lambda: explorer.explore_peek(atom),
        "explore-expand": lambda: explorer.explore_expand(atom),
        "explore-neighbors": lambda: explorer.explore_neighbors(atom),
    }


def _mentions(ask: Callable[[], Any], pieces: Sequence[str]) -> bool:
    """Whether an answer has one of `pieces` in it; an error has none."""
    try:
        said = "\n".join(_texts(ask()))
    except EngineError as error:
        said = str(error)
    return any(piece in said for piece in pieces)


def _texts(value: Any) -> Iterator[str]:
    """All texts in an answer, but for what it repeats of the question."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            if one.name not in _ECHOED:
                yield from _texts(getattr(value, one.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _ECHOED:
                yield from _texts(key)
                yield from _texts(inner)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            yield from _texts(inner)
