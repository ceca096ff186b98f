"""A text that the memory holds already is not stored twice, unless asked to."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from engine import Add, Engine
from engine.base.errors import InvalidInputError, RefusedError
from engine.index.copies import held_text
from tests.query.recall.support import id_of
from tests.support.command_line import Cli, bare, cli, surroundings
from tests.support.engines import engine_on

__all__ = ["bare", "cli", "surroundings"]

LONG = (
    "The kettle in the kitchen is descaled on the first Monday of each month with two spoons of citric acid, "
    "because the water in this house is very hard and the element was replaced last year."
)
FIRST = id_of(1)


@pytest.fixture
def memory() -> Engine:
    """Return a memory with one text."""
    engine = engine_on()
    engine.add(LONG, source="a.md", id=FIRST)
    return engine


@pytest.mark.parametrize(
    ("text", "equal"),
    [
        (LONG, True),
        (LONG.upper(), True),
        (f"  {LONG.replace(' ', '  ')}\n", True),
        (LONG.replace("spoons", "spoonfuls"), False),
    ],
)
def test_an_equal_or_nearly_equal_text_is_named(memory: Engine, text: str, equal: bool) -> None:
    """No event is written; the receipt has the id of the atom and says whether the texts are equal."""
    size = memory.size
    receipt = memory.add(text, source="b.md", once=True)
    assert (receipt.id, receipt.changed, memory.size) == (FIRST, False, size)
    assert receipt.held is not None
    assert (receipt.held.id, receipt.held.equal) == (FIRST, equal)
    assert receipt.held.snippet.startswith("The kettle in the kitchen")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (LONG.replace("two", "2"), {}),
        (LONG.replace("is very", "is not very"), {}),
        (LONG.replace("is very", "isn't very"), {}),
        ("The kettle was sold.", {}),
        (LONG, {"buckets": ["work"]}),
        (LONG, {"source": "chat/1", "sequence": 3}),
        (LONG, {"source": "b.md", "key": "kettle"}),
        (LONG, {"id": id_of(2)}),
        (LONG, {"occurrence": 1}),
        (LONG, {"source": "b.md", "occurrence": 0}),
        (LONG, {"kind": "entity"}),
    ],
)
def test_a_different_fact_and_a_text_with_a_place_are_added(
    memory: Engine, text: str, fields: dict[str, Any]
) -> None:
    """A changed number or negation, another bucket, and a name or place of its own make a new atom."""
    receipt = memory.add(text, once=True, **fields)
    assert receipt.changed
    assert receipt.id != FIRST
    assert receipt.held is None


def test_add_and_apply_store_a_text_again_unless_asked_not_to(memory: Engine) -> None:
    """Without `once`, the source decides alone, as for bulk adds."""
    assert memory.add(LONG, source="b.md").changed
    assert memory.apply([Add(LONG, source="c.md")])[0].changed
    assert not memory.add(LONG, source="b.md").changed


@pytest.mark.parametrize("text", ["Yes.", "👍", "no no no"])
def test_short_texts_are_held_if_they_are_equal(memory: Engine, text: str) -> None:
    """A text without a fingerprint is compared as a whole."""
    first = memory.add(text, source="x").id
    receipt = memory.add(text, source="y", once=True)
    assert (receipt.id, receipt.changed) == (first, False)
    assert memory.add(f"{text} Anna", once=True).changed


def test_a_text_that_only_adds_fillers_is_held() -> None:
    """`once` stores a text with another word, and does not store one with another filler."""
    lamp = "We keep the spare lamp oil behind the ladder"
    with engine_on() as engine:
        first = engine.add(lamp).id
        receipt = engine.add(lamp.replace("We keep", "We still keep"), once=True)
        assert receipt.held is not None
        assert (receipt.id, receipt.held.equal) == (first, False)
        assert engine.add(lamp.replace("lamp", "paraffin"), once=True).held is None
        assert engine.add(lamp.replace("behind the ladder", "the ladder behind"), once=True).held is None


def test_hidden_and_revised_texts_are_not_held(memory: Engine) -> None:
    """Only the present texts of live atoms count."""
    memory.tombstone(FIRST)
    second = memory.add(LONG, source="b.md", once=True)
    assert second.changed
    memory.revise(second.id, "The kettle was sold.")
    assert memory.add(LONG, source="c.md", once=True).changed


def test_the_atom_of_the_same_source_is_preferred(memory: Engine) -> None:
    """Of two equal texts, the one from the source of the new text is named, otherwise the older one."""
    second = memory.add(LONG, source="b.md").id
    held_by = [memory.add(LONG, source=source, once=True).id for source in ("b.md", "c.md")]
    assert held_by == [second, FIRST]


def test_a_destroyed_text_is_refused_as_by_add(memory: Engine) -> None:
    """The comparison does not replace the other checks of `add`."""
    memory.erase(FIRST, "not needed", probe=False)
    with pytest.raises(RefusedError, match="this content was erased"):
        memory.add(LONG, once=True)
    with pytest.raises(InvalidInputError):
        memory.add(" ", once=True)
    with pytest.raises(InvalidInputError, match="command"):
        memory.add_once("text")  # type: ignore[arg-type]


def test_a_text_is_compared_as_it_would_be_written() -> None:
    """With redaction, a text with a secret is held by the atom with the redacted text."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with Engine.open("memory:", secrets="redact") as engine:
        first = engine.add(f"The token of the build is {secret} until May.", source="a").id
        assert secret not in engine.get(first).content
        receipt = engine.add(f"The token of the build is {secret} until May.", source="b", once=True)
    assert (receipt.id, receipt.changed) == (first, False)


