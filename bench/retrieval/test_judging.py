"""Tests of how systems are run, configured and compared (`pytest bench/retrieval`).

Question: do all systems get the same data, and is each difference due to one signal?
Data: small. Seed: 1. How: ordinary tests; nothing is measured.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from bench.retrieval.ablation import ALL_OFF, ablate, ablation_section, contribution, in_turn
from bench.retrieval.judge import Answer, by_second_judgement, figures, judge
from bench.retrieval.latency import latency, latency_section
from bench.retrieval.lexical_rivals import lexical, without_stop_words
from bench.retrieval.ours import all_off, config_with, memroot, neutral, without
from bench.retrieval.retrieval_table import markdown, section
from bench.retrieval.sets import Question, QuestionSet, read_set
from bench.retrieval.test_sets import write
from engine.base.errors import InvalidInputError
from engine.query.recall.recall_config import RecallConfig, Signals


@pytest.fixture
def question_set(tmp_path: Path) -> QuestionSet:
    """Return a set of two memories. Each has three documents, and one question in each of two categories."""
    corpus = [
        {"id": "p1", "title": "Harbour", "text": "boats rest here at night"},
        {"id": "p2", "text": "cold stones along the shore"},
        {"id": "p3", "text": "nothing of the kind"},
    ]
    queries = [
        {"query": "Where do the boats rest?", "relevant": ["p1"], "category": "where"},
        {"query": "Tell about stones", "relevant": ["p2"], "category": "what", "relevant_audited": ["p3"]},
    ]
    for name in ("one", "two"):
        write(tmp_path / "tiny" / name, corpus, queries)
    return read_set(tmp_path / "tiny")


def test_all_systems_find_the_document_with_the_words(question_set: QuestionSet, tmp_path: Path) -> None:
    """If only one document has the question's words, memroot and all available rivals rank it first."""
    systems = {"memroot": memroot(RecallConfig()), **lexical()[0]}
    answers = judge(question_set, systems, 20, tmp_path, 1, lambda _: None)

    assert answers.keys() == systems.keys()
    assert all(figures(system_answers).measures["MRR@10"] == 1 for system_answers in answers.values())


def test_a_question_without_words_finds_nothing(tmp_path: Path) -> None:
    """A question without search terms gets an empty answer from all systems, and is counted."""
    corpus = [{"id": "p1", "text": "boats rest"}]
    question_set = read_set(write(tmp_path / "odd", corpus, [{"query": "?!", "relevant": ["p1"]}]))
    answers = judge(
        question_set, {"memroot": memroot(RecallConfig()), **lexical()[0]}, 20, tmp_path, 1, lambda _: None
    )

    assert {one.ranking for system_answers in answers.values() for one in system_answers} == {()}


def test_equal_seeds_give_equal_rankings(tmp_path: Path) -> None:
    """Two runs with the same seed give equal rankings, although ties are broken by ids."""
    tied = [
        {"id": word, "text": f"boat {word}"} for word in ("alpha", "beta", "gamma", "delta", "zeta", "eta")
    ]
    queries = [{"query": "boat", "relevant": ["beta"]}]
    question_set = read_set(write(tmp_path / "tied", tied, queries))
    rankings = []
    for run in ("first", "second"):
        (tmp_path / run).mkdir()
        found = judge(
            question_set, {"memroot": memroot(RecallConfig())}, 20, tmp_path / run, 1, lambda _: None
        )
        rankings.append([one.ranking for one in found["memroot"]])

    assert rankings[0] == rankings[1]


def test_the_section_tells_counts_categories_and_the_second_judgement(
    question_set: QuestionSet, tmp_path: Path
) -> None:
    """The section of a set shows its counts, its categories and its second judgement."""
    shown = section(
        question_set,
        judge(question_set, {"memroot": memroot(RecallConfig())}, 20, tmp_path, 1, lambda _: None),
    )

    assert "### tiny: 4 questions, 6 documents in 2 memories" in shown
    assert "With audited relevance (4 questions)" in shown
    assert "| where (2) | memroot | 1.000 |" in shown


def test_the_second_judgement_replaces_the_first() -> None:
    """The second judgement decides what is correct; questions that it does not judge are left out."""
    once = Question("?", "c", frozenset("a"), frozenset("b"))
    answers = [Answer(once, ("b",), 1.0), Answer(replace(once, second=frozenset()), ("a",), 1.0)]

    assert figures(answers).measures["R@5"] == 0.5
    assert figures(by_second_judgement(answers)).measures["R@5"] == 1
    assert figures(by_second_judgement(answers)).questions == 1


