"""The way of one remote recall through the files of the project, from the client to the service and back."""

from __future__ import annotations

import re
import threading
from io import StringIO
from pathlib import Path

from engine import Engine
from engine.base.scopes import Scope
from engine.service.access import Access, Rates
from engine.service.app import application
from engine.service.guard import Exchange, Metrics, log_requests
from engine.service.listening import Settings, listening
from engine.service.served_memories import Memories
from engine.service.server import server_of
from engine.service.tokens import Tokens
from tests.support.ways import ROOT, Following, files_passed

FILES_MAX = 12


def remote_recall(url: str) -> list[str]:
    """Return the files that a recall of a client passes, on both sides of the third request of its token."""
    answers = threading.Semaphore(0)

    def note(exchange: Exchange) -> None:
        if exchange.route.endswith("/recall"):
            log_requests(exchange, StringIO())
            answers.release()

    # The clock stops, so that the token is not looked up again.
    tokens, metrics = Tokens(url, monotonic=lambda: 0.0), Metrics()
    access = Access(tokens, read_only=True, rates=Rates(50, 100, running=100))
    app = application(Memories(url), access, metrics)
    with listening(Settings()) as listener, Following() as following:
        server = server_of(app, listener, [note], metrics)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            with Engine.connect(listener.url, token=tokens.new("bob", Scope.READ)) as remote:
                for _ in range(3):
                    following.forget()
                    remote.recall("tea")
                    assert answers.acquire(timeout=30)
                passed = list(following.functions())
        finally:
            server.stop()
            thread.join()
    return passed


def test_a_remote_recall_passes_few_files(tmp_path: Path) -> None:
    """A recall over HTTP passes at most 12 files that an embedded one does not pass; the docs name them."""
    url = f"leveldb:{tmp_path / 'store'}"
    with Engine.open(url) as engine:
        engine.add("Bob drinks green tea")
        engine.recall("tea")
        embedded = files_passed(lambda: engine.recall("tea"))
    files = [file for file in remote_recall(url) if file not in embedded]
    assert len(files) <= FILES_MAX, files
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## The way of one remote recall\n")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)) == files
