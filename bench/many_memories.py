"""Measure many memories in one PostgreSQL database: `python -m bench.many_memories --memories N --atoms M`.

Question: what do many memories cost: time to make, fill, recall from, add to, list and delete one; rows and
    bytes; connections?
Data: texts of `bench.data`; memory k holds M texts that follow each other in one series of 20,000 texts.
Seed: `--seed`. How: wall time in one process, one call after another, on a server that the program starts
    (or `--url`). Filling: one call for all texts of a memory, then all followers are brought up to date.
    Single calls: on `--sample` memories, evenly spread, each opened anew. If `--minutes` are over, no more
    memories are made, and the table says how many there are. A server on tmpfs syncs nothing to a disk.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, Final, TypeVar

import psycopg

from backends.postgresql.postgresql_memories import delete_memory, memories_in
from bench import data, machine
from bench.job import percentile
from bench.writing import as_add
from engine import Engine
from engine.memory.named_memories import all_described
from engine.store.named_places import memory_url, root_of
from tests.support.postgresql import temporary_server

T = TypeVar("T")

SERIES: Final = 20_000
"""The number of different texts."""


class Timer:
    """Collects the times of calls, in milliseconds."""

    def __init__(self) -> None:
        self.ms: dict[str, list[float]] = {}

    def __call__(self, name: str, call: Callable[..., T], *values: object) -> T:
        """Call a function with `values`, note how long it took, and return its result."""
        begin = time.perf_counter()
        result = call(*values)
        self.ms.setdefault(name, []).append((time.perf_counter() - begin) * 1000)
        return result

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield a row for each name: the median and the 99th percentile."""
        for name, took in self.ms.items():
            yield (
                name,
                f"{percentile(took, 0.5):.2f} ms, p99 {percentile(took, 0.99):.2f} ms ({len(took)} times)",
            )


