"""A server that forks a process for each command, so that a command need not import its modules again.

A new interpreter takes a second for the imports, so a page with ten commands takes ten seconds. `Forks`
keeps one process that has imported everything and only forks. Each command still runs in a separate process
with its own arguments, folder, environment and streams, so pipes, redirections and exit codes work as usual.
"""

from __future__ import annotations

import array
import json
import os
import runpy
import select
import shlex
import socket
import subprocess
import sys
import tempfile
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import NoReturn

from engine.cli.main import main
from tests.support.measuring import measured

ROOT = Path(__file__).resolve().parents[2]
PREFIX_BYTES = 4
PROGRAMS = ("engine", "python")

CLIENT = """
import array, json, os, socket, sys
asked = json.dumps([*sys.argv[2:3], sys.argv[3:], os.getcwd(), dict(os.environ)]).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1])
    streams = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    server.sendmsg([len(asked).to_bytes(4, "big")], streams)
    server.sendall(asked)
    for stream in (0, 1, 2):
        os.close(stream)
    code = server.recv(1)
os._exit(code[0] if code else 125)
"""
"""The client: it sends its streams to the server and exits like the forked process, or with 125 if killed."""


class Forks:
    """A server that forks; programs named `engine` and `python` in `folder` run in its children."""

    def __init__(self) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="forks")
        self.folder = Path(self._place.name) / "bin"
        self.folder.mkdir()
        address = Path(self._place.name) / "socket"
        (self.folder / "client.py").write_text(CLIENT, encoding="utf-8")
        words = shlex.join([sys.executable, "-I", "-S", str(self.folder / "client.py"), str(address)])
        for program in PROGRAMS:
            shim = self.folder / program
            shim.write_text(f'#!/bin/sh\nexec {words} {program} "$@"\n', encoding="utf-8")
            shim.chmod(0o755)
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forking", str(address)],
            cwd=ROOT,
            env={
                "LC_ALL": "C.UTF-8",
                "ENGINE_PIPELINE": "none",
                "PATH": os.environ["PATH"],
                "OPENBLAS_NUM_THREADS": "1",
                **measured(),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._server.stdout is not None
        assert self._server.stdout.readline() == b"ready\n"

    def close(self) -> None:
        """Close the input of the server, which ends the server, and delete the programs."""
        self._server.communicate()
        self._place.cleanup()


def serve(address: str) -> None:
    """Import the modules that commands use. Fork for each client of `address` until stdin is closed."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):  # noqa: PTH123
        main(["--store", "memory:", "recall", "whatever is loaded for the first question"])
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        running: set[int] = set()
        while True:
            ready, _, _ = select.select([listening, sys.stdin], [], [])
            if sys.stdin in ready:
                break
            connection, _ = listening.accept()
            with connection:
                child = os.fork()
                if child == 0:
                    listening.close()
                    attend(connection)
            running.add(child)
            running -= {one for one in running if os.waitpid(one, os.WNOHANG) != (0, 0)}
        for child in running:
            os.waitpid(child, 0)


def attend(connection: socket.socket) -> NoReturn:
    """Run the command of a client with the client's streams, send the exit code, and end the process."""
    code = 1
    try:
        size, rights, _, _ = connection.recvmsg(PREFIX_BYTES, socket.CMSG_LEN(3 * array.array("i").itemsize))
        for stream, descriptor in enumerate(array.array("i", rights[0][2])):
            os.dup2(descriptor, stream)
            os.close(descriptor)
        asked = b""
        while len(asked) < int.from_bytes(size, "big"):
            asked += connection.recv(1 << 16)
        program, arguments, folder, environment = json.loads(asked)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
        code = run(program, arguments)
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001  as a new interpreter would end
        traceback.print_exc()
    finally:
        for stream in (0, 1, 2):
            os.close(stream)
        connection.send(bytes([code]))
        os._exit(code)


def run(program: str, arguments: list[str]) -> int:
    """Run `engine` or a file with a Python program, and return the exit code."""
    if program == "engine":
        sys.argv = ["engine", *arguments]
        return main(arguments)
    sys.argv = arguments
    sys.path[0] = str(Path(arguments[0]).parent)
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


if __name__ == "__main__":
    serve(sys.argv[1])
