"""The names of nodes, the order in which they are tried, and the errors for unknown names."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine import Add, Engine, Relate, Tombstone
from engine.base.errors import ConflictError, EngineError, InvalidInputError, NotFoundError
from engine.commands import Command
from engine.ledger.entities import entity_identity, entity_key, entity_name
from engine.query.explore.explore_answers import Node
from tests.query.recall.support import id_of, memory

WORDS_OF_HEX = ("cafe", "dead", "beef", "2026", "facade", "dead-beef", "DEADBEEF", "2026-11-22")


def node(engine: Engine, name: str) -> Node:
    """The node with a name."""
    return engine.explorer().explore_neighbors(name).node


def whole(engine: Engine, found: Node) -> str:
    """The whole id of the node with a name."""
    assert found.id
    return engine.resolve(found.id)


@pytest.mark.parametrize("name", ["#kitchen", "#KITCHEN", "kitchen", " kitchen ", "Kitchen"])
def test_a_tag_is_a_node_with_its_sign_and_without(name: str) -> None:
    """A tag is found with and without `#`, in its caseless form, and has no id."""
    with memory([Add("kettle", tags=["Kitchen"], id=id_of(1))]) as engine:
        assert node(engine, name) == Node(None, "#kitchen")


@pytest.mark.parametrize("word", WORDS_OF_HEX)
def test_words_that_look_like_digits_are_words(word: str) -> None:
    """Words that look like digits find entities, titles and tags if no id begins with them."""
    atom = Add("kettle", id="11110000-0000-8000-8000-000000000001")
    with memory([atom, Relate(word, "is", "a word")]) as engine:
        assert node(engine, word).name == word
    with memory([atom, Add("tea", title=word, id="11120000-0000-8000-8000-000000000001")]) as engine:
        assert node(engine, word).id == "11120000"
    with memory([Add("kettle", tags=[word], id="11110000-0000-8000-8000-000000000001")]) as engine:
        assert node(engine, word).id is None
    with memory([atom]) as engine, pytest.raises(NotFoundError):
        node(engine, word)


def test_a_name_goes_before_digits_and_digits_before_a_title() -> None:
    """An entity's name is tried before the first digits of ids, and these before titles."""
    cafe = "cafe0000-0000-8000-8000-000000000001"
    commands: list[Command] = [Add("kettle", id=cafe), Add("tea", title="cafe", tags=["cafe"], id=id_of(1))]
    with memory(commands) as engine:
        assert whole(engine, node(engine, "cafe")) == cafe
        engine.apply([Tombstone(cafe)])
        assert whole(engine, node(engine, "cafe")) == id_of(1)
        engine.apply([Relate("Cafe", "is", "open")])
        assert node(engine, "cafe").name == "Cafe"


def test_no_name_can_stand_before_a_recorded_id() -> None:
    """An entity named like an atom's whole id does not hide the atom."""
    with memory([Add("kettle", id=id_of(1)), Relate(id_of(1), "is", "a trick")]) as engine:
        assert whole(engine, node(engine, id_of(1))) == id_of(1)


@pytest.mark.parametrize(
    "name",
    [
        "d41d8cd98f00b204e9800998ecf8427e",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "#general",
        "Yahoo!",
        "Dr. Who",
        "C++",
        "_",
        "--",
        "é" * 128,
        "اسم عربي",
        "👩‍👩‍👧",
        "full　width Ａ",
        "the",
        "!?",
    ],
)
def test_an_entity_is_found_by_its_name(name: str) -> None:
    """An entity is found even if its name looks like an id or a tag."""
    with memory([Add("kettle", id=id_of(1)), Relate("anchor", "is", name)]) as engine:
        found = engine.get(whole(engine, node(engine, name)))
        assert (found.kind, found.content) == ("entity", entity_name(name))


