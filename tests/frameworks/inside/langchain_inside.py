"""`MemrootRetriever` under LangChain's own standard tests. Run by `tests/frameworks/test_environments.py`."""

import asyncio
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from engine import Engine, Filters, InvalidInputError
from engine.frameworks import framework_atoms, langchain
from engine.frameworks.langchain import MemrootRetriever

TEXTS = [
    f"The kettle number {number} is descaled on Mondays by {name}." for number, name in enumerate("ABCDE")
]


def filled() -> Engine:
    """Return a memory with five similar texts."""
    memory = Engine.open("memory:")
    for number, text in enumerate(TEXTS):
        memory.add(text, source=f"house/{number}", tags=["kettle"])
    memory.add("Bob plays chess.", source="games", provenance="external", title="Chess", meta={"level": 3})
    return memory


class TestStandard(RetrieversIntegrationTests):
    """LangChain's tests for retrievers."""

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        """The class under test."""
        return MemrootRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        """Its arguments."""
        return {"memory": filled()}

    @property
    def retriever_query_example(self) -> str:
        """A question with several answers."""
        return "kettle"


def test_a_document_has_the_text_the_id_and_the_facts_of_its_atom() -> None:
    """The provenance and the source are among the metadata, and times are in ISO 8601."""
    memory = filled()
    (found,) = MemrootRetriever(memory=memory).invoke("Who plays chess?")
    atom = memory.get(found.id)
    assert type(found) is Document
    assert found.page_content == "Bob plays chess."
    assert found.metadata["id"] == found.id
    assert (found.metadata["source"], found.metadata["provenance"]) == ("games", "external")
    assert (found.metadata["title"], found.metadata["meta"]) == ("Chess", {"level": 3})
    assert datetime.fromisoformat(found.metadata["created"]).astimezone(UTC).year == datetime.now(UTC).year
    assert atom.content == found.page_content


def test_a_filter_limits_the_documents() -> None:
    """Only atoms that pass `filters` are returned."""
    found = MemrootRetriever(memory=filled(), filters=Filters(sources=("house/3",))).invoke("kettle")
    assert [one.page_content for one in found] == [TEXTS[3]]


def test_a_filter_on_meta_limits_the_documents() -> None:
    """Filters of any kind are passed on as they are."""
    filters = Filters(meta={"level": (2, 3)})
    retriever = MemrootRetriever(memory=filled(), filters=filters)
    assert retriever.filters is filters
    assert [one.page_content for one in retriever.invoke("chess and the kettle")] == ["Bob plays chess."]


def test_a_filter_of_another_kind_is_refused() -> None:
    """A map is not a filter: LangChain reports it when the retriever is made."""
    with pytest.raises(ValueError, match="filters"):
        MemrootRetriever(memory=filled(), filters={"tags": ["kettle"]})


def test_a_question_without_words_has_no_documents() -> None:
    """Punctuation and blanks find nothing, and are no error."""
    retriever = MemrootRetriever(memory=filled())
    assert [retriever.invoke(query) for query in ("?!", "", "  ")] == [[], [], []]


def test_a_wrong_number_of_documents_is_refused() -> None:
    """`k` is at least 1."""
    with pytest.raises(InvalidInputError, match="limit"):
        MemrootRetriever(memory=filled(), k=0).invoke("kettle")


async def test_ainvoke_takes_the_number_of_documents_and_runs_in_another_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`ainvoke(query, k=2)` returns two documents, and the event loop does not wait for the memory."""
    threads = []
    answered = framework_atoms.answered

    def seen(*arguments: Any) -> Any:
        threads.append(threading.current_thread())
        return answered(*arguments)

    monkeypatch.setattr(langchain, "answered", seen)
    found = await MemrootRetriever(memory=filled()).ainvoke("kettle", k=2)
    assert len(found) == 2
    assert threads != [threading.current_thread()]


def test_batch_answers_several_questions() -> None:
    """The retriever is a runnable: `batch` and `abatch` give a list of documents for each question."""
    retriever = MemrootRetriever(memory=filled(), k=1)
    for answers in (retriever.batch(["kettle", "chess"]), asyncio.run(retriever.abatch(["kettle", "chess"]))):
        assert [len(one) for one in answers] == [1, 1]
        assert answers[1][0].page_content == "Bob plays chess."
