"""The command line as a process: arguments, streams, signals and a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from engine.base.native import NATIVE
from engine.commands import Add
from engine.engine import Engine
from tests.support.leveldb import needs_leveldb

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 60
HOSTILE = "[red]kettle[/red] \x1b[31mred \x9b2J \u202eover :smile:"

Argument = str | bytes


@pytest.fixture
def store(surroundings: Path) -> Path:
    """Return a store with one hostile atom whose log is longer than a pipe buffer."""
    place = surroundings / "store"
    with Engine.open(str(place)) as engine:
        engine.add(HOSTILE, title="A [b]title[/b]")
        list(engine.apply_many(Add(f"Atom {number} says this and that.") for number in range(600)))
    return place


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a child process, with `more` added; stdout is buffered."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**ours, "PYTHONPATH": str(ROOT), **more}


def start(*args: Argument, **more: str) -> subprocess.Popen[bytes]:
    """Start `engine ARGS` with pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "engine", *args],
        env=environment(**more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(*args: Argument, stdin: bytes = b"", **more: str) -> tuple[int, bytes, bytes]:
    """Run `engine ARGS`; return exit code, stdout and stderr, and check that there is no traceback."""
    child = start(*args, **more)
    out, err = child.communicate(stdin, timeout=TIMEOUT)
    assert b"Traceback" not in err, err
    return child.returncode, out, err


def on_terminal(*args: str, **more: str) -> str:
    """Return the output of `engine ARGS` on a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "engine", *args],
        env=environment(TERM="xterm-256color", **more),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    text = b"".join(_read_all(ours)).decode()
    os.close(ours)
    assert child.wait(TIMEOUT) == 0, text
    return text.replace("\r\n", "\n")


def _read_all(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side is closed
            return
        if not part:
            return
        yield part


def test_root_is_64_digits_and_a_newline(store: Path) -> None:
    """`root` writes exactly 65 bytes to stdout and none to stderr."""
    code, out, err = run("--store", str(store), "root")
    assert (code, err) == (0, b"")
    assert re.fullmatch(rb"[0-9a-f]{64}\n", out)


def test_a_store_that_is_missing_is_exit_3(surroundings: Path) -> None:
    """A missing store gives exit code 3, a hint and an empty stdout."""
    code, out, err = run("--store", "nowhere", "root")
    assert (code, out) == (3, b"")
    assert b"engine init" in err


@needs_leveldb
def test_a_store_held_by_another_process_is_exit_5(store: Path) -> None:
    """The message names the process that has the store open."""
    with Engine.open(str(store)):
        code, out, err = run("--store", str(store), "--wait", "0", "root")
    assert (code, out) == (5, b"")
    assert str(os.getpid()).encode() in err


def test_two_processes_share_a_sqlite_store(surroundings: Path) -> None:
    """Two processes can read and write one SQLite store."""
    with Engine.open("sqlite:shared.db") as engine:
        assert run("--store", "sqlite:shared.db", "-q", "add", "From outside.")[0] == 0
        assert len(engine.find(limit=5)) == 1


def test_a_pipe_that_is_closed_ends_the_program_quietly(store: Path) -> None:
    """`engine log | head -1` prints no error about the pipe."""
    with start("--store", str(store), "log", "--from", "0", "--jsonl") as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert json.loads(child.stdout.readline())["seq"] == 0
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(TIMEOUT) == 1


def test_a_pipe_that_nobody_reads_is_no_noise_either(store: Path) -> None:
    """Buffered output that nobody reads causes no error at exit."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    child = subprocess.run(
        [sys.executable, "-m", "engine", "--store", str(store), "root"],
        env=environment(),
        stdout=write_end,
        stderr=subprocess.PIPE,
        check=False,
        timeout=TIMEOUT,
    )
    os.close(write_end)
    assert (child.returncode, child.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="NOT TESTED: no /dev/full here")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_output_that_cannot_be_written_is_exit_10(store: Path, form: list[str]) -> None:
    """A full disk behind stdout is a message, not a traceback."""
    with Path("/dev/full").open("wb") as full:
        child = subprocess.run(
            [sys.executable, "-m", "engine", "--store", str(store), "root", *form],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=TIMEOUT,
        )
    assert child.returncode == 10
    assert child.stderr.decode().count("\n") == 1
    assert "cannot be written" in child.stderr.decode()


