"""Simulate a memory whose index is cut over several machines: `python -m bench.ranges`.

Question: is the answer that is merged from ranges of ordinals the answer of the whole index; what does a cut
    cost; and what do the statistics of the whole collection change?
Data: texts of `bench.data`, and questions drawn from the same words. Seed: `--seed`.
How: the whole is an ordinary memory. For each number of ranges, every range builds its segments from its own
    texts only, into a store of its own. A question takes two messages to each range: (1) the range answers
    with its number of documents, their total length, and the document frequency of each term; (2) it gets the
    sums, scores its documents by BM25 with the constants of recall, and answers with its best ten. The
    answers are merged by score, then ordinal. The ranges run one after another; parallel machines would wait
    for the slowest one. The program fails if a merged answer, a row or the root differs from the whole. It
    simulates neither the network nor the other signals of recall, which read facts of neighbours and tags.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from backends.base import Batch, Reader
from backends.memory import MemoryBackend
from bench import data
from bench.many_memories import markdown
from bench.writing import as_add
from engine import Engine
from engine.index.columns import NewDocument
from engine.index.index_view import IndexView, Tail
from engine.index.postings import StoredPart, build_segment
from engine.index.postings_cache import PostingsCache
from engine.index.segments import IndexKeys, SegmentName, segments_of
from engine.ledger.journal import read_log
from engine.query.recall.recall_config import Bm25Config
from engine.query.recall.signals.scoring import MICRO, idf
from engine.store.store import Store
from engine.text.analyzer import index_terms
from proofs.leaves import TAIL_LEVEL, Summary, index_root, segment_key

BEST: Final = 10
ALIGNED: Final = 256
"""Ranges begin at multiples of this number, the size of the smallest segment."""

BM25: Final = Bm25Config()

Answer = list[tuple[int, int]]
"""The best documents: pairs of the negated score in millionths, and the ordinal."""


class Statistics(NamedTuple):
    """What a score needs to know about the whole collection."""

    documents: int
    total_length: int
    dfs: Mapping[str, int]
    """The number of documents that mention each term of the question."""

    def __add__(self, other: object) -> Statistics:
        """Return the sums of two ranges."""
        assert isinstance(other, Statistics)
        dfs = {term: df + other.dfs[term] for term, df in self.dfs.items()}
        return Statistics(self.documents + other.documents, self.total_length + other.total_length, dfs)

    @property
    def bytes(self) -> int:
        """The size of the message, with 8 bytes for each number."""
        return 8 * (2 + len(self.dfs))


def statistics(view: IndexView, terms: Sequence[str]) -> Statistics:
    """Return the statistics of a range, or of the whole."""
    return Statistics(view.counted, view.total_length, dict(zip(terms, view.dfs(terms), strict=True)))


def search(view: IndexView, whole: Statistics) -> Answer:
    """Return the best documents of a range, scored with the statistics of the whole collection."""
    average = whole.total_length / whole.documents
    scores: dict[int, float] = {}
    for term in sorted(whole.dfs):
        if not whole.dfs[term]:
            continue
        weight = idf(whole.documents, whole.dfs[term]) * (BM25.k1 + 1)
        for start, offsets, tfs in view.postings(term):
            ordinals = offsets.astype(np.int64) + start
            lengths = view.lengths_at(ordinals)
            norms = BM25.k1 * ((1 - BM25.b) + BM25.b * (lengths / average))
            amounts = weight * (tfs / (norms + tfs))
            for ordinal, amount in zip(ordinals.tolist(), amounts.tolist(), strict=True):
                scores[ordinal] = scores.get(ordinal, 0.0) + amount
    return sorted((-round(score * MICRO), ordinal) for ordinal, score in scores.items())[:BEST]


@dataclass
class Range:
    """The index of a range of ordinals, built from the documents of this range alone."""

    view: IndexView
    segments: list[tuple[SegmentName, Summary]]
    tail: Tail
    rows: MemoryBackend
    seconds: float


def segments_in(start: int, stop: int) -> list[SegmentName]:
    """Return the segments of a range: the largest that are aligned and fit."""
    found = []
    while stop - start >= 256:
        level = max(
            one for one in range(5) if not start % (256 << 2 * one) and start + (256 << 2 * one) <= stop
        )
        found.append(SegmentName(level, start))
        start = found[-1].end
    return found


def build(documents: Sequence[NewDocument], start: int, keys: IndexKeys) -> Range:
    """Build the index of the documents from ordinal `start` on, with the keys of the store."""
    begin = time.perf_counter()
    rows, batch, segments = MemoryBackend(), Batch(), []
    stop = end = start + len(documents)
    for name in segments_in(start, stop):
        encoded = build_segment(name.key, [], documents[name.start - start : name.end - start], keys)
        batch.rows.update(encoded.rows)
        batch.put(name.blocks_key, encoded.blocks)
        segments.append((name, encoded.summary))
    if batch.rows:
        rows.write(batch)
    end = segments[-1][0].end if segments else start
    tail = Tail(b"tail", end, tuple(documents[end - start :]), keys)
    view = IndexView(rows, segments, tail, PostingsCache(), keys)
    return Range(view, segments, tail, rows, time.perf_counter() - begin)


def check_rows(ranges: Sequence[Range], whole: Reader, count: int, root: bytes) -> int:
    """Check that the ranges have the rows and the root of the whole; return the number of merged segments.

    A segment of the whole that was cut is put together from the segments of the ranges.
    """
    parts = [(one, name, summary) for one in ranges for name, summary in one.segments]
    leaves, merged = [], 0
    for name in segments_of(count):
        inside = [
            StoredPart(part, summary, list(one.rows.scan_prefix(part.row_prefix)), [])
            for one, part, summary in parts
            if name.start <= part.start < name.end
        ]
        if len(inside) == 1:
            rows, summary = dict(inside[0].rows), inside[0].summary
        else:
            rows, summary, _ = build_segment(name.key, inside, [], ranges[0].tail.keys)
            merged += 1
        assert rows == dict(whole.scan_prefix(name.row_prefix)), name
        leaves.append((name.key, summary))
    tail = ranges[-1].tail
    if tail.documents:
        leaves.append((segment_key(TAIL_LEVEL, tail.start), tail.summary))
    assert index_root(count, leaves) == root
    return merged


def measure(
    store: Store, bodies: Sequence[NewDocument], cuts: int, questions: Sequence[str]
) -> tuple[str, str]:
    """Cut the index, compare it with the whole, and describe what it cost."""
    count = len(bodies)
    bounds = [round(count * part / cuts / ALIGNED) * ALIGNED for part in range(cuts)] + [count]
    with store.view(store.index) as rows:
        keys = store.index.keys(rows)
    ranges = [build(bodies[start:stop], start, keys) for start, stop in pairwise(bounds)]
    took_whole, took_ranges, slowest, sent, own = 0.0, 0.0, 0.0, 0, 0
    with store.view(store.index) as rows:
        merged_segments = check_rows(ranges, rows, count, store.index.root(rows, read_log(rows).size))
        view = store.index.view(rows)
        for question in questions:
            terms = sorted(set(index_terms(question)))
            begin = time.perf_counter()
            expected = search(view, statistics(view, terms))
            took_whole += time.perf_counter() - begin
            each, local = [0.0] * cuts, []
            first = []
            for number, one in enumerate(ranges):
                begin = time.perf_counter()
                first.append(statistics(one.view, terms))
                each[number] += time.perf_counter() - begin
            total = first[0]
            for other in first[1:]:
                total = total + other
            found: Answer = []
            for number, one in enumerate(ranges):
                begin = time.perf_counter()
                best = search(one.view, total)
                each[number] += time.perf_counter() - begin
                found += best
                sent += first[number].bytes + total.bytes + 12 * len(best)
                local += search(one.view, first[number])
            assert sorted(found)[:BEST] == expected
            own += [at for _, at in sorted(local)[:BEST]] == [at for _, at in expected]
            took_ranges += sum(each)
            slowest += max(each)
    asked = len(questions)
    seconds = [one.seconds for one in ranges]
    return f"{cuts}", (
        f"{sum(seconds):.2f} s, {max(seconds):.2f} s | {sum(len(one.segments) for one in ranges)} "
        f"({merged_segments} put together) | {took_whole / asked * 1000:.2f} ms | "
        f"{took_ranges / asked * 1000:.2f} ms | {slowest / asked * 1000:.2f} ms | {sent / asked:,.0f} B | "
        f"{asked} of {asked} | {own} of {asked}"
    )


def main() -> None:
    """Parse the command line, simulate and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ranges", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--atoms", type=int, default=50_000)
    parser.add_argument("--cuts", default="1,2,4,8", help="numbers of ranges, separated by commas")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{options.atoms:,} atoms, {options.questions} questions, load {os.getloadavg()[0]:.1f}\n")
    questions = data.questions(options.questions, options.seed)
    commands = list(map(as_add, data.texts(options.atoms, options.seed)))
    with Engine.open("memory:") as engine:
        for _ in engine.apply_many(commands):
            continue
        engine.catch_up()
        documents = [NewDocument(command.body()) for command in commands]
        rows = [measure(engine.store, documents, int(cuts), questions) for cuts in options.cuts.split(",")]
    heads = (
        "ranges", "building, all and slowest", "segments", "search of the whole", "of all ranges",
        "of the slowest", "sent", "answers equal", "with own statistics",
    )  # fmt: skip
    table = markdown(rows).splitlines()
    print("\n".join([f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *table[2:]]))


if __name__ == "__main__":
    main()
