"""The counts of a status are those after the last event, whatever the followers have processed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from backends import open_backend
from engine import Add, State
from engine.commands.conflicts import CONFLICTS_WITH
from engine.engine import Engine
from engine.ledger.layout import ATOM
from engine.ledger.records import decode_atom
from engine.trust.audit.scrub import Scrub, scrub_file, scrub_piece, store_id_of, write_scrub
from tests.support.engines import backend_of, engine_on
from tests.support.leveldb import LEVELDB
from tests.support.workloads import commands, id_of, text_of


def live(engine: Engine) -> int:
    """Count the live atoms in the records, which every commit updates."""
    rows = backend_of(engine).scan_prefix(ATOM)
    return sum(decode_atom(raw, key[len(ATOM) :]).state is State.LIVE for key, raw in rows)


@pytest.mark.parametrize("each", [7, 1000])
def test_the_live_atoms_are_counted_after_the_last_event(each: int) -> None:
    """The number is right after every commit, if the followers catch up after `each` commits."""
    engine = engine_on()
    steps: list[Callable[[], object]] = [partial(engine.apply, [command]) for command in commands(100)]
    steps += [partial(engine.erase, id_of(number), "asked for", probe=False) for number in range(0, 20, 3)]
    steps += [partial(engine.apply, [Add(text_of(0), id=id_of(900), force=True)])]
    for number, step in enumerate(steps, 1):
        step()
        assert engine.status().live_atoms == live(engine)
        if number % each == 0:
            engine.catch_up()


def test_a_status_counts_conflicts_that_are_not_settled() -> None:
    """The number falls when a conflict is settled, and is 0 in a store without conflicts."""
    engine = engine_on()
    for number in range(3):
        engine.add(f"text {number}", id=id_of(number))
    assert engine.status().conflicts == 0
    engine.register_type(CONFLICTS_WITH)
    engine.link(id_of(0), CONFLICTS_WITH, id_of(1))
    engine.link(id_of(0), CONFLICTS_WITH, id_of(2))
    assert engine.status().conflicts == 2
    engine.settle(id_of(0), id_of(1), "both")
    assert engine.status().conflicts == 1


def scrubbed(url: str) -> int | None:
    """Read a store again, keep the progress beside it, and return the time of the end."""
    with open_backend(url) as backend:
        progress, done = Scrub(store_id_of(backend)), False
        while not done:
            progress, done = scrub_piece(backend, progress)
        write_scrub(scrub_file(backend.location), progress)
    return progress.clean_at


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite", "sqlite+work"])
def test_a_status_has_the_size_of_the_files_and_the_last_scrub(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the process goes to another folder after it opened the store by a relative path."""
    monkeypatch.chdir(tmp_path)
    with Engine.open(f"{scheme}:store") as engine:
        engine.add("One.")
        before = engine.status()
    assert (before.scrubbed_at, before.scrubbed_events) == (None, 0)
    end = scrubbed(f"{scheme}:store")
    with Engine.open(f"{scheme}:store") as engine:
        monkeypatch.chdir("/")
        found = engine.status()
        files = [path for path in tmp_path.rglob("*") if path in backend_of(engine).files()]
        assert found.file_bytes == sum(path.stat().st_size for path in files) > 0
    assert (found.scrubbed_at, found.scrubbed_events) == (end, found.events)


def test_a_store_in_memory_has_no_files() -> None:
    """Its size is unknown, and nothing ever scrubbed it."""
    found = engine_on().status()
    assert (found.file_bytes, found.scrubbed_at) == (None, None)
