"""Ask the questions of a memory in each way, over a real stdio session or inside this process.

Question: what does an agent receive, and is the evidence in it?
Data: a set of `bench.retrieval.sets`. Seed: the seed of the salts.
How: a text counts as found if the agent received all of it, apart from white space and characters that the
    server replaces. The same rule applies to the whole texts that are compared.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.agents.ways import WAYS, Agent, Call
from bench.exploration.curves import Path as Curve
from bench.exploration.curves import Point
from bench.retrieval.judge import load
from bench.retrieval.ours import open_engine
from bench.retrieval.sets import Memory, Question, QuestionSet
from engine.base.errors import InvalidInputError
from engine.base.json_text import dumped
from engine.engine import Engine
from engine.mcp.dispatch import Dispatcher
from engine.mcp.profiles import profile_of
from engine.memory.lease import Lease
from engine.query.explore.explore_answers import unmarked
from engine.query.prompt_text import hit_text

ROOT: Final = Path(__file__).resolve().parents[2]

WHOLE: Final = 20
"""The number of whole texts that are recalled for the comparison."""

CHARS: Final = 4
"""The number of characters that are counted as one token."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The result of asking one question in one way with one size."""

    tokens: float
    """The tokens of the text blocks."""
    structured: float
    """The tokens of the structured content."""
    calls: int
    found: float
    """The share of the question's relevant texts that the agent received."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results for a set, in the order of its questions."""

    name: str
    questions: int
    whole: tuple[Curve, ...]
    """The tokens and the share found after each whole text. Each text has a heading as in `hit_text`."""
    bare: tuple[Curve, ...]
    """The same figures for texts without headings, that is, without ids and sources."""
    asked: Mapping[tuple[str, int], tuple[Asked, ...]]
    """(way, size) → the results."""


def measure(
    question_set: QuestionSet, work: Path, seed: int, report: Callable[[str], None], *, stdio: bool
) -> Results:
    """Ask all questions of a set that have search terms."""
    whole: list[Curve] = []
    bare: list[Curve] = []
    asked: dict[tuple[str, int], list[Asked]] = {
        (name, size): [] for name, (_, sizes) in WAYS.items() for size in sizes
    }
    for memory in question_set.memories:
        report(f"{memory.name}: {len(memory.questions)} questions")
        texts = {one.name: _plain(one.text or one.title or "") for one in memory.documents}
        questions = []
        with load(memory, work, seed) as loaded:
            for question in memory.questions:
                try:
                    curves = _whole(loaded.engine, question, texts)
                except InvalidInputError:
                    continue
                questions.append(question)
                whole.append(curves[0])
                bare.append(curves[1])
        results = asyncio.run(_asked(memory, questions, texts, work, seed, stdio=stdio))
        for key, some in results.items():
            asked[key] += some
    return Results(
        question_set.name,
        len(whole),
        tuple(whole),
        tuple(bare),
        {key: tuple(some) for key, some in asked.items()},
    )


def _plain(text: str) -> str:
    return " ".join(unmarked(text).split())


def _share(text: str, question: Question, texts: dict[str, str]) -> float:
    received = _plain(text)
    # A relevant id that is not in the corpus cannot be found in any way.
    return sum(bool(texts.get(name)) and texts[name] in received for name in question.relevant) / len(
        question.relevant
    )


def _whole(engine: Engine, question: Question, texts: dict[str, str]) -> tuple[Curve, Curve]:
    hits = engine.recall(question.text, limit=WHOLE, budget=10_000_000).hits
    curves = []
    for shown in (
        [hit_text(hit.title, hit.source, hit.sequence, hit.id, hit.content or "") for hit in hits],
        [f"{hit.content}\n\n" for hit in hits],
    ):
        text, points = "", [Point(0, 0)]
        for at in range(WHOLE):
            text += shown[at] if at < len(shown) else ""
            points.append(Point(len(text) / CHARS, _share(text, question, texts)))
        curves.append(tuple(points))
    return curves[0], curves[1]


async def _asked(
    memory: Memory,
    questions: Sequence[Question],
    texts: dict[str, str],
    work: Path,
    seed: int,
    *,
    stdio: bool,
) -> dict[tuple[str, int], list[Asked]]:
    found: dict[tuple[str, int], list[Asked]] = {}
    store = work / f"store-{memory.name}"
    async with _over_stdio(store) if stdio else _in_process(store, seed) as call:
        for name, size in _sizes():
            way = WAYS[name][0]
            some = found.setdefault((name, size), [])
            for question in questions:
                agent = Agent(call)
                await way(agent, question.text, size)
                got = agent.received
                share = _share(got.text, question, texts)
                some.append(Asked(len(got.text) / CHARS, got.structured / CHARS, got.calls, share))
    return found


def _sizes() -> Iterator[tuple[str, int]]:
    for name, (_, sizes) in WAYS.items():
        for size in sizes:
            yield name, size


@asynccontextmanager
async def _in_process(store: Path, seed: int) -> AsyncIterator[Call]:
    """Yield a function that calls tools of the server's profile in this process."""
    lease = Lease(lambda: open_engine(store, seed))
    dispatcher = Dispatcher(profile_of("memory", read_only=True), lease)

    async def call(tool: str, arguments: dict[str, Any]) -> tuple[str, str]:
        answer = dispatcher.answer("tools/call", {"name": tool, "arguments": arguments})
        structured = answer.get("structuredContent")
        return (
            "\n".join(block["text"] for block in answer["content"]),
            "" if structured is None else dumped(structured),
        )

    try:
        yield call
    finally:
        lease.close()


@asynccontextmanager
async def _over_stdio(store: Path) -> AsyncIterator[Call]:
    """Yield a function that calls the tools of an `engine mcp` process with the official client."""
    # An optional package: only this function needs it.
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "engine", "mcp", "--read-only", "--store", str(store)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    async with Client(stdio_client(server)) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> tuple[str, str]:
            answer = await client.call_tool(tool, arguments)
            if answer.is_error:
                raise RuntimeError(f"{tool} {arguments}: {answer.content}")
            structured = answer.structured_content
            return (
                "\n".join(getattr(block, "text", "") for block in answer.content),
                "" if structured is None else json.dumps(structured, separators=(",", ":")),
            )

        yield call
