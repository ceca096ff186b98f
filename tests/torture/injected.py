"""Calls of a function in a forked process in which one system call kills the process or fails."""

from __future__ import annotations

import mmap
import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from engine.base.errors import EngineError

CALLS: Final = (
    "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "openat", "rename", "renameat2", "link", "unlink",
    "unlinkat", "mkdir", "rmdir",
)  # fmt: skip
"""The system calls at which processes are killed and that are made to fail."""

DONE, OURS, FOREIGN = 0, 11, 12
HANGS: Final = "hangs"
NO_MEMORY: Final = (
    "MemoryError",
    "PanicException",
    "SystemError: error return without exception set",
    "TypeError: open: path should be string",
    "RuntimeError: can't allocate lock",
    "RuntimeError: can't start new thread",
)
"""The exceptions without memory: a kernel panics if Python cannot allocate an object for it, and some
functions of the standard library set none, or another exception."""
_TEXT_BYTES: Final = 4000
_WAIT_SECONDS: Final = 60

Acknowledge = Callable[[int], None]


class Fault(NamedTuple):
    """A fault at a system call of the main thread, which strace causes."""

    call: str
    number: int
    """The call of this kind at which the fault occurs, counted from 1."""
    error: str
    """`SIGKILL`, or the error of the call, such as `EIO`."""
    lasting: bool = False
    """Whether all later calls of this kind fail, too."""

    @property
    def option(self) -> str:
        """The fault as an option of strace."""
        how = "signal=SIGKILL" if self.error == "SIGKILL" else f"error={self.error}"
        return f"inject={self.call}:{how}:when={self.number}{'+' if self.lasting else ''}"


class Ended(NamedTuple):
    """How a process ended."""

    how: str
    """`finished`, `killed`, `our error`, `another error`. If no system call fails, also `out of memory`,
    `the process ended` or `hangs`."""
    acknowledged: int
    said: str


class Shared:
    """Memory that survives the process which writes it, so that acknowledging needs no system call."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8192)

    def acknowledge(self, size: int) -> None:
        """Note that `size` events are acknowledged."""
        self._memory[:8] = size.to_bytes(8, "big")

    def tell(self, text: str) -> None:
        """Note what went wrong."""
        raw = text.encode("utf-8", "replace")[:_TEXT_BYTES]
        self._memory[8:12] = len(raw).to_bytes(4, "big")
        self._memory[12 : 12 + len(raw)] = raw

    @property
    def acknowledged(self) -> int:
        """The number of events that are acknowledged."""
        return int.from_bytes(self._memory[:8], "big")

    @property
    def told(self) -> str:
        """The text that was noted."""
        return self._memory[12 : 12 + int.from_bytes(self._memory[8:12], "big")].decode("utf-8", "replace")


def run(do: Callable[[Acknowledge], None], options: tuple[str, ...], log: str = "/dev/null") -> Ended:
    """Call `do` in a forked process under strace with these options.

    The process waits until strace is attached, so only the calls of `do` are counted.
    """
    shared = Shared()
    child = os.fork()
    if child == 0:
        _in_child(do, shared, stop=True)
    os.waitpid(child, os.WUNTRACED)
    with subprocess.Popen(
        ["strace", "-f", "-qq", "-p", str(child), "-o", log, "-e", "signal=none", *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as tracer:  # fmt: skip
        _wait_for_tracer(child)
        os.kill(child, signal.SIGCONT)
        _, status = os.waitpid(child, 0)
        tracer.wait(_WAIT_SECONDS)
    code = os.waitstatus_to_exitcode(status)
    how = {DONE: "finished", OURS: "our error", FOREIGN: "another error", -signal.SIGKILL: "killed"}
    return Ended(how.get(code, f"ended with {code}"), shared.acknowledged, shared.told)


def forked(do: Callable[[Acknowledge], None]) -> Ended:
    """Call `do` in a forked process, which may run out of memory or crash."""
    shared = Shared()
    child = os.fork()
    if child == 0:
        signal.alarm(_WAIT_SECONDS)
        _in_child(do, shared, stop=False)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    how = {DONE: "finished", OURS: "our error", FOREIGN: "another error", -signal.SIGALRM: HANGS}.get(
        code, "the process ended"
    )
    if code == FOREIGN and shared.told.startswith(NO_MEMORY):
        how = "out of memory"
    return Ended(how, shared.acknowledged, shared.told or f"exit code {code}")


def _in_child(do: Callable[[Acknowledge], None], shared: Shared, *, stop: bool) -> None:
    code = FOREIGN
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        if stop:
            os.kill(os.getpid(), signal.SIGSTOP)
        do(shared.acknowledge)
        code = DONE
    except EngineError as error:
        shared.tell(f"{type(error).__name__}: {error}")
        code = OURS
    except BaseException as error:  # noqa: BLE001  the parent counts it
        shared.tell(f"{type(error).__name__}: {error}")
    finally:
        os._exit(code)


def _wait_for_tracer(child: int) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline:
        status = Path(f"/proc/{child}/status").read_text()
        if re.search(r"^TracerPid:\t[1-9]", status, re.MULTILINE):
            return
        time.sleep(0.001)
    raise TimeoutError("strace did not attach")


def calls_of(do: Callable[[Acknowledge], None], log: Path) -> Counter[str]:
    """Return how often the main thread makes each system call when `do` is called without a fault."""
    ended = run(do, ("-e", f"trace={','.join(CALLS)}"), str(log))
    if ended.how != "finished":
        raise RuntimeError(f"the undisturbed call ended: {ended}")
    lines = log.read_text(errors="replace").splitlines()
    main = lines[0].split()[0] if lines else ""
    found = (re.match(rf"{main}\s+(\w+)\(", line) for line in lines)
    return Counter(match[1] for match in found if match)
