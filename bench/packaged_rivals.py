"""Two rivals that are compiled packages: plugmem, a memory for agents, and tantivy, which only searches.

Both are written in Rust, and are used through their own Python packages, which are imported when they are
measured.

Question: what is the cost of a memory that is compiled throughout and proves nothing? And what does full-text
search cost in compiled code, without a memory around it?
Data, seed: the same texts as for memroot; for plugmem in batches of the same 1,000 texts.
How, plugmem: without an embedder and with the default settings; one synced journal write for each batch
(fdatasync, seen with strace), so each batch survives a loss of power, as in memroot. Tags are given as tags;
source and position as metadata. No text names an entity, since plugmem compares a new text with the other
texts of its entity. The block of texts that a recall returns is large enough for ten texts.
How, tantivy: the English stemmer, all fields stored, the default heap and number of threads, and one commit
at the end. This is the fastest way to use tantivy, but a crash before the commit loses everything. Bulk adds
end when the merging threads have ended. Ranking is tantivy's own BM25 over the question's words joined by OR.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from bench.data import Text

_ENOUGH_TOKENS = 100_000


class Plugmem:
    """A plugmem database in a separate folder, to be used as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open the database in the folder `path`, and create it if it does not exist."""
        import plugmem

        path.mkdir(exist_ok=True)
        settings = path / "config.toml"
        settings.touch()  # otherwise the user's own settings would be read
        self._db = plugmem.Plugmem.open(str(path / "memory.plugmem"), config=str(settings))

    def add(self, batch: Sequence[Text]) -> None:
        """Add texts in one durable write."""
        self._db.remember_many([_fact(text) for text in batch])

    def finish(self) -> None:
        """Do nothing: every batch is durable, and can be found, as soon as it is added."""

    def recall(self, question: str, limit: int = 10) -> str:
        """Return the best texts as one block."""
        return str(self._db.recall(question, k=limit, token_budget=_ENOUGH_TOKENS).rendered)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()


def _fact(text: Text) -> dict[str, Any]:
    metadata = {"source": text.source, "sequence": str(text.sequence)}
    return {"text": text.content, "tags": list(text.tags), "metadata": metadata}


class Tantivy:
    """A tantivy index in a folder, to be used as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open the index in the folder `path`, and create it if it does not exist."""
        import tantivy

        self._document = tantivy.Document
        if path.exists():
            self._index = tantivy.Index.open(str(path))
        else:
            path.mkdir()
            fields = tantivy.SchemaBuilder()
            fields.add_text_field("content", stored=True, tokenizer_name="en_stem")
            fields.add_text_field("tags", stored=True, tokenizer_name="raw")
            fields.add_text_field("source", stored=True, tokenizer_name="raw")
            fields.add_integer_field("sequence", stored=True)
            self._index = tantivy.Index(fields.build(), str(path))
        self._writer: Any = None

    def add(self, batch: Sequence[Text]) -> None:
        """Add texts. They are durable, and can be found, after `finish`."""
        if self._writer is None:
            self._writer = self._index.writer()
        for text in batch:
            document = self._document(
                content=text.content, tags=list(text.tags), source=text.source, sequence=text.sequence
            )
            self._writer.add_document(document)

    def finish(self) -> None:
        """Commit what was added, and wait until the segments are merged."""
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._writer = None

    def recall(self, question: str, limit: int = 10) -> list[str]:
        """Return the best texts that contain any of the question's words."""
        searcher = self._index.searcher()
        found = searcher.search(self._index.parse_query(question, ["content"]), limit, count=False)
        return [searcher.doc(address)["content"][0] for _, address in found.hits]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass
