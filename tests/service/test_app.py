"""The addresses of the service: what each answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from backends import locate
from engine.base.errors import BusyError
from engine.base.scopes import Scope
from engine.clients.wire.operations import operations
from engine.engine import Engine
from engine.service.openapi import document
from engine.service.served_memories import Memories
from engine.trust.audit.scrub import Scrub, scrub_file, write_scrub
from tests.service.support import client_of
from tests.support.leveldb import needs_leveldb


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """A client with the scope admin, of a service with the memory `work`."""
    with client_of(tmp_path / "memories.db") as client:
        pass
    with client_of(f"sqlite:{tmp_path / 'memories.db'}") as client:
        assert client.post("/v1/memories", json={"name": "work"}).status_code == 201
        yield client


def added(client: TestClient, content: str, **fields: Any) -> str:
    """Add an atom to `work`, and return its id."""
    answer = client.post("/v1/memories/work/add", json={"content": content, **fields})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["subject"])


def test_what_is_added_is_recalled(client: TestClient) -> None:
    """An atom that was added by POST is found by GET and by POST."""
    atom = added(client, "The kettle is descaled on Mondays.")
    by_get = client.get("/v1/memories/work/recall", params={"query": "kettle"}).json()
    by_post = client.post("/v1/memories/work/recall", json={"query": "kettle"}).json()
    assert by_get == by_post
    assert [hit["id"] for hit in by_get["hits"]] == [atom]


def test_the_status_has_sizes_and_no_place(client: TestClient, tmp_path: Path) -> None:
    """A reader learns how large the files are, and when they were last read again, but not where they are."""
    progress = Scrub("", clean_at=1_800_000_000_000_000, clean_events=1)
    store_id = client.get("/v1/memories/work/status").json()["store_id"]
    file = scrub_file(locate(f"sqlite+work:{tmp_path / 'memories.db'}"))
    write_scrub(file, replace(progress, store_id=store_id.replace("-", "")))
    answer = client.get("/v1/memories/work/status", headers={"authorization": "Bearer reader"})
    status = answer.json()
    assert status["file_bytes"] >= (tmp_path / "memories.db").stat().st_size
    assert (status["scrubbed_at"], status["scrubbed_events"]) == ("2027-01-15T08:00:00.000000Z", 1)
    assert str(tmp_path) not in answer.text


def test_an_unknown_type_names_the_operation_that_registers_it(client: TestClient) -> None:
    """The hint of a refused link names what a client of the service can call."""
    atoms = added(client, "One."), added(client, "Two.")
    answer = client.post("/v1/memories/work/link", json={"src": atoms[0], "type": "near", "dst": atoms[1]})
    assert answer.status_code == 404
    assert "(register_type)" in answer.json()["hint"]
    assert "--register" not in answer.text


def test_the_actor_of_an_event_is_the_name_of_the_token(client: TestClient) -> None:
    """The journal records who changed the memory."""
    atom = added(client, "The kettle is descaled on Mondays.")
    (event,) = client.get("/v1/memories/work/history", params={"id": atom}).json()
    assert event["actor"] == "admin"


@pytest.mark.parametrize("token", ["", "unknown"])
def test_without_a_token_nothing_is_answered(client: TestClient, token: str) -> None:
    """A request without a valid token gets status 401, whatever it asks."""
    headers = {"authorization": f"Bearer {token}"}
    for path in ("/v1/memories", "/v1/memories/work", "/v1/memories/nothing", "/v1/memories/work/export"):
        answer = client.get(path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_a_scope_permits_the_operations_of_its_rank(tmp_path: Path) -> None:
    """Each token may call exactly the operations of its scope and of lower scopes."""
    with client_of(f"sqlite:{tmp_path / 'memories.db'}") as client:
        client.post("/v1/memories", json={"name": "work"})
        for rank, token in enumerate(("reader", "writer", "admin"), 1):
            for found in operations().values():
                answer = client.post(
                    f"/v1/memories/work/{found.name}",
                    json={"nonsense": 1},
                    headers={"authorization": f"Bearer {token}"},
                )
                assert (answer.status_code == 403) == (found.scope > rank), found.name


def test_a_token_for_one_memory_does_not_see_another(tmp_path: Path) -> None:
    """Other memories are forbidden, whether they exist or not, and are not listed."""
    url = f"sqlite:{tmp_path / 'memories.db'}"
    for name in ("mine", "yours"):
        Engine.open(url, memory=name).close()
    with client_of(url, as_="me", me={"mine": Scope.ADMIN}) as client:
        assert client.get("/v1/memories").json() == {"memories": ["mine"], "scopes": {"mine": "admin"}}
        for name in ("yours", "none"):
            assert client.get(f"/v1/memories/{name}").status_code == 403
            assert client.delete(f"/v1/memories/{name}").status_code == 403
        assert client.patch("/v1/memories/mine", json={"name": "yours"}).status_code == 403


def test_a_read_only_service_refuses_to_write(tmp_path: Path) -> None:
    """Even a token with the scope admin cannot change a memory of a read-only service."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    Engine.open(url).close()
    with client_of(url, read_only=True) as client:
        answer = client.post("/v1/memories/~/add", json={"content": "x"})
        assert (answer.status_code, answer.json()["code"]) == (422, "refused")
        assert client.post("/v1/memories", json={"name": "new"}).status_code == 422
        assert client.get("/v1/memories/~/size").json() == 1