class Run:
    """The measurements on one database."""

    def __init__(self, url: str, options: argparse.Namespace) -> None:
        self.url = url
        self.place = url.removeprefix("postgresql:")
        self.options = options
        self.timer = Timer()
        self.filled = 0
        self.made = 0
        self.fill_seconds = 0.0
        self.connections = 0
        texts = list(data.texts(max(SERIES, options.atoms), options.seed))
        self._commands = list(map(as_add, texts))
        self._more = list(map(as_add, data.texts(1000, options.seed + 1)))
        self._questions = data.questions(200, options.seed)

    def name_of(self, number: int) -> str:
        """Return the name of a memory."""
        return f"user-{number:06}"

    def address_of(self, number: int) -> str:
        """Return the URL of a memory."""
        return memory_url(self.url, self.name_of(number))

    def fill(self) -> None:
        """Make and fill the memories that are missing, until all are made or the time is over."""
        self.filled = len(memories_in(self.place))
        until = time.monotonic() + self.options.minutes * 60
        atoms = self.options.atoms
        with Engine.open(self.url):  # keeps the connections of the process
            while self.filled < self.options.memories and time.monotonic() < until:
                first = self.filled * atoms % (len(self._commands) - atoms + 1)
                engine = self.timer("make a memory", Engine.open, self.address_of(self.filled))
                begin = time.perf_counter()
                with engine:
                    engine.apply(self._commands[first : first + atoms])
                    engine.catch_up()
                self.fill_seconds += time.perf_counter() - begin
                self.filled += 1
                self.made += 1
                self._count_connections(self.filled % 500 == 1)

    def use(self) -> None:
        """Open, recall from and add to some of the memories."""
        step = max(1, self.filled // self.options.sample)
        questions, more = cycle(self._questions), cycle(self._more)
        with Engine.open(self.url):
            for number, name in enumerate(memories_in(self.place)[::step]):
                address = memory_url(self.url, name)
                with self.timer("open a memory", Engine.open, address) as engine:
                    self.timer("first recall after opening", engine.recall, next(questions))
                    for _ in range(5):
                        self.timer("recall", engine.recall, next(questions))
                    for _ in range(3):
                        self.timer("add, durable", engine.apply, [next(more)])
                        self.timer("recall after an add", engine.recall, next(questions))
                self._count_connections(number % 10 == 0)

    def manage(self) -> None:
        """List the memories and delete some of them."""
        self.timer(f"names of {self.filled} memories", memories_in, self.place)
        if self.filled <= self.options.describe:
            root = root_of(self.url)
            self.timer(f"`engine memory list` of {self.filled} memories", list, all_described(root))
        for name in memories_in(self.place)[-20:]:
            self.timer("delete a memory", delete_memory, self.place, name)

    def sizes(self) -> Iterator[tuple[str, str]]:
        """Yield what a filled memory takes in the database."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE memroot_rows")

            def ask(query: str) -> int:
                found: Any = connection.execute(query).fetchone()
                return int(found[0])

            rows = ask("SELECT count(*) FROM memroot_rows")
            kept = ask("SELECT coalesce(sum(length(key) + length(value)), 0) FROM memroot_rows")
            table = ask("SELECT pg_table_size('memroot_rows')")
            index = ask("SELECT pg_indexes_size('memroot_rows')")
        each = self.filled
        yield "rows of a memory", f"{rows / each:,.0f}"
        yield "keys and values of a memory", f"{kept / each:,.0f} B"
        yield "table of a memory", f"{table / each:,.0f} B"
        yield "index of the table, of a memory", f"{index / each:,.0f} B"
        yield "the database's rows in all", f"{(table + index) / 1e6:,.0f} MB"

    def _count_connections(self, due: bool) -> None:
        if due:
            with psycopg.connect(self.url, autocommit=True) as connection:
                found: Any = connection.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'memroot'"
                ).fetchone()
            self.connections = max(self.connections, int(found[0]))

    def report(self) -> list[tuple[str, str]]:
        """Measure everything, and return the rows of the table."""
        self.fill()
        rows = [
            ("memories in the database (made in this run)", f"{self.filled:,} ({self.made:,})"),
            ("atoms of each", f"{self.options.atoms:,}"),
        ]
        if self.made:
            rate = self.made * self.options.atoms / self.fill_seconds
            rows.append(("bulk fill, followers up to date", f"{rate:,.0f} atoms/s"))
        rows += self.sizes()
        self.use()
        self.manage()
        rows += self.timer.rows()
        rows.append(("most connections of this process", f"{self.connections}"))
        return rows


def markdown(rows: Sequence[tuple[str, str]]) -> str:
    """Return a table."""
    return "\n".join(["| what | measured |", "|---|---|", *(f"| {what} | {value} |" for what, value in rows)])


@contextmanager
def _database(options: argparse.Namespace) -> Iterator[str]:
    if options.url:
        yield options.url
        return
    tempfile.tempdir = None if options.folder is None else str(options.folder)
    with temporary_server(settings="shared_buffers = 256MB\nmax_wal_size = 1GB") as server:
        yield server.url


def main() -> None:
    """Parse the command line, measure and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.many_memories", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("--memories", type=int, default=100, metavar="N")
    parser.add_argument("--atoms", type=int, default=100, metavar="M", help="of each memory")
    parser.add_argument("--sample", type=int, default=50, help="memories that single calls are measured on")
    parser.add_argument(
        "--describe", type=int, default=10_000, help="list at most this many with all details"
    )
    parser.add_argument("--minutes", type=float, default=30, help="make no more memories after this time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--url",
        help="a database that is empty, or has the memories of an earlier run; else a server is started",
    )
    parser.add_argument("--folder", type=Path, help="folder for the data of the server that is started")
    options = parser.parse_args()
    with _database(options) as url:
        print(about(options), flush=True)
        print(markdown(Run(url, options).report()))
    print(f"load at the end {os.getloadavg()[0]:.1f}")


def about(options: argparse.Namespace) -> str:
    """Return a line about the machine."""
    found = machine.describe(options.folder or Path(tempfile.gettempdir()))
    return (
        f"commit {found['commit']}, {found['cpu']}, {found['cores']} cores, {found['file_system']}, "
        f"one fsync {found['fsync_us']} µs, load at the start {found['load']}\n"
    )


if __name__ == "__main__":
    main()
