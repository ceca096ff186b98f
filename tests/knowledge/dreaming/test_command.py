"""The command `engine dream`."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.engine import Engine
from tests.knowledge.dreaming.support import LETTERS
from tests.support.children import ROOT
from tests.support.command_line import Cli

TEXTS = (*LETTERS, "Old Charles Babbage and young Ada Lovelace of Bristol.")


@pytest.fixture
def store(cli: Cli) -> Cli:
    """A store with some texts."""
    for text in TEXTS:
        assert cli("add", text).code == 0
    return cli


def test_it_says_what_it_did(store: Cli) -> None:
    """The answer counts atoms, tags, entities and edges; a second run counts nothing."""
    data = store("dream", "--json").data
    assert (data["looked_at"], data["left"], data["done"], data["dry_run"]) == (len(TEXTS), 0, True, False)
    assert set(data["entities"]) == {"Ada Lovelace", "Bristol", "Charles Babbage"}
    assert data["tags"] > 0
    again = store("dream", "--json").data
    assert (again["looked_at"], again["tags"], again["entities"], again["known"]) == (0, 0, [], 3)


def test_a_dry_run_writes_nothing(store: Cli) -> None:
    """--dry-run gives the same answer and does not change the root."""
    root = store("root").out
    said = store("dream", "--dry-run", "--json").data
    assert store("root").out == root
    assert store("dream", "--json").data == {**said, "dry_run": False}


def test_a_budget_leaves_the_rest(store: Cli) -> None:
    """With --budget the answer has the number of atoms left."""
    assert store("dream", "--budget", "3", "--json").data["left"] > 0
    assert "for the next cycle" in store("dream", "--budget", "3").out


def test_near_duplicates_come_with_the_line_that_merges_them(store: Cli) -> None:
    """Each group has its ids and the command that would merge it."""
    text = "The kettle in the kitchen is descaled with citric acid on the first Monday of the month"
    keep, other = (store("add", "--again", end).out.split()[0] for end in (text, text + "."))
    groups = store("dream", "--json").data["duplicates"]
    assert [group["merge"] for group in groups] == [f"engine merge {keep} {other}"]
    assert store("merge", keep, other).code == 0


def test_options_that_contradict_each_other_are_refused(store: Cli) -> None:
    """--quiet-for without --watch, and --watch with --dry-run, are errors."""
    assert store("dream", "--quiet-for", "3").code == 2
    assert store("dream", "--watch", "--dry-run").code == 2


def test_progress_goes_to_stderr(store: Cli) -> None:
    """Progress goes to stderr, and only the answer to stdout."""
    result = store("dream")
    assert "dreamt: 10 steps" in result.err
    assert result.out.splitlines()[0].split() == ["looked", "at", "5", "atoms"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watching_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    """A watcher dreams over an idle store, lets others in, and ends with exit code 0 on a signal."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    with Engine.open(url) as engine:
        for text in TEXTS:
            engine.add(text)
    arguments = ["--store", url, "dream", "--watch", "--quiet-for", "0.05"]
    child = subprocess.Popen(
        [sys.executable, "-m", "engine", *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stderr is not None
    try:
        said = [child.stderr.readline(), child.stderr.readline()]
        with Engine.open(url) as engine:
            assert any(item.actor == "dreamer" for item in engine.log())
        child.send_signal(number)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0, err
    assert "processed 5 atoms" in said[1]
    assert "Traceback" not in err
    assert out.startswith("cycles")
