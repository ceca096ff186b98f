"""A LangChain retriever that answers from a memory (docs/frameworks.md)."""

from __future__ import annotations

from typing import Any

from engine.base.errors import system_failure
from engine.engine import Engine
from engine.frameworks.framework_atoms import Answered, answered
from engine.frameworks.framework_calls import in_thread
from engine.query.filters import NO_FILTERS, Filters

try:
    from langchain_core.callbacks.manager import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import InstanceOf
except ImportError as error:
    raise system_failure(error) from error


class MemrootRetriever(BaseRetriever):
    """A retriever whose documents are the atoms that recall returns, the best first.

    The text of an atom is the `page_content`, and the id of the atom is the `id`. The `metadata` contains the
    other fields of the atom, such as `source` and `provenance`. A question without a searchable word returns
    no documents.
    """

    memory: Engine
    """The open memory; the caller closes it."""
    k: int = 10
    """The maximum number of documents, 1 to 10,000."""
    filters: InstanceOf[Filters] = NO_FILTERS
    """The conditions that an atom must meet."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        hits = answered(self.memory, query, self.k if k is None else k, self.filters)
        return [_document(one) for one in hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        most = self.k if k is None else k
        hits = await in_thread(lambda: answered(self.memory, query, most, self.filters))
        return [_document(one) for one in hits]


def _document(one: Answered) -> Any:
    return Document(id=one.id, page_content=one.content, metadata=one.metadata)
