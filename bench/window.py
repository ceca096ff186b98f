"""Measure the window in a browser: `python -m bench.window`.

Question: how long does a person wait for the window into a memory of `--atoms` atoms: until something is
    painted, until what the memory holds is shown, from the last key of a question until its hits are shown,
    and until all marks are final? What does the page add to the time of `Engine.recall`? How many bytes are
    sent?
Data: generated texts of 40 words; questions of six words. Seed: `--seed`, by default 1.
How: `engine ui` is started as a user starts it, in a process of its own; Chromium runs without a screen, and
    has an empty cache and no pin at each visit. A visit is cold if the process of the service is new and has
    not opened the memory; the files stay in the operating system's cache. A time ends when the frame with the
    result is drawn. The questions are typed with the given pauses between two keys; the time begins with the
    event of the last key. `Engine.recall` is called in this process before the service starts and after it
    has ended, with the same parameters as by the page; its time is the minimum of all its calls with the
    question. Every question is asked in `--rounds` rounds, and a row is taken over the minimum of each
    question, since other programs of the machine can only add to a time; the last column has all times.
Rows we lose: there is no rival with a page that verifies what it shows. The figures have targets instead.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final
from urllib.parse import urldefrag

from bench import machine
from bench.data import questions, texts
from bench.writing import as_add
from engine import Engine
from tests.support.chromium import SWITCHES, chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BACKENDS: Final = ("leveldb", "sqlite")
LIMIT: Final = 20
"""The number of hits that the page asks for."""
PAINT_MS, ADDED_MS, SENT_BYTES = 500, 50, 170_000
"""The targets."""
_WAIT_MS: Final = 60_000

_WATCH: Final = """
(() => {
  const seen = (window.seen = { key: 0, shown: 0, final: 0, asked: "" });
  const ready = () => {
    const list = document.getElementById("list");
    if (list === null || list.childElementCount === 0) return false;
    if (list.getAttribute("aria-busy") !== "false") return false;
    return document.getElementById("query").value === seen.asked;
  };
  const checks = () => [...document.querySelectorAll(".mark")].some((one) => one.textContent === "Checking…");
  const pinned = () => document.querySelector("#trust-button .mark") !== null;
  const drawn = (name) => {
    seen[name] = -1;
    requestAnimationFrame(() => setTimeout(() => { seen[name] = performance.now(); }));
  };
  const look = () => {
    if (seen.shown === 0 && ready()) drawn("shown");
    if (seen.shown !== 0 && seen.final === 0 && ready() && pinned() && !checks()) drawn("final");
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, attributes: true });
  addEventListener("input", (event) => { seen.key = event.timeStamp; }, true);
  window.ask = (words) => {
    Object.assign(seen, { key: 0, shown: 0, final: 0, asked: words });
    look();
  };
})()
"""
"""A script that notes, in ms since the page was asked for, when the answer to `seen.asked` was drawn, and
when all of its marks were."""


@dataclass
class Visit:
    """The figures of one visit, in ms since the page was asked for."""

    paint: float
    shown: float
    final: float
    page_bytes: int
    other_bytes: int
    requests: int


def _lists() -> dict[str, list[float]]:
    return defaultdict(list)


@dataclass
class Answers:
    """The times of all questions by pause between keys, in ms since the last key, and those of the engine."""

    shown: dict[int, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(_lists))
    final: dict[int, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(_lists))
    engine: dict[str, list[float]] = field(default_factory=_lists)


def store_in(folder: Path, options: argparse.Namespace) -> str:
    """Return the URL of a store with the texts; make it if it is missing."""
    kept = folder / f"window-{options.backend}-{options.atoms}-{options.seed}"
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=folder) as name:
            made = Path(name) / "store"
            with Engine.open(f"{options.backend}://{made}", actor="bench") as engine:
                for _ in engine.apply_many(map(as_add, texts(options.atoms, options.seed))):
                    pass
                engine.root()
            made.rename(kept)
    return f"{options.backend}://{kept}"


@contextmanager
def shown(store: str) -> Iterator[str]:
    """Run `engine ui`, and yield its address."""
    command = [sys.executable, "-m", "engine", "ui", "--no-browser", "--store", store]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


@contextmanager
def browser_page(browser: Browser) -> Iterator[Page]:
    """Yield a page of a browser that has seen nothing yet."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(_WAIT_MS)
    page = context.new_page()
    page.add_init_script(_WATCH)
    try:
        yield page
    finally:
        context.close()


def visit(page: Page, address: str) -> Visit:
    """Open the window, and wait until all is shown and verified."""
    sent: dict[str, int] = {}
    urls: dict[str, str] = {}
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on(
        "Network.requestWillBeSent", lambda event: urls.update({event["requestId"]: event["request"]["url"]})
    )
    session.on(
        "Network.loadingFinished",
        lambda event: sent.update({event["requestId"]: int(event["encodedDataLength"])}),
    )
    page.goto(address)
    page.wait_for_function("() => window.seen.final > 0")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    seen = page.evaluate("window.seen")
    session.detach()
    home = urldefrag(address).url.rstrip("/")
    of_page = sum(size for request, size in sent.items() if urls[request].rstrip("/") == home)
    return Visit(paint, seen["shown"], seen["final"], of_page, sum(sent.values()) - of_page, len(sent))


