"""The ways of single calls through the files of the project, which docs/architecture.md names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from runpy import run_path

import pytest

from engine import Add, Engine
from engine.base.native import NATIVE
from proofs.log import leaf_hash
from tests.support.ways import ROOT, files_passed

Call = Callable[[], object]


@contextmanager
def an_add(store: str) -> Iterator[Call]:
    """Yield an add to a memory that was used already."""
    with Engine.open(store) as engine:
        engine.add("first")
        engine.add("second")
        yield lambda: engine.add("third")


@contextmanager
def a_recall(store: str) -> Iterator[Call]:
    """Yield a question to a memory of a few dozen messages, which was asked another one before."""
    things = ("kettle", "bicycle", "harbour", "lamp", "garden")
    with Engine.open(store) as engine:
        engine.apply(
            Add(
                f"{('Anna', 'Boris')[at % 2]}: the {things[at % 5]} of message {at} is {things[at % 3]} red",
                source=f"chat {at // 12}",
                sequence=at,
                tags=("repairs",) if at % 12 == 1 else (),
            )
            for at in range(36)
        )
        engine.recall("Where is the lamp?")
        yield lambda: engine.recall("Did Anna or Boris mend the red bicycle?")


@contextmanager
def a_proof(store: str) -> Iterator[Call]:
    """Yield the second proof of an atom."""
    with Engine.open(store) as engine:
        atom = engine.add("Bob drinks green tea").id
        engine.prove([("atom", atom)])
        yield lambda: engine.prove([("atom", atom)])


@pytest.mark.skipif(NATIVE is None, reason="the twins of kernels are in further files")
@pytest.mark.parametrize(
    ("section", "way", "most"),
    [
        ("The way of one add", an_add, 15),
        ("The way of one recall", a_recall, 48),
        ("The way of one proof", a_proof, 28),
    ],
)
def test_a_call_passes_the_files_that_the_docs_name(
    section: str, way: Callable[[str], AbstractContextManager[Call]], most: int, tmp_path: Path
) -> None:
    """On a LevelDB store, a call passes the files in its section of the docs, and no more than a few."""
    with way(f"leveldb:{tmp_path / 'store'}") as call:
        files = files_passed(call)
    assert len(files) <= most, files
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = page.partition(f"## {section}\n")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `([^`]+)` \|", named, re.MULTILINE)) == files


def test_what_imports_run_is_left_out() -> None:
    """A file whose code only runs because it is imported is not passed; a function that is called counts."""

    def call() -> None:
        run_path(str(ROOT / "proofs" / "log.py"))
        leaf_hash(b"")

    assert files_passed(call) == ["proofs/log.py"]
    assert files_passed(lambda: None) == []
