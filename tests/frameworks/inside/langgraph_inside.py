"""`MemrootStore` as LangGraph uses a store. Run by `tests/frameworks/test_environments.py`."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore
from langgraph.store.memory import InMemoryStore

from engine import Engine, InvalidInputError
from engine.frameworks.langgraph import MemrootStore


@pytest.fixture
def memory() -> Iterator[Engine]:
    """An open memory."""
    with Engine.open("memory:") as memory:
        yield memory


@pytest.fixture
def store(memory: Engine) -> MemrootStore:
    """A store in the memory."""
    return MemrootStore(memory)


def test_an_item_comes_back_with_its_namespace_key_value_and_times(store: MemrootStore) -> None:
    """`get` returns the item that was put, created at this moment, in UTC."""
    store.put(("users", "ada"), "food", {"memory": "Ada likes pizza", "votes": 3})
    item = store.get(("users", "ada"), "food")
    assert type(item) is Item
    assert (item.namespace, item.key) == (("users", "ada"), "food")
    assert item.value == {"memory": "Ada likes pizza", "votes": 3}
    assert item.created_at == item.updated_at
    assert timedelta(0) <= datetime.now(UTC) - item.created_at < timedelta(minutes=5)


def test_an_unknown_item_is_none(store: MemrootStore) -> None:
    """`get` returns None for an item that was never put."""
    assert store.get(("users",), "food") is None


def test_putting_again_replaces_the_value_and_keeps_the_time_of_creation(store: MemrootStore) -> None:
    """The second value replaces the first as a whole; only `updated_at` changes."""
    store.put(("a",), "k", {"text": "one", "old": True})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"text": "two"})
    second = store.get(("a",), "k")
    assert first is not None
    assert second is not None
    assert second.value == {"text": "two"}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_a_deleted_item_is_gone_until_it_is_put_again(store: MemrootStore) -> None:
    """After `delete`, neither `get` nor `search` nor `list_namespaces` shows the item."""
    store.put(("a",), "k", {"text": "one"})
    store.delete(("a",), "k")
    store.delete(("a",), "never there")
    assert (store.get(("a",), "k"), store.search(("a",)), store.list_namespaces()) == (None, [], [])
    store.put(("a",), "k", {"text": "one"})
    assert [item.value for item in store.search(("a",))] == [{"text": "one"}]


def test_search_without_a_query_gives_the_items_below_a_prefix(store: MemrootStore) -> None:
    """A prefix stands for whole labels: `("users",)` does not find `("users2",)`."""
    store.put(("users", "ada"), "k", {"n": 1})
    store.put(("users",), "k", {"n": 2})
    store.put(("users2",), "k", {"n": 3})
    found = store.search(("users",))
    assert [item.value["n"] for item in found] == [2, 1]
    assert all(type(item) is SearchItem and item.score is None for item in found)
    assert len(store.search(())) == 3


def test_search_returns_one_page(store: MemrootStore) -> None:
    """`limit` and `offset` choose a page; without them, a page has 10 items."""
    for number in range(25):
        store.put(("n",), str(number), {"n": number})
    pages = [[item.value["n"] for item in store.search(("n",), offset=at)] for at in (0, 10, 20, 30)]
    assert pages == [list(range(24, 14, -1)), list(range(14, 4, -1)), list(range(4, -1, -1)), []]
    assert [item.value["n"] for item in store.search(("n",), limit=2, offset=1)] == [23, 22]


def test_a_query_finds_the_items_that_answer_it_best_first(store: MemrootStore) -> None:
    """Only items that recall finds are returned, with falling scores."""
    store.put(("m",), "1", {"text": "The kettle is descaled on Mondays."})
    store.put(("m",), "2", {"text": "The kettle is in the kitchen."})
    store.put(("m",), "3", {"text": "Bob plays chess."})
    found = store.search(("m",), query="When is the kettle descaled?")
    assert [item.key for item in found] == ["1", "2"]
    assert found[0].score > found[1].score > 0


def test_equal_values_in_two_namespaces_are_both_found(store: MemrootStore) -> None:
    """An item that is a near-duplicate of another one is found, too."""
    text = "The user prefers short answers without tables or long lists of links."
    store.put(("users", "ada"), "style", {"text": text})
    store.put(("users", "bob"), "style", {"text": text})
    found = store.search(("users",), query="short answers")
    assert {item.namespace for item in found} == {("users", "ada"), ("users", "bob")}


def test_a_query_with_a_filter_looks_beyond_the_first_hits(store: MemrootStore) -> None:
    """The filter is applied to all hits, not only to the best of them."""
    for number in range(40):
        store.put(("m",), str(number), {"text": f"kettle number {number}", "odd": number == 37})
    found = store.search(("m",), query="kettle", filter={"odd": True}, limit=1)
    assert [item.key for item in found] == ["37"]


def test_an_item_put_without_an_index_is_found_by_no_query(store: MemrootStore) -> None:
    """`index=False` hides an item from queries, but not from `get` and plain `search`."""
    store.put(("m",), "k", {"text": "a kettle"}, index=False)
    assert store.search(("m",), query="kettle") == []
    assert len(store.search(("m",))) == 1
    store.put(("m",), "k", {"text": "a kettle"})
    assert len(store.search(("m",), query="kettle")) == 1


FILTERS: list[dict[str, Any]] = [
    {"status": "open"},
    {"status": "open", "votes": 3},
    {"votes": {"$eq": 3}},
    {"votes": {"$ne": 3}},
    {"votes": {"$gt": 3}},
    {"votes": {"$gte": 3}},
    {"votes": {"$lt": 3}},
    {"votes": {"$lte": 3}},
    {"votes": {"$gt": 1, "$lt": 5}},
    {"owner": {"name": "ada"}},
    {"owner": {"age": {"$gte": 40}}},
    {"labels": ["a", "b"]},
    {"labels": ["a", {"$ne": "b"}]},
    {"none": None},
    {"missing": None},
    {},
]


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_a_filter_chooses_the_items_that_langgraph_s_own_store_chooses(
    store: MemrootStore, wanted: dict[str, Any]
) -> None:
    """Filters by value and by operators match as in `InMemoryStore`."""
    values = [
        {
            "status": "open",
            "votes": 3,
            "owner": {"name": "ada", "age": 40},
            "labels": ["a", "b"],
            "none": None,
        },
        {"status": "open", "votes": 1, "owner": {"name": "bob", "age": 39}, "labels": ["a", "c"]},
        {"status": "done", "votes": 4.5, "owner": {"name": "ada", "age": 41}, "labels": [], "none": 0},
    ]
    theirs = InMemoryStore()
    for number, value in enumerate(values):
        for one in (store, theirs):
            one.put(("f",), str(number), value)
    assert sorted(item.key for item in store.search(("f",), filter=wanted)) == sorted(
        item.key for item in theirs.search(("f",), filter=wanted)
    )


def test_an_unknown_operator_is_refused(store: MemrootStore) -> None:
    """The error names the operator, even if there is no item to compare."""
    with pytest.raises(InvalidInputError, match=r"\$near"):
        store.search(("f",), filter={"votes": {"$near": 3}})


NAMESPACES = [
    ("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("a", "c", "f"),
    ("b", "a", "f"), ("users", "123"), ("users", "456", "settings"), ("admin", "users", "789"),
]  # fmt: skip


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"prefix": ("a", "b")},
        {"prefix": ("a", "b"), "max_depth": 3},
        {"suffix": ("f",)},
        {"prefix": ("a",), "suffix": ("f",)},
        {"prefix": ("a", "*", "f")},
        {"prefix": ("*", "a")},
        {"suffix": ("*", "f")},
        {"suffix": ("users", "*")},
        {"prefix": ("users",), "max_depth": 1},
        {"max_depth": 2, "limit": 3, "offset": 1},
        {"prefix": ("nobody",)},
        {"prefix": ("a", "b", "c", "d", "e")},
    ],
    ids=str,
)
def test_namespaces_are_listed_as_by_langgraph_s_own_store(
    store: MemrootStore, choice: dict[str, Any]
) -> None:
    """Prefix, suffix, wildcards, depth and page give the same list as in `InMemoryStore`."""
    theirs = InMemoryStore()
    for namespace in NAMESPACES:
        for one in (store, theirs):
            one.put(namespace, "k", {"n": 1})
    assert store.list_namespaces(**choice) == theirs.list_namespaces(**choice)


def test_a_batch_answers_in_order_and_reads_before_it_writes(store: MemrootStore) -> None:
    """Each result is at the place of its operation; the last of several puts of an item counts."""
    store.put(("a",), "k", {"n": 1})
    results = store.batch(
        [
            PutOp(("a",), "k", {"n": 2}),
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 3}),
            SearchOp(("a",)),
            ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("a",)),)),
            GetOp(("a",), "none"),
        ]
    )
    assert results[0] is None
    assert results[1].value == {"n": 1}
    assert [item.value for item in results[3]] == [{"n": 1}]
    assert results[4:] == [[("a",)], None]
    assert store.get(("a",), "k").value == {"n": 3}


def test_a_batch_is_written_whole_or_not_at_all(store: MemrootStore) -> None:
    """If one value is not JSON, no item of the batch is stored."""
    with pytest.raises(InvalidInputError, match="not JSON"):
        store.batch([PutOp(("a",), "good", {"n": 1}), PutOp(("a",), "bad", {"n": object()})])
    assert store.search(()) == []


def test_a_time_to_live_is_refused(store: MemrootStore) -> None:
    """The store says that it has no time to live, and refuses one instead of ignoring it."""
    assert store.supports_ttl is False
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(("a",), "k", {"n": 1}, ttl=5)
    with pytest.raises(NotImplementedError, match="TTL"):
        store.batch([PutOp(("a",), "k", {"n": 1}, ttl=5)])
    assert store.get(("a",), "k") is None


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph", "x")])
def test_a_namespace_that_langgraph_forbids_is_refused(
    store: MemrootStore, namespace: tuple[str, ...]
) -> None:
    """`put` raises LangGraph's own error."""
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"n": 1})


