"""A failure of the system has an exit code of its own, and an error of its own in the library."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from engine import Add, Engine, InvalidInputError, SystemFailureError
from tests.cli.test_failures import failed
from tests.support.children import run_traced
from tests.support.command_line import Cli

STORES = ["store", "sqlite:store.db"]

COMMAND = "import sys; from engine.cli.main import main; sys.exit(main(sys.argv[1:]))"


@contextmanager
def descriptors(free: int) -> Iterator[None]:
    """Let this process open at most `free` further files in the block."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The numbers that are not in use need not follow each other: each new file takes the lowest of them.
    unused = [os.dup(0) for _ in range(free + 1)]
    for number in unused:
        os.close(number)
    resource.setrlimit(resource.RLIMIT_NOFILE, (unused[-1], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("store", STORES)
def test_exhausted_descriptors_are_exit_10(cli: Cli, surroundings: Path, store: str) -> None:
    """With too few descriptors a command says so; it never says that the store is in use or invalid."""
    cli("--store", store, "add", "One.")
    cli("--store", store, "find")  # imports all modules
    codes = []
    for free in range(12):
        with descriptors(free):
            result = cli("--store", store, "--wait", "0", "find", "--json")
        codes.append(result.code)
        if result.code:
            failed(result, 10, "system")
            assert "too many open files" in result.err
            assert "ulimit -n" in result.err
    assert codes[0] == 10
    assert codes[-1] == 0


FAULTS = [
    ("openat", "EIO", "input/output error"),
    ("openat", "ENOSPC", "disk is full"),
    ("openat", "EROFS", "read-only"),
    ("openat", "EACCES", "denies access"),
    ("pread64", "EIO", "input/output error"),
    ("read", "EIO", "input/output error"),
    ("write,pwrite64", "ENOSPC", "disk is full"),
    ("write,pwrite64", "EIO", "input/output error"),
    ("fsync,fdatasync", "EIO", "input/output error"),
    ("mmap", "ENOMEM", ""),
]


@pytest.mark.soak
@pytest.mark.parametrize("when", ["1+", "2", "4", "7"])
@pytest.mark.parametrize(("call", "number", "words"), FAULTS)
@pytest.mark.parametrize("store", STORES)
def test_an_injected_errno_is_an_error_of_ours(
    tmp_path: Path, store: str, call: str, number: str, words: str, when: str
) -> None:
    """Whatever system call fails on a file of the store, the command ends with a message of ours."""
    name = store.removeprefix("sqlite:")
    url = store.replace(name, str(tmp_path / name))
    with Engine.open(url) as engine:
        engine.add("One.")
        engine.root()
    files = [path for path in [tmp_path, *tmp_path.rglob("*")] if not path.name.endswith("-lock")]
    only = [option for path in files for option in ("-P", str(path))]
    inject = f"inject={call}:error={number}:when={when}"
    options = ("-e", f"trace={call}", "-e", inject, "-o", "/dev/null", *only)
    for command in (["find"], ["add", "Two."], ["recall", "one"]):
        code, out = run_traced(COMMAND, "--store", url, "--json", *command, options=options)
        assert code in {0, 4, 10}, out
        if code == 10:
            assert "b'" not in out
            assert words in out or '"in_doubt"' in out
    with Engine.open(url) as engine:
        assert engine.verify().ok


def test_a_module_that_cannot_be_loaded_is_exit_10(
    cli: Cli, pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of the installation that is missing is named, with advice."""
    monkeypatch.setitem(sys.modules, "engine.query.history.why", None)
    monkeypatch.delitem(sys.modules, "engine.cli.history_commands", raising=False)
    result = cli("why", pair[0], "--json")
    failed(result, 10, "system")
    assert "install memroot again" in result.err


def test_exhausted_memory_is_exit_10(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lack of memory is not called a bug."""

    def exhausted(*_: object, **__: object) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(Engine, "open", exhausted)
    failed(cli("root", "--json"), 10, "system")


def test_the_library_raises_its_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """An OSError inside a call is a SystemFailureError that names the file, the cause and the remedy."""
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with Engine.open("memory:") as engine:
        engine.add("One.")
        with pytest.raises(SystemFailureError, match="No such file") as caught:
            engine.ingest([Path(__file__)], dry_run=True)
        assert caught.value.hint


def test_errors_of_the_caller_pass_unchanged() -> None:
    """An OSError in the caller's own block or iterable is the caller's."""

    def lines() -> Iterator[Any]:
        yield Add("One.")
        raise FileNotFoundError("mine")

    with Engine.open("memory:") as engine:
        with pytest.raises(FileNotFoundError, match="mine"):
            list(engine.apply_many(lines()))
        with pytest.raises(FileNotFoundError, match="mine"), engine.as_of(0):
            raise FileNotFoundError("mine")


@pytest.mark.parametrize("value", [1.5, "now", None, True])
def test_a_clock_must_return_whole_microseconds(value: Any) -> None:
    """A clock that returns something else is refused before anything is written."""
    with pytest.raises(InvalidInputError, match="whole microseconds"):
        Engine.open("memory:", clock=lambda: value)
