"""The rivals: SQLite FTS5 and bm25s in their usual set-up.

Question: what does a full-text index without signals, proofs or history find for the same questions in the
    same texts? Data: title and text of the same documents. Seed: none.
How: FTS5 with its Porter stemmer, title and text as columns, and BM25 with its own constants (k1 1.2, b 0.75)
    over the question's words joined by OR: once with all words, once without memroot's stop words. bm25s
    (arXiv:2407.03618) over title and text as one field: once with Lucene's constants (k1 1.2, b 0.75), its
    English stop words and PyStemmer's English stemmer; once with its defaults (k1 1.5, b 0.75, its English
    stop words, no stemmer).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, NamedTuple

from bench.data import Text
from bench.retrieval.sets import Memory
from bench.rivals import Fts
from engine import Engine
from engine.text.analyzer import STOP_WORDS

Ask = Callable[[str, int], list[str]]
"""A function that takes a question and a limit and returns the names of documents, the best first."""


class LoadedMemory(NamedTuple):
    """A memory of a set, loaded into memroot."""

    memory: Memory
    engine: Engine
    """An open store into which the memory's files were ingested."""
    work: Path
    """A folder in which systems may create folders."""


System = Callable[[LoadedMemory], AbstractContextManager[Ask]]
"""A system to measure: it indexes the documents, and answers questions until it is closed."""

_WORD: Final = re.compile(r"\w+")


def without_stop_words(question: str) -> str:
    """Return the question's words without memroot's stop words, or all words if none would be left."""
    words = _WORD.findall(question)
    return " ".join([word for word in words if word.casefold() not in STOP_WORDS] or words)


def fts(prepare: Callable[[str], str]) -> System:
    """Return FTS5 as a system; `prepare` is applied to each question."""

    @contextmanager
    def load(loaded: LoadedMemory) -> Iterator[Ask]:
        documents = loaded.memory.documents
        with Fts(Path(mkdtemp(dir=loaded.work)) / "fts.db") as store:
            # The name of a text is stored as its source, so it is looked up after ranking, as in memroot.
            texts = (Text(one.text, (), one.name, at) for at, one in enumerate(documents))
            store.add(texts, [one.title for one in documents])

            def ask(question: str, limit: int) -> list[str]:
                words = prepare(question)
                if not _WORD.search(words):
                    return []
                return [hit.source for hit in store.recall(words, limit)]

            yield ask

    return load


def bm25s(options: Mapping[str, Any], *, stem: bool) -> System:
    """Return the package bm25s as a system, with these `options` for its BM25."""

    @contextmanager
    def load(loaded: LoadedMemory) -> Iterator[Ask]:
        import bm25s as package
        import Stemmer

        names = [one.name for one in loaded.memory.documents]
        stemmer = Stemmer.Stemmer("english") if stem else None
        texts = [one.whole for one in loaded.memory.documents]
        index = package.BM25(**options)
        index.index(package.tokenize(texts, stemmer=stemmer, show_progress=False), show_progress=False)

        def ask(question: str, limit: int) -> list[str]:
            words = package.tokenize([question], stemmer=stemmer, show_progress=False)
            found, scores = index.retrieve(words, k=min(limit, len(names)), show_progress=False)
            # The results are padded with documents that contain none of the words.
            return [names[at] for at, score in zip(found[0], scores[0], strict=True) if score > 0]

        yield ask

    return load


FTS: Final = "FTS5, no stop words"
BM25S: Final = "bm25s, Lucene, stemmed"

LEXICAL: Final[dict[str, System]] = {
    "FTS5, all words": fts(lambda question: question),
    FTS: fts(without_stop_words),
    BM25S: bm25s({"method": "lucene", "k1": 1.2, "b": 0.75}, stem=True),
    "bm25s as it comes": bm25s({}, stem=False),
}
"""Name → rival."""


def lexical() -> tuple[dict[str, System], list[str]]:
    """Return the available rivals, and a message for each reason why others are not available."""
    if find_spec("bm25s") is not None:
        return LEXICAL, []
    return (
        {name: system for name, system in LEXICAL.items() if not name.startswith("bm25s")},
        ["bm25s is not installed and was left out (pip install 'bm25s>=0.2')"],
    )
