"""Looking for what is erased, before and after: in the store's files, and along every way of asking.

That it is found before shows that the looking works; only then does not finding it after mean anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from engine.base.errors import EngineError
from engine.erase.raw import search

if TYPE_CHECKING:
    from engine.engine import Engine

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


def look(engine: Engine, atom: str, seqs: Sequence[int], pieces: Sequence[str]) -> Sighting:
    """Look for `pieces` of the content of `atom`, whose events are `seqs`, everywhere."""
    files = engine.store.backend.files()
    found = search(files, [piece.encode() for piece in pieces])
    names = sorted({path.rpartition("/")[2] for path in found})
    answers = [name for name, ask in _ways(engine, atom, seqs, pieces).items() if _mentions(ask, pieces)]
    return Sighting(tuple(names), tuple(answers))


def _ways(
    engine: Engine, atom: str, seqs: Sequence[int], pieces: Sequence[str]
) -> Mapping[str, Callable[[], Any]]:
    """Every way of asking that could show the content, by its name."""
    words = " ".join(" ".join(pieces).split()[:QUERY_WORDS])
    explorer = engine.explorer()
    return {
        "get": lambda: engine.get(atom),
        "find": lambda: engine.find(limit=50, form="full"),
        "history": lambda: engine.history(atom),
        "log": lambda: [list(engine.log(seq, seq + 1)) for seq in seqs],
        "tags": engine.tags,
        "edges": lambda: engine.edges(atom, direction="both", tombstoned=True),
        "duplicates": lambda: engine.duplicates(of=atom),
        "recall": lambda: engine.recall(words, limit=10).hits,
        "recall within a budget": lambda: engine.recall(words, budget=20_000).hits,
        "context": lambda: engine.context(words, budget=20_000),
        "bright": lambda: engine.structured_graph(words),
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
