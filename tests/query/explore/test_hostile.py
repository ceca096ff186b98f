"""No content can make an answer pass for something else, in either form."""

from __future__ import annotations

import json
from functools import cache

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Engine, Link, Relate
from engine.base.characters import visible
from engine.base.errors import EngineError, InvalidInputError
from engine.base.json_text import dumped
from engine.commands import Command
from engine.query.explore.explore_answers import Answer, Neighbors, text_of, unmarked
from engine.query.prompt_text import on_one_line
from tests.query.explore.support import FORGED, wrong_with_json, wrong_with_text
from tests.query.recall.support import id_of, memory
from tests.support.shared_data import needs

pytestmark = pytest.mark.slow

ANY = st.text(min_size=1, max_size=60) | st.sampled_from(FORGED)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**64) | st.binary(max_size=20) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["source", "x"]) | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)


def allowed(command: Command) -> bool:
    """Return True if a memory accepts the command."""
    with memory([]) as engine:
        try:
            engine.apply([Add("kettle", id=id_of(1)), Add("tea", id=id_of(2)), command])
        except EngineError:
            return False
    return True


def one_line(text: str) -> str:
    """The part of the text that is valid in a title, a source or a name."""
    return "".join(one for one in on_one_line(text) if one.isprintable() or one == " ")[:60].strip()


def carrying(text: str) -> list[Command]:
    """A memory with the text as content, title, source, tag and entity name."""
    made: list[Command] = [
        Add("kettle", id=id_of(1)),
        Add("tea", id=id_of(2)),
        *filter(allowed, [Add(text, id=id_of(3)), Add(f"kettle {text} kettle", id=id_of(4))]),
    ]
    for number, piece in enumerate(dict.fromkeys((text, one_line(text)))):
        if piece:
            made += filter(
                allowed,
                [
                    Add("kettle titled", title=piece, id=id_of(10 + number)),
                    Add("kettle first", source=piece, sequence=1, id=id_of(20 + number)),
                    Add("kettle next", source=piece, sequence=2, id=id_of(30 + number)),
                    Add("kettle tagged", tags=[piece], id=id_of(40 + number)),
                    Add(piece, kind="entity", id=id_of(50 + number)),
                    Relate("kettle", "uses", piece, id_of(1)),
                    Relate(piece, "listens on", "kettle"),
                ],
            )
    return made


def answers(engine: Engine, query: str = "kettle") -> list[Answer]:
    """The answers of all verbs for all atoms."""
    explorer = engine.explorer()
    found: list[Answer] = [explorer.explore_recall("kettle", 50)]
    for asked in (query, one_line(query) or "kettle"):
        try:
            found.append(explorer.explore_recall(f"{asked} kettle", 20))
        except InvalidInputError:
            continue
    for one in engine.find(limit=100):
        found += [
            explorer.explore_peek(one.id),
            explorer.explore_expand(one.id),
            explorer.explore_expand(one.id, budget=600),
            explorer.explore_neighbors(one.id, limit=3),
            *(explorer.explore_neighbors(f"#{tag}") for tag in engine.get(one.id).tags),
        ]
    return found


def assert_harmless(commands: list[Command], query: str) -> None:
    """Assert that all answers of a memory are safe in both forms."""
    with memory(commands) as engine:
        for answer in answers(engine, query):
            assert not wrong_with_text(text_of(answer)), text_of(answer)
            assert not wrong_with_json(answer)


@pytest.mark.parametrize("text", FORGED, ids=ascii)
def test_forged_texts_stay_texts(text: str) -> None:
    """Forged headings, hints, roles, tool results and escape sequences stay texts."""
    assert_harmless(carrying(text), text)


@given(ANY)
@settings(max_examples=40)
def test_any_text_stays_a_text(text: str) -> None:
    """Any valid text stays a text."""
    assert_harmless(carrying(text), text)


@cache
def naughty() -> tuple[str, ...]:
    """The Big List of Naughty Strings."""
    return tuple(json.loads(needs("vectors/strings/blns.json").read_text(encoding="utf-8")))


def test_naughty_strings_stay_texts() -> None:
    """All naughty strings as contents, titles, sources, tags and names stay texts."""
    made: list[Command] = [Add("kettle", id=id_of(1)), Add("tea", id=id_of(2))]
    for number, text in enumerate(naughty()):
        adds = [
            Add(f"{text} kettle", title=text or None, source=text or None, key=f"titled {number}"),
            Add(text, tags=[text], key=f"tagged {number}"),
        ]
        made += [one for one in adds if _quickly_allowed(one)]
        if _is_name(text):
            made.append(Relate("kettle", "uses", text))
    with memory(made) as engine:
        assert len(engine.find(limit=10_000)) > 600
        explorer = engine.explorer()
        found: list[Answer] = [explorer.explore_expand(one.id) for one in engine.find(limit=10_000)]
        found += [explorer.explore_peek(one.id) for one in engine.find(limit=200)]
        offset: int | None = 0
        while offset is not None:
            page = explorer.explore_neighbors("kettle", limit=100, offset=offset)
            offset = page.next
            found.append(page)
        assert sum(len(one.triples) for one in found if isinstance(one, Neighbors)) > 300
        for answer in found:
            assert not wrong_with_text(text_of(answer)), text_of(answer)
            assert not wrong_with_json(answer)
        for text in naughty()[::3]:
            try:
                hints = explorer.explore_recall(text or "kettle", 50)
            except InvalidInputError:
                continue
            assert not wrong_with_text(text_of(hints)), text_of(hints)
            assert not wrong_with_json(hints)


def _quickly_allowed(command: Add) -> bool:
    """Return True if the text passes a fast check of validity."""
    try:
        command.body()
    except EngineError:
        return False
    return True


def _is_name(text: str) -> bool:
    from engine.ledger.entities import entity_key, entity_name

    try:
        return entity_key(entity_name(text)) != entity_key("kettle")
    except EngineError:
        return False


@given(DATA)
@settings(max_examples=80)
def test_any_data_of_an_edge_is_looked_through(data: object) -> None:
    """A triple has a source only if the data has the 16 bytes of a live atom's id."""
    link = Link(id_of(1), "references", id_of(2), data=cbor2.dumps(data, canonical=True))
    if not allowed(link):
        return
    with memory([Add("kettle", id=id_of(1)), Add("tea", id=id_of(2)), link]) as engine:
        (triple,) = engine.explorer().explore_neighbors(id_of(1)).triples
        assert triple.source is None


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=60) | st.sampled_from(FORGED))
@settings(max_examples=200)
def test_json_says_the_same_without_a_dangerous_character(text: str) -> None:
    """The JSON is one valid line with the exact value and no unsafe character."""
    spelled = dumped({text: [text]})
    assert json.loads(spelled) == {text: [text]}
    assert not set(spelled) & set("<>\x7f\x1b\u2028\u2029\u202e\u2066\u061c\u200e\u200f\n\r")
    assert spelled.encode().decode() == spelled


@given(ANY)
def test_markup_is_shown_and_nothing_else_is_changed(text: str) -> None:
    """Only `<` before possible markup, and invisible characters, are changed."""
    shown = unmarked(text)
    assert shown.replace("‹", "<") == visible(text).replace("‹", "<")
    assert not wrong_with_text("  " + shown.replace("\n", " ")) or any(not one.isprintable() for one in text)
    assert unmarked("a < b <3 <- << 1<2") == "a < b <3 <- << 1<2"
