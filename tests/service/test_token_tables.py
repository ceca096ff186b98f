"""The tables of tokens: of a folder, a SQLite file and a PostgreSQL database."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from backends import open_backend
from backends.errors import BackendCorrupt, BackendEnvironment, BackendMissing, BackendUnusable
from backends.postgresql.postgresql_connections import wait_for_disk
from engine.service.token_tables import (
    _FIND,
    DamagedRow,
    PostgreSQLTokens,
    TokenRow,
    TokenTable,
    open_tokens,
)
from engine.store.named_places import is_memory, tokens_file
from tests.support.postgresql import shared_server
from tests.support.read_only import WAYS, prefix_for

BOB = TokenRow("bob", b"b" * 32, "write", "work-* ~", 1_700_000_000_000_000, 0)
EVE = TokenRow("eve", b"e" * 32, "read", "*", 1_700_000_000_000_001, 1_800_000_000_000_000)

ROOT = Path(__file__).parents[2]
FILES = ("folder", "file")
PLACES = (*FILES, "database")


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a place without tokens: a folder, a SQLite file or a database."""
    if request.param == "database":
        server = shared_server()
        yield server.url
        with psycopg.connect(server.url) as connection:
            connection.execute("DROP TABLE IF EXISTS memroot_tokens")
    elif request.param == "file":
        place = f"sqlite:{tmp_path / 'notes.db'}"
        open_backend(place).close()
        yield place
    else:
        yield str(tmp_path)


@pytest.fixture
def table(url: str) -> Iterator[TokenTable]:
    """The table of tokens of a place."""
    with contextlib.closing(open_tokens(url)) as opened:
        yield opened


def of_files(url: str) -> Path:
    """Return the file of the tokens of a folder or a SQLite file."""
    return tokens_file(Path(url.removeprefix("sqlite:")))


everywhere = pytest.mark.parametrize("url", PLACES, indirect=True)
in_files = pytest.mark.parametrize("url", FILES, indirect=True)
in_a_database = pytest.mark.parametrize("url", ["database"], indirect=True)


@everywhere
def test_a_token_is_found_by_its_hash(table: TokenTable) -> None:
    """A row comes back as it was stored, and no other hash finds it."""
    assert (table.find(BOB.hash), table.rows()) == (None, [])
    assert table.add(EVE)
    assert table.add(BOB)
    assert (table.find(BOB.hash), table.find(EVE.hash), table.find(b"x" * 32)) == (BOB, EVE, None)
    assert table.rows() == [BOB, EVE]


@everywhere
def test_a_name_is_given_once(table: TokenTable) -> None:
    """A second token of the same name is refused, and the first stays."""
    assert table.add(BOB)
    assert not table.add(EVE._replace(name="bob"))
    assert table.rows() == [BOB]


@everywhere
def test_a_removed_token_is_gone(table: TokenTable, url: str) -> None:
    """After `remove`, no handle finds the token; a second time there is nothing to remove."""
    assert not table.remove("bob")
    table.add(BOB)
    with contextlib.closing(open_tokens(url)) as other:
        assert other.find(BOB.hash) == BOB
        assert table.remove("bob")
        assert other.find(BOB.hash) is None
    assert not table.remove("bob")


@everywhere
def test_many_threads_use_one_table(table: TokenTable) -> None:
    """Of many threads that add the same name at the same time, one succeeds; all find its row."""
    rows = [BOB._replace(hash=bytes([number]) * 32) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(table.add, rows))
        assert added.count(True) == 1
        kept = rows[added.index(True)]
        assert list(pool.map(table.find, [kept.hash] * 16)) == [kept] * 16


@in_files
@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("scope = 'admin'", "bob"),
        ("memories = '*'", "bob"),
        ("memories = CAST(x'2aff' AS TEXT)", "bob"),
        ("memories = x'2a'", "bob"),
        ("expires = 1", "bob"),
        ("created = 'soon'", "bob"),
        ("name = 'bill'", "bill"),
        ("name = 'b b'", "'b b'"),
        ("name = CAST(x'62ff62' AS TEXT)", r"'b\udcffb'"),
        ("name = CAST(x'620062' AS TEXT)", r"'b\x00b'"),
        ("name = x'626f62'", "\"b'bob'\""),
    ],
)
def test_a_damaged_row_of_a_file_grants_nothing(table: TokenTable, url: str, change: str, shown: str) -> None:
    """Of a row that was changed in the file, only the name is returned, by which it is removed."""
    table.add(BOB)
    table.add(EVE)
    with contextlib.closing(sqlite3.connect(of_files(url), isolation_level=None)) as connection:
        connection.execute(f"UPDATE tokens SET {change} WHERE name = 'bob'")  # noqa: S608
    assert table.find(BOB.hash) == DamagedRow(shown)
    assert table.find(EVE.hash) == EVE
    assert sorted(table.rows(), key=len) == [DamagedRow(shown), EVE]
    assert table.remove(shown)
    assert table.rows() == [EVE]


