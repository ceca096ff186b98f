"""The tables and the statements of the PostgreSQL backend; no other module of it contains SQL.

    memroot_memories   one row for each memory: its name, and the state of its writes
    memroot_locks      one row for each memory: locked by a handle that keeps other writers out
    memroot_rows       the rows of all memories: (memory, key) → value, checksum

All statements except those of `PURGE` are plain SQL that CockroachDB, YugabyteDB, Citus and Aurora also
execute. There are no sequences, triggers, stored functions, advisory locks or foreign keys. Names, keys and
values are always passed as parameters.

A policy of row-level security shows a role only the rows of the memory that the transaction has named in the
setting `memroot.memory`. PostgreSQL applies the policy to every role except superusers and roles with
BYPASSRLS.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from backends.base import Batch, Guard
from backends.databases import checksum

LAYOUT: Final = 1
"""The version of the tables, stored with each memory."""

TOKEN_BYTES: Final = 8
"""The length of the random token that identifies a write."""

TOKENS_KEPT: Final = 16
"""The number of tokens that are kept for each memory: those of its last writes."""

TABLES: Final = (
    """
    CREATE TABLE IF NOT EXISTS memroot_memories (
        number bigint PRIMARY KEY,
        name text NOT NULL UNIQUE,
        layout bigint NOT NULL,
        fence bigint NOT NULL,
        writes bigint NOT NULL,
        reaches bigint NOT NULL,
        tokens bytea NOT NULL
    )
    """,
    "CREATE TABLE IF NOT EXISTS memroot_locks (number bigint PRIMARY KEY)",
    """
    CREATE TABLE IF NOT EXISTS memroot_rows (
        memory bigint NOT NULL,
        key bytea NOT NULL,
        value bytea NOT NULL,
        sum bigint NOT NULL,
        PRIMARY KEY (memory, key)
    )
    """,
    "ALTER TABLE memroot_rows ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE memroot_rows FORCE ROW LEVEL SECURITY",
    "DROP POLICY IF EXISTS memroot_one_memory ON memroot_rows",
    """
    CREATE POLICY memroot_one_memory ON memroot_rows
    USING (memory = CAST(NULLIF(current_setting('memroot.memory', true), '') AS bigint))
    """,
)

FIND: Final = "SELECT number, layout, fence FROM memroot_memories WHERE name = %s"
MAKE: Final = """
    INSERT INTO memroot_memories (number, name, layout, fence, writes, reaches, tokens)
    VALUES (%s, %s, %s, 0, 0, 0, '') ON CONFLICT (name) DO NOTHING
"""
MAKE_LOCK: Final = "INSERT INTO memroot_locks (number) SELECT number FROM memroot_memories WHERE number = %s"
LIST: Final = "SELECT name FROM memroot_memories ORDER BY name"
RENAME: Final = "UPDATE memroot_memories SET name = %s, fence = fence + 1 WHERE name = %s"
BYTES: Final = """
    SELECT COALESCE(sum(length(key) + length(value)), 0) FROM memroot_rows WHERE memory = %s
"""
DROP_MEMORY: Final = "DELETE FROM memroot_memories WHERE number = %s"
DROP_LOCK: Final = "DELETE FROM memroot_locks WHERE number = %s"
DROP_ROWS: Final = "DELETE FROM memroot_rows WHERE memory = %s"

BEGIN: Final = "BEGIN"
BEGIN_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_WRITING: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
CLOCK: Final = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
COMMIT: Final = "COMMIT"
ROLLBACK: Final = "ROLLBACK"
CHOOSE_MEMORY: Final = "SELECT set_config('memroot.memory', %s, true)"
ENTER_MEMORY: Final = (
    "SELECT set_config('memroot.memory', %s, true), writes, substr(tokens, 1, %s) "
    "FROM memroot_memories WHERE number = %s"
)
"""Choose a memory, and read in the same statement whether it still exists, and its state."""
SET_UP_WRITE: Final = (
    "SELECT set_config('memroot.memory', %s, true), set_config('synchronous_commit', %s, true), "
    "set_config('lock_timeout', %s, true)"
)
LOCK_TIMEOUT: Final = "SELECT set_config('lock_timeout', %s, true)"
SETTINGS: Final = (
    "SELECT current_setting('synchronous_commit'), current_setting('fsync', true), "
    "current_setting('transaction_read_only', true)"
)

GET: Final = "SELECT value, sum FROM memroot_rows WHERE memory = %s AND key = %s"
GET_MANY: Final = "SELECT key, value, sum FROM memroot_rows WHERE memory = %s AND key = ANY(%s)"
SCAN: Final = (
    "SELECT key, value, sum FROM memroot_rows WHERE memory = %s AND key >= %s AND key < %s "
    "ORDER BY key LIMIT %s"
)
SCAN_BACK: Final = (
    "SELECT key, value, sum FROM memroot_rows WHERE memory = %s AND key >= %s AND key < %s "
    "ORDER BY key DESC LIMIT %s"
)
KEYS: Final = (
    "SELECT key FROM memroot_rows WHERE memory = %s AND key >= %s AND key < %s ORDER BY key LIMIT %s"
)

SHARE_LOCK: Final = "SELECT number FROM memroot_locks WHERE number = %s FOR SHARE"
HOLD_LOCK: Final = "SELECT number FROM memroot_locks WHERE number = %s FOR UPDATE"

COUNT_WRITE: Final = """
    UPDATE memroot_memories
    SET writes = writes + 1, reaches = GREATEST(reaches, %s), tokens = substr(%s || tokens, 1, %s)
    WHERE number = %s AND fence = %s
    RETURNING writes, substr(tokens, %s, %s)
