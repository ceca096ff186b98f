"""Measure several writers on PostgreSQL: `python -m bench.writers`.

Question: how many durable adds per second do 1, 2, 4 and 8 processes reach, on one memory and on a memory for
    each; and how much CPU does a writer use while it waits for its turn?
Data: texts of `bench.data`. Seed: the number of the writer. How: each writer is a process that opens its
    memory, waits until all are ready, and adds `--adds` texts one by one. The rate is that of all writers,
    from the start to the end of the last one. CPU is that of the writers' processes, without the server. The
    waiting writer waits `--wait` seconds for a transaction that keeps the turn of its memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Final

import psycopg

from bench import data
from bench.job import percentile
from bench.many_memories import about, markdown
from bench.writing import as_add
from engine import Engine
from engine.store.named_places import memory_url
from tests.support.postgresql import temporary_server

WRITERS: Final = (1, 2, 4, 8)


def write(url: str, seed: int, adds: int) -> None:
    """Be one writer: say that it is ready, wait for a line of input, add texts, and print what it took."""
    commands = list(map(as_add, data.texts(adds + 1, seed)))
    with Engine.open(url) as engine:
        engine.apply(commands[:1])
        print("ready", flush=True)
        sys.stdin.readline()
        took, cpu = [], time.process_time()
        for command in commands[1:]:
            begin = time.perf_counter()
            engine.apply([command])
            took.append((time.perf_counter() - begin) * 1000)
        print(json.dumps({"ms": took, "cpu": time.process_time() - cpu}))


def measure(urls: list[str], adds: int) -> str:
    """Run a writer for each URL at the same time, and describe what they reached."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.writers", "--write", url, "--seed", str(seed), "--adds", str(adds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed, url in enumerate(urls, 1)
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    begin = time.perf_counter()
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    found: list[dict[str, Any]] = [json.loads(writer.communicate()[0]) for writer in writers]
    seconds = time.perf_counter() - begin
    ms = [one for result in found for one in result["ms"]]
    cpu = sum(result["cpu"] for result in found) / len(ms) * 1000
    return (
        f"{len(ms) / seconds:,.0f}/s, p50 {percentile(ms, 0.5):.1f} ms, p99 {percentile(ms, 0.99):.1f} ms, "
        f"CPU {cpu:.2f} ms per add"
    )


def waiting(url: str, seconds: float) -> str:
    """Return the CPU time of a writer that waits for its turn."""
    took = []
    with Engine.open(url) as engine, psycopg.connect(url.replace("+waiting", "")) as other:
        engine.add("The first text.")
        other.execute("SELECT 1 FROM memroot_memories WHERE name = 'waiting' FOR UPDATE")

        def add() -> None:
            begin = time.thread_time()
            engine.add("The second text.")
            took.append(time.thread_time() - begin)

        writer = threading.Thread(target=add)
        writer.start()
        time.sleep(seconds)
        other.rollback()
        writer.join()
    return f"{took[0] * 1000:.1f} ms of CPU in {seconds:.0f} s"


def main() -> None:
    """Parse the command line, measure and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.writers", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("--adds", type=int, default=200, help="of each writer")
    parser.add_argument("--wait", type=float, default=5, help="seconds for which a writer waits")
    parser.add_argument("--folder", type=Path, help="folder for the data of the server")
    parser.add_argument("--write", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write(options.write, options.seed, options.adds)
        return
    tempfile.tempdir = None if options.folder is None else str(options.folder)
    with temporary_server() as server:
        print(about(options), flush=True)
        rows = []
        for count in WRITERS:
            one = memory_url(server.url, f"shared-{count}")
            Engine.open(one).close()
            rows.append((f"{count} writers on one memory", measure([one] * count, options.adds)))
            many = [memory_url(server.url, f"own-{count}-{number}") for number in range(count)]
            rows.append((f"{count} writers, a memory for each", measure(many, options.adds)))
        rows.append(("a writer that waits", waiting(memory_url(server.url, "waiting"), options.wait)))
        print(markdown(rows))
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
