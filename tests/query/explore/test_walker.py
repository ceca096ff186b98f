"""The policy without a language model: what it reads, in which order, and when it stops."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import Add
from engine.base.errors import InvalidInputError
from engine.commands import Relate
from engine.query.explore.actions import Action, Verb
from engine.query.explore.answers import Hint, Hints
from engine.query.explore.loop import explore
from engine.query.explore.state import Finding, Result, State, Step, Stop
from engine.query.explore.walker import Walker, WalkerConfig, odds
from tests.query.explore.doing import DAEMON, QUERY
from tests.query.recall.support import id_of, memory

NO_MORE = WalkerConfig(more=9)
ANSWER = Action(Verb.ANSWER)


def state_of(*hints: Hint, entities: tuple[str, ...] = ()) -> State:
    """What is known after a recall that found these."""
    action = Action(Verb.RECALL, "the kettle")
    answer = Hints(
        hints, entities, cost_tokens=20 * len(hints), total_tokens=20 * len(hints), seq=7, root="00" * 32
    )
    step = Step(1, action, Result.DONE, "hints", answer.cost_tokens, answer.cost_tokens, answer)
    return State("the kettle", hints, entities, (), (step,), answer.cost_tokens, 2000, 9)


def read(state: State, hint: Hint, title: str | None = None, *, whole: bool = True) -> State:
    """What is known once this was read, too."""
    verb = Verb.EXPAND if whole else Verb.PEEK
    finding = Finding(verb, hint.id, title, None, None, "text", whole)
    step = Step(len(state.trace) + 1, Action(verb, hint.id), Result.DONE, "4 chars", 50, state.spent + 50)
    return replace(state, context=(*state.context, finding), trace=(*state.trace, step))


def hint(number: int, score: int, tokens: int = 100) -> Hint:
    """A hint with a number for an id."""
    return Hint(f"0000000{number}", f"title {number}", score, tokens)


def test_the_best_hint_is_read_first() -> None:
    """Of texts of one length, that with the best score."""
    assert Walker(NO_MORE).decide(state_of(hint(1, 50), hint(2, 45))) == Action(Verb.EXPAND, "00000001")


def test_a_short_text_is_peeked_at() -> None:
    """What 200 characters show whole is peeked at, as that costs less."""
    assert Walker(NO_MORE).decide(state_of(hint(1, 50, 30))) == Action(Verb.PEEK, "00000001")


def test_a_dear_text_must_promise_more() -> None:
    """What costs far more than the others is not read for a score at which they would be."""
    hints = [*(hint(number, 50, 100) for number in range(1, 5)), hint(5, 40, 2000)]
    state = state_of(*hints)
    for one in hints[:4]:
        state = read(state, one)
    assert Walker(NO_MORE).decide(state) == ANSWER
    assert Walker(replace(NO_MORE, price=0)).decide(replace(state, budget=9000)).argument == "00000005"


def test_of_the_best_a_part_is_read_however_dear_it_is() -> None:
    """A text that is too long is peeked at, and so is one that does not fit what is left."""
    hints = [hint(1, 50, 5000), *(hint(number, 10, 60) for number in range(2, 7))]
    assert Walker(NO_MORE).decide(replace(state_of(*hints), budget=9000)) == Action(Verb.PEEK, "00000001")
    state = state_of(hint(1, 50, 100))
    assert Walker(NO_MORE).decide(replace(state, budget=100)) == Action(Verb.PEEK, "00000001")


def test_what_fits_is_read_before_what_does_not() -> None:
    """Of two good texts the better is left if only the other one can be read whole."""
    state = replace(state_of(hint(1, 50, 100), hint(2, 48, 60)), budget=40 + 100)
    assert Walker(NO_MORE).decide(state) == Action(Verb.EXPAND, "00000002")


def test_others_are_not_asked_for_where_there_is_no_room_to_read_them() -> None:
    """What is good already comes first, while tokens are short."""
    hints = [hint(number, 50) for number in range(1, 6)]
    state = replace(read(state_of(*hints), hints[0], "Ada"), budget=600)
    assert Walker().decide(state) == Action(Verb.EXPAND, "00000002")


def test_a_drop_in_scores_ends_it() -> None:
    """What promises far less than the best is not read."""
    first, second = hint(1, 60), hint(2, 20)
    assert Walker(NO_MORE).decide(read(state_of(first, second), first)) == ANSWER


def test_the_rest_of_a_good_text_is_read() -> None:
    """Where a peek at a good text did not show all of it, it is read before others."""
    first, second = hint(1, 60), hint(2, 58)
    state = read(state_of(first, second), first, whole=False)
    assert Walker(NO_MORE).decide(state) == Action(Verb.EXPAND, "00000001")


def test_others_are_asked_for_where_the_last_is_as_good_as_the_first() -> None:
    """Once something was read, and once only; with words of its title that the question lacks."""
    hints = [hint(number, 50) for number in range(1, 6)]
    state = read(state_of(*hints), hints[0], "Ada and the Kettle")
    asked = Action(Verb.RECALL, "kettle Ada")
    assert Walker().decide(state) == asked
    again = Step(3, asked, Result.DONE, "0 hints", 0, state.spent)
    assert Walker().decide(replace(state, trace=(*state.trace, again))) == Action(Verb.EXPAND, "00000002")
    assert Walker().decide(state_of(*hints)).verb is Verb.EXPAND


@pytest.mark.parametrize("scores", [(60, 60, 60, 60), (60, 55, 50, 40, 20)])
def test_others_are_not_asked_for_where_there_are_none_as_good(scores: tuple[int, ...]) -> None:
    """Few hints are all there are, and after a drop in scores come only worse ones."""
    hints = [hint(number, score) for number, score in enumerate(scores, 1)]
    assert Walker().decide(read(state_of(*hints), hints[0], "Ada")).verb is Verb.EXPAND


def test_connections_of_an_entity_that_the_question_names_are_followed() -> None:
    """Once the best hint was read, and once only; of as many entities as wanted."""
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
    """An entity alone is answer enough."""
    assert Walker().decide(state_of(entities=("Ada",))) == Action(Verb.NEIGHBORS, "Ada")


def test_what_neighbours_alone_name_is_not_read() -> None:
    """A hint without a score is no reason to read: its name was in the triple."""
    state = state_of(hint(1, 50))
    state = read(replace(state, hints=(*state.hints, Hint("aaaa0001", "a → knows → b", 0, 0))), hint(1, 50))
    assert Walker(NO_MORE).decide(state) == ANSWER
    assert Walker(replace(NO_MORE, worth=0)).decide(state) == ANSWER


def test_a_long_question_is_asked_again_in_part() -> None:
    """Of its words as many go into the second query as an action may have."""
    hints = [hint(number, 50) for number in range(1, 6)]
    state = replace(read(state_of(*hints), hints[0]), query=" ".join(f"word{at}" for at in range(9000)))
    asked = Walker().decide(state)
    assert asked.verb is Verb.RECALL
    assert asked.argument.startswith("word0 word1 ")
    assert len(asked.argument) > 1000


def test_nothing_is_tried_twice() -> None:
    """What failed is not asked for again."""
    first = hint(1, 60)
    state = state_of(first)
    failed = Step(2, Action(Verb.EXPAND, first.id), Result.FAILED, "gone", 0, 20)
    assert Walker(NO_MORE).decide(replace(state, trace=(*state.trace, failed))) == ANSWER


def test_without_hints_there_is_nothing_to_do() -> None:
    """A question that nothing answers is left at that."""
    assert Walker().decide(state_of()) == ANSWER


def test_odds_are_in_proportion_to_what_recall_gave() -> None:
    """A score of s / (s + c) gives back s / c."""
    assert odds(hint(1, 75)) == pytest.approx(3 * odds(hint(1, 50)))


def test_a_memory_is_explored_without_a_model() -> None:
    """The best text, connections, the other texts that are worth it; and then it has enough."""
    with memory(DAEMON) as engine:
        found = explore(engine.view, QUERY)
    assert [step.action.verb for step in found.steps if step.action] == [
        Verb.RECALL,
        Verb.PEEK,
        Verb.NEIGHBORS,
        Verb.PEEK,
    ]
    assert found.stopped is Stop.ANSWERED
    assert "Authentication is by file permissions." in found.text
    assert "daemon → listens_on → unix socket" in found.text


def test_strange_titles_and_questions_are_no_trouble() -> None:
    """Marks alone, control characters, words without end: decisions stay actions."""
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
    """Anything else is refused when the walker is made."""
    with pytest.raises(InvalidInputError, match="config must be a WalkerConfig"):
        Walker({"worth": 1})  # type: ignore[arg-type]
