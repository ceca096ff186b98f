"""The examples run, and show what they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def output(example: str, *arguments: str) -> str:
    """What an example prints; it must end well."""
    command = [sys.executable, str(EXAMPLES / example), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_embedding_example_shows_recall_the_past_and_a_verified_root() -> None:
    """Linking again changes nothing, the past is read, and the store verifies."""
    shown = output("embed.py")
    assert "linked again: False" in shown
    assert "then: Requests over the socket are JSON-RPC" in shown
    assert "now:  Requests over the socket are CBOR now." in shown
    assert "verified: True" in shown


def test_the_demonstration_answers_from_the_project_s_own_pages(tmp_path: Path) -> None:
    """Three questions have answers, the root is printed, and the store is left where it says."""
    store = tmp_path / "store"
    shown = output("demo.py", str(store))
    assert shown.count("\n? ") == 3
    assert shown.count("  memroot/") == 6, "two hits for each"
    assert "verify-root: ok" in shown
    assert "Proof: no page mentions 'unicycle'" in shown
    assert f"Store: {store}" in shown
    assert store.exists()


def test_the_demonstration_ingests_nothing_the_second_time(tmp_path: Path) -> None:
    """The same pages again are no event."""
    store = tmp_path / "store"
    output("demo.py", str(store))
    assert ": 0 atoms added, 0 revised," in output("demo.py", str(store))


def test_the_agent_explores_with_and_without_a_model() -> None:
    """Both ways have a trace and cost less than ten whole atoms; the verbs by themselves answer, too."""
    shown = output("agent.py")
    assert shown.count("1. recall(") == 2
    assert shown.count("% saved); stopped: ") == 2
    assert "(-" not in shown, "neither costs more than ten whole atoms"
    assert "tokens of prompts went to the model" in shown
    assert "memroot → keeps_events_in → journal" in shown
