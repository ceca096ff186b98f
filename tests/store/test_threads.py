"""Several threads on one engine, and the backend operations of one add, one link and one recall."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from backends import open_backend
from backends.memory import MemoryBackend
from engine.base.errors import ClosedError, ConflictError, EngineError
from engine.base.model import Atom, Checkpoint
from engine.commands import Add
from engine.engine import Engine
from engine.ledger.journal import read_log
from engine.trust.audit.verify import verify
from proofs.leaves import State
from tests.backends.suite_threads import run_threads
from tests.support.engines import BEGIN, backend_of, engine_on, fresh_rows, salt_of
from tests.support.leveldb import LEVELDB
from tests.support.recording import Recording
from tests.support.workloads import id_of

pytestmark = pytest.mark.slow

THREADS = 8
ROUNDS = 12
TRACE = Path(__file__).with_name("trace.txt")


@pytest.mark.parametrize("scheme", ["memory", "sqlite", LEVELDB])
def test_the_order_of_the_journal_explains_every_read(scheme: str, tmp_path: Path) -> None:
    """Roots and atoms that are read while eight threads write are those of the journal at that size."""
    url = "memory:" if scheme == "memory" else f"{scheme}:{tmp_path / 'store'}"
    seen_roots: list[Checkpoint] = []
    seen_atoms: list[Atom] = []

    def work(engine: Engine, number: int) -> Callable[[], None]:
        def turns() -> None:
            for turn in range(ROUNDS):
                engine.add(f"thread {number} turn {turn}", id=id_of(number * 100 + turn), tags=[f"t{number}"])
                engine.tag(id_of(0), f"by{number}", f"turn{turn}")
                if turn % 3 == 0:
                    engine.link(id_of(0), "references", id_of(number * 100 + turn))
                    seen_roots.append(engine.root())
                    assert engine.recall(f"thread {number}").hits
                if turn % 4 == 1:
                    engine.tombstone(id_of(number * 100 + turn))
                    assert engine.get(id_of(number * 100 + turn)).state is State.TOMBSTONED
                if turn % 5 == 2:
                    engine.checkpoint()
                seen_atoms.append(engine.get(id_of(0)))
                assert id_of(number * 100) in {one.id for one in engine.find(limit=1000)}

        return turns

    with open_backend(url) as backend:
        engine = engine_on(backend)
        engine.add("shared", id=id_of(0))
        assert run_threads(*(work(engine, number) for number in range(1, THREADS + 1))) == []
        assert verify(backend).ok
        engine.catch_up()
        assert dict(backend.scan()) == fresh_rows(backend)
        for root in seen_roots[:: max(1, len(seen_roots) // 8)]:
            assert engine.root(as_of=root.size - 1) == root
        for atom in seen_atoms[::7]:
            assert engine.get(id_of(0), as_of=atom.last_seq) == atom


def test_one_command_from_many_threads_is_one_event() -> None:
    """Eight threads that add the same atom append one event in all."""
    engine = engine_on()
    assert run_threads(*[lambda: engine.add("same", id=id_of(1))] * THREADS) == []
    assert read_log(backend_of(engine)).size == 2


def test_a_guarded_batch_wins_once() -> None:
    """Of eight threads that expect the same head, one succeeds and seven get a conflict."""
    engine = engine_on()
    raised = run_threads(*(lambda n=n: engine.apply([Add(f"text {n}")], if_head=1) for n in range(THREADS)))
    assert [type(problem) for problem in raised] == [ConflictError] * (THREADS - 1)
    assert read_log(backend_of(engine)).size == 2


@pytest.mark.parametrize("scheme", ["memory", "sqlite", LEVELDB])
def test_closing_during_reads_and_writes_is_clean(scheme: str, tmp_path: Path) -> None:
    """During a close, running calls finish or raise ClosedError, and the store verifies afterwards."""
    url = "memory:" if scheme == "memory" else f"{scheme}:{tmp_path / 'store'}"
    engine = Engine.open(url)
    engine.apply([Add(f"text {number}", id=id_of(number)) for number in range(50)])
    begun = threading.Event()

    def reads() -> None:
        while True:
            engine.find(limit=100)
            engine.recall("text")
            list(engine.log())
            begun.set()

    def writes() -> None:
        number = 0
        while True:
            number += 1
            engine.add(f"more {threading.get_ident()} {number}")

    def closes() -> None:
        begun.wait(10)
        engine.close()
        engine.close()

    raised = run_threads(reads, reads, reads, writes, writes, closes)
    assert [type(problem) for problem in raised] == [ClosedError] * 5, raised
    with pytest.raises(EngineError):
        engine.get(id_of(1))
    if scheme != "memory":
        with open_backend(url, create=False) as backend:
            assert verify(backend).ok


def test_rebuilding_while_others_read_and_write() -> None:
    """Readers and writers get correct results while projections are rebuilt."""
    engine = engine_on()
    engine.apply([Add(f"text {number}", id=id_of(number), tags=["red"]) for number in range(60)])

    def reads() -> None:
        for _ in range(15):
            assert len(engine.find(limit=1000)) >= 60
            assert engine.get(id_of(7)).content == "text 7"
            assert engine.recall("text").hits

    def writes() -> None:
        for number in range(15):
            engine.add(f"more {number}")

    def rebuilds() -> None:
        for _ in range(4):
            engine.rebuild()

    assert run_threads(reads, reads, writes, rebuilds) == []
    engine.catch_up()
    assert dict(backend_of(engine).scan()) == fresh_rows(backend_of(engine))


def trace() -> str:
    """Return every backend operation of one add, one link and one recall on a store with two atoms."""
    backend = Recording(MemoryBackend())
    engine = Engine(backend, clock=lambda: BEGIN, salts=salt_of)
    engine.apply([Add("the first text", id=id_of(1), tags=["red"]), Add("the second", id=id_of(2))])
    engine.catch_up()
    shown: list[str] = []
    calls: dict[str, Callable[[], object]] = {
        "add": lambda: engine.add("a third text", id=id_of(3), tags=["red"]),
        "link": lambda: engine.link(id_of(1), "part_of", id_of(2)),
        "recall": lambda: engine.recall("text"),
        "recall again": lambda: engine.recall("text"),
    }
    for title, call in calls.items():
        backend.lines.clear()
        call()
        shown += [f"# {title}", *backend.lines, ""]
    return "\n".join(shown)


def test_the_operations_of_one_add_one_link_and_one_recall() -> None:
    """A command takes one snapshot, single gets and one write; a recall catches up and reads (trace.txt)."""
    assert trace() == TRACE.read_text(encoding="utf-8")
