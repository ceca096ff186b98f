"""The groups of rows in the table, with the measurements that each group needs.

Question: see the rows. Data, seed, how: `bench.writing`, `bench.reading`, `bench.upkeep`, `bench.proofs`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Final

from bench.data import LOCOMO
from bench.job import Job, Result, in_child
from bench.rivals import FTS, PACKAGED, is_installed
from bench.table import BYTES, MEGABYTES, RATE, SHARE, TIME, Row, Target, Unit
from bench.upkeep import TREE_BATCHES

SINGLES: Final = (500, 3_000)
"""The numbers of single adds in a quick and in a full run."""

FILES: Final = (500, 5_000)
"""The numbers of generated Markdown files in a quick and in a full run."""

LARGE: Final = 100_000
MILLION: Final = 1_000_000

SIZES: Final = ((1_000, 10_000), (10_000, LARGE, MILLION))
"""The numbers of atoms in a quick and in a full run, unless the command line gives others."""

PROOF_SIZES: Final = ((1_000,), (1_000, 100_000))
"""The numbers of atoms for the group `proofs`, in a quick and in a full run."""


class Run:
    """The measurements of one run. Each measurement is made only once, when a row first needs its result."""

    def __init__(
        self, work: str, seed: int, sizes: Sequence[int] | None, *, quick: bool, kernels: str
    ) -> None:
        """Create a run.

        Args:
            work: The folder for the stores.
            seed: The seed of the data.
            sizes: The sizes given on the command line, or None.
            quick: Whether the run is a quick one.
            kernels: The value of MEMROOT_KERNELS for memroot.
        """
        self.sizes = tuple(sizes or SIZES[not quick])
        self.small = [size for size in self.sizes if sizes or size < MILLION]
        """The sizes for the rows that are measured at 1 M only if the command line gives this size."""
        self.proof_sizes = sizes or PROOF_SIZES[not quick]
        self.quick = quick
        self.results: dict[str, Result] = {}
        self.kernels = kernels
        self._work = work
        self._seed = seed
        self._missing: set[str] = set()

    def without_kernels(self) -> Run:
        """Return a run of memroot without its compiled kernels. Both runs share the figures of the rivals."""
        plain = Run(self._work, self._seed, self.sizes, quick=self.quick, kernels="python")
        plain.small, plain.proof_sizes, plain.results = self.small, self.proof_sizes, self.results
        return plain

    def measure(self, name: str, size: int, against: str = "") -> Result:
        """Return the result of the measurement `name` with `size` atoms, made in a separate process.

        If `against` is given, the rival of this name is measured instead of memroot.
        """
        kernels = "auto" if against else self.kernels
        about = [against] * bool(against) + [kernels] * (kernels != "auto")
        title = " ".join([name, str(size), *about])
        if title not in self.results:
            print(title, end=" … ", file=sys.stderr, flush=True)
            job = Job(size, self._seed, self._work, self.quick, against or FTS, kernels)
            self.results[title] = in_child(name, job)
            print("done", file=sys.stderr, flush=True)
        return self.results[title]

    def pair(self, name: str, size: int) -> tuple[Result, Result]:
        """Return the results of memroot and of the first rival."""
        return self.measure(name, size), self.measure(f"{name}_rival", size, FTS)

    def others(self, name: str, size: int, rivals: Iterable[str] = PACKAGED) -> dict[str, Result]:
        """Fill the stores of those rivals whose packages are installed, and return the results."""
        found = {}
        for rival in rivals:
            if is_installed(rival):
                if name != "single":
                    self.measure("bulk_rival", size, rival)
                found[rival] = self.measure(f"{name}_rival", size, rival)
            elif rival not in self._missing:
                self._missing.add(rival)
                print(f"{rival} is not installed (pip install --group bench)", file=sys.stderr)
        return found

    def on_stores(self, name: str, sizes: Iterable[int] | None = None) -> Iterator[tuple[int, str, Figures]]:
        """Create the stores of each size; yield the size, its label, and the results of all systems.

        At 1 M, the only rival is tantivy: FTS5 takes over a second for one question there.
        """
        for size in self.sizes if sizes is None else sizes:
            large = size >= MILLION
            self.measure("bulk", size)
            if not large:
                self.measure("bulk_rival", size, FTS)
            ours = self.measure(name, size)
            rivals = {} if large else {FTS: self.measure(f"{name}_rival", size, FTS)}
            if name in OTHERS:
                rivals |= self.others(name, size, ("tantivy",) if large else PACKAGED)
            yield size, size_label(size), Figures(ours, rivals)


OTHERS: Final = frozenset({"bulk", "recall", "opening", "process", "disk", "memory", "single"})
"""The measurements that are made with all rivals."""


class Figures:
    """The results of one measurement: the result of memroot, and the results of the rivals by their names."""

    def __init__(self, ours: Result, rivals: dict[str, Result]) -> None:
        self.ours = ours
        self.rivals = rivals

    def row(
        self, question: str, unit: Unit, figure: str, target: Target | None = None, share: float = 1
    ) -> Row:
        """Return the row of one figure, divided by `share`."""
        theirs = {name: found[figure] / share for name, found in self.rivals.items()}
        first = theirs.pop(FTS, None)
        return Row(question, unit, self.ours[figure] / share, first, target, theirs)

    def rival(self, name: str, figure: str) -> float | None:
        """Return a rival's figure, or None if it was not measured."""
        return self.rivals[name][figure] if name in self.rivals else None


