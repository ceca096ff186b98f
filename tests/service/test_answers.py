"""The answers to requests that failed."""

from __future__ import annotations

import json
import logging

import pytest

from engine.base.errors import SystemFailureError
from engine.service.operation_calls import problem


def test_the_operator_and_not_the_client_is_told_why_the_store_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The message, which names the place of the store, is in the log; the answer asks to try again."""
    error = SystemFailureError(
        "postgresql://app@db.example/memories cannot be reached", hint="check db.example"
    )
    with caplog.at_level(logging.WARNING):
        answer = problem(error)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert "db.example" not in bytes(answer.body).decode()
    assert json.loads(bytes(answer.body))["code"] == "system"
    assert "postgresql://app@db.example/memories cannot be reached" in caplog.text
