"""Items of a key-value store as atoms, without the framework."""

from collections.abc import Iterator
from typing import Any

import pytest

from engine import Engine
from engine.base.errors import BatchLimitError, ConflictError, InvalidInputError, RefusedError
from engine.frameworks.stored_items import Items

ADA, BOB = ("users", "ada"), ("users", "bob")


@pytest.fixture
def memory() -> Iterator[Engine]:
    """An open memory."""
    with Engine.open("memory:") as memory:
        yield memory


@pytest.fixture
def items(memory: Engine) -> Items:
    """The items in the memory."""
    return Items(memory)


def put(items: Items, namespace: tuple[str, ...], key: str, value: dict[str, Any] | None) -> None:
    """Put or delete one item."""
    items.put([(namespace, key, value, True)])


def test_an_item_is_an_atom_with_a_source_and_a_key(memory: Engine, items: Items) -> None:
    """Other users of the memory see the text, the source, the key and the bucket of an item."""
    put(items, ADA, "tea", {"text": "Ada drinks tea at five."})
    (hit,) = memory.recall("Who drinks tea?").hits
    atom = memory.get(hit.id)
    assert (atom.content, atom.source, atom.key) == ("Ada drinks tea at five.", "langgraph:users/ada", "tea")
    assert (atom.buckets, atom.provenance) == (("langgraph",), "internal")


def test_filters_on_meta_find_items_by_their_fields(memory: Engine, items: Items) -> None:
    """Any user of the memory can ask for the items with a value in a field."""
    put(items, ADA, "1", {"text": "the kettle", "votes": 3})
    put(items, ADA, "2", {"text": "another kettle", "votes": 4})
    assert [hit.key for hit in memory.recall("kettle", meta={"votes": 4}).hits] == ["2"]


def test_putting_again_revises_the_atom(memory: Engine, items: Items) -> None:
    """There is one atom with two versions, and its earlier value can be read as of an earlier event."""
    put(items, ADA, "k", {"text": "one"})
    put(items, ADA, "k", {"text": "two"})
    (found,) = memory.find()
    assert memory.get(found.id).version == 2
    with memory.as_of(memory.size - 2) as past:
        assert Items(past).get(ADA, "k").value == {"text": "one"}  # type: ignore[union-attr]


def test_putting_the_same_value_again_appends_no_event(memory: Engine, items: Items) -> None:
    """The order of the fields does not matter."""
    put(items, ADA, "k", {"a": "x", "b": "y"})
    size = memory.size
    put(items, ADA, "k", {"b": "y", "a": "x"})
    assert memory.size == size


def test_what_a_person_added_to_an_item_stays_when_it_is_put_again(memory: Engine, items: Items) -> None:
    """Putting replaces the value only, not the tags."""
    put(items, ADA, "k", {"text": "one"})
    memory.tag(memory.find()[0].id, "checked")
    put(items, ADA, "k", {"text": "two"})
    assert memory.get(memory.find()[0].id).tags == ("checked",)


def test_deleting_hides_the_atom_and_putting_brings_it_back(memory: Engine, items: Items) -> None:
    """The atom keeps its id and its history, and the item keeps its first time."""
    put(items, ADA, "k", {"text": "one"})
    before, id_ = items.get(ADA, "k"), memory.find()[0].id
    put(items, ADA, "k", None)
    put(items, ADA, "k", None)
    put(items, BOB, "never", None)
    assert (items.get(ADA, "k"), items.namespaces(), items.search(())) == (None, [], [])
    put(items, ADA, "k", {"text": "two"})
    after = items.get(ADA, "k")
    assert before is not None
    assert after is not None
    assert (after.value, after.created) == ({"text": "two"}, before.created)
    assert [item.kind.name for item in memory.history(id_)] == [
        "ATOM_ADDED", "ATOM_TOMBSTONED", "ATOM_REVIVED", "ATOM_REVISED",
    ]  # fmt: skip


def test_an_erased_value_is_not_put_again_but_another_one_is(memory: Engine, items: Items) -> None:
    """What a person destroyed does not come back through a framework; the name of the item can be used."""
    put(items, ADA, "k", {"text": "one"})
    memory.erase(memory.find()[0].id, "asked for it")
    assert items.get(ADA, "k") is None
    for key in ("k", "other"):
        with pytest.raises(RefusedError, match="erased"):
            put(items, ADA, key, {"text": "one"})
    put(items, ADA, "k", {"text": "two"})
    item = items.get(ADA, "k")
    assert item is not None
    assert item.value == {"text": "two"}


def test_a_text_that_a_person_revises_is_the_new_value(memory: Engine, items: Items) -> None:
    """Memory and framework see the same text."""
    put(items, ADA, "k", {"text": "Tea at fife.", "votes": 3})
    memory.revise(memory.find()[0].id, "Tea at five.")
    item = items.get(ADA, "k")
    assert item is not None
    assert item.value == {"text": "Tea at five.", "votes": 3}


def test_an_item_whose_json_was_broken_is_an_error(memory: Engine, items: Items) -> None:
    """The error names the atom; other items can still be read."""
    put(items, ADA, "k", {"a": "x", "b": "y"})
    put(items, BOB, "k", {"text": "z"})
    id_ = memory.recall("x").hits[0].id
    memory.revise(id_, "no JSON")
    with pytest.raises(ConflictError, match=id_):
        items.get(ADA, "k")
    assert items.get(BOB, "k") is not None


def test_atoms_of_other_origins_are_no_items(memory: Engine, items: Items) -> None:
    """Neither an atom of the same source nor one of the same bucket becomes an item."""
    memory.add("A kettle.", source="langgraph:users/ada", key="mine")
    memory.add("Another kettle.", source="langgraph:users/ada", key="also mine", buckets=["langgraph"])
    assert items.get(ADA, "mine") is None
    assert items.search(ADA) == items.search(ADA, query="kettle") == []


