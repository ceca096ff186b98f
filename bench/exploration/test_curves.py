"""Tests of the exploration curves (`pytest bench/exploration`).

Question: can the figures be trusted? Data: small. Seed: none. How: ordinary tests; nothing is measured.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.exploration.curves import Path, Point, gain, means, path_of
from bench.exploration.exploration_table import section
from bench.exploration.explorations import measure
from bench.retrieval.sets import Document, Memory, Question, QuestionSet

names = st.sampled_from("abcdef")
parts = st.lists(st.tuples(st.integers(1, 99), st.one_of(st.none(), names)), max_size=8)
some = st.frozensets(names, min_size=1)


def test_a_path_adds_up() -> None:
    """Tokens add up, each document counts once, and the path is constant after the last part."""
    path = path_of([(100, None), (50, "a"), (60, "x"), (50, "a"), (40, "b")], frozenset("abc"), 6)
    assert [point.tokens for point in path] == [0, 100, 150, 210, 260, 300, 300]
    assert [point.found for point in path] == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3, 2 / 3, 2 / 3])


@given(parts, some, st.integers(0, 10))
def test_paths_never_fall(
    given_parts: list[tuple[int, str | None]], relevant: frozenset[str], depth: int
) -> None:
    """With each step, neither the tokens nor the share found decrease."""
    path = path_of(given_parts, relevant, depth)
    assert len(path) == depth + 1
    assert list(path) == sorted(path, key=lambda point: point.tokens)
    assert [point.found for point in path] == sorted(point.found for point in path)


def test_the_mean_is_taken_point_by_point() -> None:
    """All questions have the same weight in the mean path."""
    paths: list[Path] = [(Point(0, 0), Point(10, 1)), (Point(0, 0), Point(30, 0))]
    assert means(paths) == (Point(0, 0), Point(20, 0.5))


@given(st.lists(st.tuples(parts, some), min_size=1, max_size=5), st.integers(1, 5))
def test_paths_have_no_gain_over_themselves(
    questions: list[tuple[list[tuple[int, str | None]], frozenset[str]]], depth: int
) -> None:
    """If the last points of some paths are compared with the same paths, the gain is 0."""
    paths = [path_of([(1, "z"), *found], relevant, depth) for found, relevant in questions]
    assert gain([path[-1] for path in paths], paths).found == pytest.approx(0, abs=1e-9)


def test_a_gain_is_taken_at_equal_tokens() -> None:
    """A gain is interpolated between two depths. Beyond the last depth, the last depth is used."""
    paths: list[Path] = [(Point(0, 0), Point(100, 0.5), Point(200, 1))] * 2
    assert gain([Point(150, 1), Point(150, 1)], paths) == pytest.approx((0.25, 0))
    assert gain([Point(100, 1), Point(200, 1)], paths).error == pytest.approx(0)
    assert gain([Point(999, 0.5), Point(999, 1)], paths) == pytest.approx((-0.25, 0.25))


def test_a_small_set_is_judged(tmp_path: object) -> None:
    """Explorations with all budgets are run on all questions, and the table has a line for each budget."""
    from pathlib import Path as Folder

    folder = Folder(str(tmp_path))
    texts = {f"d{at}": f"the kettle number {at} boils {'water ' * at}" for at in range(12)}
    lines = "".join(f'{{"id": "{name}", "text": "{text}"}}\n' for name, text in texts.items())
    (folder / "corpus.jsonl").write_text(lines, encoding="utf-8")
    documents = tuple(Document(name, None, text) for name, text in texts.items())
    relevant = frozenset({"d3"})
    questions = (
        Question("which kettle is number 3?", "all", relevant, relevant),
        Question("...", "all", relevant, relevant),
    )
    found = measure(
        QuestionSet("small", "R@10", (Memory("small", folder / "corpus.jsonl", documents, questions),)),
        folder,
        1,
        lambda line: None,
    )
    assert found.questions == 1
    for explored in found.explored.values():
        assert explored[0].spent.found == 1
        assert explored[0].context.tokens > 0
    printed = section(found)
    assert all(f"| {name} " in printed for name in found.explored)
