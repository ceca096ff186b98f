"""Looking for damage: a sample in seconds, and reading the whole store again in pieces."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from backends import locate
from backends.base import Backend
from backends.memory import MemoryBackend
from engine.base.errors import CorruptionError, EngineError
from engine.commands import Add, Link
from engine.engine import Engine
from engine.ledger.layout import ATOM, EDGE_FROM, JOURNAL, LOG, PAYLOAD
from engine.trust.audit import scrub as scrubbing
from engine.trust.audit.sample import sample
from engine.trust.audit.scrub import Scrub, read_scrub, scrub_file, scrub_piece, store_id_of, write_scrub
from tests.support.command_line import Cli
from tests.support.engines import engine_on, flip_last_bit
from tests.support.workloads import id_of


def small(backend: Backend) -> Engine:
    """Return a store with every kind of row, including those about an erased atom."""
    engine = engine_on(backend)
    tags = ["red", "Blue sky"]
    engine.apply([Add(f"The kettle number {number}.", id=id_of(number), tags=tags) for number in range(1, 9)])
    engine.apply([Link(id_of(1), "references", id_of(number)) for number in range(2, 5)])
    engine.register_type("likes")
    engine.tombstone(id_of(5), "a slip")
    engine.erase(id_of(6), "asked for", probe=False)
    engine.root()
    return engine


def damage(backend: Backend, prefix: bytes) -> None:
    """Flip one bit in the last byte of the first row with a prefix."""
    flip_last_bit(backend, next(backend.scan_prefix(prefix))[0])


def whole(backend: Backend, progress: Scrub | None = None) -> Scrub:
    """Read the whole store again."""
    progress, done = progress or Scrub(store_id_of(backend)), False
    while not done:
        progress, done = scrub_piece(backend, progress)
    return progress


def test_a_whole_store_passes_both() -> None:
    """Neither the sample nor the scrub finds anything in a store without damage."""
    backend = MemoryBackend()
    engine = small(backend)
    found = sample(engine.store, seed=7, seconds=0.3)
    assert (found.seed, found.events) == (7, engine.size)
    assert found.claims > found.chosen >= 1
    before = time.time_ns() // 1000
    progress = whole(backend)
    assert progress.clean_events == engine.size
    assert progress.rows == len(list(backend.scan()))
    assert progress.clean_at is not None
    assert progress.clean_at >= before


def test_the_sample_ends_in_time_and_chooses_by_its_seed() -> None:
    """At least one event is checked however short the time is, and a seed gives the same events again."""
    engine = small(MemoryBackend())
    assert sample(engine.store, seconds=0.0).chosen == 1
    one, other = (sample(engine.store, seed=3, seconds=0.0) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("prefix", [JOURNAL, PAYLOAD, ATOM, EDGE_FROM, LOG, b"t/", b"i/"])
def test_the_sample_finds_damage_in_what_it_looks_at(prefix: bytes) -> None:
    """With enough samples of a small store, a flipped bit in any kind of row is found."""
    backend = MemoryBackend()
    small(backend)
    damage(backend, prefix)

    def found(seed: int) -> bool:
        try:
            sample(engine_on(backend).store, seed=seed, seconds=0.0)
        except EngineError:
            return True
        return False

    assert any(map(found, range(60)))


@pytest.mark.parametrize("prefix", [JOURNAL, PAYLOAD, ATOM, EDGE_FROM, LOG])
def test_the_scrub_finds_damage(prefix: bytes) -> None:
    """A flipped bit in the journal, the records or the state of the log ends the scrub."""
    backend = MemoryBackend()
    small(backend)
    damage(backend, prefix)
    with pytest.raises(CorruptionError):
        whole(backend)


def test_a_scrub_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece continues after the one before it, also from the file, and commands may run in between."""
    monkeypatch.setattr(scrubbing, "EVENTS", 3)
    monkeypatch.setattr(scrubbing, "ROWS", 10)
    backend, file = MemoryBackend(), tmp_path / "scrub.json"
    engine = small(backend)
    pieces, done = 0, False
    while not done:
        if pieces in (2, 8):
            engine.add(f"Added between pieces {pieces}.")
        progress, done = scrub_piece(backend, read_scrub(file, store_id_of(backend)))
        write_scrub(file, progress)
        pieces += 1
    assert pieces > engine.size / 3 + 5
    assert read_scrub(file, store_id_of(backend)).clean_at is not None


def test_a_scrub_that_finds_damage_keeps_the_time_before() -> None:
    """The time of the last clean pass changes only when a pass ends without damage."""
    backend = MemoryBackend()
    small(backend)
    progress = whole(backend)
    damage(backend, PAYLOAD)
    with pytest.raises(CorruptionError):
        whole(backend, progress)
    assert progress.clean_at is not None


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b'{"store_id": 5}', b'{"other": 1}', b'["x"]', b"\xff"),
        b'{"store_id": "00", "clean_at": "soon"}',
    ],
)
def test_an_unreadable_progress_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    """A damaged file beside the store does no harm: the scrub begins again."""
    file = tmp_path / "scrub.json"
    file.write_bytes(content)
    assert read_scrub(file, "00") == Scrub("00")
    assert read_scrub(None, "00") == read_scrub(tmp_path / "none", "00") == Scrub("00")


def test_the_progress_of_another_store_is_not_used(tmp_path: Path) -> None:
    """A store that replaced another one at the same path is read from the beginning."""
    write_scrub(tmp_path / "scrub.json", Scrub("00", clean_at=5, clean_events=9))
    assert read_scrub(tmp_path / "scrub.json", "01") == Scrub("01")


def test_an_older_copy_is_read_from_the_beginning() -> None:
    """If the journal is shorter than what the scrub has read, the scrub begins again and finds no damage."""
    backend = MemoryBackend()
    engine = small(backend)
    ahead = Scrub(store_id_of(backend), events=engine.size + 5, frontier="00" * 40)
    assert whole(backend, ahead).clean_events == engine.size


def test_each_kind_of_store_has_its_file(tmp_path: Path) -> None:
    """The file is beside the store, and each memory of a SQLite file has its own."""
    assert scrub_file(locate(f"leveldb:{tmp_path / 'a'}")) == tmp_path / "a" / "scrub.json"
    assert scrub_file(locate(f"sqlite:{tmp_path / 'a'}")) == tmp_path / "a-scrub.json"
    assert scrub_file(locate(f"sqlite+work:{tmp_path / 'a'}")) == tmp_path / "a-scrub-work.json"
    assert scrub_file(locate("memory:")) is None


@pytest.mark.parametrize("store", ["store", "sqlite:store.db"])
def test_the_command_line_shows_when_a_store_was_last_clean(cli: Cli, store: str) -> None:
    """`scrub` reads the store, `status` shows the time, and the store still verifies."""
    cli("--store", store, "add", "One.")
    assert "never finished" in cli("--store", store, "status").out
    data = cli("--store", store, "scrub", "--share", "100", "--json").data
    assert data["finished"]
    assert cli("--store", store, "status", "--json").data["scrubbed_at"] == data["clean_at"]
    assert cli("--store", store, "verify-root").code == 0
    assert cli("--store", store, "doctor", "--check", "--seconds", "0.1", "--json").data["chosen"] >= 1
    assert cli("--store", store, "scrub", "--share", "0").code == 2