@in_files
def test_a_row_that_differs_from_its_index_is_removed(table: TokenTable, url: str) -> None:
    """A row whose hash was damaged in the table, and not in the index, is shown as damaged and removed."""
    table.add(BOB)
    table.add(EVE)
    before = of_files(url).read_bytes()
    places = [found.start() for found in re.finditer(BOB.hash, before)]
    assert len(places) == 2
    for place in places:
        of_files(url).write_bytes(before[: place + 9] + b"x" + before[place + 10 :])
        if table.rows() == [DamagedRow("bob"), EVE]:
            break
    assert table.rows() == [DamagedRow("bob"), EVE]
    assert table.remove("bob")
    assert table.rows() == [EVE]


@in_a_database
def test_a_damaged_row_of_a_database_grants_nothing(table: TokenTable, url: str) -> None:
    """Of a row that was changed in the database, only the name is returned, by which it is removed."""
    table.add(BOB)
    table.add(EVE)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE memroot_tokens SET scope = 'admin', name = E'b\x01b' WHERE name = 'bob'")
    assert table.find(BOB.hash) == DamagedRow(r"'b\x01b'")
    assert table.rows() == [DamagedRow(r"'b\x01b'"), EVE]
    assert table.remove(r"'b\x01b'")
    assert table.rows() == [EVE]


@in_files
def test_a_file_of_tokens_is_no_memory(table: TokenTable, url: str) -> None:
    """The file is private, cannot be taken for a memory, and does not touch the store beside it."""
    place = Path(url.removeprefix("sqlite:"))
    place.chmod(0o777)
    before = place.stat()
    table.add(BOB)
    file = of_files(url)
    assert not is_memory(file)
    assert not stat.S_IMODE(file.stat().st_mode) & 0o007
    if url.startswith("sqlite:"):
        assert place.stat().st_mtime_ns == before.st_mtime_ns
    with pytest.raises(BackendUnusable):
        open_backend(f"sqlite:{file}")


@in_files
def test_a_token_is_looked_up_by_an_index(table: TokenTable, url: str) -> None:
    """The cost of a wrong token does not grow with the number of tokens."""
    table.add(BOB)
    with contextlib.closing(sqlite3.connect(of_files(url))) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {_FIND}", (b"",)).fetchall()
    assert [step[3].split(" ")[0] for step in plan] == ["SEARCH"]


@in_a_database
def test_the_database_has_an_index_of_the_hashes(table: TokenTable, url: str) -> None:
    """The column of the hashes has an index of its own."""
    table.add(BOB)
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT indexdef FROM pg_indexes WHERE tablename = 'memroot_tokens'")
        assert any(definition.endswith("(hash)") for (definition,) in found)


@in_files
def test_an_interrupted_creation_leaves_an_empty_table(table: TokenTable, url: str) -> None:
    """An empty file, as a killed process leaves it, has no tokens, and can be used."""
    of_files(url).touch()
    assert (table.rows(), table.find(BOB.hash), table.remove("bob")) == ([], None, False)
    assert table.add(BOB)
    assert table.rows() == [BOB]


@in_files
@pytest.mark.parametrize(
    ("made", "match"), [("link", "is not a file"), ("folder", "is not a file"), ("other", "another program")]
)
def test_what_is_not_ours_is_refused(table: TokenTable, url: str, made: str, match: str) -> None:
    """A link, a folder or a file of another program at the path is neither read nor changed."""
    file = of_files(url)
    if made == "link":
        file.symlink_to("elsewhere")
    elif made == "folder":
        file.mkdir()
    else:
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA user_version = 7")
    for call in (table.rows, lambda: table.find(BOB.hash), lambda: table.add(BOB), lambda: table.remove("b")):
        with pytest.raises(BackendUnusable, match=match):
            call()
    assert not file.with_name("elsewhere").exists()


@in_files
def test_a_later_layout_is_refused(table: TokenTable, url: str) -> None:
    """A file that a later version has written is not read by guessing."""
    table.add(BOB)
    with contextlib.closing(sqlite3.connect(of_files(url))) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(BackendUnusable, match="layout 2"):
        table.rows()


@in_files
def test_garbage_is_damage(table: TokenTable, url: str) -> None:
    """A file that is not a database is reported as damaged."""
    of_files(url).write_bytes(os.urandom(4096))
    with pytest.raises(BackendCorrupt):
        table.find(BOB.hash)


