"""The entry point: runs one command, and turns every exception into a message and an exit code."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

import click

from backends.sealed import ask
from engine.base.errors import EngineError, SystemFailureError, system_failure
from engine.cli.cli_output import Failure
from engine.cli.cli_session import Session
from engine.cli.command_tree import COMPLETION_VARIABLE as COMPLETION
from engine.cli.command_tree import build

INTERRUPTED = 130
COLLECT_AFTER: Final = 20_000
"""The number of new objects after which Python looks for unreachable cycles of objects."""
NAMES: Final = ("engine", "memroot")
"""The names under which the command is installed. Under any other name, help texts use `engine`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `engine` with the arguments `argv` (default: `sys.argv[1:]`) and return the exit code.

    0 ok · 1 failure · 2 usage · 3 not found · 4 verification failed · 5 busy · 6 conflict · 7 refused ·
    8 partial import · 9 rollback or fork · 10 failure of the system · 11 locked · 130 interrupted. Only shell
    completion raises an exception, SystemExit.
    """
    if argv is None:
        # Loading modules makes many objects and hardly any cycle. Looking for cycles after every 700 objects,
        # as Python does, and among all objects at exit, takes a sixth of the time of one recall (measured).
        gc.set_threshold(COLLECT_AFTER)
        # NumPy starts a thread for each core when it is loaded, for operations that are not used here. That
        # takes 25 ms of a recall (measured on two cores).
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        atexit.register(gc.freeze)
    args = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    try:
        session = Session()
        if sys.stdin.isatty() and sys.stderr.isatty():
            ask[:] = [_asked]
        # A usage error is found before the options are parsed; report it as JSON too if --json is given.
        session.out.json = "--json" in args[: args.index("--") if "--" in args else len(args)]
        code = _run(args, session)
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        return _hung_up()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:  # for example, if stdout is a file on a full disk
        sys.stderr.write(f"error: the output cannot be written: {error.strerror}\n")
        _hung_up()
        return SystemFailureError.exit_code
    return code


def _asked(text: str) -> str:
    """Return what a person types, without showing it."""
    return str(click.prompt(text, hide_input=True, err=True, type=str))


def _open_streams() -> None:
    """Open the null device for each standard stream that is closed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  open to the end


def _run(args: list[str], session: Session) -> int:
    try:
        return _invoke(args or ["--help"], session)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        hint = "all acknowledged changes are saved; run the command again to continue"
        return session.out.fail(Failure(INTERRUPTED, "interrupted", "interrupted", hint))
    except Exception as error:  # noqa: BLE001  the outermost handler: users get a message instead of a traceback
        if os.environ.get("ENGINE_DEBUG"):
            import traceback

            traceback.print_exc()
        return session.out.fail(session.masked(_failure(error)))


def _name() -> str:
    """Return the name by which this process was started, to be shown in help texts."""
    started = PurePath(sys.argv[0]).name
    return started if started in NAMES else NAMES[0]


def _invoke(args: list[str], session: Session) -> int:
    group = build()
    if COMPLETION in os.environ:
        group.main(args, prog_name=_name(), complete_var=COMPLETION, obj=session)  # ends the process
    try:
        with group.make_context(_name(), args, obj=session) as ctx:
            return int(group.invoke(ctx) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None


def _failure(error: Exception) -> Failure:
    """Return the failure to report for an exception that ended a command."""
    if isinstance(error, EngineError):
        return Failure.of(error)
    if isinstance(error, (OSError, MemoryError, ImportError)):
        return Failure.of(system_failure(error))
    if isinstance(error, click.ClickException):
        ctx = getattr(error, "ctx", None)
        name = _name() if ctx is None else ctx.command_path
        return Failure(error.exit_code, "usage", error.format_message(), f"see `{name} --help`")
    return Failure(
        1,
        "unexpected",
        f"unexpected {type(error).__name__}: {error}",
        "a bug in memroot: ENGINE_DEBUG=1 shows a traceback; please report it with `engine doctor --json`",
    )


def _hung_up() -> int:
    """Exit quietly after the reader of stdout has closed it (EPIPE)."""
    # The interpreter flushes stdout once more on exit; redirect it so that this does not fail again.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    return 1
