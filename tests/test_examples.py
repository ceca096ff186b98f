"""The examples run, and show what they promise."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def output(programs: Path, example: str, *arguments: str) -> str:
    """What an example prints; it must end well."""
    command = [str(programs / "python"), str(EXAMPLES / example), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_embedding_example_shows_recall_the_past_and_a_verified_root(forked: Path) -> None:
    """Linking again changes nothing, the past is read, and the store verifies."""
    shown = output(forked, "embed.py")
    assert "linked again: False" in shown
    assert "then: Requests over the socket are JSON-RPC" in shown
    assert "now:  Requests over the socket are CBOR now." in shown
    assert "verified: True" in shown


class Shown(NamedTuple):
    """What the demonstration printed, run twice on one store."""

    store: Path
    first: str
    second: str


@pytest.fixture(scope="module")
def demonstration(forked: Path, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The demonstration, run and run again."""
    store = tmp_path_factory.mktemp("demonstration") / "store"
    first = output(forked, "demo.py", str(store))
    return Shown(store, first, output(forked, "demo.py", str(store)))


def test_the_demonstration_answers_from_the_project_s_own_pages(demonstration: Shown) -> None:
    """Three questions have answers, the root is printed, and the store is left where it says."""
    shown = demonstration.first
    assert shown.count("\n? ") == 3
    assert shown.count("  memroot/") == 6, "two hits for each"
    assert "verify-root: ok" in shown
    assert "Proof: no page mentions 'unicycle'" in shown
    assert f"Store: {demonstration.store}" in shown
    assert demonstration.store.exists()


def test_the_demonstration_ingests_nothing_the_second_time(demonstration: Shown) -> None:
    """The same pages again are no event."""
    assert ": 0 atoms added, 0 revised," in demonstration.second


def test_the_agent_explores_with_and_without_a_model(forked: Path) -> None:
    """Both ways have a trace and cost less than ten whole atoms; the verbs by themselves answer, too."""
    shown = output(forked, "agent.py")
    assert shown.count("1. recall(") == 2
    assert shown.count("% saved); stopped: ") == 2
    assert "(-" not in shown, "neither costs more than ten whole atoms"
    assert "tokens of prompts went to the model" in shown
    assert "memroot → keeps_events_in → journal" in shown