def typed(page: Page, question: str, pause: int) -> tuple[float, float]:
    """Type a question into the empty field; return the times until its hits are shown and its marks final."""
    page.evaluate("window.ask('')")
    page.fill("#query", "")
    page.wait_for_function("() => window.seen.final > 0")
    page.evaluate("words => window.ask(words)", question)
    page.type("#query", question, delay=pause)
    page.wait_for_function("() => window.seen.final > 0")
    seen = page.evaluate("window.seen")
    return seen["shown"] - seen["key"], seen["final"] - seen["key"]


def recalled(store: str, asked: Sequence[str], found: dict[str, list[float]]) -> None:
    """Add the time of `Engine.recall` for each question, three times each."""
    with Engine.open(store) as engine:
        engine.recall(asked[-1], limit=LIMIT, explain=True)
        for _ in range(3):
            for question in asked:
                begin = time.perf_counter()
                engine.recall(question, limit=LIMIT, explain=True)
                found[question].append((time.perf_counter() - begin) * 1000)


def measured(
    browser: Browser, store: str, options: argparse.Namespace
) -> tuple[list[Visit], list[Visit], Answers]:
    """Return the cold visits, the warm visits, and the times of the questions."""
    cold, warm, answers = [], [], Answers()
    asked = questions(options.questions, options.seed)
    recalled(store, asked, answers.engine)
    for round_ in range(options.rounds):
        with shown(store) as address:
            with browser_page(browser) as page:
                cold.append(visit(page, address))
            with browser_page(browser) as page:
                warm.append(visit(page, address))
                for pause in options.pauses:
                    for question in asked:
                        until_shown, until_final = typed(page, question, pause)
                        answers.shown[pause][question].append(until_shown)
                        answers.final[pause][question].append(until_final)
        _progress(f"round {round_ + 1}: cold {cold[-1]}, warm {warm[-1]}")
    recalled(store, asked, answers.engine)
    return cold, warm, answers


def table(cold: list[Visit], warm: list[Visit], answers: Answers) -> str:
    """Return the figures as a Markdown table."""
    lines = ["| question | least or median | worst | all: median, worst | target |", "|---|--:|--:|--:|---|"]
    for name, visits in (("cold", cold), ("warm", warm)):
        for what, part, target in (
            ("first paint", "paint", PAINT_MS),
            ("what the memory holds is shown", "shown", PAINT_MS),
            ("all marks are final", "final", None),
        ):
            times = [getattr(one, part) for one in visits]
            lines.append(_row(f"{name}: {what}", [min(times)], times, target))
    engine = {question: min(times) for question, times in answers.engine.items()}
    every = [time for times in answers.engine.values() for time in times]
    lines.append(_row("`Engine.recall` in the process", list(engine.values()), every, None))
    for pause in answers.shown:
        for what, found, target in (
            ("from the last key until the hits are shown", answers.shown[pause], None),
            ("– more than `Engine.recall`", _more(answers.shown[pause], engine), ADDED_MS),
            ("– until all marks are final", answers.final[pause], None),
        ):
            least = [min(times) for times in found.values()]
            every = [one for times in found.values() for one in times]
            lines.append(_row(f"{what}, {pause} ms between keys", least, every, target))
    sent = max(one.page_bytes for one in cold + warm)
    verdict = "reached" if sent < SENT_BYTES else "missed"
    lines.append(f"| sent for the page | {sent:,} B | | | < {SENT_BYTES:,} B, {verdict} |")
    sent, count = max((one.other_bytes, one.requests - 1) for one in cold + warm)
    lines.append(f"| sent for the first answers, {count} requests | {sent:,} B | | | – |")
    return "\n".join(lines)


def _more(times: dict[str, list[float]], engine: dict[str, float]) -> dict[str, list[float]]:
    return {question: [one - engine[question] for one in found] for question, found in times.items()}


def _row(what: str, least: list[float], every: list[float], target: int | None) -> str:
    said = "–"
    if target is not None:
        said = f"< {target} ms, {'reached' if max(least) < target else 'missed'}"
    shown = (median(least), max(least), median(every), max(every))
    first, worst, middle, last = (f"{one:.1f} ms" if one < 10 else f"{one:.0f} ms" for one in shown)
    return f"| {what} | {first} | {worst} | {middle}, {last} | {said} |"


def main() -> None:
    """Parse the command line, run the measurements and print the table."""
    options = _options()
    path = chromium()
    if path is None:
        sys.exit(
            "bench: the window is measured in Chromium, which is not installed (Debian's package: chromium)"
        )
    from playwright.sync_api import sync_playwright

    work = options.folder or Path(tempfile.mkdtemp(prefix="memroot-bench-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        about = machine.describe(work)
        store = store_in(work, options)
        _progress(f"{store} has {options.atoms:,} atoms")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
            found = measured(browser, store, options)
            about["browser"] = browser.version
            browser.close()
    finally:
        if options.folder is None:
            shutil.rmtree(work, ignore_errors=True)
    parts = ("cpu", "cores", "system", "python", "commit", "file_system", "fsync_us", "browser", "load")
    print(
        ", ".join(f"{name} {about[name]}" for name in parts) + f", load at the end {os.getloadavg()[0]:.1f}"
    )
    print(
        f"{options.atoms:,} atoms, {options.backend}, seed {options.seed}, {options.questions} questions, "
        f"{options.rounds} rounds\n"
    )
    print(table(*found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.window", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--atoms", type=int, default=100_000, metavar="N")
    parser.add_argument("--backend", choices=BACKENDS, default="leveldb")
    parser.add_argument("--questions", type=int, default=30, metavar="N")
    parser.add_argument("--pauses", nargs="+", type=int, default=[60, 200], help="ms between two keys")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="folder in which the store is kept, on a disk")
    return parser.parse_args()


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
