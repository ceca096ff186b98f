"""The way of one add through the files of the project."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path

from engine import Engine
from proofs.log import leaf_hash
from tests.support.ways import ROOT, files_passed

FILES_MAX = 15


def test_an_add_passes_few_files(tmp_path: Path) -> None:
    """On a LevelDB store that was used already, an add passes at most 15 files, which the docs name."""
    with Engine.open(f"leveldb:{tmp_path / 'store'}") as engine:
        engine.add("first")
        engine.add("second")
        files = files_passed(lambda: engine.add("third"))
    assert len(files) <= FILES_MAX, files
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## The way of one add\n")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)) == files


def test_what_imports_run_is_left_out() -> None:
    """A file whose code only runs because it is imported is not passed; a function that is called counts."""

    def call() -> None:
        run_path(str(ROOT / "proofs" / "log.py"))
        leaf_hash(b"")

    assert files_passed(call) == ["proofs/log.py"]
    assert files_passed(lambda: None) == []
