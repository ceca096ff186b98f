"""Measure `engine serve` under load: `python -m bench.service`.

Question: how many recalls and adds does the service answer in a second, how long does a client wait, and what
    does a request cost in CPU time, with 1, 8 and 64 clients, beside the usual web program on the same
    PostgreSQL (`bench.service_rival`)?
Data: `--atoms` generated texts in each store; questions of six words; adds of further generated texts, one in
    each request. Seed: `--seed`, by default 1. The same texts and questions go to all services, in one order.
How: each service, the database and the load generator (`bench.service_load`) are processes of their own on
    this machine. Each service is measured for `--seconds` in each of `--rounds` rounds, one service after the
    other, and in the opposite order in every second round. Connections stay open. All answers must have the
    status 200. A row shows the median of the rounds. Every add is durable before it is answered: SQLite with
    `synchronous=FULL`, and PostgreSQL with `fsync`. The services check a token in each request. Before
    the first round, each service answers 100 recalls and 100 adds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from socket import create_connection, socket
from statistics import median
from typing import Any, Final

import psycopg

from bench import machine
from bench.data import Text, questions, texts
from bench.job import percentile
from bench.service_rival import WAYS, fill
from engine import Engine
from engine.commands import Add
from tests.support.postgresql import Server, temporary_server

BACKENDS: Final = ("sqlite", "postgresql", "leveldb")
OPERATIONS: Final = ("recall", "add")
LIMIT: Final = 10
_QUESTIONS: Final = 1_000
_START_SECONDS: Final = 60
_WARM_UP: Final = 100
_TICK: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Service:
    """A service that is running."""

    name: str
    path: str
    """The path of its operations, which ends in a slash."""
    token: str
    port: int
    pid: int
    database: int | None
    """The process of its database server."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The figures of one service in one round, or the medians of several rounds. Times are in ms."""

    rate: float
    p50: float
    p99: float
    cpu: float
    """The CPU time of the service for one request."""
    database_cpu: float
    """The CPU time of the database server for one request."""
    generator: float
    """The load generator's share of one core."""


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and of its children, living and ended."""
    parents: dict[int, list[int]] = defaultdict(list)
    times: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        parents[int(fields[1])].append(int(folder.name))
        times[int(folder.name)] = sum(map(int, fields[11:15]))
    found, left = 0, [pid]
    while left:
        one = left.pop()
        found += times.get(one, 0)
        left += parents[one]
    return found / _TICK


def measured(service: Service, operation: str, clients: int, seconds: float, bodies: list[Any]) -> Sample:
    """Load one service, and return its figures."""
    given = {
        "port": service.port, "path": service.path + operation, "token": service.token,
        "clients": clients, "seconds": seconds, "bodies": bodies,
    }  # fmt: skip
    before = cpu_seconds(service.pid), cpu_seconds(service.database) if service.database else 0.0
    command = [sys.executable, "-m", "bench.service_load"]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    after = cpu_seconds(service.pid), cpu_seconds(service.database) if service.database else 0.0
    answers = json.loads(done.stdout)
    if answers["wrong"]:
        sys.exit(f"bench: {service.name}, {operation}: {answers['wrong'][:2000]}")
    count, took = len(answers["times"]), answers["seconds"]
    ours, theirs = ((late - early) * 1000 / count for early, late in zip(before, after, strict=True))
    p50, p99 = (percentile(answers["times"], share) * 1000 for share in (0.5, 0.99))
    return Sample(count / took, p50, p99, ours, theirs, answers["cpu_seconds"] / took)


def bodies_of(operation: str, count: int, seed: int, round_: int) -> list[Any]:
    """Return the bodies of `count` requests."""
    if operation == "recall":
        asked = questions(_QUESTIONS, seed)
        return [{"query": asked[at % _QUESTIONS], "limit": LIMIT} for at in range(count)]
    new = texts(count, Random(f"{seed}/adds/{round_}").getrandbits(48))
    return [_add(text, f"{round_}/{at}") for at, text in enumerate(new)]


def _add(text: Text, source: str) -> dict[str, Any]:
    return {"content": text.content, "tags": list(text.tags), "source": f"adds/{source}"}


@contextmanager
def serving(name: str, url: str, database: Server | None) -> Iterator[Service]:
    """Yield `engine serve` on a store, started as a user would start it."""
    engine = [sys.executable, "-m", "engine", "--store", url]
    made = subprocess.run(
        [*engine, "token", "new", "bench", "--write"], capture_output=True, text=True, check=True
    )
    token = next(word for word in made.stdout.split() if word.startswith("mr_"))
    port = _free_port()
    command = [*engine, "serve", "--write", "--rate", "1000000", "--quiet-requests", "--port", str(port)]
    with _process(command, port) as pid:
        yield Service(name, "/v1/memories/~/", token, port, pid, _pid_of(database) if database else None)


@contextmanager
def rival(way: str, database: Server) -> Iterator[Service]:
    """Yield the rival on the same database server."""
    port, token = _free_port(), "mr_" + "x" * 43
    command = [sys.executable, "-m", "bench.service_rival", database.url, way, token, str(port)]
    name = {"words": "rival: full-text search", "vectors": "rival: pgvector"}[way]
    with _process(command, port) as pid:
        yield Service(name, "/", token, port, pid, _pid_of(database))


def _pid_of(database: Server) -> int:
    """Return the process whose children are all processes of a database server."""
    return int((database.data / "postmaster.pid").read_text().split()[0])


@contextmanager
def _process(command: Sequence[str], port: int) -> Iterator[int]:
    process = subprocess.Popen(command)
    try:
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if time.monotonic() > until or process.poll() is not None:
                    raise
                time.sleep(0.05)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(_START_SECONDS)


def _free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def services(options: argparse.Namespace, work: Path, stack: ExitStack) -> list[Service]:
    """Start all services, each with the same texts."""
    found = list(texts(options.atoms, options.seed))
    database = None
    if options.rivals or "postgresql" in options.backend:
        database = stack.enter_context(temporary_server())
        with psycopg.connect(database.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE memroot")
    started = []
    for backend in options.backend:
        url = f"{backend}://{work / backend}"
        of = None
        if backend == "postgresql" and database is not None:
            url, of = database.url.removesuffix("postgres") + "memroot", database
        with Engine.open(url, actor="bench") as engine:
            for _ in engine.apply_many(Add(one.content, tags=one.tags, source=one.source) for one in found):
                pass
            if len(engine.recall(questions(1, options.seed)[0], limit=LIMIT).hits) != LIMIT:
                sys.exit("bench: a question has too few hits: give more --atoms")
        started.append(stack.enter_context(serving(f"memroot, {backend}", url, of)))
        _progress(f"{backend} has {options.atoms:,} atoms")
    if database is not None:
        for way in options.rivals:
            rows = [{"content": one.content, "source": one.source, "tags": list(one.tags)} for one in found]
            fill(database.url, way, rows)
            started.append(stack.enter_context(rival(way, database)))
            _progress(f"the rival's {way} have {options.atoms:,} texts")
    return started


def run(options: argparse.Namespace, started: list[Service]) -> dict[tuple[str, int, str], Sample]:
    """Measure all services, and return the medians of the rounds."""
    found: dict[tuple[str, int, str], list[Sample]] = defaultdict(list)
    number = 0
    for service in started:  # the first requests load code and open the memory
        for operation in OPERATIONS:
            measured(service, operation, 8, _START_SECONDS, bodies_of(operation, _WARM_UP, options.seed, 0))
    for operation in options.operation:
        for clients in options.clients:
            for round_ in range(options.rounds):
                number += 1
                bodies = bodies_of(operation, int(options.seconds * options.most), options.seed, number)
                for service in started if round_ % 2 == 0 else started[::-1]:
                    sample = measured(service, operation, clients, options.seconds, bodies)
                    found[operation, clients, service.name].append(sample)
                    _progress(f"{operation} {clients} {service.name}: {sample}")
    return {key: _median(samples) for key, samples in found.items()}


def _median(samples: list[Sample]) -> Sample:
    names = Sample.__dataclass_fields__
    return Sample(**{name: median(getattr(one, name) for one in samples) for name in names})


def table(found: dict[tuple[str, int, str], Sample]) -> str:
    """Return the figures as a Markdown table. `lost` marks what is worse than the rival with the words."""
    lines = [
        "| request, clients | service | requests/s | p50 | p99 | CPU, service | CPU, database | generator |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for (operation, clients, name), one in found.items():
        best = next(
            (found[key] for key in found if key[:2] == (operation, clients) and "full" in key[2]), one
        )
        is_ours = name.startswith("memroot")
        rate, p50, p99 = (
            f"{shown}, lost" if is_ours and worse else shown
            for shown, worse in (
                (f"{one.rate:,.0f}", one.rate < best.rate),
                (f"{one.p50:.1f} ms", one.p50 > best.p50),
                (f"{one.p99:.1f} ms", one.p99 > best.p99),
            )
        )
        lines.append(
            f"| {operation}, {clients} | {name} | {rate} | {p50} | {p99} | {one.cpu:.2f} ms "
            f"| {one.database_cpu:.2f} ms | {one.generator:.0%} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Parse the command line, run the measurements and print the table."""
    options = _options()
    work = Path(tempfile.mkdtemp(prefix="memroot-bench-", dir=options.folder))
    try:
        about = machine.describe(work)
        with ExitStack() as stack:
            found = run(options, services(options, work, stack))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    shown = ("cpu", "cores", "system", "python", "commit", "file_system", "fsync_us", "load")
    print(
        ", ".join(f"{name} {about[name]}" for name in shown) + f", load at the end {os.getloadavg()[0]:.1f}"
    )
    print(f"{options.atoms:,} atoms, seed {options.seed}, {options.rounds} rounds of {options.seconds} s\n")
    print(table(found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.service", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("--backend", nargs="+", choices=BACKENDS, default=["sqlite", "postgresql"])
    parser.add_argument("--rivals", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--operation", nargs="+", choices=OPERATIONS, default=list(OPERATIONS))
    parser.add_argument("--clients", nargs="+", type=int, default=[1, 8, 64], metavar="N")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each figure", metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--atoms", type=int, default=10_000, metavar="N")
    parser.add_argument("--most", type=int, default=3_000, help="requests that are prepared for a second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="folder for the stores, on a disk and not in memory")
    return parser.parse_args()


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
