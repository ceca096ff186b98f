"""The groups of rows in the table, with the measurements that each group needs.

Question: see the rows. Data, seed, how: `bench.writing`, `bench.reading`, `bench.upkeep`, `bench.proofs`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Final

from bench.job import Job, Result, in_child
from bench.retrieval.sets import LOCOMO
from bench.table import BYTES, MEGABYTES, RATE, SHARE, TIME, Row, Target
from bench.upkeep import TREE_BATCHES

SINGLES: Final = (500, 3_000)
"""The numbers of single adds in a quick and in a full run."""

FILES: Final = (500, 5_000)
"""The numbers of generated Markdown files in a quick and in a full run."""

MILLION: Final = 1_000_000

SIZES: Final = ((1_000, 10_000), (10_000, 100_000))
"""The numbers of atoms in a quick and in a full run, unless the command line gives others."""

PROOF_SIZES: Final = ((1_000,), (1_000, 100_000))
"""The numbers of atoms for the group `proofs`, in a quick and in a full run."""


class Run:
    """The measurements of one run. Each measurement is made only once, when a row first needs its result."""

    def __init__(self, work: str, seed: int, sizes: Sequence[int] | None, *, quick: bool) -> None:
        """Create a run; `sizes` are the sizes given on the command line, or None."""
        self.sizes = sizes or SIZES[not quick]
        self.proof_sizes = sizes or PROOF_SIZES[not quick]
        self.quick = quick
        self.results: dict[str, Result] = {}
        self._work = work
        self._seed = seed

    def measure(self, name: str, size: int) -> Result:
        """Return the result of the measurement `name` with `size` atoms, made in a separate process."""
        title = f"{name} {size}"
        if title not in self.results:
            print(title, end=" … ", file=sys.stderr, flush=True)
            self.results[title] = in_child(name, Job(size, self._seed, self._work, self.quick))
            print("done", file=sys.stderr, flush=True)
        return self.results[title]

    def pair(self, name: str, size: int) -> tuple[Result, Result]:
        """Return the results of memroot and of the rival."""
        return self.measure(name, size), self.measure(f"{name}_rival", size)

    def on_stores(self, name: str) -> Iterator[tuple[int, str, Result, Result]]:
        """Create the stores of each size, and yield the size, its label and the results of `pair`."""
        for size in self.sizes:
            self.pair("bulk", size)
            yield size, size_label(size), *self.pair(name, size)


def size_label(size: int) -> str:
    """Return a number of atoms as a short label, such as "10 k"."""
    if size >= MILLION and not size % MILLION:
        return f"{size // MILLION} M"
    return f"{size // 1000} k" if size >= 1000 and not size % 1000 else f"{size:,}"


def bulk(run: Run) -> Iterator[Row]:
    """Yield the rows for bulk adds."""
    for size, of, ours, rivals in run.on_stores("bulk"):
        target = Target("≥ 7 k/s", 7_000, judged=size >= 10_000)
        question = f"bulk add, {of} atoms of 40 words, root up to date: atoms"
        yield Row(question, RATE, ours["per_s"], rivals["per_s"], target)


def ingest(run: Run) -> Iterator[Row]:
    """Yield the rows for the ingest of Markdown files."""
    ours, rivals = run.pair("ingest", FILES[not run.quick])
    about = f"ingest {ours['files']:,} Markdown files ({ours['data']})"
    yield Row(f"{about}: files", RATE, ours["files_per_s"], rivals["files_per_s"])
    yield Row(f"{about}: atoms", RATE, ours["atoms_per_s"], rivals["atoms_per_s"])
    yield Row("ingest the same again, nothing changed: files", RATE, ours["again_files_per_s"])


def single(run: Run) -> Iterator[Row]:
    """Yield the rows for single durable adds."""
    ours, rivals = run.pair("single", SINGLES[not run.quick])
    yield Row("one durable add, p50", TIME, ours["p50_ms"], rivals["p50_ms"])
    yield Row("one durable add, p99", TIME, ours["p99_ms"], rivals["p99_ms"])
    target = Target("≥ 1.5 k/s", 1_500)
    yield Row("adds one by one, each durable", RATE, ours["per_s"], rivals["per_s"], target)
    about = "the same with the root brought up to date at the end"
    yield Row(about, RATE, ours["up_to_date_per_s"], rivals["up_to_date_per_s"])


def recall(run: Run) -> Iterator[Row]:
    """Yield the rows for recall."""
    for size, of, ours, rivals in run.on_stores("recall"):
        target = Target("≤ 3 ms at 100 k", 3, judged=size >= 100_000)
        yield Row(f"recall, 6 words, {of} atoms, p50", TIME, ours["p50_ms"], rivals["p50_ms"], target)
        yield Row(f"recall, 6 words, {of} atoms, p99", TIME, ours["p99_ms"], rivals["p99_ms"])
        yield Row(f"first recall after opening, {of} atoms", TIME, ours["first_ms"], rivals["first_ms"])


def locomo(run: Run) -> Iterator[Row]:
    """Yield the rows for questions about real conversations."""
    if not LOCOMO.is_dir():
        print(f"locomo skipped: {LOCOMO} does not exist (set MEMROOT_SHARED)", file=sys.stderr)
        return
    ours, rivals = run.pair("locomo", 0)
    target = Target("≥ 0.76", 0.76)
    yield Row("LoCoMo R@10", SHARE, ours["recall_at_10"], rivals["recall_at_10"], target)
    yield Row("recall, LoCoMo questions, p50", TIME, ours["p50_ms"], rivals["p50_ms"])


def tree(run: Run) -> Iterator[Row]:
    """Yield the rows for updates of the sparse Merkle trees."""
    size = run.sizes[-1]
    ours = run.measure("tree", size)
    for batch in TREE_BATCHES:
        question = f"tree of {size_label(size)} leaves, batches of {batch:,}: updates"
        yield Row(question, RATE, ours[f"batch_{batch}_per_s"])


def rebuild(run: Run) -> Iterator[Row]:
    """Yield the rows for rebuilding all projections from the journal."""
    yield from _as_fast_as_bulk(run, "rebuild", "rebuild", "rival: its index only")


def verify(run: Run) -> Iterator[Row]:
    """Yield the rows for verifying the whole store."""
    yield from _as_fast_as_bulk(run, "verify_root", "verify-root", "rival: checks itself only")


def _as_fast_as_bulk(run: Run, name: str, title: str, weaker: str) -> Iterator[Row]:
    for size, of, ours, rivals in run.on_stores(name):
        target = Target("≥ bulk add", run.measure("bulk", size)["per_s"])
        yield Row(f"{title}, {of} atoms ({weaker}): events", RATE, ours["per_s"], rivals["per_s"], target)


def opening(run: Run) -> Iterator[Row]:
    """Yield the rows for opening a store."""
    for size, of, ours, rivals in run.on_stores("opening"):
        target = Target("≤ 500 ms at 1 M", 500, judged=size >= MILLION)
        yield Row(f"open, {of} atoms", TIME, ours["p50_ms"], rivals["p50_ms"], target)
        question = f"open for the first time after the bulk add, {of} atoms"
        yield Row(question, TIME, run.measure("bulk", size)["reopen_ms"])
    for _, of, ours, rivals in run.on_stores("process"):
        question = f"new process: start, open, one recall, exit, {of} atoms"
        yield Row(question, TIME, ours["p50_ms"], rivals["p50_ms"])


def disk(run: Run) -> Iterator[Row]:
    """Yield the rows for the bytes on disk, in total and by family of rows."""
    for size, of, ours, rivals in run.on_stores("disk"):
        per_atom = ours["files_bytes"] / size, rivals["files_bytes"] / size
        yield Row(
            f"on disk per atom, {of} atoms (texts: {rivals['texts_bytes'] / size:.0f} B)", BYTES, *per_atom
        )
        if size == run.sizes[-1]:
            for family, total in sorted(ours["families_bytes"].items(), key=lambda item: -item[1]):
                if total >= size:
                    yield Row(f"– keys and values of {family}", BYTES, total / size)


def memory(run: Run) -> Iterator[Row]:
    """Yield the rows for resident memory."""
    for _, of, ours, rivals in run.on_stores("bulk"):
        yield _megabytes(f"peak memory of bulk add, {of} atoms", ours["peak_bytes"], rivals["peak_bytes"])
    for size, of, ours, rivals in run.on_stores("memory"):
        target = Target("≤ 300 MB at 1 M", 300e6, judged=size >= MILLION)
        question = f"memory after opening and 100 recalls, {of} atoms"
        yield _megabytes(question, ours["asked_bytes"], rivals["asked_bytes"], target)
        yield _megabytes("– without mapped files", ours["asked_own_bytes"], rivals["asked_own_bytes"])
    base = run.measure("memory", run.sizes[-1]), run.measure("memory_rival", run.sizes[-1])
    yield _megabytes("– of it Python and libraries, before opening", *(one["imported_bytes"] for one in base))


def _megabytes(question: str, ours: float, rivals: float, target: Target | None = None) -> Row:
    return Row(question, MEGABYTES, ours, rivals, target)


def proofs(run: Run) -> Iterator[Row]:
    """Yield the rows for proofs of trees and logs, and for whole proofs of stores that are built fast."""
    for size in run.proof_sizes:
        yield from _parts(run, size, "tree_proofs", f"tree of {size_label(size)} leaves", TREE_PROOFS)
    for size in run.proof_sizes:
        yield from _parts(run, size, "log_proofs", f"log of {size_label(size)} events", LOG_PROOFS)
    for size in run.proof_sizes:
        if size < MILLION:
            run.measure("bulk", size)
            yield from _parts(run, size, "store_proofs", f"proof, {size_label(size)} atoms", STORE_PROOFS)


def _parts(run: Run, size: int, name: str, of: str, parts: dict[str, str]) -> Iterator[Row]:
    """Yield the size of proofs of each kind, and the times to make and to verify one."""
    rival = RIVALS.get(name)
    ours, rivals = run.measure(name, size), {}
    if rival and find_spec(rival) is None:
        print(f"{name} has no rival: {rival} is not installed (pip install --group bench)", file=sys.stderr)
    elif rival:
        rivals = run.measure(f"{name}_rival", size)
    for part, what in parts.items():
        yield Row(f"{of}: {what}", BYTES, ours[f"{part}_bytes"], rivals.get(f"{part}_bytes"))
        for step in ("prove", "verify"):
            times = ours[f"{part}_{step}_ms"], rivals.get(f"{part}_{step}_ms")
            yield Row(f"– to {step} it, p50", TIME, *times)


TREE_PROOFS: Final = {"member": "a key is there", "absent": "a key is not there"}
LOG_PROOFS: Final = {"inclusion": "an event is in it", "consistency": "it begins with an older one"}
STORE_PROOFS: Final = {
    "opened": "atom, content of 40 words opened",
    "member": "atom, sealed",
    "absent": "no such atom",
    "edge": "edge, sealed",
    "tag": "atom has a tag",
    "no_term": "no atom has a term",
    "event": "event, sealed",
    "prefix": "older log",
}
"""Part of the name of a measurement → the statement that the measured proof shows."""
RIVALS: Final = {"tree_proofs": "trie", "log_proofs": "pymerkle"}
"""Measurement → the package that the rival uses."""

GROUPS: Final[dict[str, Callable[[Run], Iterator[Row]]]] = {
    "bulk": bulk,
    "ingest": ingest,
    "single": single,
    "recall": recall,
    "locomo": locomo,
    "tree": tree,
    "verify": verify,
    "open": opening,
    "disk": disk,
    "memory": memory,
    "proofs": proofs,
    "rebuild": rebuild,
}
"""Name → group, in the order of the table. `rebuild` is last because it rewrites the stores."""
