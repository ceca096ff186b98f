"""Tests that the example programs run and print the described results."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def output(programs: Path, example: str, *arguments: str) -> str:
    """Run an example, check that it succeeds, and return the text that it prints."""
    command = [str(programs / "python"), str(EXAMPLES / example), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_embedding_example_shows_recall_the_past_and_a_verified_root(forked: Path) -> None:
    """embed.py: adding a link twice changes nothing, the past can be read, and the store verifies."""
    shown = output(forked, "embed.py")
    assert "linked again: False" in shown
    assert "then: Requests over the socket are JSON-RPC" in shown
    assert "now:  Requests over the socket are CBOR now." in shown
    assert "verified: True" in shown


class Shown(NamedTuple):
    """The outputs of two runs of the demonstration on the same store."""

    store: Path
    first: str
    second: str


@pytest.fixture(scope="module")
def demonstration(forked: Path, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Run the demonstration twice on the same store, and return both outputs."""
    store = tmp_path_factory.mktemp("demonstration") / "store"
    first = output(forked, "demo.py", str(store))
    return Shown(store, first, output(forked, "demo.py", str(store)))


def test_the_demonstration_answers_from_the_project_s_own_pages(demonstration: Shown) -> None:
    """Three questions have answers, the root is printed, and the store is at the printed path."""
    shown = demonstration.first
    assert shown.count("\n? ") == 3
    assert shown.count("  memroot/") == 6, "two hits for each"
    assert "verify-root: ok" in shown
    assert "Proof: no page mentions 'unicycle'" in shown
    assert f"Store: {demonstration.store}" in shown
    parts = (
        "names, ",
        "Lena -lives_in-> Bergen",
        " tokens\n",
        "keys of the lighthouse",
        "Mirror: ",
        "the same after",
    )
    assert [part for part in parts if part not in shown] == []
    assert demonstration.store.exists()


def test_the_demonstration_ingests_nothing_the_second_time(demonstration: Shown) -> None:
    """Ingesting the same pages again appends no event."""
    assert ": 0 atoms added, 0 revised," in demonstration.second


def test_the_agent_explores_with_and_without_a_model(forked: Path) -> None:
    """Both explorations print a trace and cost fewer tokens than ten atoms; the direct calls work, too."""
    shown = output(forked, "agent.py")
    assert shown.count("1. recall(") == 2
    assert shown.count("% saved); stopped: ") == 2
    assert "(-" not in shown, "neither costs more than ten whole atoms"
    assert "tokens of prompts went to the model" in shown
    assert "memroot → keeps_events_in → journal" in shown
