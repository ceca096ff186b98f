"""The text of a context: its headings, and its budget together with the quotes of the answer."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add
from engine.commands import Command, Relate
from engine.query.explore.context_text import answer_within
from engine.query.explore.loop import explore
from engine.query.prompt_text import tokens_of
from tests.query.explore.doing import memories
from tests.query.explore.test_prompt import OURS
from tests.query.recall.histories import questions
from tests.query.recall.support import fillers, id_of, memory


def test_texts_have_id_source_and_provenance() -> None:
    """Each text has the first digits of its id and its provenance; a source is named once."""
    commands = [
        Add("The kettle is descaled on Mondays.", id=id_of(1), source="tea.md", sequence=1, title="Kettle"),
        Add("Vinegar descales the kettle.", id=id_of(2), source="tea.md", sequence=2, title="Kettle"),
        Add("A kettle is copper.", id=id_of(3), provenance="external"),
    ]
    short = {number: id_of(number).replace("-", "") for number in (1, 2, 3)}
    with memory(commands) as engine:
        found = explore(engine.view, "Which kettle is descaled?", budget=8000)
    assert found.text == (
        f"[{short[3]} external]\n  A kettle is copper.\n"
        f"[{short[1]} 1] tea.md | Kettle\n  The kettle is descaled on Mondays.\n"
        f"[{short[2]}]\n  Vinegar descales the kettle.\n"
    )


def test_a_text_that_consists_of_its_title_is_shown_once() -> None:
    """The heading leaves out a title that is the whole text."""
    commands = [
        Add("Samovars of Anna", id=id_of(at), title="Samovars of Anna", source=f"{at % 2}") for at in (1, 2)
    ]
    with memory([*commands, *fillers(3)]) as engine:
        found = explore(engine.view, "samovars")
    assert found.text.count("Samovars of Anna") == len(found.context)


def test_a_hub_leaves_room_for_texts() -> None:
    """Of many connections only the first are shown, and the text comes first."""
    hub: list[Command] = [Relate("hub", "has", f"thing number {number} of many") for number in range(40)]
    with memory([Add("The hub opens at nine.", id=id_of(1)), *hub]) as engine:
        found = explore(engine.view, "When does the hub open?", budget=600)
        _, text = answer_within(found.answer, found.context, 300)
    assert "The hub opens at nine." in text
    assert "hub → has" in text


def test_the_first_text_is_cut_if_it_exceeds_the_budget() -> None:
    """A single text keeps its beginning."""
    with memory([Add("The samovar is descaled on Mondays. " * 20, id=id_of(1))]) as engine:
        found = explore(engine.view, "When is the samovar descaled?")
    _, text = answer_within((), found.context, 40)
    assert 0 < tokens_of(text) <= 40
    assert text.endswith("…\n")


@settings(max_examples=40, deadline=None)
@given(memories(), questions, st.integers(32, 800))
def test_quotes_and_text_cost_at_most_the_budget(commands: list[Command], query: str, budget: int) -> None:
    """For any memory, the cost is within the budget, and no line is forged."""
    with memory(commands) as engine:
        found = explore(engine.view, query, budget=max(200, 2 * budget))
    quotes, text = answer_within(found.answer, found.context, budget)
    assert tokens_of(text) + sum(quote.tokens for quote in quotes) <= budget
    assert all(OURS.match(line) for line in text.splitlines()), text
