"""Tests of the measurement of agents over MCP (`pytest bench/agents`).

Question: can the figures be trusted? Data: small. Seed: 1. How: ordinary tests; nothing is measured.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.agents.agents_table import curve_of, section
from bench.agents.asking import CHARS, Asked, Results, measure
from bench.agents.ways import WAYS, Agent, hints_and_texts
from bench.exploration.curves import Point
from bench.retrieval.sets import QuestionSet, read_set

TEXTS = {f"d{at}": f"Kettle number {at} boils {'and boils ' * at}<b>loudly</b>." for at in range(12)}


@pytest.fixture
def small(tmp_path: Path) -> QuestionSet:
    """Twelve texts and two questions. One text has only a title, and one question has no words."""
    folder = tmp_path / "small"
    folder.mkdir()
    corpus = [{"id": name, "text": text} for name, text in TEXTS.items()]
    corpus.append({"id": "t", "title": "Samovars of Anna"})
    questions = [
        {"query": "Which kettle is number 3, and where are the samovars of Anna?", "relevant": ["d3", "t"]},
        {"query": "...", "relevant": ["d1"]},
    ]
    for name, lines in (("corpus", corpus), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return read_set(folder, "small")


@pytest.mark.parametrize("stdio", [False, True])
def test_a_small_set_is_measured(small: QuestionSet, tmp_path: Path, *, stdio: bool) -> None:
    """With its largest size, every way finds all texts, also over stdio, and has a line in the table."""
    if stdio:
        pytest.importorskip("mcp")
    found = measure(small, tmp_path, 1, lambda line: None, stdio=stdio)
    assert found.questions == 1
    for name, (_, sizes) in WAYS.items():
        [asked] = found.asked[name, sizes[-1]]
        assert asked.found == 1, name
        assert asked.tokens > sum(len(TEXTS[one]) for one in ("d3",)) / CHARS
        assert asked.structured == 0
        assert asked.calls >= 1
        assert f"| {name} " in section(found)
    assert found.whole[0][-1].found == found.bare[0][-1].found == 1
    assert found.bare[0][-1].tokens < found.whole[0][-1].tokens


def test_both_transports_give_the_same_figures(small: QuestionSet, tmp_path: Path) -> None:
    """A call over stdio returns what a call in this process returns."""
    pytest.importorskip("mcp")
    figures = [measure(small, tmp_path, 1, lambda line: None, stdio=stdio).asked for stdio in (False, True)]
    assert figures[0] == figures[1]


def test_the_cost_at_equal_evidence_is_interpolated() -> None:
    """Between two sizes, the cost is interpolated; if no size finds enough, the table says so."""
    ten = tuple(Point(100 * at, at / 10) for at in range(21))
    asked = {
        ("recall", 1): (Asked(200, 0, 1, 0.5),),
        ("recall", 2): (Asked(600, 0, 1, 1.5),),
        ("explore", 1): (Asked(200, 50, 1, 0.5),),
        ("hints and texts", 1): (Asked(3000, 0, 1, 1.0),),
    }
    found = Results("small", 1, (ten,), (ten,), asked)
    assert curve_of(found, "recall") == (Point(200, 0.5), Point(600, 1.5))
    summary = [[cell.strip() for cell in line.split("|")] for line in section(found).splitlines()]
    assert ["", "recall", "1.000", "1,000", "400", "60%", "60%", ""] in summary
    assert ["", "explore", "1.000", "1,000", "not reached", "–", "–", ""] in summary
    assert ["", "hints and texts", "1.000", "1,000", "3,000", "-200% lost", "-200% lost", ""] in summary


def test_hints_that_are_texts_are_not_read_again() -> None:
    """Only good hints that do not show a whole text are expanded."""
    import asyncio

    calls: list[tuple[str, object]] = []

    async def call(tool: str, arguments: dict[str, object]) -> tuple[str, str]:
        calls.append((tool, arguments.get("id")))
        return (
            "[80% ~90] aaaaaaaa A title\n[70%] bbbbbbbb A text\n[30% ~9 external] cccccccc Far\n[9 tokens]",
            "",
        )

    agent = Agent(call)
    asyncio.run(hints_and_texts(agent, "kettle", 5))
    assert calls == [("explore_recall", None), ("explore_expand", "aaaaaaaa")]
    assert agent.received.calls == 2