@pytest.mark.parametrize("label", ["a/b", "a*", "*", "50%", "50%2F", "zwei Wörter", "línea", "a:b", "日本"])
def test_unusual_labels_and_keys_come_back_exactly(store: MemrootStore, label: str) -> None:
    """Separators, wildcards and letters of any script are kept, and mean only themselves."""
    store.put((label, "x"), label, {"n": 1})
    store.put(("other", "x"), "k", {"n": 2})
    assert [(item.namespace, item.key) for item in store.search((label,))] == [((label, "x"), label)]
    assert (label, "x") in store.list_namespaces()


async def _all_of_the_async_calls(store: BaseStore) -> list[Any]:
    await store.aput(("a", "b"), "k", {"text": "a kettle"})
    item = await store.aget(("a", "b"), "k")
    found = await store.asearch(("a",), query="kettle")
    names = await store.alist_namespaces(prefix=("a",))
    await store.adelete(("a", "b"), "k")
    assert item is not None
    return [item.value, [one.key for one in found], names, await store.aget(("a", "b"), "k")]


def test_the_async_calls_do_the_same(store: MemrootStore) -> None:
    """`aput`, `aget`, `asearch`, `alist_namespaces` and `adelete` work as the others."""
    assert asyncio.run(_all_of_the_async_calls(store)) == [{"text": "a kettle"}, ["k"], [("a", "b")], None]