def as_good_as(name: str, bound: float | None, judged: bool, *, rate: bool) -> Target | None:
    """Return the target of a figure as good as `bound`, the figure of `name`; None if `bound` is None."""
    return None if bound is None else Target(f"{'≥' if rate else '≤'} {name}", bound, judged)


def size_label(size: int) -> str:
    """Return a number of atoms as a short label, such as "10 k"."""
    if size >= MILLION and not size % MILLION:
        return f"{size // MILLION} M"
    return f"{size // 1000} k" if size >= 1000 and not size % 1000 else f"{size:,}"


def bulk(run: Run) -> Iterator[Row]:
    """Yield the rows for bulk adds."""
    for size, of, found in run.on_stores("bulk"):
        target = as_good_as("plugmem", found.rival("plugmem", "per_s"), size >= LARGE, rate=True)
        if size >= MILLION and LARGE in run.sizes:
            target = Target("≥ 0.9 × that at 100 k", 0.9 * run.measure("bulk", LARGE)["per_s"])
        yield found.row(f"bulk add, {of} atoms of 40 words, root up to date: atoms", RATE, "per_s", target)


def ingest(run: Run) -> Iterator[Row]:
    """Yield the rows for the ingest of Markdown files."""
    ours, rivals = run.pair("ingest", FILES[not run.quick])
    found = Figures(ours, {FTS: rivals})
    about = f"ingest {ours['files']:,} Markdown files ({ours['data']})"
    target = as_good_as("the rival", rivals["files_per_s"], ours["data"] == "garden", rate=True)
    yield found.row(f"{about}: files", RATE, "files_per_s", target)
    yield found.row(f"{about}: atoms", RATE, "atoms_per_s")
    yield Row("ingest the same again, nothing changed: files", RATE, ours["again_files_per_s"])


def single(run: Run) -> Iterator[Row]:
    """Yield the rows for single durable adds. Tantivy is left out, as it is made for batches."""
    size = SINGLES[not run.quick]
    ours, rivals = run.pair("single", size)
    found = Figures(ours, {FTS: rivals, **run.others("single", size, ("plugmem",))})
    yield found.row("one durable add, p50", TIME, "p50_ms")
    yield found.row("one durable add, p99", TIME, "p99_ms")
    target = as_good_as("the rival", rivals["per_s"], judged=True, rate=True)
    yield found.row("adds one by one, each durable", RATE, "per_s", target)
    yield found.row("the same with the root brought up to date at the end", RATE, "up_to_date_per_s")


def recall(run: Run) -> Iterator[Row]:
    """Yield the rows for recall."""
    for size, of, found in run.on_stores("recall"):
        large = size >= LARGE
        target = as_good_as("tantivy", found.rival("tantivy", "p50_ms"), large, rate=False)
        yield found.row(f"recall, 6 words, {of} atoms, p50", TIME, "p50_ms", target)
        target = Target("≤ 5 ms at 100 k", 5, judged=size == LARGE)
        yield found.row(f"recall, 6 words, {of} atoms, p99", TIME, "p99_ms", target)
        target = Target("≤ 300 ms at 1 M", 300, judged=size >= MILLION)
        yield found.row(f"first recall after opening, {of} atoms", TIME, "first_ms", target)


def locomo(run: Run) -> Iterator[Row]:
    """Yield the rows for questions about real conversations."""
    if not LOCOMO.is_dir():
        print(f"locomo skipped: {LOCOMO} does not exist (set MEMROOT_SHARED)", file=sys.stderr)
        return
    ours, rivals = run.pair("locomo", 0)
    found = Figures(ours, {FTS: rivals})
    yield found.row("LoCoMo R@10", SHARE, "recall_at_10", Target("≥ 0.76", 0.76))
    yield found.row("recall, LoCoMo questions, p50", TIME, "p50_ms", Target("≤ 1 ms", 1))
    yield found.row("recall, LoCoMo questions, p99", TIME, "p99_ms")