def test_closed_streams_are_no_bug(surroundings: Path) -> None:
    """A process without stdin, stdout and stderr works."""
    shell = f"exec {sys.executable} -m engine --store new add text <&- >&- 2>&-"
    assert (
        subprocess.run(["sh", "-c", shell], env=environment(), check=False, timeout=TIMEOUT).returncode == 0
    )
    assert run("--store", "new", "find")[1].endswith(b"text\n")


def test_an_interrupt_is_exit_130(store: Path) -> None:
    """SIGINT gives a message without a traceback, and the store is closed."""
    child = start("--store", str(store), "log", "--from", "0", "--jsonl")
    assert child.stdout is not None
    child.stdout.readline()  # it is at work, and the pipe is shorter than what it has to say
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=TIMEOUT)
    assert child.returncode == 130
    assert b"interrupted" in err
    assert b"Traceback" not in err
    assert run("--store", str(store), "-q", "root")[0] == 0


def test_arguments_that_are_not_utf8_are_refused(surroundings: Path) -> None:
    """Content that is not UTF-8 is an error that shows it escaped, and nothing is created."""
    code, out, err = run("--store", "new", "add", b"caf\xe9", "--json")
    assert code == 2
    assert json.loads(out)["error"]["code"] == "invalid"
    assert err.decode()
    assert run("--store", "new", "get", b"\xff\x1b[2J")[0] in {2, 3}


def test_a_file_name_that_is_not_utf8_is_shown_escaped(surroundings: Path) -> None:
    """A path that is not UTF-8 is escaped in the message."""
    code, _, err = run("--store", "new", "ingest", b"no\xffsuch.md")
    assert code == 3
    assert "no\\udcffsuch.md" in err.decode()


def test_a_stdout_that_is_not_unicode(surroundings: Path) -> None:
    """If stdout is ASCII, JSON is escaped and text output does not fail."""
    run("--store", "new", "add", "Zürich 東京")
    code, out, _ = run("--store", "new", "find", "--json", PYTHONIOENCODING="ascii")
    assert code == 0
    assert json.loads(out)["data"][0]["text"] == "Zürich 東京"
    assert run("--store", "new", "find", PYTHONIOENCODING="ascii")[0] == 0


def test_piped_output_has_no_colours(store: Path) -> None:
    """Output to a pipe has no escape characters, whatever the content."""
    code, out, _ = run("--store", str(store), "recall", "kettle")
    assert code == 0
    assert b"\x1b" not in out
    assert b"[red]kettle[/red] \\x1b[31mred \\x9b2J \\u202eover :smile:" in out


def test_a_terminal_gets_colours_and_never_the_content_s(store: Path) -> None:
    """On a terminal, titles are styled; escapes, bidi overrides and markup in content are literal."""
    text = on_terminal("--store", str(store), "recall", "kettle", COLUMNS="200")
    assert "\x1b[32m" in text
    assert "A [b]title[/b]" in text
    assert "[red]kettle[/red] \\x1b[31mred \\x9b2J \\u202eover :smile:" in text
    assert "\x9b" not in text
    assert "\u202e" not in text


