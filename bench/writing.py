"""Measure writing: bulk adds, single adds and ingest.

Question: how many atoms become durable per second, if the root and all data that it covers are up to
    date at the end; and how long does one durable add take?
Data: `bench.data.texts`; for ingest the shared garden, or generated Markdown in quick runs and if the garden
    is missing. Seed: the job's.
How: wall time in a fresh process, with libraries imported before the clock starts. Bulk: batches of 1,000
    texts, each batch synced; generating the texts is not counted; memroot ends with the overall root, the
    rival with its last commit. Single: one text per synced commit, into an empty store. Ingest: both sides
    get the pieces of memroot's reader, and the time to read and split the files counts for both.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from bench import data
from bench.data import Text
from bench.job import Job, Result, Untimed, percentile, resident, timed
from bench.rivals import Fts, open_rival
from engine import Add, Engine
from engine.files.ingest.documents import Document, Piece, SourceFile
from engine.files.ingest.file_reading import read_file
from engine.files.ingest.folder_walk import find_files

T = TypeVar("T")

BATCH = 1000


def as_add(text: Text) -> Add:
    """Return the command that adds a text."""
    return Add(text.content, tags=text.tags, source=text.source, sequence=text.sequence)


def warm_up() -> None:
    """Use memroot once, so that modules imported on first use are loaded."""
    with Engine.open("memory:") as engine:
        (text,) = data.texts(1, 0)
        engine.apply([as_add(text)])
        engine.recall(text.content)
        engine.root()


def bulk(job: Job) -> Result:
    """Add all texts to a new memroot store. The store is kept for other measurements."""
    warm_up()
    untimed = Untimed()
    commands = untimed(map(as_add, data.texts(job.size, job.seed)), BATCH)
    with Engine.open(job.store) as engine:
        begin = time.perf_counter()
        added = sum(1 for _ in engine.apply_many(commands))
        root = engine.root().root
        took = time.perf_counter() - begin - untimed.seconds
        begin = time.perf_counter()
    result: Result = {"per_s": added / took, "seconds": took, "atoms": added, "root": root}
    result["close_ms"] = (time.perf_counter() - begin) * 1000
    result["peak_bytes"] = resident("VmHWM")
    # If closing leaves a log behind, LevelDB processes it in the first opening.
    (result["reopen_ms"],) = timed(lambda url: Engine.open(url, create=False).close(), [job.store])
    return result


def bulk_rival(job: Job) -> Result:
    """Add all texts to a new store of the rival. The store is kept for other measurements."""
    untimed = Untimed()
    texts = untimed(data.texts(job.size, job.seed), BATCH)
    with open_rival(job.against, job.rival) as store:
        begin = time.perf_counter()
        for batch in _batches(texts):
            store.add(batch)
        store.finish()
        took = time.perf_counter() - begin - untimed.seconds
    return {"per_s": job.size / took, "seconds": took, "peak_bytes": resident("VmHWM")}


def single(job: Job) -> Result:
    """Add texts one by one to a new memroot store; then update the followers and read the root."""
    warm_up()
    commands = list(map(as_add, data.texts(job.size, job.seed)))
    with Engine.open(f"{job.store}-single") as engine:
        took = timed(lambda command: engine.apply([command]), commands)
        (rest,) = timed(lambda _: engine.root(), [None])
    return _one_by_one(took) | {"up_to_date_per_s": len(took) / (sum(took) + rest) * 1000}


def single_rival(job: Job) -> Result:
    """Add texts one by one to a new store of the rival."""
    texts = list(data.texts(job.size, job.seed))
    with open_rival(job.against, Path(f"{job.rival}-single")) as store:
        took = timed(lambda text: store.add([text]), texts)
    return _one_by_one(took) | {"up_to_date_per_s": len(took) / sum(took) * 1000}


def _one_by_one(took: list[float]) -> Result:
    return {
        "p50_ms": percentile(took, 0.5),
        "p99_ms": percentile(took, 0.99),
        "per_s": len(took) / sum(took) * 1000,
    }


def ingest(job: Job) -> Result:
    """Ingest the files into a new memroot store, including links and root; then ingest them again."""
    folder, name = notes(job)
    warm_up()
    with Engine.open(f"{job.store}-ingest") as engine:
        begin = time.perf_counter()
        report = engine.ingest([folder])
        engine.root()
        took = time.perf_counter() - begin
        begin = time.perf_counter()
        again = engine.ingest([folder])
        again_took = time.perf_counter() - begin
    if again.changed:
        raise RuntimeError("ingesting the same files again changed the store")
    return {
        "data": name,
        "files": report.files,
        "atoms": report.added,
        "edges": report.linked,
        "files_per_s": report.files / took,
        "atoms_per_s": report.added / took,
        "again_files_per_s": report.files / again_took,
        "peak_bytes": resident("VmHWM"),
    }


def ingest_rival(job: Job) -> Result:
    """Read the same files with the same reader into a new store of the rival, without resolving links."""
    folder, name = notes(job)
    begin = time.perf_counter()
    found = [item for item in find_files([folder]) if isinstance(item, SourceFile)]
    atoms = 0
    with Fts(Path(f"{job.rival}-ingest")) as store:
        for batch in _batches(_pieces(found)):
            texts = [Text(piece.content, piece.tags, source, at) for source, at, piece in batch]
            links = [[link.target for link in piece.links] for _, _, piece in batch]
            store.add(texts, [piece.title for _, _, piece in batch], links)
            atoms += len(texts)
        took = time.perf_counter() - begin
    return {"data": name, "files_per_s": len(found) / took, "atoms_per_s": atoms / took, "atoms": atoms}


def notes(job: Job) -> tuple[Path, str]:
    """Return the folder of Markdown files to ingest, creating it if needed, and the name of the data."""
    work = Path(job.work)
    if not job.quick and (garden := data.unpack_garden(work / "garden")):
        return garden, "garden"
    folder = work / f"markdown-{job.size}"
    if not folder.exists():
        data.write_markdown(folder, job.size, job.seed)
    return folder, "generated"


def _pieces(files: Iterable[SourceFile]) -> Iterator[tuple[str, int, Piece]]:
    for file in files:
        for item in read_file(file):
            if isinstance(item, Document):
                for number, piece in enumerate(item.pieces):
                    yield item.source, number, piece


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, BATCH)):
        yield batch
