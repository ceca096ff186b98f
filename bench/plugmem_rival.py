"""A rival of the same kind as memroot: plugmem, an embedded memory for agents.

plugmem is written in Rust, and is used through its own Python package.

Question: what is the cost of a memory that is compiled throughout and proves nothing?
Data, seed: the same texts as for memroot; batches of the same 1,000 texts. How: without an embedder and with
the default settings; one synced journal write for each batch (fdatasync, seen with strace), so each batch
survives a loss of power, as in memroot. Tags are given as tags; source and position as metadata. No text
names an entity, since plugmem compares a new text with the other texts of its entity. The block of texts that
a recall returns is large enough for ten texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import plugmem

from bench.data import Text

_ENOUGH_TOKENS = 100_000


class Plugmem:
    """A plugmem database in a separate folder, to be used as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open the database in the folder `path`, and create it if it does not exist."""
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
