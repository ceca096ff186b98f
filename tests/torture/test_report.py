"""The page of the programme is made from its last report, and names tests and exercises that exist."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.torture.__main__ import cells, go
from tests.torture.exercises import EXERCISES
from tests.torture.matrix import MATRIX
from tests.torture.report import LAST_RUN, PAGE, rendered, summarised


def test_the_page_is_made_from_the_last_report() -> None:
    """The tables of docs/reliability.md are what the report of the last run gives."""
    page = PAGE.read_text(encoding="utf-8")
    assert page == rendered(json.loads(LAST_RUN.read_text()), page)


def test_the_table_has_every_fault_once() -> None:
    """The faults are numbered from F1 to F27, and name exercises that exist."""
    assert [row.number for row in MATRIX] == [f"F{number}" for number in range(1, 28)]
    assert {name for row in MATRIX for name in row.exercises} <= EXERCISES.keys()


def test_a_run_that_is_stopped_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Slices that have finished are not carried out again, and the report counts them all."""
    done = []

    def carried_out(cell: object, seed: int) -> dict[str, object]:
        done.append(cell)
        return cell._asdict() | {"counts": {"damages": 1, "wrong answers": 1}, "seconds": 1.0}  # type: ignore[attr-defined, no-any-return]

    monkeypatch.setattr("tests.torture.__main__.NOTES", tmp_path)
    monkeypatch.setattr("tests.torture.__main__.carried_out", carried_out)
    names, all_cells = ["flips"], cells(["flips"], 0.1)
    assert len(all_cells) > len({cell.variant for cell in all_cells})
    (tmp_path / "7-0.1.jsonl").write_text("")
    first = go(7, 0.1, names, 1, 0)
    assert len(first) < len(all_cells)
    assert len(go(7, 0.1, names, 2, None)) == len(done) == len(all_cells)
    report = summarised(go(7, 0.1, names, 1, None), 7, 0.1, datetime.now(UTC))
    assert len(done) == len(all_cells)
    assert sum(one["failed"]["wrong answers"] for one in report["exercises"]) == len(all_cells)
