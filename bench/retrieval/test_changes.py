"""Tests of the comparison of two runs, and of the reading of LongMemEval's files."""

from __future__ import annotations

from typing import Any

import pytest

from bench.retrieval.changes import changes_of, changes_section
from bench.retrieval.longmemeval import answers, table
from bench.retrieval.measures import MEASURES
from engine.base.errors import InvalidInputError


def report(**values: list[float]) -> dict[str, Any]:
    """A report in which all measures of a set have the same values."""
    return {
        "sets": {
            name: {"memroot": {"values": dict.fromkeys(MEASURES, some)}} for name, some in values.items()
        }
    }


def test_a_set_falls_if_the_difference_exceeds_its_noise() -> None:
    """A set falls if eight of ten questions get worse, but not if one does or if all get better."""
    before = report(cacm=[1.0] * 10, time=[1.0] * 10, adi=[0.0] * 10)
    now = report(cacm=[0.0] * 8 + [1.0] * 2, time=[0.0] + [1.0] * 9, adi=[1.0] * 10)
    changes = changes_of(before, now)
    assert {one.name for one in changes if one.has_fallen} == {"cacm"}
    printed = changes_section(changes)
    assert printed.index("cacm") < printed.index("Other sets:") < printed.index("time")
    assert printed.count("fallen") == 4


def test_reports_of_other_questions_are_refused() -> None:
    """Only the same questions can be compared."""
    with pytest.raises(InvalidInputError, match="different questions of cacm"):
        changes_of(report(cacm=[1.0]), report(cacm=[1.0, 0.0]))
    with pytest.raises(InvalidInputError, match="no set in common"):
        changes_of(report(cacm=[1.0]), report(npl=[1.0]))


def test_sessions_of_longmemeval_are_found() -> None:
    """Hits are read as sessions; a question without an answer is left out."""
    turns = {"s1": ["My kettle leaks.", "Descale it."], "s2": ["I bought a boat", " "], "s3": ["Hello"]}
    case = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "What leaks, my kettle or my boat?",
        "haystack_session_ids": list(turns),
        "haystack_dates": ["2023/05/20 (Sat) 02:21"] * 3,
        "haystack_sessions": [
            [{"role": "user", "content": text} for text in some] for some in turns.values()
        ],
        "answer_session_ids": ["s1", "s3"],
    }
    found = list(answers([case, {"question_id": "q2_abs"}]))
    assert [(kind, ranking[0], relevant) for kind, ranking, relevant in found] == [
        ("single-session-user", "s1", frozenset({"s1", "s3"}))
    ]
    line = table(iter(found)).splitlines()[-1]
    assert [cell.strip() for cell in line.split("|")[2:7]] == ["1.000"] * 4 + ["0.000"]