def tree(run: Run) -> Iterator[Row]:
    """Yield the rows for updates of the sparse Merkle trees."""
    size = run.small[-1]
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
    for size, of, found in run.on_stores(name, run.small):
        target = Target("≥ bulk add", run.measure("bulk", size)["per_s"])
        yield found.row(f"{title}, {of} atoms ({weaker}): events", RATE, "per_s", target)
        yield Row("– peak memory", MEGABYTES, found.ours["peak_bytes"])


def opening(run: Run) -> Iterator[Row]:
    """Yield the rows for opening a store."""
    for size, of, found in run.on_stores("opening"):
        yield found.row(f"open, {of} atoms", TIME, "p50_ms")
        question = f"open for the first time after the bulk add, {of} atoms"
        yield Row(question, TIME, run.measure("bulk", size)["reopen_ms"])
        yield Row(f"close after the bulk add, {of} atoms", TIME, run.measure("bulk", size)["close_ms"])
    for size, of, found in run.on_stores("process", run.small):
        question = f"new process: `engine recall`, one question, {of} atoms"
        yield found.row(question, TIME, "p50_ms", Target("≤ 250 ms", 250, size >= LARGE))
        ours = found.ours
        yield Row(
            f"new process: `engine root`, {of} atoms",
            TIME,
            ours["root_ms"],
            target=Target("≤ 150 ms", 150, size >= LARGE),
        )
    yield Row("new process: `import engine`", TIME, ours["import_ms"], target=Target("≤ 60 ms", 60))
    yield Row("– of it Python alone", TIME, ours["python_ms"])


def disk(run: Run) -> Iterator[Row]:
    """Yield the rows for the bytes on disk, in total and by family of rows."""
    for size, of, found in run.on_stores("disk", run.small):
        texts = found.rivals[FTS]["texts_bytes"] / size if FTS in found.rivals else 0
        target = Target("≤ 700 B at 100 k", 700, judged=size >= LARGE)
        question = f"on disk per atom, {of} atoms (texts: {texts:.0f} B)"
        yield found.row(question, BYTES, "files_bytes", target, share=size)
        if size == run.small[-1]:
            for family, total in sorted(found.ours["families_bytes"].items(), key=lambda item: -item[1]):
                if total >= size:
                    yield Row(f"– keys and values of {family}", BYTES, total / size)


def memory(run: Run) -> Iterator[Row]:
    """Yield the rows for resident memory."""
    for _, of, found in run.on_stores("bulk"):
        yield found.row(f"peak memory of bulk add, {of} atoms", MEGABYTES, "peak_bytes")
    for size, of, found in run.on_stores("memory"):
        bound, at = (400e6, "1 M") if size >= MILLION else (150e6, "100 k")
        target = Target(f"≤ {bound / 1e6:.0f} MB at {at}", bound, judged=size >= LARGE)
        yield found.row(f"memory after opening and 300 recalls, {of} atoms", MEGABYTES, "asked_bytes", target)
        yield found.row("– without mapped files", MEGABYTES, "asked_own_bytes")
        yield found.row("– of it Python and libraries, before opening", MEGABYTES, "imported_bytes")


def with_and_without_kernels(run: Run, names: Iterable[str], *, both: bool) -> Iterator[Row]:
    """Yield the rows of these groups. With `both`, they include memroot's figures without kernels."""
    plain = run.without_kernels() if both else None
    for name in names:
        rows = list(GROUPS[name](run))
        without = [None] * len(rows) if plain is None else [row.ours for row in GROUPS[name](plain)]
        for row, figure in zip(rows, without, strict=True):
            yield replace(row, plain=figure)


def proofs(run: Run) -> Iterator[Row]:
    """Yield the rows for proofs of trees and logs, and for whole proofs of stores below 1 M atoms."""
    for size in run.proof_sizes:
        yield from _parts(run, size, "tree_proofs", f"tree of {size_label(size)} leaves", TREE_PROOFS)
    for size in run.proof_sizes:
        yield from _parts(run, size, "log_proofs", f"log of {size_label(size)} events", LOG_PROOFS)
    for size in run.proof_sizes:
        if size < MILLION:
            run.measure("bulk", size)
            yield from _parts(run, size, "store_proofs", f"proof, {size_label(size)} atoms", STORE_PROOFS)


def _parts(run: Run, size: int, name: str, of: str, parts: dict[str, str]) -> Iterator[Row]:
    """Yield, for each kind of proof, the size of a proof and the times to make it and to verify it."""
    rival = RIVALS.get(name)
    ours, rivals = run.measure(name, size), {}
    if rival and find_spec(rival) is None:
        print(f"{name} has no rival: {rival} is not installed (pip install --group bench)", file=sys.stderr)
    elif rival:
        rivals = run.measure(f"{name}_rival", size, FTS)
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
