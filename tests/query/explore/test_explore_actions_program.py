"""A program as the model: run without a shell, with limits, and killed with its children."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from engine.base.errors import EngineError, NotFoundError
from engine.query.explore.explore_actions import REPLY_BYTES_MAX, Program

pytestmark = pytest.mark.slow


def asked(command: str, prompt: str = "What next?", seconds: float = 5.0) -> str:
    """The output of a program for a prompt."""
    return Program(command, seconds)(prompt)


def test_it_is_given_the_prompt_and_its_reply_is_returned() -> None:
    """The prompt is passed on stdin and stdout is returned, both as UTF-8."""
    prompt = "größe 日本語\n" * 20_000
    assert asked("head -c 20", prompt) == prompt.encode()[:20].decode()
    assert asked("printf '%s' 'ANSWER'", prompt) == "ANSWER"


def test_no_shell_reads_the_command() -> None:
    """Shell metacharacters are passed as arguments."""
    assert asked("printf %s '$(id) > x; echo `id` | cat *'") == "$(id) > x; echo `id` | cat *"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("false", "exit code 1"),
        ("sh -c 'echo ANSWER; exit 3'", "exit code 3"),
        ("sh -c 'kill -9 $$'", "exit code -9"),
        ("printf '\\377\\376'", "not UTF-8"),
        ("yes", f"over {REPLY_BYTES_MAX} bytes"),
        ("head -c 70000 /dev/zero", f"over {REPLY_BYTES_MAX} bytes"),
    ],
)
def test_a_program_that_misbehaves_is_an_error(command: str, said: str) -> None:
    """A failing, killed or endlessly printing program raises an error."""
    with pytest.raises(EngineError, match=said):
        asked(command)


def test_a_file_that_is_not_executable_is_named_as_such(tmp_path: Path) -> None:
    """The hint says that the file is there."""
    script = tmp_path / "decide.sh"
    script.write_text("echo ANSWER")
    with pytest.raises(NotFoundError) as raised:
        asked(str(script))
    assert "not executable" in raised.value.hint


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60",
        "sh -c 'echo ANSWER; exec >&-; sleep 60'",
        "sh -c 'sleep 60 & echo ANSWER; wait'",
        "sh -c 'setsid sleep 20 & echo ANSWER; sleep 20'",
    ],
)
def test_a_program_that_hangs_is_ended(command: str) -> None:
    """A program over its time limit is killed, even if others hold its stdout."""
    begun = time.monotonic()
    with pytest.raises(EngineError, match=r"took longer than 0\.3 s"):
        asked(command, seconds=0.3)
    assert time.monotonic() - begun < 15  # not a measurement: the program itself would take longer


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    """Children of the program are killed at the time limit."""
    kept = tmp_path / "pid"
    script = tmp_path / "decide.sh"
    script.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {kept}\nwait\n")
    script.chmod(0o755)
    with pytest.raises(EngineError, match="took longer than"):
        asked(str(script), seconds=1.0)
    assert any(_ended(kept.read_text().strip()) for _ in range(100))


def _ended(pid: str) -> bool:
    """Return True if a process has ended; waits briefly if it has not."""
    try:
        os.kill(int(pid), 0)
        over = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].startswith("Z")
    except (ProcessLookupError, FileNotFoundError):
        return True
    time.sleep(0 if over else 0.05)
    return over


def test_a_prompt_that_is_not_read_is_no_fault() -> None:
    """A program need not read its prompt, and may close stdin."""
    assert asked("echo ANSWER", "x" * 5_000_000) == "ANSWER\n"
    assert asked("sh -c 'exec <&-; echo ANSWER'", "x" * 5_000_000) == "ANSWER\n"


@pytest.mark.parametrize("command", ["/", "/etc/passwd", "./missing"])
def test_what_cannot_be_run_is_an_error_before(command: str) -> None:
    """A folder, a file that is not executable, and a missing file raise an error."""
    with pytest.raises(EngineError, match="no program"):
        Program(command)
