"""Tests of the measuring tools: data, times, ratios and the table (`pytest bench`).

Question: can the figures be trusted? Data: small. Seed: 1. How: ordinary tests; nothing is measured.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from bench import data, proofs
from bench.job import MODULES, Job, Untimed, measurement, percentile
from bench.rivals import Fts
from bench.table import RATE, TIME, Row, Target, markdown


def test_equal_seeds_give_equal_texts() -> None:
    """The same seed gives the same texts and questions, and a different seed gives different ones."""
    first = list(data.texts(50, 1)), data.questions(5, 1)

    assert first == (list(data.texts(50, 1)), data.questions(5, 1))
    assert first[0] != list(data.texts(50, 2))


def test_more_texts_begin_with_the_same() -> None:
    """A larger set of texts begins with the smaller one."""
    assert list(data.texts(30, 1))[:10] == list(data.texts(10, 1))


def test_questions_have_different_words() -> None:
    """A question has six different words."""
    assert all(len(set(question.split())) == data.QUESTION_WORDS for question in data.questions(50, 1))


@pytest.mark.parametrize("items", [0, 1, 9, 10, 11, 25])
def test_untimed_passes_everything_on(items: int) -> None:
    """The wrapper that subtracts generation time yields each item exactly once."""
    assert list(Untimed()(range(items), chunk=10)) == list(range(items))


def test_percentile_takes_a_value_that_was_measured() -> None:
    """A percentile is one of the measured values, even if there is only one value."""
    values = [float(number) for number in range(100, 0, -1)]

    assert (percentile(values, 0.5), percentile(values, 0.99), percentile([7.0], 0.99)) == (50.0, 99.0, 7.0)


def test_ratio_is_above_one_where_memroot_is_ahead() -> None:
    """The ratio is above 1 for a higher rate and for a shorter time."""
    rows = Row("a", RATE, 20, 10), Row("b", TIME, 5, 10), Row("c", TIME, 10, 5), Row("d", RATE, 1)

    assert [row.ratio for row in rows] == [2, 2, 0.5, None]


def test_a_lost_row_says_so() -> None:
    """The table says lost if the rival is ahead, and missed if a target is missed."""
    table = markdown([Row("adds", RATE, 5, 10, Target("≥ 7", 7)), Row("asks", TIME, 5, 10, Target("≤ 7", 7))])

    lines = table.splitlines()
    assert "0.50× lost" in lines[2]
    assert "missed" in lines[2]
    assert "lost" not in lines[3]
    assert "reached" in lines[3]


def test_a_small_row_decides_no_target() -> None:
    """A target for a larger store is shown without a verdict."""
    assert Row("open", TIME, 1, None, Target("≤ 500 ms at 1 M", 500, judged=False)).reached is None


def test_an_unknown_measurement_is_refused() -> None:
    """Only functions defined in the measuring modules are measurements, not imported names."""
    assert measurement("bulk").__module__ in MODULES
    with pytest.raises(KeyError):
        measurement("Engine")


def test_proofs_that_are_measured_are_proofs(tmp_path: Path) -> None:
    """Proofs of small trees and logs are verified and have the size expected for so few leaves."""
    job = Job(300, 1, str(tmp_path), quick=True)
    tree, log = proofs.tree_proofs(job), proofs.log_proofs(job)

    assert 6 * 32 < tree["member_bytes"] < 12 * 33
    assert 8 * 32 <= log["inclusion_bytes"] <= 9 * 32
    assert min(*tree.values(), *log.values()) > 0


def test_a_proof_of_something_else_is_no_figure() -> None:
    """A proof that does not lead to the expected root raises an error instead of giving a figure."""
    with pytest.raises(RuntimeError):
        proofs.measure("x", lambda one: one, lambda _, made: proofs.check_root(made, bytes(32)), [b"y" * 32])


def test_the_rival_finds_what_it_was_given(tmp_path: Path) -> None:
    """The rival keeps texts after reopening, finds them by their words, and passes its own check."""
    numbers = count()
    texts = [data.Text(word, ("t",), f"{word}.md", next(numbers)) for word in ("alpha beta", "gamma", "beta")]
    with Fts(tmp_path / "rival.db") as store:
        store.add(texts[:2], links=[["gamma"], []])
        store.add(texts[2:])
    with Fts(tmp_path / "rival.db") as store:
        store.rebuild()
        store.check()
        found = store.recall("beta zeta")

    assert [hit.source for hit in found] == ["beta.md", "alpha beta.md"]
