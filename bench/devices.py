"""Measure devices that meet in a folder, and git with a folder of notes: `python -m bench.devices --atoms N`.

Question: how long do the first join, 100 new texts, and a sync without news take; how large is the folder?
Data: texts of `bench.data`; for git, one file for each source, with its texts. Seed: `--seed`.
How: wall time in one process, one call after another, in `--folder`. Two stores in LevelDB meet in a folder;
    two clones of a bare repository stand beside them. A sync includes opening the store, as a command does,
    and indexing what it read. git's times include starting its processes; it has no index to keep, and merges
    lines, not texts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from bench import data
from bench.writing import as_add
from engine import Engine

NEWS = 100


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def memroot(texts: Sequence[data.Text], news: Sequence[data.Text], place: Path) -> dict[str, float]:
    """Measure two devices."""
    urls, folder = [f"leveldb:{place / name}" for name in ("laptop", "desktop")], place / "folder"

    def synced(url: str) -> float:
        def work() -> None:
            with Engine.open(url) as memory:
                memory.sync()
                memory.catch_up()

        return timed(work)

    with Engine.open(urls[0]) as memory:
        bulk = timed(lambda: list(memory.apply_many(map(as_add, texts))))
        phrase = memory.sync_init(folder, name="laptop")
        memory.sync()
    Engine.sync_join(urls[1], folder, phrase, name="desktop").close()
    found = {"adding them, s": bulk, "first join, s": synced(urls[1]), "first sync back, s": synced(urls[0])}
    found["folder / texts"] = size_of(folder) / sum(len(text.content.encode()) for text in texts)
    with Engine.open(urls[0]) as memory:
        list(memory.apply_many(map(as_add, news)))
        memory.catch_up()
    found["100 new texts: write, ms"] = 1000 * synced(urls[0])
    found["100 new texts: read, ms"] = 1000 * synced(urls[1])
    synced(urls[0])
    with Engine.open(urls[1]) as memory:
        memory.catch_up()
        found["nothing new, ms"] = 1000 * min(timed(memory.sync) for _ in range(5))
    return found


def git(texts: Sequence[data.Text], news: Sequence[data.Text], place: Path) -> dict[str, float]:
    """Measure two clones of a repository with a file for each source."""
    bare, one, other = (place / name for name in ("bare", "one", "other"))
    names = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
    environment = {**os.environ, **dict.fromkeys(names, "bench")}

    def run(*words: object, at: Path = place) -> None:
        command = ["git", "-c", "init.defaultBranch=main", *map(str, words)]
        subprocess.run(command, cwd=at, check=True, capture_output=True, env=environment)

    def write(several: Sequence[data.Text]) -> None:
        for source, found in groupby(several, lambda text: text.source):
            path = one / source
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n\n".join(text.content for text in found))

    def publish() -> None:
        run("add", ".", at=one)
        run("commit", "-m", "notes", at=one)
        run("push", "origin", "HEAD", at=one)

    run("init", "--bare", bare)
    run("clone", bare, one)
    write(texts)
    result = {"adding them, s": timed(publish), "first join, s": timed(lambda: run("clone", bare, other))}
    run("gc", at=bare)
    result["folder / texts"] = size_of(bare) / sum(len(text.content.encode()) for text in texts)
    write(news)
    result["100 new texts: write, ms"] = 1000 * timed(publish)
    result["100 new texts: read, ms"] = 1000 * timed(lambda: run("pull", at=other))
    result["nothing new, ms"] = 1000 * min(timed(lambda: run("pull", at=other)) for _ in range(5))
    return result


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atoms", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", default=None)
    given = parser.parse_args()
    texts = list(data.texts(given.atoms + NEWS, given.seed))
    old, news = texts[: given.atoms], texts[given.atoms :]
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        os.environ["XDG_CONFIG_HOME"] = folder
        Path(folder, "git").mkdir()
        ours, theirs = memroot(old, news, Path(folder)), git(old, news, Path(folder, "git"))
    print(f"| {given.atoms:,} texts | memroot | git |\n|---|---|---|")
    for name, value in ours.items():
        print(
            f"| {name} | {value:.2f} | {theirs[name]:.2f} |"
            if name in theirs
            else f"| {name} | {value:.2f} | |"
        )


if __name__ == "__main__":
    main()
