"""Token budgets: every answer keeps to its budget, and the best hits come first."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine import Add, Engine, EngineError, Hit, RecallConfig
from engine.query.prompt_text import BUDGET_MIN, CUT, hit_text, tokens_of
from tests.query.context.support import HOSTILE
from tests.query.recall.support import ask, id_of, keys, memory, named

QUESTION = "kettle 日本語 tea 🎉 forged"

lines = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\u2028\u2029\ufffe\uffff"),
    min_size=1,
    max_size=40,
)
words = st.lists(
    st.sampled_from(("kettle", "tea", "日本語の急須", "🎉🎉", "e\u0301", "x" * 60, "\n", "ADR-016")),
    min_size=1,
    max_size=60,
)
contents = st.one_of(words.map(" ".join), st.sampled_from(HOSTILE), st.text(min_size=1, max_size=80))
budgets = st.one_of(st.integers(BUDGET_MIN, 80), st.integers(BUDGET_MIN, 1199))


@st.composite
def adds(draw: st.DrawFn) -> list[Add]:
    """Up to eight valid atoms of any script, with hostile headings."""
    made = []
    for number in range(1, draw(st.integers(1, 8)) + 1):
        one = Add(
            draw(contents),
            id=id_of(number),
            title=draw(st.one_of(st.none(), lines, st.just("Kettle"))),
            source=draw(st.one_of(st.none(), lines, st.just("notes/tea.md"))),
            sequence=draw(st.one_of(st.none(), st.integers(0, 2**60))),
        )
        try:
            one.body()
        except EngineError:
            continue
        made.append(one)
    return made


def cost(hit: Hit) -> int:
    """The tokens of a hit in a prompt."""
    shown = hit.snippet if hit.content is None else hit.content
    return tokens_of(hit_text(hit.title, hit.source, hit.sequence, hit.id, shown))


def room_for(hit: Hit, content: str) -> int:
    """The smallest budget in which a hit can be shown, whole or cut."""
    heads = (hit_text(hit.title, hit.source, hit.sequence, hit.id, shown) for shown in (content, CUT))
    return min(map(tokens_of, heads))


@settings(max_examples=60, deadline=None)
@given(adds(), budgets)
def test_the_budget_is_kept_to_the_token(made: list[Add], budget: int) -> None:
    """The tokens of an answer are the sum of its hits, and at most the budget."""
    found = ask(made, QUESTION, budget=budget)
    assert found.budget == budget
    assert [hit.tokens for hit in found.hits] == [cost(hit) for hit in found.hits]
    assert sum(hit.tokens for hit in found.hits) == found.tokens <= budget


@settings(max_examples=60, deadline=None)
@given(adds(), budgets)
@example([Add("the kettle leaks " * 40)], 40)
def test_contents_are_whole_but_for_the_first(made: list[Add], budget: int) -> None:
    """Hits show their whole texts; only the text of the first may be cut."""
    with memory(made) as engine:
        hits = engine.recall(QUESTION, budget=budget).hits
        whole = {hit.id: engine.get(hit.id).content for hit in hits}
    for rank, hit in enumerate(hits):
        assert hit.content is not None
        if hit.content != whole[hit.id]:
            assert rank == 0
            assert hit.content.endswith(CUT)
            assert whole[hit.id].startswith(hit.content.removesuffix(CUT))


@settings(max_examples=60, deadline=None)
@given(adds(), budgets)
def test_the_best_hit_is_cut_rather_than_dropped(made: list[Add], budget: int) -> None:
    """The first hit is the best one whose heading fits, however short its text must be."""
    # Copies are only folded into what is shown, which a budget changes.
    with memory(made, RecallConfig(collapse=False, per_page=0)) as engine:
        ranked = engine.recall(QUESTION, limit=5).hits
        hits = engine.recall(QUESTION, budget=budget).hits
        fitting = [hit.id for hit in ranked if room_for(hit, engine.get(hit.id).content) <= budget]
    assert [hit.id for hit in hits[:1]] == fitting[:1]


@settings(max_examples=40, deadline=None)
@given(adds())
def test_without_a_budget_a_hit_costs_what_its_snippet_costs(made: list[Add]) -> None:
    """A hit without its content costs its heading and its snippet."""
    found = ask(made, QUESTION)
    assert [hit.tokens for hit in found.hits] == [cost(hit) for hit in found.hits]
    assert found.tokens == sum(hit.tokens for hit in found.hits)
    assert found.budget is None


def test_a_cut_text_is_as_long_as_there_is_room() -> None:
    """A cut text is as long as possible: one more word would exceed the budget."""
    text = " ".join(f"kettle{chr(97 + at % 26)}" for at in range(300)) + " kettle"
    for budget in range(BUDGET_MIN, 200, 7):
        (hit,) = ask([Add(text)], "kettle", budget=budget).hits
        assert hit.content is not None
        shown = hit.content.removesuffix(CUT)
        following = text[len(shown) :].split()[0]
        more = hit_text(None, None, None, hit.id, f"{shown} {following}{CUT}")
        assert hit.tokens <= budget < tokens_of(more)


@pytest.mark.parametrize(
    "content", ["急須 " + "日本語の急須。" * 300, "急須 🎉 " + "กาน้ำชา" * 300, "急須 see " + "x" * 9000]
)
@pytest.mark.parametrize("budget", [BUDGET_MIN, 100, 1000])
def test_a_text_with_few_spaces_is_cut_within(content: str, budget: int) -> None:
    """A text whose last space is far back, or without spaces, is cut within a word."""
    (hit,) = ask([Add(content)], "急須", budget=budget).hits
    assert hit.content is not None
    longer = content[: len(hit.content) * 2] + CUT
    assert tokens_of(hit_text(None, None, None, hit.id, longer)) > budget


def test_white_space_at_the_beginning_hides_no_hit() -> None:
    """A text with more leading white space than there is room for is still shown."""
    assert len(ask([Add(" " * 1000 + "kettle " * 90)], "kettle", budget=BUDGET_MIN).hits) == 1


def test_every_text_is_whole_where_there_is_room() -> None:
    """A large budget cuts no text and drops no hit within the target."""
    atoms = [named(str(at), f"kettle {at}\n\n  as it stands\t{'x' * at}") for at in range(7)]
    with memory(atoms) as engine:
        found = engine.recall("kettle", budget=1400)
        assert len(found.hits) == found.target == 7
        assert all(hit.content == engine.get(hit.id).content for hit in found.hits)


def test_a_short_hit_is_not_lost_behind_a_long_one() -> None:
    """A hit that does not fit is skipped, and shorter hits after it are shown."""
    atoms = [
        named("first", "kettle, kettle, kettle"),
        named("long", f"kettle {'leaks ' * 500}"),
        named("last", f"the kettle {'x ' * 20}"),
    ]
    assert {"first", "last"} <= set(keys(ask(atoms, "kettle", budget=100).hits))


@pytest.mark.parametrize("budget", [0, 1, BUDGET_MIN - 1, -1, 2**63, "many", 16.0, True])
def test_a_budget_without_room_for_any_hit_is_refused(budget: object) -> None:
    """A budget below the minimum, or not a number, raises an error that names it."""
    with Engine.open("memory:") as engine, pytest.raises(EngineError, match="budget"):
        engine.recall("kettle", budget=budget)  # type: ignore[arg-type]  # that is the point


def test_the_smallest_budget_has_room_for_a_hit() -> None:
    """16 tokens, the smallest budget, show at least the beginning of a hit."""
    (hit,) = ask([Add("kettle " * 90)], "kettle", budget=BUDGET_MIN).hits
    assert hit.content is not None
    assert hit.content.startswith("kettle")
