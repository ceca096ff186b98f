"""Earlier moments that the service keeps between calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from backends.base import Backend, Reader
from engine.engine import Engine
from engine.memory.open_memory import retry_while_busy
from engine.store import past_states
from engine.store.replay import replay
from tests.service.support import client_of
from tests.support.leveldb import needs_leveldb

SECRET = "The vault opens at midnight."  # noqa: S105  a text of a memory


def asked(client: TestClient, operation: str, memory: str = "work", **given: object) -> object:
    """Return the answer of an operation."""
    answer = client.post(f"/v1/memories/{memory}/{operation}", json=given)
    assert answer.status_code < 300, answer.text
    return answer.json()


def texts(client: TestClient, memory: str = "work") -> list[str]:
    """Return the texts after event 1."""
    found = asked(client, "find", memory, as_of=1, form="full")
    assert isinstance(found, list)
    return [one["atom"]["content"] for one in found]


def test_what_the_service_erased_is_not_in_an_earlier_moment(tmp_path: Path) -> None:
    """Not even in one that was asked about before the erasure."""
    url = f"sqlite:{tmp_path / 'memories.db'}"
    with client_of(url) as client:
        client.post("/v1/memories", json={"name": "work"})
        added = client.post("/v1/memories/work/add", json={"content": SECRET}).json()
        assert texts(client) == [SECRET]
        asked(client, "erase", ids=added["subject"], reason="asked for")
        assert texts(client) == []


def test_a_memory_does_not_show_the_moments_of_one_that_had_its_name(tmp_path: Path) -> None:
    """A memory that was deleted or renamed leaves none behind."""
    with client_of(f"sqlite:{tmp_path / 'memories.db'}") as client:
        for content in (SECRET, "Tea.", "Water."):
            client.post("/v1/memories", json={"name": "work"})
            asked(client, "add", content=content)
            assert texts(client) == [content]
            if content == SECRET:
                client.delete("/v1/memories/work")
            else:
                client.patch("/v1/memories/work", json={"name": f"old-{content[0].lower()}"})
        assert texts(client, "old-t") == ["Tea."]


@needs_leveldb
def test_a_moment_is_kept_although_the_store_is_closed_between_two_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store in LevelDB is closed when another process wants it."""
    url = f"leveldb:{tmp_path / 'notes'}"
    with Engine.open(url) as engine:
        engine.add("Tea.")
    replays: list[int] = []

    def counted(source: Reader, target: Backend, stop: int, *, head: bytes | None) -> None:
        replays.append(stop)
        replay(source, target, stop, head=head)

    monkeypatch.setattr(past_states, "replay", counted)
    with client_of(url) as client:
        assert texts(client, "~") == ["Tea."]
        retry_while_busy(lambda: Engine.open(url), 10).close()
        assert texts(client, "~") == ["Tea."]
    assert replays == [2]
