"""The policy without a language model: order of reading, and stopping."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import Add
from engine.base.errors import InvalidInputError
from engine.commands import Relate
from engine.query.explore.explore_actions import Action, Verb
from engine.query.explore.explore_answers import Hint, Hints
from engine.query.explore.explore_policy import Walker, WalkerConfig, odds
from engine.query.explore.loop import explore
from engine.query.explore.state import Finding, Result, State, Step, Stop
from tests.query.explore.doing import DAEMON, QUERY
from tests.query.recall.support import id_of, memory

NO_MORE = WalkerConfig(more=9)
ANSWER = Action(Verb.ANSWER)


def state_of(*hints: Hint, entities: tuple[str, ...] = ()) -> State:
    """The state after a recall with these hints."""
    action = Action(Verb.RECALL, "the kettle")
    answer = Hints(
        hints, entities, cost_tokens=20 * len(hints), total_tokens=20 * len(hints), seq=7, root="00" * 32
    )
    step = Step(1, action, Result.DONE, "hints", answer.cost_tokens, answer.cost_tokens, answer)
    return State("the kettle", hints, entities, (), (step,), answer.cost_tokens, 2000, 9)


def read(state: State, hint: Hint, title: str | None = None, *, whole: bool = True) -> State:
    """The state after reading this atom as well."""
    verb = Verb.EXPAND if whole else Verb.PEEK
    finding = Finding(verb, hint.id, title, None, None, "text", whole)
    step = Step(len(state.trace) + 1, Action(verb, hint.id), Result.DONE, "4 chars", 50, state.spent + 50)
    return replace(state, context=(*state.context, finding), trace=(*state.trace, step))


def hint(number: int, score: int, tokens: int = 100) -> Hint:
    """A hint with a number for an id."""
    return Hint(f"0000000{number}", f"title {number}", score, tokens)


def test_the_best_hint_is_read_first() -> None:
    """Of texts of equal length, the one with the best score is read first."""
    assert Walker(NO_MORE).decide(state_of(hint(1, 50), hint(2, 45))) == Action(Verb.EXPAND, "00000001")


def test_a_short_text_is_peeked_at() -> None:
    """A text is peeked at if a peek shows the whole text."""
    assert Walker(NO_MORE).decide(state_of(hint(1, 50, 30))) == Action(Verb.PEEK, "00000001")


def test_a_dear_text_must_promise_more() -> None:
    """An expensive text is not read at a score at which a cheap text is read."""
    hints = [*(hint(number, 50, 100) for number in range(1, 5)), hint(5, 40, 2000)]
    state = state_of(*hints)
    for one in hints[:4]:
        state = read(state, one)
    assert Walker(NO_MORE).decide(state) == ANSWER
    assert Walker(replace(NO_MORE, price=0)).decide(replace(state, budget=9000)).argument == "00000005"


def test_of_the_best_a_part_is_read_however_dear_it_is() -> None:
    """A best text that is too long or does not fit is peeked at."""
    hints = [hint(1, 50, 5000), *(hint(number, 10, 60) for number in range(2, 7))]
    assert Walker(NO_MORE).decide(replace(state_of(*hints), budget=9000)) == Action(Verb.PEEK, "00000001")
    state = state_of(hint(1, 50, 100))
    assert Walker(NO_MORE).decide(replace(state, budget=100)) == Action(Verb.PEEK, "00000001")


def test_what_fits_is_read_before_what_does_not() -> None:
    """A text that fits is read before a better text that does not fit."""
    state = replace(state_of(hint(1, 50, 100), hint(2, 48, 60)), budget=40 + 100)
    assert Walker(NO_MORE).decide(state) == Action(Verb.EXPAND, "00000002")


def test_others_are_not_asked_for_where_there_is_no_room_to_read_them() -> None:
    """No second recall is made if the good hints use up the budget."""
    hints = [hint(number, 50) for number in range(1, 6)]
    state = replace(read(state_of(*hints), hints[0], "Ada"), budget=600)
    assert Walker().decide(state) == Action(Verb.EXPAND, "00000002")


def test_a_drop_in_scores_ends_it() -> None:
    """Hints far below the best are not read."""
    first, second = hint(1, 60), hint(2, 20)
    assert Walker(NO_MORE).decide(read(state_of(first, second), first)) == ANSWER


def test_the_rest_of_a_good_text_is_read() -> None:
    """After a peek at a good text, the rest of the text is read before other hints."""
    first, second = hint(1, 60), hint(2, 58)
    state = read(state_of(first, second), first, whole=False)
    assert Walker(NO_MORE).decide(state) == Action(Verb.EXPAND, "00000001")


def test_others_are_asked_for_where_the_last_is_as_good_as_the_first() -> None:
    """A second recall adds words of the read title to the question, once only."""
    hints = [hint(number, 50) for number in range(1, 6)]
    state = read(state_of(*hints), hints[0], "Ada and the Kettle")
    asked = Action(Verb.RECALL, f"{state.query} Ada")
    assert Walker().decide(state) == asked
    again = Step(3, asked, Result.DONE, "0 hints", 0, state.spent)
    assert Walker().decide(replace(state, trace=(*state.trace, again))) == Action(Verb.EXPAND, "00000002")
    assert Walker().decide(state_of(*hints)).verb is Verb.EXPAND


@pytest.mark.parametrize("scores", [(60, 60, 60, 60), (60, 55, 50, 40, 20)])
def test_others_are_not_asked_for_where_there_are_none_as_good(scores: tuple[int, ...]) -> None:
    """Few hints, or a drop in scores, prevent a second recall."""
    hints = [hint(number, score) for number, score in enumerate(scores, 1)]
    assert Walker().decide(read(state_of(*hints), hints[0], "Ada")).verb is Verb.EXPAND


def test_connections_of_an_entity_that_the_question_names_are_followed() -> None:
    """The connections of named entities are read once, after the best hint."""
    first, second = hint(1, 50), hint(2, 50)
    walker = Walker(replace(NO_MORE, entities=2))
    state = state_of(first, second, entities=("Ada", "Bo", "Cy"))
    assert walker.decide(state) == Action(Verb.EXPAND, first.id)
    state = read(state, first)
    for name in ("Ada", "Bo"):
        action = walker.decide(state)
        assert action == Action(Verb.NEIGHBORS, name)
        step = Step(len(state.trace) + 1, action, Result.DONE, "4 connections", 50, state.spent + 50)
        state = replace(state, trace=(*state.trace, step))
    assert walker.decide(state) == Action(Verb.EXPAND, second.id)


def test_connections_are_followed_where_there_is_nothing_to_read() -> None:
    """Connections are read even without hints."""
    assert Walker().decide(state_of(entities=("Ada",))) == Action(Verb.NEIGHBORS, "Ada")


def test_what_neighbours_alone_name_is_not_read() -> None:
    """A hint without a score is not read."""
    state = state_of(hint(1, 50))
    state = read(replace(state, hints=(*state.hints, Hint("aaaa0001", "a → knows → b", 0, 0))), hint(1, 50))
    assert Walker(NO_MORE).decide(state) == ANSWER
    assert Walker(replace(NO_MORE, worth=0)).decide(state) == ANSWER


def test_a_long_question_is_asked_again_in_part() -> None:
    """The second query is cut to the size of an argument."""
    hints = [hint(number, 50) for number in range(1, 6)]
    state = replace(read(state_of(*hints), hints[0]), query=" ".join(f"word{at}" for at in range(9000)))
    asked = Walker().decide(state)
    assert asked.verb is Verb.RECALL
    assert asked.argument.startswith("word0 word1 ")
    assert len(asked.argument) > 1000


def test_nothing_is_tried_twice() -> None:
    """An action that failed is not repeated."""
    first = hint(1, 60)
    state = state_of(first)
    failed = Step(2, Action(Verb.EXPAND, first.id), Result.FAILED, "gone", 0, 20)
    assert Walker(NO_MORE).decide(replace(state, trace=(*state.trace, failed))) == ANSWER


def test_without_hints_there_is_nothing_to_do() -> None:
    """Without hints the walker answers at once."""
    assert Walker().decide(state_of()) == ANSWER


def test_odds_are_in_proportion_to_what_recall_gave() -> None:
    """A score of s / (s + c) has the odds s / c."""
    assert odds(hint(1, 75)) == pytest.approx(3 * odds(hint(1, 50)))


def test_a_memory_is_explored_without_a_model() -> None:
    """The walker reads the good texts with the recall, then connections, then answers."""
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY)
    assert [step.action.verb for step in found.steps if step.action] == [
        Verb.RECALL,
        Verb.NEIGHBORS,
    ]
    assert found.stopped is Stop.ANSWERED
    assert "Authentication is by file permissions." in found.text
    assert "daemon → listens_on → unix socket" in found.text


def test_texts_that_are_worth_reading_are_read_with_the_recall() -> None:
    """The best hints are chosen as far as the tokens suffice; a bad hint is not chosen."""
    hints = [hint(1, 60), hint(2, 50), hint(3, 5)]
    tokens = hints[0].tokens
    assert Walker().read_at_once(hints, 1000) == ["00000001", "00000002"]
    assert Walker().read_at_once(hints, tokens) == ["00000001"]
    assert Walker().read_at_once([replace(hints[2], asked=True), hints[0]], 1000) == ["00000003"]
    assert Walker().read_at_once([], 1000) == []


def test_the_texts_of_a_recall_keep_to_the_budget() -> None:
    """Texts that a recall returns are in the context as a whole, and all answers cost at most the budget."""
    with memory([Add("kettle " * 150 + str(at)) for at in range(5)]) as engine:
        found = explore(engine.view, "kettle", budget=400)
    assert found.tokens <= 400
    assert any(one.whole for one in found.context)


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


def test_a_configuration_is_one_of_ours() -> None:
    """A configuration of another type raises an error."""
    with pytest.raises(InvalidInputError, match="config must be a WalkerConfig"):
        Walker({"worth": 1})  # type: ignore[arg-type]