def test_the_async_calls_run_in_another_thread(store: MemrootStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The event loop does not wait for the memory."""
    threads = []
    batch = MemrootStore.batch

    def seen(self: MemrootStore, ops: Any) -> Any:
        threads.append(threading.current_thread())
        return batch(self, ops)

    monkeypatch.setattr(MemrootStore, "batch", seen)
    asyncio.run(store.aput(("a",), "k", {"n": 1}))
    assert threads
    assert threading.main_thread() not in threads


def test_many_writers_at_once_lose_nothing(store: MemrootStore) -> None:
    """Puts of different items that run at the same time are all stored."""

    async def write() -> None:
        await asyncio.gather(*(store.aput(("c",), str(n), {"n": n}) for n in range(40)))

    asyncio.run(write())
    assert {item.value["n"] for item in store.search(("c",), limit=100)} == set(range(40))


def test_langgraph_s_batching_store_can_wrap_the_operations(store: MemrootStore) -> None:
    """`AsyncBatchedBaseStore`, which gathers the calls of one turn of the loop, works on top of the store."""

    class Batched(AsyncBatchedBaseStore):
        def batch(self, ops: Any) -> Any:
            return store.batch(ops)

        async def abatch(self, ops: Any) -> Any:
            return await store.abatch(ops)

    async def use() -> list[Any]:
        batched = Batched()
        await asyncio.gather(*(batched.aput(("c",), str(n), {"n": n}) for n in range(5)))
        return await asyncio.gather(*(batched.aget(("c",), str(n)) for n in range(5)))

    assert [item.value["n"] for item in asyncio.run(use())] == list(range(5))


class State(TypedDict):
    """The state of the graph below."""

    said: str
    known: list[str]


def test_a_graph_remembers_through_the_store(memory: Engine) -> None:
    """A node of a compiled graph gets the store, writes to it, and reads in a later run what it wrote."""

    def remember(state: State, *, store: BaseStore) -> dict[str, list[str]]:
        known = [item.value["text"] for item in store.search(("facts",), query=state["said"])]
        store.put(("facts",), state["said"], {"text": state["said"]})
        return {"known": known}

    graph = StateGraph(State)
    graph.add_node("remember", remember)
    graph.add_edge(START, "remember")
    app = graph.compile(store=MemrootStore(memory))
    app.invoke({"said": "The kettle is descaled on Mondays.", "known": []})
    assert app.invoke({"said": "Who descaled the kettle?", "known": []})["known"] == [
        "The kettle is descaled on Mondays."
    ]
    assert memory.recall("kettle").hits[0].source == "langgraph:facts"
