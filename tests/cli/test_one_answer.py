"""The command line, the library and a service give one answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engine.base.json_text import encode
from engine.engine import Engine
from tests.clients.support import connected
from tests.support.command_line import Cli


class Filled(NamedTuple):
    """The command line on a store with a few texts."""

    cli: Cli
    url: str
    kettle: str
    vinegar: str


@pytest.fixture
def filled(bare: Cli, tmp_path: Path) -> Filled:
    """Return a store that the three ways may open at the same time."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    with Engine.open(url) as engine:
        kettle = engine.add("The kettle is descaled on Mondays.", tags=["kitchen"], title="Kettle", created=5)
        vinegar = engine.add("Vinegar descales a kettle.", tags=["kitchen", "shelf"])
        engine.link(kettle.id, "references", vinegar.id)
        engine.relate("Ada", "lives in", "Bristol")
    return Filled(bare, url, kettle.id, vinegar.id)


READS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "get": (["KETTLE"], {"id": "KETTLE"}),
    "history": (["KETTLE"], {"id": "KETTLE"}),
    "why": (["KETTLE"], {"id": "KETTLE"}),
    "root": (["--as-of", "2"], {"as_of": 2}),
    "conflicts": ([], {}),
    "duplicates": (["--limit", "5"], {"limit": 5}),
    "find": (["--tag", "kitchen", "--limit", "3"], {"tags": ["kitchen"], "limit": 3}),
    "recall": (["kettle", "--without-tag", "shelf"], {"query": "kettle", "without_tags": ["shelf"]}),
    "context": (["kettle", "--budget", "100"], {"query": "kettle", "budget": 100}),
    "bright": (["kettle"], {"query": "kettle"}),
}
"""Command → its arguments, and those of the method. KETTLE stands for an id."""
METHODS = {"bright": "structured_graph"}


@pytest.mark.parametrize("name", READS)
def test_a_query_has_one_answer(filled: Filled, name: str) -> None:
    """`engine NAME --json` prints what the method returns, as JSON, and what a client decodes is equal."""
    words, named = json.loads(json.dumps(READS[name]).replace("KETTLE", filled.kettle))
    printed = filled.cli(name, *words, "--store", filled.url, "--json").data
    method = METHODS.get(name, name)
    with Engine.open(filled.url) as engine, connected(filled.url) as client:
        answer = getattr(engine, method)(**named)
        assert printed == json.loads(json.dumps(encode(answer)))
        assert getattr(client, method)(**named) == answer


WRITES: dict[str, tuple[list[str], list[str]]] = {
    "tag": (["KETTLE", "tea"], ["KETTLE", "tea"]),
    "untag": (["KETTLE", "kitchen"], ["KETTLE", "kitchen"]),
    "tombstone": (["KETTLE", "--reason", "gone"], ["KETTLE", "gone"]),
    "link": (["KETTLE", "part_of", "VINEGAR"], ["KETTLE", "part_of", "VINEGAR"]),
    "unlink": (["KETTLE", "references", "VINEGAR"], ["KETTLE", "references", "VINEGAR"]),
    "relate": (["Ben", "knows", "Ada"], ["Ben", "knows", "Ada"]),
    "unrelate": (["Ada", "lives in", "Bristol"], ["Ada", "lives in", "Bristol"]),
    "supersede": (["VINEGAR", "KETTLE"], ["VINEGAR", "KETTLE"]),
    "revise": (["KETTLE", "New."], ["KETTLE", "New."]),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_change_appends_one_kind_of_event(filled: Filled, name: str, tmp_path: Path) -> None:
    """A command of the shell, of the library and of a client append events with the same details."""
    given = json.dumps(WRITES[name]).replace("KETTLE", filled.kettle).replace("VINEGAR", filled.vinegar)
    words, args = json.loads(given)
    appended = []
    for way in ("shell", "library", "client"):
        place = tmp_path / f"{way}.db"
        place.write_bytes((tmp_path / "notes.db").read_bytes())
        url = f"sqlite:{place}"
        with Engine.open(url) as engine:
            before = engine.size
            if way == "library":
                getattr(engine, name)(*args)
        if way == "shell":
            assert filled.cli(name, *words, "--store", url).code == 0
        if way == "client":
            with connected(url) as client:
                getattr(client, name)(*args)
        with Engine.open(url) as engine:
            events = list(engine.log(before))
            # A client's call has a key, by which a service recognizes it.
            details = [{**one.detail, "request": None} for one in events]
            appended.append([*((one.kind, one.subject) for one in events), *details])
    assert appended[0]
    assert appended[0] == appended[1] == appended[2]
