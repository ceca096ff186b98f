"""The texts that an exploration gathers in one call: which are chosen, how they are shown, what they cost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Filters
from engine.base.errors import InvalidInputError
from engine.commands import Command, Relate
from engine.query.explore.explore_actions import Verb
from engine.query.explore.gather import GATHERED_TOKENS_MIN, by_worth, gather
from engine.query.explore.state import Finding
from engine.query.prompt_text import tokens_of
from tests.query.explore.doing import DAEMON, QUERY, memories
from tests.query.explore.test_prompt import OURS
from tests.query.recall.histories import questions
from tests.query.recall.support import fillers, id_of, memory


@settings(max_examples=40, deadline=None)
@given(memories(), questions, st.integers(GATHERED_TOKENS_MIN, 800))
def test_a_gathering_costs_at_most_its_budget(commands: list[Command], query: str, budget: int) -> None:
    """For any memory, the stated cost is right and within the budget, and no line is forged."""
    with memory(commands) as engine:
        found = gather(engine.view, query, budget=budget)
    assert found.tokens == tokens_of(found.text) <= budget
    assert all(OURS.match(line) for line in found.text.splitlines()), found.text


def test_a_gathering_has_texts_with_id_source_and_provenance() -> None:
    """Each text has the first digits of its id and its provenance; a source is named once."""
    commands = [
        Add("The kettle is descaled on Mondays.", id=id_of(1), source="tea.md", sequence=1, title="Kettle"),
        Add("Vinegar descales the kettle.", id=id_of(2), source="tea.md", sequence=2, title="Kettle"),
        Add("A kettle is copper.", id=id_of(3), provenance="external"),
    ]
    short = {number: id_of(number).replace("-", "") for number in (1, 2, 3)}
    with memory(commands) as engine:
        found = gather(engine.view, "Which kettle is descaled?", budget=4000)
    assert found.text == (
        f"[{short[3]} external]\n  A kettle is copper.\n"
        f"[{short[1]} 1] tea.md | Kettle\n  The kettle is descaled on Mondays.\n"
        f"[{short[2]}]\n  Vinegar descales the kettle.\n"
    )


def test_a_question_with_one_good_text_gets_a_short_answer() -> None:
    """The same budget is spent on many texts of equal score, but not on texts that are much worse."""
    one = [Add("The samovar kettle of Anna is descaled on Mondays.", id=id_of(1))]
    equal = [Add(f"kettle number {at} is descaled", id=id_of(at)) for at in range(1, 12)]
    with memory([*one, *fillers(30), *(Add(f"kettle {at} boils again") for at in range(10))]) as engine:
        few = gather(engine.view, "When is the samovar of Anna descaled?", budget=400)
    with memory([*equal, *fillers(30)]) as engine:
        many = gather(engine.view, "kettle descaled", budget=400)
    assert few.items[0].id == id_of(1)
    assert len(few.items) < 4 < len(many.items)


def test_a_text_longer_than_the_budget_is_chosen_in_part() -> None:
    """The part is around the words of the question."""
    long = "It lies in a folder. " * 200 + "The samovar is descaled on Mondays. " + "It is blue. " * 200
    with memory([Add(long, id=id_of(1)), *fillers(5)]) as engine:
        found = gather(engine.view, "When is the samovar descaled?", budget=200)
        small = gather(engine.view, "When is the samovar descaled?", budget=GATHERED_TOKENS_MIN)
    assert "samovar is descaled on Mondays" in found.text
    assert not found.items[0].whole
    assert small.items
    assert small.tokens <= GATHERED_TOKENS_MIN


def test_the_connections_of_an_entity_in_the_question_are_gathered() -> None:
    """The relations of an entity that the question names are in the text."""
    with memory(DAEMON) as engine:
        found = gather(engine.view, QUERY)
    assert "  daemon → uses → json_rpc" in found.text


def test_a_hub_leaves_room_for_texts() -> None:
    """The connections of an entity cost at most a quarter of the budget."""
    hub: list[Command] = [Relate("hub", "has", f"thing number {number} of many") for number in range(40)]
    with memory([Add("The hub opens at nine.", id=id_of(1)), *hub]) as engine:
        found = gather(engine.view, "When does the hub open?", budget=300)
    assert "The hub opens at nine." in found.text
    assert "hub → has" in found.text
    assert sum(tokens_of(str(one)) for one in found.items if one.id != id_of(1)) <= 75


def test_filters_hold_for_all_texts() -> None:
    """No text fails the filters."""
    with memory(DAEMON) as engine:
        found = gather(engine.view, "daemon socket authentication", filters=Filters(sources=("talk/*",)))
    assert {one.source for one in found.items if one.source or one.verb == "EXPAND"} == {"talk/1"}


def test_nothing_is_gathered_where_nothing_is_found() -> None:
    """Without a hit, the text is empty, and the exploration has one step."""
    with memory(fillers(3)) as engine:
        found = gather(engine.view, "samovar")
    assert (found.text, found.tokens, found.items) == ("", 0, ())


@pytest.mark.parametrize("budget", [0, GATHERED_TOKENS_MIN - 1, "400", None])
def test_budgets_out_of_range_are_refused(budget: object) -> None:
    """A budget that is too small, or is not a number, raises an error."""
    with memory(DAEMON) as engine, pytest.raises(InvalidInputError, match="budget"):
        gather(engine.view, QUERY, budget=budget)  # type: ignore[arg-type]


def test_a_text_that_consists_of_its_title_is_shown_once() -> None:
    """The heading leaves out a title that is the whole text."""
    commands = [
        Add("Samovars of Anna", id=id_of(at), title="Samovars of Anna", source=f"{at % 2}") for at in (1, 2)
    ]
    with memory([*commands, *fillers(3)]) as engine:
        found = gather(engine.view, "samovars")
    assert found.text.count("Samovars of Anna") == len(found.items)


def test_of_two_texts_with_equal_scores_the_shorter_one_is_worth_more() -> None:
    """The shorter one comes first, and connections come before all texts."""

    def finding(verb: Verb, text: str) -> Finding:
        return Finding(verb, None, None, None, None, text, whole=True)

    long, short = finding(Verb.EXPAND, "kettle " * 90), finding(Verb.EXPAND, "kettle")
    links = finding(Verb.NEIGHBORS, "a → uses → b")
    ranked = by_worth([(1.0, long), (1.0, short), (1.0, links)])
    assert [item for _, item in ranked] == [links, short, long]
    assert [worth == 1.0 for worth, _ in ranked] == [True, True, False]
