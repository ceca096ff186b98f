"""The small steps that everything else is made of, measured alone: `pytest bench --benchmark-enable`.

Question: what does one call cost of the analyzer, the header codec, the tree, a command, a question?
Data: `bench.data.texts`, 1,000 at most. Seed: 1. How: pytest-benchmark; memory backend, so nothing is
synced. Without `--benchmark-enable` each runs once, as a check that it still works.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from backends.base import Batch
from backends.memory import MemoryBackend
from bench import data
from bench.writing import as_add
from engine import Add, Engine
from engine.ledger.pages import PagedTree
from engine.text.analyzer import index_terms
from proofs.codec import encode_header
from proofs.events import AtomDetail, EventKind, Header

SEED = 1
ATOMS = 1_000


@pytest.fixture(scope="module")
def texts() -> list[data.Text]:
    """A thousand texts."""
    return list(data.texts(ATOMS, SEED))


@pytest.fixture
def engine(texts: list[data.Text]) -> Iterator[Engine]:
    """A memory with a thousand atoms, everything at the head."""
    with Engine.open("memory:") as opened:
        for _ in opened.apply_many(map(as_add, texts)):
            pass
        yield opened


def test_analysis(benchmark: BenchmarkFixture, texts: list[data.Text]) -> None:
    """A text of 40 words is analysed into as many terms, its words being seen before."""
    terms = benchmark(index_terms, texts[0].content)

    assert len(terms) == data.TEXT_WORDS


def test_header_encoding(benchmark: BenchmarkFixture) -> None:
    """The header of an added atom is encoded."""
    detail = AtomDetail(bytes(range(16)), 70_000, None)
    header = Header(100_000, 1_800_000_000_000_000, EventKind.ATOM_ADDED, "user", bytes(32), None, detail)

    assert benchmark(encode_header, header)


@pytest.mark.parametrize("size", [1, 1_000])
def test_tree_update(benchmark: BenchmarkFixture, size: int) -> None:
    """A batch of new leaves goes into a tree of 10,000."""
    draw = Random(SEED)
    tree, rows, batch = PagedTree("atoms"), MemoryBackend(), Batch()
    tree.update(rows, batch, {draw.randbytes(32): draw.randbytes(32) for _ in range(10_000)})
    rows.write(batch)
    changes: dict[bytes, bytes | None] = {draw.randbytes(32): draw.randbytes(32) for _ in range(size)}

    root = benchmark(lambda: tree.update(rows, Batch(), changes))

    assert root != tree.root(rows)


def test_single_add(benchmark: BenchmarkFixture, engine: Engine) -> None:
    """One atom is added; the followers are left behind."""
    numbers = count()

    receipt = benchmark(lambda: engine.apply([Add(f"text number {next(numbers)}")])[0])

    assert len(receipt.events) == 1


def test_recall(benchmark: BenchmarkFixture, engine: Engine) -> None:
    """A question of six words is answered out of a thousand atoms."""
    (question,) = data.questions(1, SEED)

    found = benchmark(lambda: engine.recall(question))

    assert len(found.hits) == 10