def test_every_signal_is_taken_away_in_turn() -> None:
    """For each signal there is a configuration that differs from the original in that signal only."""
    config, rest = RecallConfig(), without(RecallConfig())

    for one in fields(Signals):
        value = neutral(one.name)
        assert rest[one.name] == replace(config, signals=replace(config.signals, **{one.name: value}))
    assert rest.keys() - {one.name for one in fields(Signals)} == {"walkers", "collapse", "spelling"}


def test_plain_has_nothing_left_to_take_away() -> None:
    """With all signals off there is nothing left to turn off, and BM25 is unchanged."""
    bare = all_off(RecallConfig())

    assert without(bare) == {}
    assert bare.bm25 == RecallConfig().bm25


def test_what_is_off_already_is_not_taken_away() -> None:
    """A signal with its neutral weight contributes nothing, so it is not measured."""
    assert {"near", "internal"}.isdisjoint(without(config_with(["near=0", "internal=1"])))


def test_weights_are_set_by_name() -> None:
    """A name without a dot sets a signal or a top-level field, and a dotted name sets a field of its part."""
    config = config_with(["near=0.25", "protocol.enough=7", "bm25.k1=1.2", "collapse=0"])

    assert (config.signals.near, config.protocol.enough, config.bm25.k1) == (0.25, 7, 1.2)
    assert config.collapse is False


@pytest.mark.parametrize("setting", ["nowhere=1", "near", "near=much", "bm25=1", "a.b=1", "near=-1"])
def test_a_weight_that_cannot_be_set_is_refused(setting: str) -> None:
    """An unknown name, an invalid number and a number out of range are errors."""
    with pytest.raises(InvalidInputError, match=r"near|--set"):
        config_with([setting])


def test_configurations_take_turns_at_being_first() -> None:
    """All configurations answer all questions in order, but the first configuration changes each time."""
    order: list[str] = []

    def asking(name: str, question: str) -> list[str]:
        order.append(name)
        return [name + question]

    asks = {name: (lambda question, limit, name=name: asking(name, question)) for name in "ab"}
    found = in_turn(asks, ["1", "2"], 5)

    assert "".join(order) == "abba"
    assert [ranking for ranking, _ in found["b"]] == [("b1",), ("b2",)]


def test_what_a_signal_earns_is_the_difference_question_by_question() -> None:
    """The contribution of a signal is the mean difference with its standard error, over the questions."""
    question = Question("?", "c", frozenset("a"), frozenset("a"))
    whole = [Answer(question, ("a",), 3.0), Answer(question, ("a",), 3.0)]
    rest = [Answer(question, ("a",), 1.0), Answer(question, (), 2.0)]

    found = contribution(whole, rest)
    assert (found.measures["R@10"], found.cost_ms) == (0.5, 1.5)
    assert found.errors["R@10"] == pytest.approx(0.5)


def test_ablation_shows_every_signal(question_set: QuestionSet, tmp_path: Path) -> None:
    """The table has a line for each part that can be turned off, and a line for all parts together."""
    found = ablate(question_set, RecallConfig(), 20, tmp_path, 1, lambda _: None)

    assert list(found) == [*without(RecallConfig()), ALL_OFF]
    assert all(f"| {name} " in ablation_section([(question_set, found)]) for name in found)


def test_latency_is_told_part_by_part(tmp_path: Path) -> None:
    """The latency report has a time for the whole, for the analysis, and for each signal."""
    found = latency(300, RecallConfig(), 20, tmp_path, 1, lambda _: None)

    assert found.p50_ms > 0
    assert found.costs_ms.keys() == {*without(RecallConfig()), ALL_OFF}
    assert "300 generated atoms" in latency_section(found)


def test_stop_words_are_taken_out_unless_nothing_else_is_there() -> None:
    """A question keeps its content words; a question that has only stop words is not changed."""
    assert without_stop_words("Where do the boats rest?") == "boats rest"
    assert without_stop_words("to be or not to be") == "to be or not to be"


def test_columns_are_aligned() -> None:
    """Columns of texts are aligned to the left, and columns of numbers to the right."""
    assert markdown(("system", "R"), [("a", "0.5"), ("long name", "10")]).splitlines() == [
        "| system    |   R |",
        "|-----------|----:|",
        "| a         | 0.5 |",
        "| long name |  10 |",
    ]