def test_threads_that_add_one_text_store_it_once(tmp_path: Path) -> None:
    """Of several threads and handles, one adds the text, and the others are given its id."""
    url = f"sqlite:{tmp_path / 'store.db'}"
    with Engine.open(url) as one, Engine.open(url) as other:
        found = []

        def work(engine: Engine, name: str) -> None:
            found.append(engine.add(LONG, source=name, once=True))

        threads = [threading.Thread(target=work, args=((one, other)[n % 2], f"s{n}")) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(receipt.changed for receipt in found) == 1
        assert len({receipt.id for receipt in found}) == 1


def test_an_event_of_another_process_repeats_the_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the same text is added between the comparison and the commit, it is not stored a second time."""
    url = f"sqlite:{tmp_path / 'store.db'}"
    with Engine.open(url) as one, Engine.open(url) as other:
        compare = held_text.held
        added: list[str] = []

        def meanwhile(*given: Any) -> Any:
            found = compare(*given)
            if not added:
                added.append(other.add(LONG, source="other").id)
            return found

        monkeypatch.setattr(held_text, "held", meanwhile)
        receipt = one.add(LONG, source="one", once=True)
        assert (receipt.id, receipt.changed) == (added[0], False)


def test_the_command_line_names_the_atom(cli: Cli) -> None:
    """`engine add` prints the id of the atom with the text; `--again` adds the text."""
    first = cli("add", LONG, "--source", "a.md").out
    same = cli("add", LONG, "--source", "b.md")
    assert same.out == first
    assert same.err == (
        "nothing was added: the memory holds this text already; revise that atom, or add the text with "
        "--again\n"
    )
    near = cli("add", LONG.replace("spoons", "spoonfuls"), "--json")
    assert near.data["held"]["equal"] is False
    assert near.data["changed"] is False
    again = cli("add", LONG, "--source", "b.md", "--again", "--json")
    assert again.data["changed"] is True
    assert "held" not in again.data


def test_the_tags_of_a_held_text_go_to_the_atom_that_holds_it(memory: Engine) -> None:
    """Tags given with a text that an atom holds, or nearly holds, are added to that atom, once."""
    for text in (LONG, LONG.replace("spoons", "spoonfuls")):
        receipt = memory.add(text, tags=["Chores", "water"], once=True)
        assert (receipt.id, receipt.held is None) == (FIRST, False)
    assert memory.get(FIRST).tags == ("Chores", "water")
    assert [item.kind.word for item in memory.history(FIRST)] == ["atom_added", "tags_added"]
    assert len(memory.find(limit=9)) == 1
