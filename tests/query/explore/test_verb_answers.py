"""Peeks show the question's words; expands return every character, in any number of pages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine import Add, Engine, Link, Tag, Tombstone
from engine.base.errors import EngineError, InvalidInputError, NotFoundError
from engine.query.explore.explore_answers import Form
from engine.query.explore.verb_answers import EDGES_COUNTED
from tests.query.explore.support import FORGED, least_of
from tests.query.recall.support import id_of, memory

ANY = st.text(min_size=1, max_size=300)
WORDY = st.lists(
    st.sampled_from(["kettle", "tea", "a", "x" * 250, "\n", "\u3000", "größe", "<b>", "…", "日本語"]),
    max_size=90,
).map(" ".join)
TEXTS = ANY | WORDY | st.sampled_from(FORGED)


def kept(text: str) -> str:
    """The text if it is valid as content."""
    try:
        return Add(text).body().content
    except EngineError:
        assume(False)
        raise


@given(TEXTS, st.sampled_from(["kettle", "größe tea", "日本語", "nowhere at all", "the", ""]))
@settings(max_examples=150)
def test_a_peek_is_a_short_line(text: str, query: str) -> None:
    """A peek is one line of at most 200 characters; `whole` ignores white space."""
    with memory([Add(kept(text), id=id_of(1))]) as engine:
        peek = engine.explorer().explore_peek(id_of(1), query)
        assert len(peek.text) <= 200
        assert len(peek.text.splitlines()) <= 1
        assert peek.text == " ".join(peek.text.split())
        assert peek.chars == len(text)
        assert peek.whole == (peek.text == " ".join(text.split()))
        assert peek.whole or len(" ".join(text.split())) >= 200


@given(st.integers(0, 120), st.integers(0, 120), st.sampled_from(["kettle", "größe", "adr-016"]))
@settings(max_examples=60)
def test_a_peek_shows_the_words_of_the_question(before: int, after: int, word: str) -> None:
    """The peek contains the word, wherever it is in the text."""
    text = "filler " * before + word + " something" * after
    with memory([Add(text, id=id_of(1))]) as engine:
        assert word in engine.explorer().explore_peek(id_of(1), f"where is the {word}?").text


def test_a_peek_without_a_question_is_the_beginning() -> None:
    """A peek without a question shows the beginning."""
    with memory([Add("first " + "filler " * 100 + "kettle", id=id_of(1))]) as engine:
        peek = engine.explorer().explore_peek(id_of(1))
        assert peek.text.startswith("first ")
        assert not peek.whole


def test_a_peek_remembers_the_question_that_named_the_atom_last() -> None:
    """A peek uses the last recall with a hint for the atom, or its query."""
    text = "kettle " + "filler " * 100 + "teapot " + "filler " * 100 + "samovar"
    with memory([Add(text, id=id_of(1)), Add("a saucepan", id=id_of(2))]) as engine:
        explorer = engine.explorer()
        explorer.explore_recall("kettle")
        explorer.explore_recall("teapot")
        explorer.explore_recall("saucepan")
        assert "teapot" in explorer.explore_peek(id_of(1)).text
        assert "samovar" in explorer.explore_peek(id_of(1), "samovar").text
        assert "teapot" in explorer.explore_peek(id_of(1)).text
        assert "teapot" not in engine.explorer().explore_peek(id_of(1)).text


def test_a_question_is_remembered_when_ids_grow_longer() -> None:
    """A question is remembered if another atom makes the short id longer."""
    text = "filler " * 100 + "teapot"
    with memory([Add(text, id="cafe0000-0000-8000-8000-000000000001")]) as engine:
        explorer = engine.explorer()
        explorer.explore_recall("teapot")
        engine.add("another", id="cafe0000-0000-8000-8000-000000000002")
        assert "teapot" in explorer.explore_peek("cafe0000-0000-8000-8000-000000000001").text


@given(TEXTS, st.sampled_from(Form), st.lists(st.integers(0, 60), min_size=1, max_size=5))
@settings(max_examples=150)
def test_pages_make_the_whole_text(text: str, form: Form, more: list[int]) -> None:
    """Following `next` gives each character once, for any budgets, without empty pages."""
    with memory([Add(kept(text), id=id_of(1), title="Tea", source="tea.md")]) as engine:
        explorer = engine.explorer(form=form)
        pages, offset, at = "", 0, 0
        while True:
            here = offset
            least = least_of(
                lambda budget, here=here: explorer.explore_expand(id_of(1), budget=budget, offset=here)
            )
            budget = least + more[at % len(more)]
            page = explorer.explore_expand(id_of(1), budget=budget, offset=offset)
            assert page.text
            assert page.offset == offset
            assert page.cost_tokens <= budget
            pages, at = pages + page.text, at + 1
            if page.next is None:
                break
            assert page.next == offset + len(page.text)
            offset = page.next
        assert pages == text


def test_a_page_ends_after_a_word_where_it_can() -> None:
    """A page ends at white space if possible."""
    with memory([Add("kettle teapot samovar " * 50, id=id_of(1))]) as engine:
        assert engine.explorer().explore_expand(id_of(1), budget=60).text.endswith(" ")


def test_an_offset_at_the_end_is_refused() -> None:
    """An offset at or beyond the end raises an error."""
    with memory([Add("kettle", id=id_of(1))]) as engine:
        assert engine.explorer().explore_expand(id_of(1), offset=5).text == "e"
        for offset in (6, 7, 2**62):
            with pytest.raises(InvalidInputError, match="beyond the 6 characters"):
                engine.explorer().explore_expand(id_of(1), offset=offset)


def test_an_expand_says_what_is_recorded() -> None:
    """An expand has the fields of the atom; hidden edges do not count."""
    fields: dict[str, Any] = {
        "title": "Kettle",
        "source": "tea.md",
        "sequence": 3,
        "kind": "turn",
        "provenance": "external",
    }
    others = [Add(str(number), id=id_of(number)) for number in (2, 3, 4)]
    links = [Link(id_of(1), "references", id_of(2)), Link(id_of(3), "supersedes", id_of(1))]
    gone = Link(id_of(1), "references", id_of(4))
    with memory([Add("It boils.", id=id_of(1), tags=["home"], **fields), *others, *links, gone]) as engine:
        engine.revise(id_of(1), content="It boils over.")
        engine.unlink(id_of(1), "references", id_of(4))
        atom, found = engine.get(id_of(1)), engine.explorer().explore_expand(id_of(1))
        assert found.edges == 2
        assert (found.text, found.next, found.offset) == ("It boils over.", None, 0)
        for name in ("id", "title", "kind", "tags", "source", "sequence", "version", "created", "provenance"):
            assert getattr(found, name) == getattr(atom, name), name


def test_the_edges_of_a_hub_are_counted_up_to_a_bound() -> None:
    """Edges are counted up to 1,000."""
    count = EDGES_COUNTED + 5
    atoms = [Add(str(number), id=id_of(number)) for number in range(1, count + 2)]
    with memory(atoms) as engine:
        engine.apply([Link(id_of(1), "references", id_of(number)) for number in range(2, count + 2)])
        assert engine.explorer().explore_expand(id_of(1)).edges == EDGES_COUNTED


@pytest.mark.parametrize("verb", ["explore_peek", "explore_expand"])
def test_what_is_hidden_or_unknown_is_not_shown(verb: str) -> None:
    """A tombstoned or unknown atom raises NotFoundError, by whole and short id."""
    with memory([Add("kettle", id="cafe0000-0000-8000-8000-000000000001")]) as engine:
        engine.apply([Tombstone("cafe0000-0000-8000-8000-000000000001")])
        for given_id in ("cafe0000-0000-8000-8000-000000000001", "cafe", id_of(2), "beef"):
            with pytest.raises(NotFoundError):
                getattr(engine.explorer(), verb)(given_id)


def test_tags_of_an_expand_are_those_there_are_now(engine_of_one: Engine) -> None:
    """Tags that were added later are included."""
    engine_of_one.apply([Tag(id_of(1), ["late"])])
    assert engine_of_one.explorer().explore_expand(id_of(1)).tags == ("late",)


@pytest.fixture
def engine_of_one() -> Engine:
    """A memory with one atom."""
    engine = Engine.open("memory:")
    engine.add("kettle", id=id_of(1))
    return engine
