"""Short-lived Python processes for tests, plain or under strace."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 60


def start(code: str, *arguments: object, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start an interpreter that runs `code` and can import the project; `arguments` are sys.argv[1:]."""
    return subprocess.Popen(
        [*prefix, sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_at_once(code: str, *each: tuple[object, ...]) -> list[str]:
    """Run `code` in a process for each list of arguments, and return what each printed after `open`.

    Each process prints `open` and then reads a line, which it gets when all of them have come so far. Fail
    the test if one of them prints to stderr.
    """
    children = [start(code, *arguments) for arguments in each]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    told = [child.communicate(timeout=TIMEOUT_SECONDS) for child in children]
    assert [errors for _, errors in told] == [""] * len(children)
    return [printed for printed, _ in told]


def run(code: str, *arguments: object, prefix: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run `code`; return the exit code and the output. Fail the test if `code` ends with a traceback."""
    child = start(code, *arguments, prefix=prefix)
    out, err = child.communicate(timeout=TIMEOUT_SECONDS)
    assert "Traceback" not in err, err
    return child.returncode, out


def run_traced(code: str, *arguments: object, options: tuple[str, ...]) -> tuple[int, str]:
    """Run `code` like `run`, under strace with `options`. Skip the test if strace cannot be used."""
    if shutil.which("strace") is None:
        pytest.skip("NOT TESTED: strace is missing, so no fault can be injected into system calls")
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip("NOT TESTED: strace may not trace here (ptrace is forbidden)")
    return run(code, *arguments, prefix=("strace", "-f", "-qq", *options))
