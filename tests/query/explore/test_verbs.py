"""Every answer has its cost, seq and root, and stays within its budget."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Engine, Relate, Tag
from engine.base.errors import InvalidInputError
from engine.commands import Command
from engine.query.explore.explore_answers import Answer, Expanded, Form, Hints, Neighbors, Peek
from engine.query.explore.explorer import Explorer
from tests.query.explore.support import cost_of, least_of, memories, verbs
from tests.query.recall.support import id_of, memory

pytestmark = pytest.mark.slow

FORMS = st.sampled_from(Form)

ROOM = 8
"""The figures in an answer as JSON are counted as wide ones: two costs, 4 tokens each at most."""


@given(memories, FORMS)
@settings(max_examples=40)
def test_a_cost_is_that_of_the_form_it_is_handed_out_in(commands: list[Command], form: Form) -> None:
    """The cost is exact for text, and at most some tokens too high for JSON."""
    with memory(commands) as engine:
        for verb in verbs(engine):
            answer = verb(engine.explorer(form=form))
            real = cost_of(answer, form)
            assert real <= answer.cost_tokens <= real + (ROOM if form is Form.JSON else 0)


@pytest.mark.parametrize("spent", [0, 99, 999_999, 1_000_000, 10**12, 2**63 - 1])
def test_a_cost_is_not_too_low_however_much_was_spent(spent: int) -> None:
    """The cost includes the digits of the running total."""
    with memory([Add("The kettle.", id=id_of(1))]) as engine:
        answer = engine.explorer(form="json", spent=spent).explore_recall("kettle")
        assert answer.cost_tokens >= cost_of(answer, Form.JSON)


@given(memories, FORMS, st.integers(0, 10**6))
@settings(max_examples=25)
def test_totals_are_running_sums(commands: list[Command], form: Form, spent: int) -> None:
    """Each total is the previous total plus the cost, starting at `spent`."""
    with memory(commands) as engine:
        explorer = engine.explorer(form=form, spent=spent)
        for verb in verbs(engine):
            before = explorer.total
            answer = verb(explorer)
            assert answer.total_tokens == before + answer.cost_tokens == explorer.total


def test_what_is_refused_costs_nothing() -> None:
    """A verb that raises does not change the total."""
    with memory([Add("The kettle.", id=id_of(1))]) as engine:
        explorer = engine.explorer(spent=7)
        with pytest.raises(InvalidInputError):
            explorer.explore_expand(id_of(1), budget=1)
        assert explorer.total == 7


@given(memories)
@settings(max_examples=20)
def test_answers_are_of_the_root_at_the_head(commands: list[Command]) -> None:
    """Seq and root are those of the engine, also after the head moved."""
    with memory(commands) as engine:
        explorer = engine.explorer()
        for step in range(2):
            root = engine.root()
            for verb in verbs(engine):
                answer = verb(explorer)
                assert (answer.seq, answer.root) == (root.size - 1, root.root)
            engine.add(f"Something new {step}.")


@given(memories, st.data())
@settings(max_examples=20)
def test_the_past_is_explored_as_it_was(commands: list[Command], data: st.DataObject) -> None:
    """As of any head, all verbs give the answers of that head."""
    now = data.draw(st.integers(1, len(commands)))
    with memory(commands[:now]) as then, memory(commands) as engine:
        head = then.root()
        with engine.as_of(head.size - 1) as past:
            for verb in verbs(then):
                answer = verb(Explorer(past.view))
                assert answer == verb(then.explorer())
                assert answer.root == head.root


def _budgeted(engine: Engine) -> list[Callable[..., Answer]]:
    """Each verb as a function of a budget, with a new explorer each time."""
    atoms = [one.id for one in engine.find(limit=2)]
    found: list[Callable[..., Answer]] = [
        lambda explorer, budget: explorer.explore_recall("Anna kettle tea garage", 10, budget=budget)
    ]
    for atom in atoms:
        found += [
            lambda explorer, budget, atom=atom: explorer.explore_peek(atom, "kettle", budget=budget),
            lambda explorer, budget, atom=atom: explorer.explore_expand(atom, budget=budget),
            lambda explorer, budget, atom=atom: explorer.explore_neighbors(atom, budget=budget),
        ]
    return found


def size_of(answer: Answer) -> int:
    """The number of items or characters in an answer."""
    match answer:
        case Hints():
            return len(answer.hints)
        case Peek() | Expanded():
            return len(answer.text)
        case Neighbors():
            return len(answer.triples)
    raise TypeError


@given(memories, FORMS, st.lists(st.integers(0, 150), min_size=1, max_size=4))
@settings(max_examples=40)
def test_no_answer_is_over_its_budget(commands: list[Command], form: Form, more: list[int]) -> None:
    """No answer exceeds its budget, and a larger budget gives no less."""
    with memory(commands) as engine:
        for verb in _budgeted(engine):
            least = least_of(partial(verb, engine.explorer(form=form)))
            sizes = []
            for budget in sorted(least + extra for extra in more):
                answer = verb(engine.explorer(form=form), budget=budget)
                assert answer.cost_tokens <= budget
                sizes.append(size_of(answer))
            assert sizes == sorted(sizes)
            if least:
                with pytest.raises(InvalidInputError, match=f"costs {least}$"):
                    verb(engine.explorer(form=form), budget=least - 1)


@given(memories, FORMS)
@settings(max_examples=20)
def test_a_budget_of_its_cost_changes_no_answer(commands: list[Command], form: Form) -> None:
    """A budget equal to an answer's cost gives the same answer."""
    with memory(commands) as engine:
        for verb in _budgeted(engine):
            whole = verb(engine.explorer(form=form), budget=None)
            assert verb(engine.explorer(form=form), budget=whole.cost_tokens) == whole


@given(memories)
@settings(max_examples=15)
def test_exploring_writes_nothing(commands: list[Command]) -> None:
    """Exploring appends no events."""
    with memory(commands) as engine:
        head = engine.root()
        for verb in verbs(engine):
            verb(engine.explorer())
        assert engine.root() == head


def test_a_budget_leaves_out_the_last_hints() -> None:
    """A budget drops the last hints and keeps the named entities."""
    atoms = [Add("kettle " * (6 - number) + "tea", id=id_of(number + 1)) for number in range(5)]
    with memory([*atoms, Relate("kettle", "makes", "tea")]) as engine:
        whole = engine.explorer().explore_recall("kettle")
        part = engine.explorer().explore_recall("kettle", budget=whole.cost_tokens - 1)
        assert part.hints == whole.hints[:4]
        assert part.entities == whole.entities == ("kettle",)


def test_two_explorers_of_one_memory_agree() -> None:
    """Two explorers with the same history give the same answers."""
    commands: list[Command] = [Add("The kettle boils.", id=id_of(1)), Tag(id_of(1), ["home"])]
    with memory(commands) as one, memory(commands) as other:
        answers = [[verb(engine.explorer()) for verb in verbs(engine)] for engine in (one, other)]
        assert answers[0] == answers[1]
