"""Read sets of questions from folders.

Question: none of its own. Data: a folder with `corpus.jsonl` (the format of `engine ingest`: `id`, `text`,
    `title`, `source`, `seq`, `session`, …) and `queries.jsonl` (`query`, `relevant` = ids, `category`), or a
    folder that contains several of these folders, one for each memory; or the name of a
    built-in set (`bench.question_sets`).
Seed: the seed of the questions that are generated from the garden (`bench.retrieval.garden`).
How: questions of the category `adversarial` and questions without relevant ids are left out, because no
    ranking can be right or wrong for them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from engine.base.errors import InvalidInputError

CORPUS: Final = "corpus.jsonl"
QUERIES: Final = "queries.jsonl"
UNANSWERABLE: Final = "adversarial"

MAIN: Final[Mapping[str, str]] = dict.fromkeys(
    ("cacm", "npl", "assistant-chats", "cisi", "adi", "time"), "nDCG@10"
)
"""Name of a set → its main measure, for sets of abstracts and of chats with assistants."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document to be found, as it is given to the rivals."""

    name: str
    """The id of the document in the set."""
    title: str | None
    text: str

    @property
    def whole(self) -> str:
        """Title and text as one string, for rivals without fields."""
        return self.text if self.title is None else f"{self.title}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the names of the documents that answer it, at least one."""

    text: str
    category: str
    relevant: frozenset[str]
    second: frozenset[str]
    """The relevant names by the second judgement of the set, or `relevant` if the set has only one judgement.
    Empty if the second judgement does not decide the question.
    """


@dataclass(frozen=True, slots=True)
class Memory:
    """A corpus with the questions about it. The memories of a set share no data."""

    name: str
    files: Path
    """The files for memroot to ingest."""
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set of memories whose questions are evaluated together."""

    name: str
    main: str
    """The main measure of the set: a key of `bench.retrieval.measures.MEASURES`."""
    memories: tuple[Memory, ...]
    second: str = "audited relevance"
    """The name of the second judgement."""

    @property
    def questions(self) -> int:
        """The number of questions."""
        return sum(len(memory.questions) for memory in self.memories)

    @property
    def judged_twice(self) -> bool:
        """True if the second judgement differs from the first for any question."""
        questions = (question for memory in self.memories for question in memory.questions)
        return any(question.second != question.relevant for question in questions)

    def thinned(self, limit: int) -> QuestionSet:
        """Return the set with all documents and at most `limit` of its questions, evenly spread."""
        total = self.questions
        if total <= limit:
            return self
        chosen = {number * total // limit for number in range(limit)}
        memories, number = [], 0
        for memory in self.memories:
            questions = [question for at, question in enumerate(memory.questions, number) if at in chosen]
            number += len(memory.questions)
            if questions:
                memories.append(replace(memory, questions=tuple(questions)))
        return replace(self, memories=tuple(memories))


def read_set(folder: Path, name: str | None = None) -> QuestionSet:
    """Return the set in `folder`: one memory, or one for each subfolder that has the two files.

    Raises:
        InvalidInputError: the files are missing or malformed, or no question is left.
    """
    name = name or folder.resolve().name
    inner = sorted(folder.iterdir()) if folder.is_dir() else []
    folders = [one for one in (folder, *inner) if (one / CORPUS).is_file() and (one / QUERIES).is_file()]
    if not folders:
        raise InvalidInputError(
            f"{folder} is not a set of questions: {CORPUS} and {QUERIES} are missing in it and its subfolders"
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
    """Return the main measure of a set: R@5 for HotpotQA, nDCG@10 for those in `MAIN`, R@10 for all others.

    A question of CACM or NPL often has more than ten relevant documents, so R@10 would often be below 1 for
    a perfect answer.
    """
    return MAIN.get(name, "R@5" if "hotpotqa" in name else "R@10")


def read_memory(folder: Path, name: str) -> Memory:
    """Return the corpus and the questions in `folder`.

    Raises:
        InvalidInputError: a line is malformed, or an id occurs twice.
    """
    documents = tuple(_document(line, where) for line, where in _lines(folder / CORPUS))
    if len({document.name for document in documents}) != len(documents):
        raise InvalidInputError(f"{folder / CORPUS} has an `id` twice, so answers would be ambiguous")
    read = (_question(line, where) for line, where in _lines(folder / QUERIES))
    questions = tuple(question for question in read if question is not None)
    relevant = frozenset[str]().union(*(question.relevant for question in questions))
    unknown = relevant - {document.name for document in documents}
    if unknown:
        print(
            f"{name}: {len(unknown)} relevant ids are not in the corpus and count as not found",
            file=sys.stderr,
        )
    return Memory(name, folder / CORPUS, documents, questions)


def _document(line: dict[str, Any], where: str) -> Document:
    title = line.get("title")
    text = line["text"] if line.get("text") is not None else line.get("content", title)
    if not (isinstance(line.get("id"), str) and isinstance(text, str) and isinstance(title, str | None)):
        raise InvalidInputError(f"{where}: `id` and `text` must be strings, and `title` if it is given")
    return Document(line["id"], title, text)


def _question(line: dict[str, Any], where: str) -> Question | None:
    """Return the question, or None if it has no answer."""
    category = line.get("category", "all")
    relevant = _names(line.get("relevant", []), where)
    second = _names(line.get("relevant_audited", line.get("relevant", [])), where)
    if not isinstance(line.get("query"), str) or not isinstance(category, str):
        raise InvalidInputError(f"{where}: `query` and `category` must be strings")
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
