"""docs/operating.md says what the server does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.service.access import Access
from engine.service.app import application
from engine.service.guard import Metrics
from engine.service.listening import BODY_BYTES_A_SECOND, Limits
from engine.service.served_memories import Memories
from tests.service.raw import serving
from tests.service.support import KnownTokens

PAGE = (Path(__file__).parents[2] / "docs" / "operating.md").read_text(encoding="utf-8")
LIMITS = Limits()


@pytest.mark.parametrize(
    "text",
    [
        f"| {LIMITS.head_bytes:,} bytes |",
        f"| {LIMITS.body_bytes:,} bytes; of a bulk request {LIMITS.bulk_bytes:,} bytes |",
        f"time for the headers | {LIMITS.head_seconds} seconds each |",
        f"| {LIMITS.body_seconds} seconds, and one more for each {BODY_BYTES_A_SECOND:,} bytes |",
        f"answer begins | {LIMITS.answer_seconds} seconds |",
        f"long answer | {LIMITS.write_seconds} seconds |",
        f"| {LIMITS.idle_seconds} seconds; of a proxy {LIMITS.proxy_idle_seconds} seconds |",
        f"| connections (`--connections`) | {LIMITS.connections:,} |",
        f"| a quarter: {LIMITS.connections_of_peer}; of a proxy no limit |",
        f"| {LIMITS.requests_per_second} in a second on average, {LIMITS.requests_at_once} at once",
        f"streams of events among them | {LIMITS.requests_running} |",
        f"after SIGTERM | {LIMITS.stop_seconds} seconds |",
    ],
)
def test_the_page_states_each_limit(text: str) -> None:
    """The table has the numbers of the code."""
    assert text in PAGE


def test_the_page_lists_the_metrics() -> None:
    """The names in the table are those that the server shows."""
    metrics = Metrics()
    app = application(Memories("memory:"), Access(KnownTokens(), read_only=True), metrics)
    with serving(program=app, metrics=metrics):
        shown = set(re.findall(r"^# TYPE (\S+)", metrics.text(), re.MULTILINE))
    listed = set(re.findall(r"`((?:memroot|process)_[a-z_]+)`", PAGE.partition("## Health")[2]))
    assert listed == shown
