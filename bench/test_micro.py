"""Micro-benchmarks of single operations: `pytest bench --benchmark-enable`.

Question: what does one call of the analyzer, the header codec, the tree, a command or a question cost?
Data: at most 1,000 texts of `bench.data.texts`. Seed: 1. How: pytest-benchmark with the memory backend, so
nothing is synced. Without `--benchmark-enable` each test runs once, as a check that it still works.
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
from engine.ledger.paged_tree import PagedTree
from engine.text.analyzer import index_terms
from proofs.codec import encode_header
from proofs.events import AtomDetail, EventKind, Header

SEED = 1
ATOMS = 1_000


@pytest.fixture(scope="module")
def texts() -> list[data.Text]:
    """Return a thousand texts."""
    return list(data.texts(ATOMS, SEED))


@pytest.fixture
def engine(texts: list[data.Text]) -> Iterator[Engine]:
    """Yield a store with a thousand atoms, with all followers at the head."""
    with Engine.open("memory:") as opened:
        for _ in opened.apply_many(map(as_add, texts)):
            pass
        yield opened


def test_analysis(benchmark: BenchmarkFixture, texts: list[data.Text]) -> None:
    """A text of 40 words is analysed into 40 terms."""
    terms = benchmark(index_terms, texts[0].content)

    assert len(terms) == data.TEXT_WORDS


def test_header_encoding(benchmark: BenchmarkFixture) -> None:
    """The header of an added atom is encoded."""
    detail = AtomDetail(bytes(range(16)), 70_000, None)
    header = Header(100_000, 1_800_000_000_000_000, EventKind.ATOM_ADDED, "user", bytes(32), None, detail)

    assert benchmark(encode_header, header)


@pytest.mark.parametrize("size", [1, 1_000])
def test_tree_update(benchmark: BenchmarkFixture, size: int) -> None:
    """A batch of new leaves is added to a tree of 10,000 leaves."""
    draw = Random(SEED)
    tree, rows, batch = PagedTree("atoms"), MemoryBackend(), Batch()
    tree.update(rows, batch, {draw.randbytes(32): draw.randbytes(32) for _ in range(10_000)})
    rows.write(batch)
    changes: dict[bytes, bytes | None] = {draw.randbytes(32): draw.randbytes(32) for _ in range(size)}

    root = benchmark(lambda: tree.update(rows, Batch(), changes))

    assert root != tree.root(rows)


def test_single_add(benchmark: BenchmarkFixture, engine: Engine) -> None:
    """One atom is added without updating the followers."""
    numbers = count()

    receipt = benchmark(lambda: engine.apply([Add(f"text number {next(numbers)}")])[0])

    assert len(receipt.events) == 1


def test_recall(benchmark: BenchmarkFixture, engine: Engine) -> None:
    """A question of six words is answered from a thousand atoms."""
    (question,) = data.questions(1, SEED)

    found = benchmark(lambda: engine.recall(question))

    assert len(found.hits) == 10
