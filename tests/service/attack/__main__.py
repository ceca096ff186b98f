"""Attack a service on a scratch memory: `python -m tests.service.attack [--seconds 60]`.

schemathesis makes requests from the OpenAPI document: valid ones, and ones that break one rule each. No
answer may be an error of the server, differ from the document, or accept what the document refuses. A schema
cannot state every rule (a limit in bytes, an id that exists), so valid requests may be refused. At the end,
the memory must verify, and the service must not have logged an error.
"""

from __future__ import annotations

import argparse
import logging
import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Final

import uvicorn

from engine import Add, Engine
from engine.service.access import Access
from engine.service.app import application
from engine.service.served_memories import Memories
from tests.service.attack.hooks import IDS
from tests.service.support import USUAL, KnownTokens

ROOT: Final = Path(__file__).parents[3]

LEFT_OUT: Final = ("delete_memory", "rename_memory", "follow")
"""The operations that would end the attack: two remove the memory, and the last never ends."""


class Kept(logging.Handler):
    """Keeps the records of the service."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.records.append(record.getMessage())


def main() -> int:
    """Attack, and return the exit code: 0 if nothing was found."""
    parser = argparse.ArgumentParser(description="Attack a service on a scratch memory.")
    parser.add_argument("--seconds", type=int, default=60, help="the time for all requests")
    seconds = parser.parse_args().seconds
    kept = Kept()
    logging.getLogger("engine.service").addHandler(kept)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:{Path(folder) / 'attacked.db'}"
        with Engine.open(url, memory="work") as memory:
            memory.apply([Add(f"Ann descaled kettle {one[-1]} on Monday", id=one) for one in IDS])
        tokens = Access(KnownTokens(**USUAL), read_only=False)
        config = uvicorn.Config(application(Memories(url, read_only=False), tokens), log_level="critical")
        server = uvicorn.Server(config)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            found = attack(Path(folder), listener.getsockname()[1], seconds)
            server.should_exit = True
            thread.join()
        with Engine.open(url, memory="work") as memory:
            verified = memory.verify().ok
    sys.stdout.writelines(f"logged: {message}\n" for message in kept.records)
    sys.stdout.write(f"the memory verifies: {verified}\n")
    return found or (1 if kept.records or not verified else 0)


def attack(folder: Path, port: int, seconds: int) -> int:
    """Run schemathesis for some seconds, and return its exit code."""
    config = folder / "schemathesis.toml"
    config.write_text('[parameters]\n"path.memory" = "work"\n')
    program = str(Path(sys.executable).with_name("schemathesis"))
    command = [program, "--config-file", str(config), "run"]
    command += [f"http://127.0.0.1:{port}/v1/openapi.json", "--header", "Authorization: Bearer admin"]
    command += ["--exclude-checks", "positive_data_acceptance", "--phases", "examples,coverage,fuzzing"]
    command += ["--warnings", "off", "--continue-on-failure", "--max-time", str(seconds)]
    for name in LEFT_OUT:
        command += ["--exclude-operation-id", name]
    hooks = {"SCHEMATHESIS_HOOKS": "tests.service.attack.hooks", "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=os.environ | hooks, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
