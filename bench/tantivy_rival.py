"""A rival that only searches: tantivy, the full-text library in Rust, through its own Python package.

Question: what does full-text search cost in compiled code, without a memory around it?
Data, seed: the same texts as for memroot. How: the English stemmer, all fields stored, the default heap and
number of threads, and one commit at the end. This is the fastest way to use tantivy, but a crash before the
commit loses everything. Bulk adds end when the merging threads have ended. Ranking is tantivy's own BM25 over
the question's words joined by OR.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import tantivy

from bench.data import Text


class Tantivy:
    """A tantivy index in a folder, to be used as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open the index in the folder `path`, and create it if it does not exist."""
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
            document = tantivy.Document(
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