def test_no_color_is_honoured(store: Path) -> None:
    """With NO_COLOR, a terminal gets no colours."""
    text = on_terminal("--store", str(store), "recall", "kettle", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", text)


def test_plain_on_a_terminal_is_what_a_pipe_gets(store: Path) -> None:
    """With --plain, a terminal gets the same bytes as a pipe."""
    args = ("--store", str(store), "--plain", "--quiet", "log", "--limit", "3")
    assert on_terminal(*args) == run(*args)[1].decode()


def test_a_narrow_terminal_loses_nothing(store: Path) -> None:
    """In 20 columns, the terminal wraps the lines and ids are not broken."""
    args = ("--store", str(store), "-q", "log", "--from", "1", "--limit", "2")
    text = on_terminal(*args, COLUMNS="20", NO_COLOR="1")
    cells = [line.split("\t") for line in run(*args)[1].decode().splitlines()]
    assert [cell for row in cells for cell in row if cell not in text] == []


def test_progress_moves_on_a_terminal_only(store: Path) -> None:
    """A terminal shows a bar, a pipe gets a line with the totals, --quiet prints nothing."""
    assert "━" in on_terminal("--store", str(store), "verify-root")
    totals = run("--store", str(store), "verify-root")[2].decode()
    assert re.fullmatch(r"replayed: 602 events in [0-9.]+ s, [0-9,]+/s\n", totals)
    assert run("--store", str(store), "--quiet", "verify-root")[2] == b""


def test_the_shell_completes_commands_and_options(surroundings: Path) -> None:
    """A shell gets the commands and options that begin with the typed text."""

    def completed(words: str, word: int) -> list[bytes]:
        return run(_ENGINE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(word))[1].split()

    assert completed("engine reb", 1) == [b"plain,rebuild"]
    assert completed("engine recall --wi", 2) == [b"plain,--without-tag"]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A script such as pip writes for the command, under the second of its two names."""
    script = tmp_path / "memroot"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nfrom engine.cli.main import main\nsys.exit(main())\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    return script


def called(script: Path, *args: str, **more: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a script."""
    found = subprocess.run(
        [script, *args], env=environment(**more), capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    return found.returncode, found.stdout, found.stderr


def test_help_shows_the_name_that_was_typed(surroundings: Path, installed: Path) -> None:
    """Usage lines, the version and the hint after a wrong option name the command as it was started."""
    name = installed.name
    assert called(installed, "--help")[1].startswith(f"Usage: {name} [OPTIONS] COMMAND")
    assert called(installed, "root", "--help")[1].startswith(f"Usage: {name} root [OPTIONS]")
    assert called(installed, "--version")[1].startswith(f"{name} ")
    code, _, err = called(installed, "root", "--fuzzy")
    assert code == 2
    assert f"see `{name} root --help`" in err


def test_completion_works_under_the_second_name(surroundings: Path, installed: Path) -> None:
    """The installed script completes the name it was installed by, and that name answers it."""
    name = installed.name
    script = called(installed, _ENGINE_COMPLETE="bash_source")[1]
    assert f"complete -o nosort -F _{name}_completion {name}" in script
    asked = {"_ENGINE_COMPLETE": "bash_complete", "COMP_WORDS": f"{name} reb", "COMP_CWORD": "1"}
    assert all(variable in script for variable in asked)
    assert called(installed, **asked)[1] == "plain,rebuild\n"


SLOW = (
    *("pydantic", "markdown_it", "yaml", "spacy", "sqlite3", "asyncio", "cryptography"),
    *("mcp", "mcp_types", "jsonschema", "anyio", "starlette", "uvicorn"),
)
QUERIES = ("engine.query.recall.recall", "proofs.claims", "engine.trust.tiles", "tomllib")
UNLOADED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("root", "status", "add x", "log", "checkpoint"), (*SLOW, *QUERIES)),
    "recall kettle?": (*SLOW, "numpy.ma", "numpy.random", "numpy.fft", "engine.commands.transaction"),
}
"""A command, and slow modules, parts of numpy and the code of writes that it does not need."""


@needs_leveldb
@pytest.mark.parametrize("command", UNLOADED)
def test_start_up_loads_only_what_is_needed(surroundings: Path, command: str) -> None:
    """With the compiled kernels, numpy too is loaded only to answer questions and to compare texts."""
    with Engine.open("new") as engine:
        engine.add("The kettle is descaled on Fridays.", source="a.md", sequence=1)
    numpy = ("numpy",) if NATIVE is not None and not command.startswith("recall") else ()
    again = ("--again",) if command.startswith("add") else ()
    assert loaded((*UNLOADED[command], *numpy), "--store", "new", "-q", *command.split(), *again) == []


def loaded(names: Sequence[str], *arguments: str) -> list[str]:
    """Run `engine ARGUMENTS` in a new process, and return which of the modules `names` it has loaded."""
    code = (
        "import sys; from engine.cli.main import main; main(sys.argv[1:]);"
        f"print('loaded', *sorted(set({tuple(names)}) & set(sys.modules)))"
    )
    child = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(),
        capture_output=True,
        check=True,
        timeout=TIMEOUT,
    )
    return child.stdout.decode().splitlines()[-1].split()[1:]


@pytest.mark.parametrize("argument", ["--help", "--version", "recal"])
def test_help_loads_no_part_of_the_engine(surroundings: Path, argument: str) -> None:
    """The help of `engine` imports neither the engine nor any command module."""
    assert loaded(("engine.engine", "engine.store.store", "engine.cli.history_commands"), argument) == []
