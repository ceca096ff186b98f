"""The system calls of one run, recorded with strace, as operations on the files below one folder."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS: Final = 600
BYTES_SHOWN: Final = 1 << 24
"""The longest write that strace prints in full; no longer one occurs."""

CALLS: Final = (
    "openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "renameat", "renameat2",
    "link", "unlink", "unlinkat", "mkdir", "rmdir",
)  # fmt: skip
"""The calls by which the backends change files and folders, and sync them."""

Kind = Literal["open", "write", "cut", "sync", "rename", "link", "unlink", "mkdir", "rmdir", "ack"]


class Call(NamedTuple):
    """One operation on the folder. Paths are relative to the folder; the folder itself is an empty path."""

    kind: Kind
    path: str = ""
    to: str = ""
    """The new path of a rename or link."""
    data: bytes = b""
    """The bytes of a write."""
    at: int = -1
    """The offset of a write, or -1 for the position of the handle; the length after a cut; the number of
    acknowledged events of an ack."""
    flags: str = ""
    """The flags of an opened file."""
    begun: int = -1
    """For a sync, the number of operations that had begun before it."""


def why_not() -> str:
    """Return why strace cannot be used here, or an empty string if it can."""
    if shutil.which("strace") is None:
        return "NOT TESTED: strace is missing, so no system call can be recorded or changed"
    if subprocess.run(["strace", "-o", "/dev/null", "true"], check=False, capture_output=True).returncode:
        return "NOT TESTED: strace may not trace here (ptrace is forbidden)"
    return ""


def record(module: str, arguments: Sequence[object], folder: Path, log: Path) -> list[Call]:
    """Run `python -m module arguments` under strace and return its operations below `folder`, in order.

    The program acknowledges with `acknowledge` of `tests.torture.programs`.
    """
    shown = ["-y", "-xx", "-s", str(BYTES_SHOWN), "-e", "signal=none", "-e", f"trace={','.join(CALLS)}"]
    traced = ["strace", "-f", "--seccomp-bpf", "-qq", *shown, "-o", str(log)]
    command = [*traced, sys.executable, "-m", module, *map(str, arguments)]
    made = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS
    )
    if made.returncode:
        raise RuntimeError(f"{module} failed under strace: {made.stderr[-2000:]}")
    with log.open(encoding="ascii", errors="replace") as lines:
        return list(_parsed(lines, str(folder)))


_WRITES: Final = ("write", "pwrite64", "ftruncate")
_LINE: Final = re.compile(r"^(\d+)\s+(\w+)\((.*)\)\s+= (-?\d+)")
_HALF: Final = re.compile(r"^(\d+)\s+(\w+)\((.*) <unfinished \.\.\.>")
_REST: Final = re.compile(r"^(\d+)\s+<\.\.\. (\w+) resumed>(.*)\)\s+= (-?\d+)")
_TEXT: Final = re.compile(r"((?:\\x[0-9a-f]{2})+)")
_HANDLE: Final = re.compile(r"^-?\w+<((?:\\x[0-9a-f]{2})*)>(\(deleted\))?")
_STRING: Final = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


def _parsed(lines: Iterator[str], folder: str) -> Iterator[Call]:
    """Yield the operations.

    If another thread runs during a call, a write takes effect where it began, and every other call where it
    ended. A sync covers what was there when it began.
    """
    halves: dict[str, tuple[str, str, int]] = {}
    count = 0
    for line in lines:
        if match := _HALF.match(line):
            process, name, given = match.groups()
            halves[process] = name, given, count
            if name not in _WRITES:
                continue  # whether it succeeds is known when it is resumed
            result = "0"
        elif match := _REST.match(line):
            process, name, _, result = match.groups()
            name, given, begun = halves.pop(process)
            if name in _WRITES:
                continue
            call = _call(name, given + match[3], result, folder, begun)
            if call is not None:
                count += 1
                yield call
            continue
        elif match := _LINE.match(line):
            process, name, given, result = match.groups()
        else:
            continue
        call = _call(name, given, result, folder, count)
        if call is not None:
            count += 1
            yield call


def _call(name: str, given: str, result: str, folder: str, begun: int) -> Call | None:
    """Return the operation of one call, or None if it failed or concerns no file below the folder."""
    if result.startswith("-"):
        return None
    strings = [_bytes(text) for text in _STRING.findall(given)]
    if name in ("write", "pwrite64", "ftruncate", "fsync", "fdatasync"):
        return _on_handle(name, given, strings, folder, begun)
    paths = [_below(_joined(given, text.decode()), folder) for text in strings]
    if None in paths or not paths:
        return None
    return _on_paths(name, given, str(paths[0]), str(paths[-1]))


def _on_handle(name: str, given: str, strings: list[bytes], folder: str, begun: int) -> Call | None:
    handle = _HANDLE.match(given)
    if handle is None or handle[2]:
        return None  # not a file, or one without a name
    path = _bytes(handle[1]).decode()
    if name == "write" and path == "/dev/null" and strings[0].startswith(b"ack "):
        return Call("ack", at=int(strings[0][4:]))
    if (below := _below(path, folder)) is None:
        return None
    match name:
        case "write":
            return Call("write", below, data=strings[0])
        case "pwrite64":
            return Call("write", below, data=strings[0], at=int(given.rpartition(", ")[2]))
        case "ftruncate":
            return Call("cut", below, at=int(given.rpartition(", ")[2]))
    return Call("sync", below, begun=begun)


def _on_paths(name: str, given: str, first: str, second: str) -> Call | None:
    match name:
        case "openat":
            flags = given.split(", ")[2]
            return Call("open", first, flags=flags) if "O_CREAT" in flags or "O_TRUNC" in flags else None
        case "rename" | "renameat" | "renameat2":
            return Call("rename", first, second)
        case "link":
            return Call("link", first, second)
        case "mkdir":
            return Call("mkdir", first)
        case "rmdir":
            return Call("rmdir", first)
    return Call("rmdir" if "AT_REMOVEDIR" in given else "unlink", first)


def _joined(given: str, path: str) -> str:
    """Return an absolute path: a path of a call with a folder's handle is relative to that folder."""
    if path.startswith("/"):
        return path
    at = re.match(r"^\w+<((?:\\x[0-9a-f]{2})*)>", given)
    return f"{_bytes(at[1]).decode()}/{path}" if at else path


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _below(path: str, folder: str) -> str | None:
    """Return the path relative to the folder, or None if it is not below the folder."""
    if path == folder:
        return ""
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else None
