"""Tests of the measuring tools: data, times, ratios and the table (`pytest bench`).

Question: can the figures be trusted? Data: small. Seed: 1. How: ordinary tests; nothing is measured.
"""

from __future__ import annotations

import cProfile
import pstats
from itertools import count
from pathlib import Path

import psycopg
import pytest

from bench import data, falls, groups, many_memories, profile, proofs, ranges
from bench.groups import LARGE
from bench.job import MODULES, Job, Result, Untimed, measurement, percentile
from bench.rivals import PACKAGED, Fts, open_rival
from bench.table import RATE, TIME, Row, Target, lost, markdown
from bench.writing import as_add
from engine import Engine
from engine.base.native import load
from engine.index.columns import NewDocument
from tests.support.postgresql import shared_server


def test_equal_seeds_give_equal_texts() -> None:
    """The same seed gives the same texts and questions, and a different seed gives different ones."""
    first = list(data.texts(50, 1)), data.questions(5, 1)

    assert first == (list(data.texts(50, 1)), data.questions(5, 1))
    assert first[0] != list(data.texts(50, 2))


def test_more_texts_begin_with_the_same() -> None:
    """The texts of a larger set begin with the texts of a smaller set."""
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


def test_an_operation_fell_if_three_quarters_of_its_ratios_say_so() -> None:
    """A few slow rounds are noise, and so are ratios at the bound."""
    slow, bound = falls.RATIO_MAX + 0.01, falls.RATIO_MAX

    assert falls.fell([slow] * 7 + [0.9])
    assert not falls.fell([slow] * 5 + [1.0] * 3)
    assert not falls.fell([bound] * 8)


@pytest.mark.parametrize("operation", falls.OPERATIONS)
def test_every_compared_operation_runs(operation: str) -> None:
    """Each uses some CPU time on a few texts."""
    few = {"texts": [text.content for text in data.texts(20, 1)], "questions": data.questions(2, 1)}

    assert falls.cpu_seconds(operation, few) > 0


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


def test_every_lost_row_is_named() -> None:
    """The paragraph after the table names the rows with a rival ahead, and those that miss their target."""
    ahead = Row("adds", RATE, 5, 10, others={"plugmem": 2})
    rows = [ahead, Row("asks", TIME, 5, 10), Row("opens", TIME, 9, None, Target("≤ 7", 7))]
    assert lost(rows) == "Lost or missed: adds (rival); opens (target)."
    assert lost(rows[1:2]) == "Lost or missed: no row."


def test_every_rival_that_was_measured_has_a_column() -> None:
    """A column is shown if a row has a figure for it. A rival's figure is shown with memroot's ratio."""
    table = markdown([Row("adds", RATE, 20, 10, others={"plugmem": 40}, plain=5), Row("asks", TIME, 1)])
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]

    assert cells[0] == ["question", "memroot", "without kernels", "rival", "plugmem", "target"]
    assert cells[2] == ["adds", "20/s", "5/s", "10/s, 2.00×", "40/s, 0.50× lost", "–"]
    assert cells[3] == ["asks", "1.00 ms", "–", "–", "–", "–"]


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


@pytest.mark.parametrize("name", PACKAGED)
def test_the_rivals_that_are_packages_find_what_they_were_given(name: str, tmp_path: Path) -> None:
    """A rival keeps texts after reopening, and finds those that have any word of the question."""
    pytest.importorskip(name)
    words = ("alpha beta", "gamma", "beta")
    with open_rival(name, tmp_path / "rival") as store:
        store.add([data.Text(word, ("t",), f"{word}.md", 0) for word in words])
        store.finish()
    with open_rival(name, tmp_path / "rival") as store:
        found = str(store.recall("beta zeta"))

    assert [word in found for word in words] == [True, False, True]


def test_a_row_is_made_with_and_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """With both kernels, memroot is measured twice and a rival once."""
    asked = []

    def in_child(name: str, job: Job) -> Result:
        asked.append((name, job.kernels))
        return {"per_s": 10 if job.kernels == "native" else 4, "records": 1}

    monkeypatch.setattr(groups, "in_child", in_child)
    monkeypatch.setattr(groups, "is_installed", lambda name: False)
    run = groups.Run("work", 1, [LARGE], quick=True, kernels="native")
    (row,) = groups.with_and_without_kernels(run, ["bulk"], both=True)

    assert (row.ours, row.plain, row.rivals) == (10, 4, 4)
    assert asked == [("bulk", "native"), ("bulk_rival", "auto"), ("bulk", "python")]


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


def test_a_profile_names_the_kernels() -> None:
    """Calls of compiled functions are counted by kernel, and other calls are not."""
    native = load("auto")
    if native is None:
        pytest.skip("the compiled kernels are not installed")
    profiler = cProfile.Profile()
    profiler.runcall(lambda: [native.leaf_hashes([b"x"]) for _ in range(3)])
    heading, *lines = profile.native_times(pstats.Stats(profiler)).splitlines()

    assert "of the time" in heading
    assert [line.split()[2:] for line in lines] == [["3", "leaf_hashes"]]


def test_ranges_of_an_index_answer_like_the_whole() -> None:
    """The program that cuts an index compares rows, root and answers, and all of them are equal."""
    commands = list(map(as_add, data.texts(1500, 1)))
    with Engine.open("memory:") as engine:
        engine.apply(commands)
        documents = [NewDocument(command.body()) for command in commands]
        cuts, found = ranges.measure(engine.store, documents, 3, data.questions(5, 1))
    assert cuts == "3"
    assert "(1 put together)" in found
    assert "| 5 of 5 |" in found


def test_many_memories_are_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program makes and measures the memories that were asked for."""
    asked = "many_memories --memories 3 --atoms 20 --sample 3"
    with psycopg.connect(shared_server().url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE measured")
    url = shared_server().url.replace("/postgres", "/measured")
    monkeypatch.setattr("sys.argv", [*asked.split(), "--url", url])
    many_memories.main()
    table = capsys.readouterr().out
    assert "| memories in the database (made in this run) | 3 (3) |" in table
