"""Two or three processes on one store, simulated: every step and every fault follows from a seed.

Each process is a thread, but only one runs at a time. Before each operation on the store, a process waits
until it is chosen. Then the operation happens, or a fault: the process dies before or after a write, a write
fails or is in doubt, the store stays locked, or the power fails for all.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from random import Random
from typing import Any, Final
from unittest.mock import patch

from backends.base import Backend, Batch, Capabilities, Guards, Row, Snapshot
from backends.errors import BackendBusy, BackendInDoubt
from backends.memory import MemoryBackend
from engine.base.errors import BusyError, EngineError, InDoubtError, VerificationError
from engine.base.model import Receipt
from engine.engine import Engine
from engine.ledger.journal import read_header, read_log
from engine.ledger.layout import DREAM
from engine.trust.audit.verify import verify
from tests.support.engines import fresh_rows, salt_of, ticking
from tests.torture.acting import act
from tests.torture.oracle import BROKEN, FOREIGN, LOST

ACTIONS: Final = 14
"""The number of actions of each process."""
STEPS_MAX: Final = 20_000
FAULT_ODDS: Final = 0.02
ID_LENGTH: Final = 36
TWICE: Final = "acknowledged at the same place twice"
MISTAKEN: Final = "doubtful writes reported wrongly"
STUCK: Final = "stuck"
UNSEEN: Final = "acknowledged and not seen by its process"
FAILURES: Final = (LOST, BROKEN, FOREIGN, TWICE, MISTAKEN, STUCK, UNSEEN)
"""The counts that must be 0."""


class Died(BaseException):
    """Ends a simulated process at once, like SIGKILL. No code of the engine catches it."""


class World:
    """The disk, the processes and the order in which they act."""

    def __init__(self, seed: int) -> None:
        self.chosen = Random(f"simulation {seed}")
        self.disk = MemoryBackend()
        self.unsynced: list[dict[bytes, bytes | None]] = []
        """For each write since the last durable one, the rows as they were before it."""
        self.holder: Process | None = None
        self.processes: list[Process] = []
        self.counts: Counter[str] = Counter()
        self.trace = hashlib.sha256()
        self.clock = ticking()
        self.over = False

    def run(self, number: int) -> None:
        """Run this number of processes to their ends."""
        self.processes = [Process(self, name) for name in range(number)]
        for process in self.processes:
            process.thread.start()
            process.arrived.acquire()
        for _ in range(STEPS_MAX):
            waiting = [one for one in self.processes if not one.finished]
            able = [one for one in waiting if self._may_go(one)]
            if not able:
                break
            one = self.chosen.choice(able)
            self.counts["steps"] += 1
            self.trace.update(b"%d %s;" % (one.name, one.next_step.encode()))
            one.turn.release()
            one.arrived.acquire()
        self.counts[STUCK] += not all(one.finished for one in self.processes)
        self.over = True
        for one in self.processes:
            while not one.finished:
                one.turn.release()
                one.arrived.acquire()
            one.thread.join()

    def _may_go(self, process: Process) -> bool:
        return (
            self.holder in (None, process)
            or process.next_step not in ("write", "exclusive")
            or (self.chosen.random() < FAULT_ODDS)
        )

    def lose_power(self) -> None:
        """Undo the newest writes that were not synced, and end every process."""
        self.counts["losses of power"] += 1
        keep = self.chosen.randint(0, len(self.unsynced))
        for before in reversed(self.unsynced[keep:]):
            batch = Batch()
            batch.rows |= before
            self.disk.write(batch)
        self.unsynced.clear()
        self.holder = None
        for process in self.processes:
            process.dead = True


class Process:
    """A process that opens the store, acts, dies and is started again."""

    def __init__(self, world: World, name: int) -> None:
        self.world, self.name = world, name
        self.turn, self.arrived = threading.Semaphore(0), threading.Semaphore(0)
        self.thread = threading.Thread(target=self._live, daemon=True)
        self.next_step = "begin"
        self.dead = self.finished = False
        self.left = ACTIONS
        self.made = 0
        self.acknowledged: dict[int, bytes] = {}
        """By seq, the commitments of the events in receipts."""
        self.mine: list[str] = []
        """The ids of the atoms whose addition was acknowledged."""
        self.doubt: InDoubtError | None = None

    def step(self, name: str) -> None:
        """Wait to be chosen for the next operation; die if the power has failed meanwhile."""
        self.next_step = name
        self.arrived.release()
        self.turn.acquire()
        if self.dead or self.world.over:
            raise Died

    def _live(self) -> None:
        try:
            self.step("begin")
            while self.left > 0:
                self._once()
        except Died:
            pass
        except BaseException as error:  # noqa: BLE001  counted as a failure
            self.world.counts[FOREIGN] += 1
            self.world.counts[f"{FOREIGN}: {type(error).__name__}: {error}"[:200]] += 1
        finally:
            self.finished = True
            self.arrived.release()

    def _once(self) -> None:
        """Open the store and act until the end, a death, or an error after which it must be reopened."""
        self.dead = False
        try:
            with Engine(Handle(self), clock=self.world.clock, salts=salt_of, actor=f"p{self.name}") as engine:
                self._settle(engine)
                while self.left > 0:
                    self.left -= 1
                    self._act(engine)
        except Died:
            if self.world.over:
                raise
            self.world.counts["deaths"] += 1
            self.doubt = None
            self.step("begin again")
        except InDoubtError as error:
            self.world.counts["in doubt"] += 1
            self.doubt = error if error.seq >= 0 else None
        except BusyError:
            self.world.counts["busy"] += 1

    def _act(self, engine: Engine) -> None:
        try:
            told = act(engine, self.world.chosen, f"{self.name}.{self.made}")
        except (InDoubtError, VerificationError):
            raise
        except EngineError as error:
            self.world.counts[f"refused: {error.code}"] += 1
            return
        self.made += 1
        for receipt in told:
            self._note(engine, receipt)

    def _note(self, engine: Engine, receipt: Receipt) -> None:
        for event in receipt.events:
            self.world.counts["acknowledged"] += 1
            self.acknowledged[event.seq] = bytes.fromhex(event.event_id)
        if receipt.events and len(receipt.subject) == ID_LENGTH:
            self.mine.append(receipt.subject)
            self.world.counts[UNSEEN] += engine.get(receipt.subject).id != receipt.subject

    def _settle(self, engine: Engine) -> None:
        """After a write in doubt, compare what `was_kept` says with the journal."""
        if self.doubt is None:
            return
        seq, event_id = self.doubt.seq, self.doubt.event_id
        self.doubt = None
        # Another process may append the very same event meanwhile, so the journal is read twice.
        before = self._is_there(engine, seq, event_id)
        told = engine.was_kept(seq, event_id)
        self.world.counts[MISTAKEN] += told not in (before, self._is_there(engine, seq, event_id))

    def _is_there(self, engine: Engine, seq: int, event_id: str) -> bool:
        backend = engine.store.backend
        return read_log(backend).size > seq and read_header(backend, seq)[0].commitment.hex() == event_id


class Handle(Backend):
    """A process's handle on the disk of the world. Faults occur in its operations."""

    name = "simulated"
    capabilities = Capabilities(durable=True, multi_process=True, persistent=True)

    def __init__(self, process: Process) -> None:
        self.process, self.world = process, process.world
        self.depth = 0
        self.poisoned = False

    def get(self, key: bytes) -> bytes | None:
        """Return the current value."""
        self.process.step("get")
        return self.world.disk.get(key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return the current rows."""
        self.process.step("scan")
        return self.world.disk.scan(start, end, reverse=reverse)

    def snapshot(self) -> Snapshot:
        """Return a snapshot; reading it cannot be disturbed, so its reads are no steps."""
        self.process.step("snapshot")
        return self.world.disk.snapshot()

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Write, or fail in one of the ways in which a write can fail."""
        self._before_write()
        world, fault = self.world, self._fault()
        if fault == "dies before":
            raise Died
        if fault == "fails":
            self.poisoned = True
            raise BackendInDoubt("the write failed")
        before = {key: world.disk.get(key) for key in batch.rows}
        world.disk.write(batch, guard=guard, durable=durable)
        world.unsynced.append(before)
        if durable:
            world.unsynced.clear()
        self._after_write(fault)

    def purge(self) -> bool:
        """Do nothing but what a write does: the disk of the world keeps no old bytes."""
        self._before_write()
        fault = self._fault()
        if fault in ("dies before", "fails"):
            raise Died
        self.world.unsynced.clear()
        self._after_write(fault)
        return True

    def _before_write(self) -> None:
        if self.poisoned:
            raise BackendInDoubt("an earlier write failed")
        self.process.step("write")
        if self.world.holder not in (None, self.process):
            raise BackendBusy("the store", "another process")

    def _fault(self) -> str:
        if self.world.chosen.random() >= FAULT_ODDS * 3:
            return ""
        fault = self.world.chosen.choice(("dies before", "dies after", "fails", "in doubt", "power"))
        self.world.counts["faults"] += 1
        self.world.trace.update(fault.encode())
        return fault

    def _after_write(self, fault: str) -> None:
        if fault == "power":
            self.world.lose_power()
        if fault in ("dies after", "power"):
            raise Died
        if fault == "in doubt":
            self.poisoned = True
            raise BackendInDoubt("the write succeeded, but its success was not reported")

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Lock the other processes out."""
        if self.poisoned:
            raise BackendInDoubt("an earlier write failed")
        if self.depth == 0:
            self.process.step("exclusive")
            if self.world.holder not in (None, self.process):
                raise BackendBusy("the store", "another process")
        self.world.holder = self.process
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            if self.depth == 0 and self.world.holder is self.process:
                self.world.holder = None

    def close(self) -> None:
        """Do nothing; the disk stays."""


class InTurn(Executor):
    """An executor without threads, so that the order of the operations follows from the seed."""

    def __init__(self, *_: object) -> None:
        """Take the arguments of a ThreadPoolExecutor."""

    def submit(self, call: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Carry out the call at once."""
        future: Future[Any] = Future()
        try:
            future.set_result(call(*given, **named))
        except Exception as error:  # noqa: BLE001  raised again where the result is read
            future.set_exception(error)
        return future


def simulate(seed: int, processes: int = 0) -> tuple[Counter[str], str]:
    """Run one history; return its counts, and a digest of its order."""
    world = World(seed)
    with patch.object(futures, "ThreadPoolExecutor", InTurn):
        world.run(processes or world.chosen.choice((2, 2, 3)))
    disk, counts = world.disk, world.counts
    counts["trials"] = 1
    size = read_log(disk).size
    claimed: Counter[int] = Counter()
    for process in world.processes:
        claimed.update(process.acknowledged.keys())
        for seq, commitment in process.acknowledged.items():
            counts[LOST] += seq >= size or read_header(disk, seq)[0].commitment != commitment
    counts[TWICE] += sum(number > 1 for number in claimed.values())
    try:
        with Engine(disk, clock=world.clock, salts=salt_of) as engine:
            engine.root()
            rows = {key: value for key, value in disk.scan() if key != DREAM}
            counts[BROKEN] += not verify(disk).ok or rows != fresh_rows(disk)
    except EngineError as error:
        counts[BROKEN] += 1
        counts[f"{BROKEN}: {error}"[:200]] += 1
    return counts, world.trace.hexdigest()