def test_the_newest_items_come_first_page_by_page(items: Items) -> None:
    """A revised item is newer than one that was added after it."""
    for number in range(600):
        put(items, ADA, str(number), {"n": number})
    put(items, ADA, "7", {"n": -7})
    assert [item.value["n"] for item in items.search(ADA, limit=3)] == [-7, 599, 598]
    assert [item.value["n"] for item in items.search(ADA, limit=2, offset=599)] == [0]
    assert items.search(ADA, limit=0) == []


@pytest.mark.parametrize(("limit", "offset"), [(-1, 0), (10, -1)])
def test_a_page_that_cannot_be_is_refused(items: Items, limit: int, offset: int) -> None:
    """`limit` and `offset` are 0 or more."""
    with pytest.raises(InvalidInputError):
        items.search(ADA, limit=limit, offset=offset)


def test_near_duplicates_are_items_of_their_own(items: Items) -> None:
    """Recall folds near-duplicates; a search returns each of them, with the score of the hit."""
    text = "The user prefers short answers without tables or long lists of links."
    for name in (ADA, BOB):
        put(items, name, "style", {"text": text})
    found = items.search(("users",), query="short answers")
    assert {item.namespace for item in found} == {ADA, BOB}
    assert len({item.score for item in found}) == 1


def test_an_item_that_is_not_indexed_is_found_by_no_question(items: Items) -> None:
    """It is still found by its name and without a question."""
    items.put([(ADA, "k", {"text": "a kettle"}, False)])
    assert items.search(ADA, query="kettle") == []
    assert len(items.search(ADA)) == 1
    item = items.get(ADA, "k")
    assert item is not None
    assert item.value == {"text": "a kettle"}


def test_a_condition_is_applied_to_more_than_the_first_hits(items: Items) -> None:
    """The search asks for more hits until enough of them match."""
    for number in range(60):
        put(items, ADA, str(number), {"text": f"kettle number {number}", "n": number})
    found = items.search(ADA, query="kettle", matches=lambda value: value["n"] % 20 == 0, limit=3)
    assert sorted(item.value["n"] for item in found) == [0, 20, 40]


def test_a_question_without_words_finds_nothing(items: Items) -> None:
    """It is no error, because a person may say anything."""
    put(items, ADA, "k", {"text": "a kettle"})
    assert [items.search(ADA, query=query) for query in ("?!", "   ")] == [[], []]


def test_changes_are_written_together_or_not_at_all(memory: Engine, items: Items) -> None:
    """One bad value, or too many changes, and no item is stored."""
    with pytest.raises(InvalidInputError):
        items.put([(ADA, "good", {"n": 1}, True), (ADA, "bad", {"n": {1}}, True)])
    with pytest.raises(InvalidInputError, match="must be a map"):
        items.put([(ADA, "good", {"n": 1}, True), (ADA, "bad", ["x"], True)])  # type: ignore[list-item]
    with pytest.raises(BatchLimitError):
        items.put([(ADA, str(number), {"n": number}, True) for number in range(10_001)])
    assert (items.search(()), memory.size) == ([], 1)


def test_a_namespace_needs_a_part(items: Items) -> None:
    """An item without a namespace is refused."""
    with pytest.raises(InvalidInputError, match="namespace"):
        put(items, (), "k", {"n": 1})


SECRET = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


def test_secrets_in_values_are_redacted_before_they_are_written() -> None:
    """Each text is searched by itself, so the text after a line break stays."""
    with Engine.open("memory:", secrets="redact") as memory:
        items = Items(memory)
        put(items, ADA, "k", {"note": f"TOKEN={SECRET}\nTea at five.", "by": "Ada", "all": [SECRET]})
        item = items.get(ADA, "k")
        exported: list[bytes] = []
        memory.export(exported.append)
    assert item is not None
    assert item.value["note"].endswith("\nTea at five.")
    assert SECRET.encode() not in b"".join(exported)


def test_a_text_is_a_secret_because_of_the_name_of_its_field() -> None:
    """A value with one text is searched with the name of the field, too."""
    with Engine.open("memory:", secrets="redact") as memory:
        put(Items(memory), ADA, "k", {"password": "hunter2hunter2"})
        item = Items(memory).get(ADA, "k")
    assert item is not None
    assert item.value == {"password": "[REDACTED:password]"}


@pytest.mark.parametrize(("namespace", "key"), [(("users", SECRET), "k"), (ADA, SECRET)])
def test_a_secret_in_a_name_is_refused(namespace: tuple[str, ...], key: str) -> None:
    """Redacted, two names could become one."""
    with Engine.open("memory:", secrets="redact") as memory, pytest.raises(RefusedError, match="secret"):
        put(Items(memory), namespace, key, {"n": 1})


def test_the_provenance_of_new_items_can_be_chosen(memory: Engine) -> None:
    """An agent that stores what strangers wrote says so; an unknown word is refused."""
    put(Items(memory, provenance="external"), ADA, "k", {"text": "a kettle"})
    assert memory.recall("kettle").hits[0].provenance == "external"
    with pytest.raises(InvalidInputError, match="provenance"):
        Items(memory, provenance="friendly")


def test_items_survive_a_rebuild(memory: Engine, items: Items) -> None:
    """All facts on items are in the journal."""
    put(items, ADA, "k", {"text": "one", "n": 1})
    put(items, BOB, "k", {"a": ["x"], "b": "y"})
    put(items, ADA, "k", {"text": "two", "n": 2})
    before = items.search(())
    root = memory.root()
    assert memory.rebuild() == root
    assert items.search(()) == before