"""
"""Take the turn of a write: the row stays locked until the transaction ends. The statement after it begins
with a new snapshot, so it sees everything that earlier turns have committed."""

APPLY: Final = """
    WITH broken AS (
        SELECT guard.key
        FROM unnest(%(guard_keys)s::bytea[], %(guard_values)s::bytea[]) AS guard (key, value)
        LEFT JOIN memroot_rows AS kept ON kept.memory = %(memory)s AND kept.key = guard.key
        WHERE kept.value IS DISTINCT FROM guard.value
    ), stopped AS (
        SELECT (SELECT count(*) FROM broken) + (
            SELECT count(*) FROM memroot_memories WHERE number = %(memory)s AND fence <> %(fence)s
        ) AS number
    ), put AS (
        INSERT INTO memroot_rows (memory, key, value, sum)
        SELECT %(memory)s, row.key, row.value, row.sum
        FROM unnest(%(keys)s::bytea[], %(values)s::bytea[], %(sums)s::bigint[]) AS row (key, value, sum)
        WHERE (SELECT number FROM stopped) = 0
        ON CONFLICT (memory, key) DO UPDATE SET value = excluded.value, sum = excluded.sum
    ), gone AS (
        DELETE FROM memroot_rows
        WHERE memory = %(memory)s AND key = ANY(%(deleted)s::bytea[]) AND (SELECT number FROM stopped) = 0
    )
    SELECT key FROM broken
"""
"""Apply a batch if every guard holds. The result has the keys of the guards that do not hold."""

FENCE: Final = """
    UPDATE memroot_memories SET fence = fence + 1 WHERE number = %s RETURNING fence, writes, tokens
"""
"""Prevent writes that were sent before from taking effect later, and return the tokens of the last writes."""

STATE: Final = "SELECT fence, writes FROM memroot_memories WHERE number = %s"

COMMIT_DURABLY: Final = "SELECT set_config('synchronous_commit', 'on', true)"

PURGE: Final = {
    "mark": "SELECT CAST(pg_current_xact_id() AS text)",
    "older": """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
            AND GREATEST(age(backend_xmin), age(backend_xid)) > age(CAST(%s AS xid))
    """,
    "owned": "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'memroot_rows'::regclass",
    "timeout": "SELECT set_config('lock_timeout', %s, false)",
    "rewrite": "VACUUM FULL memroot_rows",
}
"""The statements by which deleted bytes are removed from the files of PostgreSQL itself."""


def apply_values(memory: int, fence: int, batch: Batch, guards: Sequence[Guard]) -> dict[str, object]:
    """Return the parameters of `APPLY`. Rows are in key order, so each page is visited once."""
    rows = sorted(batch.rows.items(), key=itemgetter(0))
    put = [(key, value) for key, value in rows if value is not None]
    return {
        "memory": memory,
        "fence": fence,
        "guard_keys": [guard.key for guard in guards],
        "guard_values": [guard.expected for guard in guards],
        "keys": [key for key, _ in put],
        "values": [value for _, value in put],
        "sums": [checksum(key, value) for key, value in put],
        "deleted": [key for key, value in rows if value is None],
    }
