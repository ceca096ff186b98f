"""The process of a hook: `python -P …/hook_process.py CLIENT STORE [BUDGET]`, with an event as JSON on stdin.

The process ends when its work is done, or when its time is over, whichever is first. It always ends with exit
code 0, prints at most one line, and starts no other process. It may be stopped at any moment, as by a power
loss: every step of the work is one commit.

Importing the command line would take a third of the time that a hook has. So clients start this file, and it
imports nothing of memroot before its time is running.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Final, NoReturn

WALL_SECONDS: Final = 0.28
CPU_SECONDS: Final = 0.14
"""The time after which a hook ends. It leaves a little of 0.3 s and 0.15 s for the end itself."""

BUDGET: Final = 400
"""The default number of tokens that a session is given at once."""

ACTOR: Final = "hook"
EVENT_BYTES_MAX: Final = 4 << 20
Answer = tuple[str, Callable[[], object] | None]
"""The line that a hook prints, and what it does then."""

_TICK: Final = 0.005
_MARGIN: Final = 0.04
"""Nothing more is begun when only this many seconds are left."""


def run(
    client: str, store: str, budget: int = BUDGET, *, wall: float = WALL_SECONDS, cpu: float = CPU_SECONDS
) -> NoReturn:
    """Handle the event on stdin, then end the process with exit code 0."""
    end = time.monotonic() - _age() + wall
    # NumPy starts a thread for each core, which takes a third of the time of a hook (measured on two cores).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The docstrings of NumPy take a tenth of the time, and nobody reads them here.
    for name in ("_add_newdocs", "_add_newdocs_scalars"):
        sys.modules.setdefault(f"numpy._core.{name}", ModuleType(name))
    answers: list[Answer] = []
    work = threading.Thread(target=_work, args=(client, store, budget, end - _MARGIN, answers), daemon=True)
    work.start()
    while work.is_alive() and not answers and time.monotonic() < end and time.process_time() < cpu:
        work.join(_TICK)
    with suppress(Exception):  # nobody reads the answer any more
        for line, later in answers[:1]:
            os.write(1, line.encode())
            if later is not None:
                later()
    os._exit(0)


def _age() -> float:
    """Return the seconds since this process was started; a lower bound where the system does not tell."""
    with suppress(OSError, ValueError, AttributeError, IndexError):
        started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    return time.process_time()


def _work(client: str, store: str, budget: int, until: float, answers: list[Answer]) -> None:
    """Handle the event on stdin, and put the answer, if there is one, into `answers`."""
    try:
        raw = sys.stdin.buffer.read(EVENT_BYTES_MAX)
        gc.disable()
        from engine.capture.hook_door import ask

        answer = ask(store, client, budget, raw, max(until - time.monotonic(), 0.001))
        if answer is not None:
            answers.append((answer, None))
            return
        from engine.capture.hook_events import SAVE, answer_to, event_of, take_in
        from engine.memory.memory_settings import find_secrets_for_agents
        from engine.memory.open_memory import engine_opener, retry_while_busy

        event = event_of(client, json.loads(raw))
        saves = event.action == SAVE
        # The filter for secrets takes a tenth of the time of a prompt, and filters what is written.
        secrets = find_secrets_for_agents(None) if saves else None
        opener = engine_opener(store, ACTOR, create=saves, secrets=secrets)
        with retry_while_busy(opener, max(until - time.monotonic(), 0)) as engine:
            if saves:
                take_in(engine.view, event, until)
            else:
                answers.append(answer_to(engine.view, event, budget))
    except Exception:
        if os.environ.get("ENGINE_DEBUG"):
            raise


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:4]))