@given(st.text(min_size=1, max_size=12))
@settings(max_examples=100)
def test_each_name_leads_to_its_entity(text: str) -> None:
    """An entity is found by its name as given and by its identity."""
    try:
        name = entity_name(text)
        assume(entity_key(name) != entity_key("anchor"))
    except EngineError:
        assume(False)
    with memory([Relate("anchor", "is", name)]) as engine:
        assert engine.get(whole(engine, node(engine, name))).content == name
        assert node(engine, entity_identity(name)) == node(engine, name)


@pytest.mark.parametrize("count", [2, 5, 6, 7, 8, 40])
def test_a_title_that_several_have_is_ambiguous(count: int) -> None:
    """The error for an ambiguous title lists some ids that can be used."""
    with memory([Add(f"text {n}", title="Kettle", id=id_of(n + 1)) for n in range(count)]) as engine:
        with pytest.raises(ConflictError) as refused:
            node(engine, "kettle")
        named = [word for word in str(refused.value).replace(":", " ").split() if word.startswith("0000")]
        assert len(named) == min(count, 5)
        assert all(engine.resolve(one) for one in named)


def test_digits_that_several_ids_begin_with_are_ambiguous() -> None:
    """The error for ambiguous digits lists some ids."""
    atoms = [Add(f"text {n}", id=f"cafe0000-0000-8000-8000-{n:012x}") for n in range(9)]
    with memory(atoms) as engine, pytest.raises(ConflictError, match=r"cafe0000-0000-8000-80.* 'text 0'"):
        node(engine, "cafe")


def test_words_of_one_entity_are_enough() -> None:
    """A word in one entity's name finds it; a word in several names must match one exactly."""
    with memory([Relate("Unix Socket", "serves", "Mail Daemon")]) as engine:
        assert node(engine, "sockets").name == "Unix Socket"
        engine.relate("Mail Server", "has", "Mail Daemon")
        with pytest.raises(ConflictError, match="Mail Server"):
            node(engine, "mail")
        engine.relate("Mail", "is", "Mail Daemon")
        assert node(engine, "mail").name == "Mail"


def test_an_exact_title_or_tag_goes_before_words_of_names() -> None:
    """An exact title or tag is found before entities with the word in their names."""
    related = Relate("Anna Smith", "knows", "Anna Jones")
    with memory([related, Add("x", title="Anna", id=id_of(1))]) as engine:
        assert whole(engine, node(engine, "Anna")) == id_of(1)
    with memory([related, Add("x", tags=["anna"], id=id_of(1))]) as engine:
        assert node(engine, "Anna") == Node(None, "#anna")


def test_the_title_of_an_entity_is_no_name() -> None:
    """The type of an entity does not find it."""
    with memory([Relate("Anna", "knows", "Boris")]) as engine:
        engine.revise(whole(engine, node(engine, "Anna")), title="physician")
        with pytest.raises(NotFoundError):
            node(engine, "physician")


@pytest.mark.parametrize(
    "name", ["nothing", "#nothing", "beef", id_of(9), "#", "##", "the", "!?", "x" * 2000, "é" * 500]
)
def test_what_nothing_is_called_is_not_found(name: str) -> None:
    """An unknown name raises NotFoundError, also in an empty memory."""
    memories: list[list[Command]] = [
        [],
        [Add("x", id=id_of(1)), Tombstone(id_of(1))],
        [Add("x", id=id_of(1))],
    ]
    for commands in memories:
        with memory(commands) as engine, pytest.raises(NotFoundError):
            node(engine, name)


@pytest.mark.parametrize("name", ["", " ", "\u3000", "a\nb", "a\x00b", "\ud800"])
def test_what_is_no_line_is_refused(name: str) -> None:
    """A blank name, or a name of several lines, raises an error."""
    with memory([]) as engine, pytest.raises(InvalidInputError):
        node(engine, name)


def test_hidden_tags_are_no_nodes() -> None:
    """A tag that is only on hidden atoms is not a node."""
    with (
        memory([Add("x", tags=["home"], id=id_of(1)), Tombstone(id_of(1))]) as engine,
        pytest.raises(NotFoundError),
    ):
        node(engine, "#home")
