"""What the operator of a service sees: logs, metrics, and whether it is ready."""

from __future__ import annotations

import io
import json
import logging
import re
import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from backends.base import Backend
from engine.base.scopes import Scope
from engine.service.access import Access
from engine.service.app import application
from engine.service.guard import BUCKETS, Exchange, Metrics, log_requests
from engine.service.request_logs import JsonFormatter
from engine.service.served_memories import Memories
from tests.service.raw import Served, rest_of, serving, status_of
from tests.service.support import KnownTokens

pytestmark = pytest.mark.slow

BEARER = "mr_the-token-that-nobody-may-see"
GOOD = f"Authorization: Bearer {BEARER}"


class OneToken(KnownTokens):
    """A table with one token."""

    def __init__(self) -> None:
        super().__init__(ada={"*": Scope.ADMIN})
        self._grants[BEARER] = self._grants.pop("ada")

    def is_known(self, bearer: str) -> bool:
        """Return False: each check is a first one."""
        del bearer
        return False


class Watched:
    """A service on a folder with the memory `secretname`, its log and its metrics."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = io.StringIO()
        self.metrics = Metrics()
        self.memories = Memories(str(folder), read_only=False)
        self.memories.create("secretname", "ada")
        self.app = application(self.memories, Access(OneToken(), read_only=False), self.metrics)

    def lines(self) -> list[dict[str, Any]]:
        """The lines of the log."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """A service on a folder of its own."""
    folder = tmp_path / "memories"
    folder.mkdir()
    return Watched(folder)


@pytest.fixture
def served(watched: Watched) -> Iterator[Served]:
    """The service behind its server."""
    observers = [partial(log_requests, file=watched.log)]
    with serving(program=watched.app, observers=observers, metrics=watched.metrics) as running:
        yield running


def test_a_request_is_one_line_of_the_log(served: Served, watched: Watched) -> None:
    """The line tells who asked what kind of thing, and how it ended."""
    answer = served.request("/v1/memories/secretname/recall?query=secretquestion", GOOD)
    assert status_of(answer) == 200
    (line,) = watched.lines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("time"))
    assert line.pop("ms") > 0
    assert line == {
        "method": "GET",
        "route": "/v1/memories/{memory}/recall",
        "status": 200,
        "bytes": len(answer.partition(b"\r\n\r\n")[2]),
        "token": "ada",
        "peer": "127.0.0.1",
    }


def test_the_log_and_the_metrics_hold_nothing_that_a_client_wrote(served: Served, watched: Watched) -> None:
    """No name of a memory, path, query, body, header or token is in the log or in the metrics."""
    body = b'{"content": "secretcontent", "tags": ["secrettag"]}'
    json_type, length = "Content-Type: application/json", f"Content-Length: {len(body)}"
    served.request("/v1/memories/secretname/add", GOOD, json_type, length, method="POST", body=body)
    served.request("/v1/memories/secretname/secretoperation", GOOD, method="secretmethod")
    served.request("/secretpath?secretquery", "Authorization: Bearer secrettoken", "X-Secret: secretheader")
    served.request("/v1/memories/secretname", "Host: secrethost")
    served.raw(b"secretbytes\r\n\r\n")
    shown = watched.log.getvalue() + watched.metrics.text()
    assert "secret" not in shown
    assert BEARER not in shown
    assert [line["status"] for line in watched.lines()] == [200, 405, 404, 421, 400]
    assert {line["method"] for line in watched.lines()} == {"POST", "OTHER", "GET"}


def test_a_fault_of_the_program_is_logged_once(
    served: Served, watched: Watched, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An error that nobody foresaw gives status 500 and one record with the place, without the message."""
    content = "the secret content"  # not in the line that raises, which a traceback shows

    def broken() -> list[str]:
        raise ValueError(content)

    monkeypatch.setattr(watched.memories, "names", broken)
    answer = served.request("/v1/memories", GOOD)
    assert status_of(answer) == 500
    (record,) = [found for found in caplog.records if found.levelno >= logging.WARNING]
    assert "broken" in record.getMessage()
    assert b"secret" not in answer
    assert "secret content" not in caplog.text


def test_a_client_that_leaves_is_logged(watched: Watched) -> None:
    """A request without an answer has the status 499; one that the server timed out has the server's."""
    seen: list[Exchange] = []
    with serving(observers=[seen.append], stop_seconds=1, answer_seconds=0.2) as served:
        with served.connect(served.head("/never")):
            while not served.app.seen:
                pass
        while not seen:
            pass
        with served.connect(served.head("/never")) as connection:
            assert status_of(rest_of(connection)) == 504
    assert [exchange.status for exchange in seen] == [499, 504]