def test_a_token_that_may_only_read_sees_what_a_revert_would_change(tmp_path: Path) -> None:
    """A read-only service answers with the outcomes and the changes, and may not revert them."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    with Engine.open(url) as engine:
        tea = engine.acting_as("dreamer").add("Tea.").id
        size = engine.size
    with client_of(url, read_only=True, as_="reader") as client:
        asked: dict[str, Any] = {"start": 0, "actor": "dreamer"}
        found = client.get("/v1/memories/~/revertible", params=asked).json()
        assert (found["events"], [one["outcome"] for one in found["outcomes"]]) == (1, ["undone"])
        assert [(one["id"], one["change"]) for one in found["changes"]["atoms"]] == [(tea, "tombstoned")]
        refused = client.post("/v1/memories/~/revert", json=asked | {"dry_run": True})
        assert refused.status_code == 403
        assert client.get("/v1/memories/~/size").json() == size


def test_memories_are_made_renamed_and_deleted(client: TestClient) -> None:
    """A memory keeps its content under its new name, and is gone when it is deleted."""
    added(client, "The kettle is descaled on Mondays.")
    assert client.post("/v1/memories", json={"name": "work"}).status_code == 409
    assert client.patch("/v1/memories/work", json={"name": "office"}).json() == {"name": "office"}
    assert client.get("/v1/memories/office").json()["live_atoms"] == 1
    assert client.get("/v1/memories/work").status_code == 404
    assert client.delete("/v1/memories/office").status_code == 204
    assert "office" not in client.get("/v1/memories").json()["memories"]


@pytest.mark.parametrize("name", ["..", "a/b", "UPPER", "%2e%2e", "x" * 33, "nothing", "~"])
def test_an_unknown_memory_is_not_found(client: TestClient, name: str) -> None:
    """A name that is not valid, or not taken, never becomes a path."""
    answer = client.get(f"/v1/memories/{name}/size")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert "/tmp" not in answer.text  # noqa: S108  the folder of the test


def test_errors_have_the_codes_of_the_family(client: TestClient) -> None:
    """The code, the message and the hint of an error reach the client."""
    missing = client.get(
        "/v1/memories/work/get", params={"id": "0" * 8 + "-0000-8000-8000-" + "0" * 12}
    ).json()
    assert missing["code"] == "not_found"
    assert client.get("/v1/memories/work/get").json()["code"] == "invalid"
    assert client.get("/v1/nothing").json()["code"] == "not_found"
    assert client.put("/v1/memories").json()["code"] == "invalid"


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"{", "application/json"), (b"[1]", "application/json"), (b'{"content": "x"}', "text/plain")],
)
def test_a_body_that_is_not_a_json_object_is_refused(client: TestClient, body: bytes, kind: str) -> None:
    """Nothing is written for a body of another form."""
    answer = client.post("/v1/memories/work/add", content=body, headers={"content-type": kind})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert client.get("/v1/memories/work/size").json() == 1


def test_bulk_carries_out_one_command_a_line(client: TestClient) -> None:
    """The answer has one receipt for each command, in order."""
    lines = [json.dumps({"add": {"content": f"text {number}"}}) for number in range(2_500)]
    answer = client.post("/v1/memories/work/bulk", content="\n".join(lines))
    receipts = [json.loads(text) for text in answer.text.splitlines()]
    assert len(receipts) == len(lines)
    assert client.get("/v1/memories/work/size").json() == len(lines) + 1
    assert (
        client.get("/v1/memories/work/get", params={"id": receipts[7]["subject"]}).json()["content"]
        == "text 7"
    )


def test_a_wrong_line_of_a_bulk_request_is_named(client: TestClient) -> None:
    """The error names the line, and says how many commands were carried out."""
    lines = [*(json.dumps({"add": {"content": f"x{number}"}}) for number in range(1_000)), '{"add": {}}']
    answer = client.post("/v1/memories/work/bulk", content="\n".join(lines)).json()
    assert answer["code"] == "invalid"
    assert answer["detail"].startswith("line 1001")
    assert answer["done"] == 1_000


def test_export_gives_the_journal(client: TestClient, tmp_path: Path) -> None:
    """The exported lines are those that `Engine.export` writes."""
    added(client, "The kettle is descaled on Mondays.")
    parts: list[bytes] = []
    exported = client.get("/v1/memories/work/export").content
    with Engine.open(f"sqlite:{tmp_path / 'memories.db'}", memory="work") as memory:
        memory.export(parts.append)
    assert exported == b"".join(parts)


def test_the_log_is_sent_line_by_line(client: TestClient) -> None:
    """Each line is one event, from `start` up to `stop`."""
    for number in range(3):
        added(client, f"text {number}")
    lines = client.get("/v1/memories/work/log", params={"start": 1, "stop": 3}).text.splitlines()
    assert [json.loads(text)["seq"] for text in lines] == [1, 2]


def test_the_description_names_every_address(client: TestClient) -> None:
    """The OpenAPI document has a path for each operation, and needs no token."""
    found = client.get("/v1/openapi.json", headers={"authorization": ""}).json()
    assert found == json.loads(json.dumps(document()))
    assert found["openapi"] == "3.1.0"
    assert {f"/v1/memories/{{memory}}/{name}" for name in operations()} < set(found["paths"])


def test_references_of_the_description_exist() -> None:
    """Every `$ref` of the OpenAPI document leads to a schema."""
    text = json.dumps(document())
    names = {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert names == names & set(document()["components"]["schemas"])


@pytest.mark.parametrize(
    ("path", "accepted"),
    [
        ("/v1/memories", {"GET", "HEAD", "POST"}),
        ("/v1/memories/work", {"GET", "HEAD", "PATCH", "DELETE"}),
        ("/v1/memories/work/export", {"GET", "HEAD"}),
        ("/v1/memories/work/bulk", {"POST"}),
        ("/v1/memories/work/size", {"GET", "HEAD", "POST"}),
        ("/v1/memories/work/checkpoint", {"POST"}),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(client: TestClient, path: str, accepted: set[str]) -> None:
    """Every other method gets the status 405 with all accepted methods, and changes nothing."""
    before = client.get("/v1/memories/work/size").json()
    for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - accepted:
        answer = client.request(method, path)
        assert answer.status_code == 405, method
        assert {one.strip() for one in answer.headers["allow"].split(",")} == accepted
    assert client.get("/v1/memories/work/size").json() == before


@pytest.mark.parametrize("path", ["export", "log", "events", "events?start=0", "log?start=0"])
def test_a_stream_of_an_unknown_memory_does_not_begin(client: TestClient, path: str) -> None:
    """The answer is a problem with the status 404, and not a stream that breaks off."""
    answer = client.get(f"/v1/memories/nothing/{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@needs_leveldb
def test_messages_do_not_tell_where_a_store_is(tmp_path: Path) -> None:
    """A client learns that a memory is in use, but not the path of its files."""
    with Engine.open(str(tmp_path / "memories" / "home")):
        memories = Memories(str(tmp_path / "memories"), wait=0)
        with pytest.raises(BusyError) as raised, memories.use("home"):
            pass
    assert str(tmp_path) not in f"{raised.value} {raised.value.hint}"
    assert "the store" in str(raised.value)
