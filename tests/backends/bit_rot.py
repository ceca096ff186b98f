"""What a SQLite store answers after one bit of its file has flipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from engine.base.errors import EngineError, NotFoundError
from engine.engine import Engine
from tests.support.engines import salt_of, ticking

WORDS = ["lamp", "kettle", "river", "stone", "paper", "window", "garden", "copper", "violin", "harbour"]
TAGS = ("amber", "birch", "clay")

Question = tuple[str, Callable[[Engine], Any]]
"""The name of a kind of read, and the read."""


def fill(path: Path, count: int, memory: str | None = None) -> list[str]:
    """Create a store of `count` linked texts with titles and tags; return the ids of the texts."""
    chosen = Random(5)
    ids: list[str] = []
    with Engine.open(f"sqlite:{path}", memory=memory, clock=ticking(), salts=salt_of) as engine:
        for number in range(count):
            words = " ".join(chosen.choices(WORDS, k=12))
            ids.append(
                engine.add(
                    f"Text {number} about {words}", title=f"Title {number}", tags=[TAGS[number % 3]]
                ).id
            )
            if number:
                engine.link(ids[-2], "references", ids[-1])
        engine.catch_up()
    return ids


def questions(ids: list[str]) -> Iterator[Question]:
    """Yield reads of every kind: whole atoms, titles, tags, searches, edges, histories."""
    yield "size", lambda engine: engine.size
    yield "tags", lambda engine: engine.tags()
    yield "titles", lambda engine: [(found.id, found.title) for found in engine.find()]
    for tag in TAGS:
        yield "find", lambda engine, tag=tag: engine.find(tags=[tag])  # type: ignore[misc]
    for word in WORDS[:3]:
        yield "recall", lambda engine, word=word: engine.recall(word, limit=5).hits  # type: ignore[misc]
    for atom in ids:
        yield "get", lambda engine, atom=atom: engine.get(atom)  # type: ignore[misc]
    for atom in ids[::4]:
        yield "edges", lambda engine, atom=atom: engine.edges(atom)  # type: ignore[misc]
        yield "history", lambda engine, atom=atom: engine.history(atom)  # type: ignore[misc]


def answered(engine: Engine, ask: Callable[[Engine], Any]) -> Any:
    """Return the answer; the class NotFoundError for "never recorded"; another error as the error."""
    try:
        return ask(engine)
    except NotFoundError:
        return NotFoundError
    except EngineError as error:
        return error


@dataclass
class Counts:
    """What was found: the wrong answers with the place of the bit, and how many flips had which outcome."""

    wrong: list[tuple[int, int, str]] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)


class Rot:
    """A store that is damaged one bit at a time.

    Args:
        path: A closed store.
        ids: The ids of its texts.
        memory: The name of the memory in the file.
    """

    def __init__(self, path: Path, ids: list[str], memory: str | None = None) -> None:
        self._whole = path.read_bytes()
        self._path = path.with_name("rotten")
        self._memory = memory
        self.bits = 8 * len(self._whole)
        self._questions = list(questions(ids))
        with Engine.open(f"sqlite:{path}", create=False, memory=memory) as engine:
            self._right = [ask(engine) for _, ask in self._questions]
        self.found = Counts()

    def flip(self, bit: int) -> None:
        """Ask all questions of a copy in which the bit number `bit` is flipped; count the answers."""
        data = bytearray(self._whole)
        data[bit // 8] ^= 1 << bit % 8
        for old in self._path.parent.glob(f"{self._path.name}*"):
            old.unlink()
        self._path.write_bytes(data)
        self.found.outcomes[self._outcome(bit)] += 1

    def _outcome(self, bit: int) -> str:
        try:
            engine = Engine.open(f"sqlite:{self._path}", create=False, memory=self._memory)
        except EngineError:
            return "not opened"
        outcome = "harmless"
        with engine:
            for (name, ask), right in zip(self._questions, self._right, strict=True):
                found = answered(engine, ask)
                if isinstance(found, EngineError):
                    outcome = "reported"
                elif found != right:
                    self.found.wrong.append((bit // 8, bit % 8, name))
                    return "wrong"
        return outcome
