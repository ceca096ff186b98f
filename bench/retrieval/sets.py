"""The sets of questions: read from folders, or made of the shared data.

Question: none of its own. Data: a folder with `corpus.jsonl` (what `engine ingest` reads: `id`, `text`,
    `title`, `source`, `seq`, `session`, …) and `queries.jsonl` (`query`, `relevant` = ids, `category`),
    or a folder of such folders, each of which is a memory of its own; the names in BUILT_IN.
Seed: that of the questions made of the garden (`bench.retrieval.garden`).
How: questions of category `adversarial` and those without relevant ids are left out: no ranking can
    be right or wrong about them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bench.data import SHARED
from engine.base.errors import InvalidInputError

CORPUS: Final = "corpus.jsonl"
QUERIES: Final = "queries.jsonl"
UNANSWERABLE: Final = "adversarial"

LOCOMO: Final = SHARED / "data" / "locomo-dev"
HOTPOTQA: Final = SHARED / "data" / "hotpotqa-sample"


@dataclass(frozen=True, slots=True)
class Document:
    """What may be found, as the rivals are given it."""

    name: str
    """Its id in the set."""
    title: str | None
    text: str

    @property
    def whole(self) -> str:
        """Title and text, for rivals that know no fields."""
        return self.text if self.title is None else f"{self.title}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the names of the documents that answer it, at least one."""

    text: str
    category: str
    relevant: frozenset[str]
    second: frozenset[str]
    """Relevance by the set's second judgement; `relevant` where it has none. Empty: left out of it."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One corpus with its questions; nothing is shared between two of a set."""

    name: str
    files: Path
    """What memroot is to ingest."""
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Memories whose questions are counted together."""

    name: str
    main: str
    """The measure by which the set is usually judged: a key of `bench.retrieval.measures.MEASURES`."""
    memories: tuple[Memory, ...]
    second: str = "audited relevance"
    """What the second judgement is."""

    @property
    def questions(self) -> int:
        """How many there are."""
        return sum(len(memory.questions) for memory in self.memories)

    @property
    def judged_twice(self) -> bool:
        """Whether the second judgement differs anywhere."""
        return any(asked.second != asked.relevant for memory in self.memories for asked in memory.questions)

    def thinned(self, limit: int) -> QuestionSet:
        """The set with at most `limit` of its questions, evenly spread; documents stay."""
        total = self.questions
        if total <= limit:
            return self
        chosen = {number * total // limit for number in range(limit)}
        kept, number = [], 0
        for memory in self.memories:
            asked = [asked for at, asked in enumerate(memory.questions, number) if at in chosen]
            number += len(memory.questions)
            if asked:
                kept.append(replace(memory, questions=tuple(asked)))
        return replace(self, memories=tuple(kept))


def read_set(folder: Path, name: str | None = None) -> QuestionSet:
    """The set in `folder`: one memory, or one for each of its folders that has the two files.

    Raises:
        InvalidInputError: the files are not there or not as they should be, or no question is left.
    """
    name = name or folder.resolve().name
    inner = sorted(folder.iterdir()) if folder.is_dir() else []
    folders = [one for one in (folder, *inner) if (one / CORPUS).is_file() and (one / QUERIES).is_file()]
    if not folders:
        raise InvalidInputError(
            f"{folder} is no set of questions: neither it nor a folder in it has {CORPUS} and {QUERIES}"
        )
    memories = tuple(
        read_memory(one, name if one == folder else f"{name}-{one.name}")
        for one in (folders[:1] if folders[0] == folder else folders)
    )
    found = QuestionSet(name, main_of(name), tuple(memory for memory in memories if memory.questions))
    if not found.questions:
        raise InvalidInputError(f"{folder} has no question with an answer")
    return found


def main_of(name: str) -> str:
    """HotpotQA, two passages to a question, is judged by the first five; all else by the first ten."""
    return "R@5" if "hotpotqa" in name else "R@10"


def read_memory(folder: Path, name: str) -> Memory:
    """The corpus and the questions in `folder`.

    Raises:
        InvalidInputError: a line is not as it should be, or an id is there twice.
    """
    documents = tuple(_document(line, where) for line, where in _lines(folder / CORPUS))
    if len({document.name for document in documents}) != len(documents):
        raise InvalidInputError(f"{folder / CORPUS} has an `id` twice: answers could not be told apart")
    read = (_question(line, where) for line, where in _lines(folder / QUERIES))
    asked = tuple(one for one in read if one is not None)
    unknown = frozenset[str]().union(*(one.relevant for one in asked)) - {one.name for one in documents}
    if unknown:
        print(
            f"{name}: {len(unknown)} relevant ids are not in the corpus: nobody finds them", file=sys.stderr
        )
    return Memory(name, folder / CORPUS, documents, asked)


def _document(line: dict[str, Any], where: str) -> Document:
    title = line.get("title")
    text = line["text"] if line.get("text") is not None else line.get("content")
    if not (isinstance(line.get("id"), str) and isinstance(text, str) and isinstance(title, str | None)):
        raise InvalidInputError(f"{where}: `id` and `text` must be texts, and `title` where there is one")
    return Document(line["id"], title, text)


def _question(line: dict[str, Any], where: str) -> Question | None:
    """The question; None where it has no answer."""
    category = line.get("category", "all")
    relevant = _names(line.get("relevant", []), where)
    second = _names(line.get("relevant_audited", line.get("relevant", [])), where)
    if not isinstance(line.get("query"), str) or not isinstance(category, str):
        raise InvalidInputError(f"{where}: `query` and `category` must be texts")
    if not relevant or category == UNANSWERABLE:
        return None
    return Question(line["query"], category, relevant, second)


def _names(value: Any, where: str) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidInputError(f"{where}: relevance must be a list of ids")
    return frozenset(value)


def _lines(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    with path.open(encoding="utf-8") as stream:
        for number, raw in enumerate(stream, 1):
            if not raw.strip():
                continue
            try:
                line = json.loads(raw)
            except ValueError as error:
                raise InvalidInputError(f"{path}, line {number}: not JSON: {error}") from None
            if not isinstance(line, dict):
                raise InvalidInputError(f"{path}, line {number}: not a JSON object")
            yield line, f"{path}, line {number}"


def _garden(work: Path, seed: int) -> QuestionSet | None:
    from bench.retrieval.garden import garden

    return garden(work, seed)


def _at_hand(folder: Path, name: str) -> QuestionSet | None:
    return read_set(folder, name) if folder.is_dir() else None


BUILT_IN: Final[dict[str, Callable[[Path, int], QuestionSet | None]]] = {
    "locomo": lambda _work, _seed: _at_hand(LOCOMO, "locomo"),
    "hotpotqa": lambda _work, _seed: _at_hand(HOTPOTQA, "hotpotqa"),
    "garden": _garden,
}
"""Name → the set, given a folder to work in and a seed; None where its data is not at hand."""


def sets_of(given: Sequence[str], work: Path, seed: int) -> Iterator[QuestionSet]:
    """The sets called `given`, names or folders; all built-in ones that are at hand where none is.

    Raises:
        InvalidInputError: one is neither a name nor a folder of questions, or its data is not at hand, or
            two memories have one name.
    """
    seen: set[str] = set()
    for name in given or BUILT_IN:
        found = BUILT_IN[name](work, seed) if name in BUILT_IN else read_set(Path(name))
        if found is None:
            if given:
                raise InvalidInputError(f"the data of {name} is not under {SHARED} (set MEMROOT_SHARED)")
            continue
        for memory in found.memories:
            if memory.name in seen:
                raise InvalidInputError(f"two memories are called {memory.name}: rename one of the folders")
            seen.add(memory.name)
        yield found
