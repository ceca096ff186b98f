"""The example with FastAPI answers requests from its memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("fastapi", reason="FastAPI is not installed: pip install fastapi")

from starlette.testclient import TestClient

from engine import Engine
from examples.web import app


def test_the_web_example_stores_and_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note is stored once and found; an unknown one is 404; the memory is closed with the service."""
    monkeypatch.setenv("NOTES", f"leveldb:{tmp_path / 'notes'}")
    with TestClient(app) as client:
        note = {"text": "The kettle is descaled with vinegar.", "tags": ["kitchen"]}
        first, again = (client.post("/notes", json=note).json() for _ in range(2))
        assert (first["new"], again) == (True, {"id": first["id"], "new": False})
        assert client.get("/notes", params={"q": "kettle"}).json() == [note["text"]]
        assert client.get(f"/notes/{first['id']}").json() == note
        missing = client.get("/notes/00000000-0000-8000-8000-000000000001")
        assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
        assert client.get("/notes/nothing").status_code == 422
    with Engine.open(f"leveldb:{tmp_path / 'notes'}") as engine:
        assert [event.actor for event in engine.log(1)] == ["web"]
