"""The built-in policy: which texts it reads, and when it stops."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import Add, Filters
from engine.commands import Relate
from engine.query.explore.explore_actions import Action, Verb
from engine.query.explore.explore_answers import Hint, Hints
from engine.query.explore.gather import Gather, by_worth, odds
from engine.query.explore.loop import explore
from engine.query.explore.state import Finding, Result, State, Step, Stop
from tests.query.explore.doing import DAEMON, QUERY
from tests.query.recall.support import fillers, id_of, memory

ANSWER = Action(Verb.ANSWER)


def state_of(*hints: Hint, entities: tuple[str, ...] = ()) -> State:
    """The state after a recall with these hints."""
    action = Action(Verb.RECALL, "the kettle")
    cost = 20 * len(hints)
    answer = Hints(hints, entities, cost_tokens=cost, total_tokens=cost, seq=7, root="00" * 32)
    step = Step(1, action, Result.DONE, "hints", cost, cost, answer)
    return State("the kettle", hints, entities, (), (step,), cost, 2000, 9)


def read(state: State, hint: Hint) -> State:
    """The state after the recall has returned the text of this atom as well."""
    finding = Finding(Verb.EXPAND, hint.id, None, None, None, "text", whole=True)
    return replace(state, context=(*state.context, finding))


def tried(state: State, verb: Verb, argument: str, result: Result = Result.FAILED) -> State:
    """The state after this action as well."""
    step = Step(len(state.trace) + 1, Action(verb, argument), result, "tried", 0, state.spent)
    return replace(state, trace=(*state.trace, step))


def hint(number: int, score: int, tokens: int = 100) -> Hint:
    """A hint with a number for an id."""
    return Hint(f"0000000{number}", f"title {number}", score, tokens)


def test_texts_that_are_worth_their_cost_are_read_with_the_recall() -> None:
    """The best texts are chosen as far as half of the tokens suffices; a bad text is not chosen."""
    hints = [hint(1, 60), hint(2, 55), hint(3, 5)]
    assert Gather().read_at_once(hints, 1000) == ["00000001", "00000002"]
    assert Gather().read_at_once(hints, 240) == ["00000001"]
    assert Gather().read_at_once(hints, 200) == []
    assert Gather().read_at_once([], 1000) == []


def test_a_page_that_the_question_asks_for_is_chosen_alone() -> None:
    """Better scores of other texts do not count."""
    asked = replace(hint(3, 5), asked=True)
    assert Gather().read_at_once([hint(1, 60), asked], 1000) == ["00000003"]
    state = state_of(hint(1, 60), asked, entities=("Ada",))
    assert Gather().decide(state) == Action(Verb.EXPAND, "00000003")
    assert Gather().decide(read(state, asked)) == ANSWER
    assert Gather().decide(tried(state, Verb.EXPAND, "00000003")) == ANSWER


def test_of_two_texts_with_equal_scores_the_shorter_one_is_worth_more() -> None:
    """The shorter one comes first, and its worth is 1."""
    ranked = by_worth([hint(1, 50, 400), hint(2, 50, 30)])
    assert [one.id for _, one in ranked] == ["00000002", "00000001"]
    assert ranked[0][0] == 1 > ranked[1][0]


def test_odds_are_in_proportion_to_the_score_in_recall() -> None:
    """A score of s / (s + c) has the odds s / c."""
    assert odds(hint(1, 75)) == pytest.approx(3 * odds(hint(1, 50)))


def test_a_long_text_is_read_in_part() -> None:
    """A text that a recall did not return is peeked at if it is long and good."""
    good, long, bad = hint(1, 50), hint(2, 48, 5000), hint(3, 1, 5000)
    state = read(state_of(good, long, bad), good)
    assert Gather().decide(state) == Action(Verb.PEEK, long.id)
    assert Gather().decide(tried(state, Verb.PEEK, long.id)) == ANSWER


def test_the_best_text_is_read_in_part_if_no_text_was_read() -> None:
    """The best text is peeked at even if it is short, and once only."""
    state = state_of(hint(1, 50), hint(2, 40))
    assert Gather().decide(state) == Action(Verb.PEEK, "00000001")
    assert Gather().decide(tried(state, Verb.PEEK, "00000001")) == Action(Verb.PEEK, "00000002")


def test_connections_of_the_first_named_entity_are_followed_once() -> None:
    """The connections are read after the texts, also without hints."""
    first = hint(1, 50)
    state = read(state_of(first, entities=("Ada", "Bo")), first)
    assert Gather().decide(state) == Action(Verb.NEIGHBORS, "Ada")
    assert Gather().decide(tried(state, Verb.NEIGHBORS, "Ada", Result.DONE)) == ANSWER
    assert Gather().decide(state_of(entities=("Ada",))) == Action(Verb.NEIGHBORS, "Ada")


def test_a_hint_without_a_score_is_not_read() -> None:
    """An atom that is only known as a neighbour is not read."""
    assert Gather().decide(state_of(Hint("aaaa0001", "a → knows → b", 0, 0))) == ANSWER
    assert Gather().decide(state_of()) == ANSWER


def test_a_memory_is_explored_without_a_model() -> None:
    """The policy reads the good texts with the recall, then connections, then answers."""
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY)
    assert [step.action.verb for step in found.steps if step.action] == [Verb.RECALL, Verb.NEIGHBORS]
    assert found.stopped is Stop.ANSWERED
    assert "Authentication is by file permissions." in found.text
    assert "  daemon → uses → json_rpc" in found.text


def test_the_texts_of_a_recall_keep_to_the_budget() -> None:
    """Texts that a recall returns are in the context as a whole, and all answers cost at most the budget."""
    with memory([Add("kettle " * 100 + str(at)) for at in range(5)]) as engine:
        found = explore(engine.view, "kettle", budget=600)
    assert found.tokens <= 600
    assert any(one.whole for one in found.context)


def test_a_question_with_one_good_text_gets_a_short_context() -> None:
    """The same budget is spent on many texts of equal score, but not on texts that are much worse."""
    one = [Add("The samovar kettle of Anna is descaled on Mondays.", id=id_of(1))]
    equal = [Add(f"kettle number {at} is descaled", id=id_of(at)) for at in range(1, 12)]
    with memory([*one, *fillers(30), *(Add(f"kettle {at} boils again") for at in range(10))]) as engine:
        few = explore(engine.view, "When is the samovar of Anna descaled?", budget=800)
    with memory([*equal, *fillers(30)]) as engine:
        many = explore(engine.view, "kettle descaled", budget=800)
    assert few.context[0].id == id_of(1)
    assert len(few.context) < 4 < len(many.context)


def test_a_text_longer_than_the_budget_is_shown_in_part() -> None:
    """The part is around the words of the question."""
    long = "It lies in a folder. " * 200 + "The samovar is descaled on Mondays. " + "It is blue. " * 200
    with memory([Add(long, id=id_of(1)), *fillers(5)]) as engine:
        found = explore(engine.view, "When is the samovar descaled?", budget=400)
    assert "samovar is descaled on Mondays" in found.text
    assert not found.context[0].whole


def test_filters_hold_for_all_texts() -> None:
    """No text fails the filters."""
    with memory(DAEMON) as engine:
        found = explore(engine.view, "daemon socket authentication", filters=Filters(sources=("talk/*",)))
    assert {one.source for one in found.context if one.verb is not Verb.NEIGHBORS} == {"talk/1"}


def test_strange_titles_and_questions_are_no_trouble() -> None:
    """Unusual titles and questions still give valid actions."""
    commands = [
        Add(f"kettle {number}", id=id_of(number), title=title)
        for number, title in enumerate(("...", "A" * 500, 'Say "\\"', "Ünïcödé Ding", "İ", "K x"), 1)
    ]
    with memory([*commands, Relate("kettle", "is", "hot (very)")]) as engine:
        for query in (
            "kettle",
            "kettle\x1b\u202e?",
            '"kettle" \\',
            "kettle " + "word" * 300,
            "KETTLE 日本語",
        ):
            found = explore(engine.view, query)
            assert found.context
            assert {step.result for step in found.steps} == {Result.DONE}


def test_the_best_text_about_each_subject_is_read() -> None:
    """If no text is about all the things in a question, the best text about each is in the context."""
    texts = [f"Otter {word} and {word} again: the otter is fond of {word}." for word in "abcdefgh"]
    atoms = [Add(text, id=id_of(at)) for at, text in enumerate(texts, 1)]
    atoms += [Add("Zanzibar has a harbour, " + "a long quay, " * 30, id=id_of(20))]
    atoms += [Add("The trombone is for sale.", id=id_of(21))]
    with memory([*atoms, *fillers(20)]) as engine:
        found = engine.explore("What about Otter, Zanzibar and trombone?", budget=700)
    assert {id_of(20), id_of(21)} < {item.id for item in found.context}
    assert found.tokens <= 700