@pytest.mark.parametrize("missing", ["nowhere", "sqlite:nowhere.db", "leveldb:nowhere"])
def test_a_place_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Nothing is made for a store that does not exist; reading finds no tokens."""
    monkeypatch.chdir(tmp_path)
    with contextlib.closing(open_tokens(missing)) as table:
        assert (table.rows(), table.remove("bob")) == ([], False)
        with pytest.raises(BackendMissing):
            table.add(BOB)
    assert list(tmp_path.iterdir()) == []


def test_main_memory_has_no_table() -> None:
    """A store in main memory ends with its process, so it has no tokens."""
    with pytest.raises(BackendUnusable, match="main memory"):
        open_tokens("memory:")


@in_a_database
def test_a_service_needs_only_to_read_tokens(table: TokenTable, url: str) -> None:
    """A role with SELECT on the table checks tokens, and can neither make nor revoke one."""
    table.add(BOB)
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'checker'").fetchone() is None:
            connection.execute("CREATE ROLE checker LOGIN")
        connection.execute("GRANT SELECT ON memroot_tokens TO checker")
    with contextlib.closing(open_tokens(url.replace("memroot@", "checker@"))) as checker:
        assert checker.find(BOB.hash) == BOB
        with pytest.raises(BackendEnvironment, match="denies access") as caught:
            checker.add(EVE)
        assert "SELECT on memroot_tokens" in caught.value.hint
        with pytest.raises(BackendEnvironment, match="denies access"):
            checker.remove("bob")
    assert table.rows() == [BOB]


@in_a_database
def test_a_lost_connection_is_replaced(table: PostgreSQLTokens, url: str) -> None:
    """After the server has ended all connections, the next calls answer as before."""
    table.add(BOB)
    for idle in [table._database._pool.take() for _ in range(9)]:
        table._database._pool.give_back(idle)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'memroot'"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(cut)
        assert table.find(BOB.hash) == BOB
        connection.execute(cut)
        assert table.add(EVE)
        connection.execute(cut)
        assert table.remove("eve")


@in_a_database
@pytest.mark.parametrize(
    ("before", "after"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")]
)
def test_a_change_of_tokens_is_durable(url: str, before: str, after: str) -> None:
    """A revocation waits for the disk, even if the server would not; a stricter setting stays."""
    with psycopg.connect(f"{url}?options=-c%20synchronous_commit%3D{before}", autocommit=True) as connection:
        with connection.transaction():
            wait_for_disk(connection)
            assert connection.execute("SHOW synchronous_commit").fetchone() == (after,)
        assert connection.execute("SHOW synchronous_commit").fetchone() == (before,)


@in_a_database
def test_a_bare_database_has_no_tokens(url: str) -> None:
    """Looking does not make the table."""
    with contextlib.closing(PostgreSQLTokens(url.removeprefix("postgresql:"))) as table:
        assert (table.rows(), table.find(BOB.hash), table.remove("bob")) == ([], None, False)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('memroot_tokens')").fetchone() == (None,)


_CHECK = """
import sys
from backends.errors import BackendEnvironment
from engine.service.token_tables import TokenRow, open_tokens
table = open_tokens(sys.argv[1])
print(table.find(b"b" * 32).name, [row.name for row in table.rows()])
for call in (lambda: table.remove("bob"), lambda: table.add(TokenRow("eve", b"e" * 32, "read", "*", 1, 0))):
    try:
        call()
    except BackendEnvironment as error:
        print(error.hint)
"""


@in_files
@pytest.mark.parametrize("way", WAYS)
def test_a_process_that_may_only_read_checks_tokens(
    table: TokenTable, url: str, tmp_path: Path, way: str
) -> None:
    """Tokens are checked from a read-only place; making and revoking are refused by the system."""
    table.add(BOB)
    command = (*prefix_for(way, tmp_path), sys.executable, "-c", _CHECK, url)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    found, *hints = done.stdout.splitlines()
    assert found == "bob ['bob']"
    assert len(hints) == 2
    assert all(hints)


def test_a_killed_writer_changes_all_or_nothing(tmp_path: Path) -> None:
    """After a process was killed in the middle of a transaction, the tokens are those from before."""
    with contextlib.closing(open_tokens(str(tmp_path))) as table:
        table.add(BOB)
        script = (
            "import os, sqlite3, sys\n"
            "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "connection.execute('PRAGMA cache_size = 1')\n"
            "connection.execute('BEGIN IMMEDIATE')\n"
            "connection.execute('DELETE FROM tokens')\n"
            "rows = [(str(n), b'%032d' % n, 'admin', '*' * 500, 1, 0, 1) for n in range(500)]\n"
            "connection.executemany('INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)', rows)\n"
            "os.kill(os.getpid(), 9)\n"
        )
        file = tokens_file(tmp_path)
        subprocess.run([sys.executable, "-c", script, str(file)], check=False)
        assert file.with_name(file.name + "-journal").exists()
        assert table.rows() == [BOB]
        assert table.add(EVE)
