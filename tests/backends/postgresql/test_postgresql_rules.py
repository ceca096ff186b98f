"""The rules of the PostgreSQL backend: its statements, its checksums, many memories, and roles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from backends import open_backend, store_exists
from backends.base import Backend, Batch
from backends.errors import BackendCorrupt, BackendMissing, BackendUnusable
from backends.postgresql import postgresql_sql
from backends.postgresql.postgresql_backend import PostgreSQLBackend
from backends.postgresql.postgresql_memories import delete_memory, memories_in, memory_bytes, rename_memory
from engine.service.token_tables import IN_POSTGRESQL
from tests.backends.suite import batch_of
from tests.support.postgresql import shared_server

pytestmark = pytest.mark.slow

FOLDER = Path(postgresql_sql.__file__).parent

COMMON = frozenset(
    re.findall(
        r"\w+",
        "ALTER AND ANY AS ASC BEGIN BY CAST COALESCE COMMIT COMMITTED CONFLICT CREATE DEFAULT DELETE DESC "
        "DISTINCT DO DROP ENABLE EXISTS FOR FORCE FROM GREATEST IF IN INSERT INTO IS ISOLATION JOIN KEY LEFT "
        "LEVEL LIMIT NOT NOTHING NULL NULLIF ON ONLY ORDER POLICY PRIMARY READ REPEATABLE RETURNING ROLLBACK "
        "ROW SECURITY SELECT SET SHARE TABLE UNIQUE UPDATE USING VALUES WHERE WITH "
        "bigint bytea text clock_timestamp count current_setting extract length set_config substr sum unnest",
    )
)
"""The keywords, types and functions that CockroachDB, YugabyteDB, Citus and Aurora have, too."""


def statements() -> Iterator[str]:
    """Yield all statements of the backend, except those of `PURGE`, and those on the tokens of a service."""
    for name, value in vars(postgresql_sql).items():
        if name.isupper() and name != "PURGE" and isinstance(value, (str, tuple)):
            yield from (value,) if isinstance(value, str) else value
    yield from IN_POSTGRESQL.values()


def test_every_statement_is_common_sql() -> None:
    """Each word of a statement is common SQL, or a name of ours (in small letters)."""
    for statement in statements():
        plain = re.sub(r"'[^']*'|%\(\w+\)s|%s|\d+", " ", statement)
        called = set(re.findall(r"\b([a-z_]+) ?\((?!key|number|memory)", plain)) & set(plain.split("("))
        words = set(re.findall(r"\b[A-Z]+\b", plain))
        assert words | called <= COMMON, statement


def test_no_other_module_has_statements() -> None:
    """The other modules of the backend execute only constants of `postgresql_sql`."""
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "execute"
            ):
                assert not isinstance(node.args[0], (ast.Constant, ast.JoinedStr)), path.name


def url(name: str | None = None) -> str:
    """Return the URL of a memory on the shared server."""
    scheme = "postgresql" if name is None else f"postgresql+{name}"
    return shared_server().url.replace("postgresql", scheme, 1)


def place() -> str:
    """Return the database of the shared server, as the functions for named memories take it."""
    return shared_server().url.removeprefix("postgresql:")


def test_memories_of_one_database_are_separate() -> None:
    """Memories with the same keys do not see each other; the list names those with a name."""
    with open_backend(url("one")) as one, open_backend(url("two")) as two, open_backend(url()) as none:
        for number, backend in enumerate((one, two, none)):
            backend.write(batch_of([(b"a", b"%d" % number)]))
        assert [backend.get(b"a") for backend in (one, two, none)] == [b"0", b"1", b"2"]
    assert {"one", "two"} <= set(memories_in(place()))
    assert "" not in memories_in(place())


def test_a_memory_is_renamed_and_deleted_with_its_rows() -> None:
    """An open handle follows the new name, and says after the deletion that the memory is gone."""
    with open_backend(url("before")) as backend:
        backend.write(batch_of([(b"a", b"12345")]))
        rename_memory(place(), "before", "behind")
        assert not store_exists(url("before"))
        assert memory_bytes(place(), "behind") == 6
        backend.write(batch_of([(b"only here", b"1")]))
        delete_memory(place(), "behind")
        with pytest.raises(BackendMissing, match="was deleted"):
            backend.get(b"a")
        with pytest.raises(BackendMissing, match="was deleted"):
            backend.write(Batch())
    assert not store_exists(url("behind"))
    with psycopg.connect(shared_server().url) as connection:
        found = connection.execute("SELECT count(*) FROM memroot_rows WHERE key = 'only here'").fetchone()
        assert found == (0,)
    with pytest.raises(BackendMissing):
        delete_memory(place(), "behind")


def test_a_name_that_is_taken_is_refused() -> None:
    """Renaming onto another memory changes nothing."""
    for name in ("left", "right"):
        open_backend(url(name)).close()
    with pytest.raises(BackendUnusable, match="already a memory 'right'"):
        rename_memory(place(), "left", "right")
    assert {"left", "right"} <= set(memories_in(place()))


def test_a_missing_memory_is_not_made_by_looking() -> None:
    """Opening without `create` raises BackendMissing, with and without tables."""
    with pytest.raises(BackendMissing):
        open_backend(url("nobody"), create=False)
    with psycopg.connect(shared_server().url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE bare")
    bare = shared_server().url.replace("/postgres", "/bare")
    assert not store_exists(bare)
    assert memories_in(bare.removeprefix("postgresql:")) == []


@pytest.mark.parametrize("column", ["value", "sum", "key"])
def test_a_changed_row_is_never_served(column: str) -> None:
    """Every read of a row whose value, key or checksum was changed in the database raises BackendCorrupt."""
    change = {
        "value": "UPDATE memroot_rows SET value = '9' WHERE key = 'row-to-damage'",
        "sum": "UPDATE memroot_rows SET sum = sum + 1 WHERE key = 'row-to-damage'",
        "key": "UPDATE memroot_rows SET key = 'bb' WHERE key = 'row-to-damage'",
    }[column]
    with open_backend(url(f"damaged-{column}")) as backend:
        backend.write(batch_of([(b"row-to-damage", b"1"), (b"z", b"1")]))
        with psycopg.connect(shared_server().url) as connection:
            connection.execute(change)
        key = b"bb" if column == "key" else b"row-to-damage"
        with pytest.raises(BackendCorrupt):
            backend.get(key)
        with pytest.raises(BackendCorrupt):
            backend.multi_get([key, b"z"])
        with pytest.raises(BackendCorrupt):
            list(backend.scan())
        assert backend.keys(b"", 9) == sorted([key, b"z"])
        assert backend.get(b"z") == b"1"


@pytest.fixture
def service() -> str:
    """A role that owns nothing, and may only use the tables; returns the URL with that role."""
    open_backend(url()).close()  # so that there are tables
    with psycopg.connect(shared_server().url, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'service'").fetchone() is None:
            connection.execute("CREATE ROLE service LOGIN")
        for table in ("memories", "locks", "rows"):
            connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON memroot_{table} TO service")
    return shared_server().url.replace("memroot@", "service@")


def test_a_role_that_owns_nothing_can_use_memories(service: str) -> None:
    """Creating, writing, reading and deleting need only the rights on the rows of the three tables."""
    with open_backend(service.replace("postgresql", "postgresql+served", 1)) as backend:
        backend.write(batch_of([(b"a", b"1")]))
        assert list(backend.scan()) == [(b"a", b"1")]
        assert backend.purge() is False  # only the owner of the table may rewrite it
    delete_memory(service.removeprefix("postgresql:"), "served")


def test_a_role_that_owns_nothing_reads_one_memory_only(service: str) -> None:
    """Even with a wrong number in a statement, such a role gets no row of another memory."""
    with open_backend(url("theirs")) as theirs, open_backend(url("mine")) as mine:
        theirs.write(batch_of([(b"secret", b"1")]))
        mine.write(batch_of([(b"own", b"1")]))
    with (
        PostgreSQLBackend(service.removeprefix("postgresql:"), memory="mine") as backend,
        psycopg.connect(service) as connection,
    ):
        number = connection.execute("SELECT number FROM memroot_memories WHERE name = 'theirs'").fetchone()
        assert number is not None
        assert connection.execute("SELECT count(*) FROM memroot_rows").fetchone() == (0,)
        right, backend._rows.memory = backend._rows.memory, number[0]
        with backend.snapshot() as rows:
            assert list(rows.scan()) == [(b"secret", b"1")]  # chosen as a whole, the memory can be read
        with backend.snapshot() as rows:
            rows.from_store = True
            backend._rows.memory = right
            assert list(rows.scan()) == []  # a transaction for one memory gives nothing of another
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO memroot_rows VALUES (%s, 'x', 'x', 0)", [number[0]])


def test_a_scan_of_large_values_fetches_few_at_a_time() -> None:
    """Values of 1 MiB are fetched in pages of some megabytes, and each row comes once."""
    rows = [(b"%03d" % number, bytes([number]) * (1 << 20)) for number in range(20)]
    small = [(b"9%04d" % number, b"x") for number in range(3000)]
    with open_backend(url("large")) as backend:
        backend.write(batch_of(rows))
        backend.write(batch_of(small))
        assert list(backend.scan()) == rows + small
        assert list(backend.scan(reverse=True)) == (rows + small)[::-1]


def connections() -> int:
    """Return the number of connections of this process to the shared server."""
    with psycopg.connect(shared_server().url) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'memroot'"
        ).fetchone()
    assert found is not None
    return int(found[0])


def test_connections_are_shared_and_bounded() -> None:
    """Forty open memories that are used one after another share one connection."""
    before = connections()
    backends: list[Backend] = [open_backend(url(f"many-{number}")) for number in range(40)]
    try:
        for backend in backends:
            backend.write(batch_of([(b"a", b"1")]))
            assert backend.get(b"a") == b"1"
        assert connections() <= before + 1
    finally:
        for backend in backends:
            backend.close()