def test_the_metrics_are_in_the_format_of_prometheus(served: Served, watched: Watched) -> None:
    """Each line is a comment or a sample, each name has its type, and counters count."""
    for _ in range(3):
        served.request("/v1/memories/secretname/recall?query=x", GOOD)
    served.request("/v1/memories/none/recall?query=x", GOOD)
    text = served.request("/metrics", GOOD).decode()
    assert "content-type: text/plain; version=0.0.4; charset=utf-8" in text
    lines = text.partition("\r\n\r\n")[2].splitlines()
    sample = re.compile(r'([a-z_]+?)(_bucket|_sum|_count)?(\{([a-z]+="[^"\\\n]*",?)+\})? [0-9.e+-]+')
    names = {line.split()[2] for line in lines if line.startswith("# TYPE ")}
    for line in lines:
        found = sample.fullmatch(line)
        assert line.startswith("# ") or (found and (found[1] in names or found[1] + found[2] in names)), line
    route = 'route="/v1/memories/{memory}/recall"'
    assert f'memroot_http_requests_total{{method="GET",{route},status="200"}} 3' in lines
    assert f'memroot_http_requests_total{{method="GET",{route},status="404"}} 1' in lines
    assert f"memroot_http_request_duration_seconds_count{{{route}}} 4" in lines
    assert f'memroot_http_request_duration_seconds_bucket{{{route},le="+Inf"}} 4' in lines
    assert "memroot_http_connections 1" in lines


def test_the_metrics_tell_how_far_the_clock_is_ahead(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the machine is compared with that of the database of a memory that was used."""
    assert status_of(served.request("/v1/memories/secretname/recall?query=x", GOOD)) == 200
    monkeypatch.setattr(Backend, "clock", lambda _: int(time.time() * 1_000_000) - 90_000_000)
    (ahead,) = re.findall(
        rb"^memroot_clock_ahead_seconds (\S+)$", served.request("/metrics", GOOD), re.MULTILINE
    )
    assert 90 <= float(ahead) < 100


def test_a_histogram_counts_what_is_not_longer_than_a_bound() -> None:
    """A duration that equals a bound is counted there and at each larger bound."""
    metrics = Metrics()
    for seconds in (BUCKETS[1], BUCKETS[1] * 1.01, 1000.0):
        metrics.count(Exchange("GET", "/x", 200, seconds, 0, "", ""))
    counts = re.findall(r'_bucket\{route="/x",le="[^"]+"\} (\d+)', metrics.text())
    assert counts == ["0", "1", "2", *["2"] * (len(BUCKETS) - 3), "3"]


def test_the_metrics_need_a_token(served: Served) -> None:
    """Strangers do not see how a service is used."""
    assert status_of(served.request("/metrics")) == 401


def test_a_service_without_its_store_lives_but_is_not_ready(served: Served, watched: Watched) -> None:
    """`/health` asks the process alone; `/ready` asks the store, and tells strangers nothing about it."""
    assert status_of(served.request("/health")) == 200
    shutil.rmtree(watched.folder)
    watched.folder.write_text("not a folder")
    answer = served.request("/ready")
    assert status_of(answer) == 503
    assert str(watched.folder).encode() not in answer
    assert status_of(served.request("/health")) == 200


@pytest.mark.parametrize("name", ["memories.db", "folder", "store"])
def test_a_service_on_a_store_of_any_kind_is_ready(tmp_path: Path, name: str) -> None:
    """A folder, a SQLite file and a single store answer."""
    url = f"sqlite:{tmp_path / name}" if name.endswith(".db") else str(tmp_path / name)
    if name == "folder":
        (tmp_path / name).mkdir()
    memories = Memories(url, read_only=False)
    if memories.has_names:
        memories.create("one", "ada")
    with serving(program=application(memories, Access(OneToken(), read_only=False))) as served:
        assert status_of(served.request("/ready")) == 200


def test_an_exception_in_a_log_is_a_place_and_not_a_message() -> None:
    """The message of an exception can quote a text, so that only its class and its place are written."""
    try:
        raise ValueError("the secret content")
    except ValueError as error:
        found = (type(error), error, error.__traceback__)
    record = logging.LogRecord("lib", logging.ERROR, __file__, 1, "failed\x1b[2J", (), found)
    line = JsonFormatter().format(record)
    fields = json.loads(line)
    assert (fields["error"], fields["message"]) == ("ValueError", "failed\x1b[2J")
    assert fields["where"][0].startswith("test_an_exception_in_a_log_is")
    assert "secret" not in line
    assert "\x1b" not in line
