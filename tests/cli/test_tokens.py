"""`engine token`, and the commands on memories beside a table of tokens."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from pathlib import Path

import pytest

from backends import open_backend
from engine.service.tokens import Tokens
from engine.store.named_places import tokens_file
from tests.support.command_line import Cli
from tests.support.leveldb import needs_leveldb
from tests.support.postgresql import shared_server

STORES = ("sqlite:notes.db", pytest.param("leveldb:notes", marks=needs_leveldb))


def test_new_list_revoke(cli: Cli) -> None:
    """A token is printed once, is listed without itself, and is gone after it was revoked."""
    cli("init")
    made = cli("token", "new", "laptop", "--write", "--memory", "team-*", "--memory", "~")
    assert made.code == 0
    assert made.out.startswith("mr_")
    assert "shown only once" in made.err
    secret = made.out.strip()[3:]
    (listed,) = cli("token", "list", "--json").data
    assert listed.pop("created").endswith("Z")
    assert listed == {
        "name": "laptop", "scope": "write", "memories": ["team-*", "~"], "expires": None, "state": "valid",
    }  # fmt: skip
    shown = cli("token", "list")
    assert shown.out.startswith("laptop\twrite\tteam-* ~\t")
    assert secret not in shown.out + shown.err + made.err
    assert cli("token", "revoke", "laptop").out == "laptop\n"
    assert cli("token", "list", "--json").data == []
    assert cli("token", "revoke", "laptop").code == 3


def test_a_new_token_may_read_everything(cli: Cli) -> None:
    """Without options, a token reads all memories for ever; --json has the token, too."""
    cli("init")
    made = cli("token", "new", "reader", "--json").data
    assert made.pop("token").startswith("mr_")
    assert made == {"name": "reader", "scope": "read", "memories": ["*"], "expires": None}
    made = cli("token", "new", "root", "--admin", "--expires", "2999-01-31", "--json").data
    assert (made["scope"], made["expires"]) == ("admin", "2999-01-31T00:00:00.000000Z")


def test_a_damaged_token_is_listed(cli: Cli, surroundings: Path) -> None:
    """Its row shows nothing but its name and its state, and a note says how to revoke it."""
    cli("init")
    cli("token", "new", "laptop", "--memory", "team-*")
    cli("token", "new", "phone")
    (file,) = (path for path in surroundings.rglob("*") if path.name.endswith("memroot-tokens"))
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("UPDATE tokens SET scope = 'admin' WHERE name = 'laptop'")
    listed = cli("token", "list")
    assert listed.code == 0
    assert listed.out.startswith("laptop\t-\t-\t-\t-\tdamaged\nphone\tread\t*\t")
    assert "`engine token revoke laptop`" in listed.err
    assert cli("token", "list", "--json").data[0] == {
        "name": "laptop", "scope": None, "memories": [], "created": None, "expires": None, "state": "damaged",
    }  # fmt: skip
    assert cli("token", "revoke", "laptop").code == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["new"], 2),
        (["list", "laptop"], 2),
        (["revoke"], 2),
        (["show", "laptop"], 2),
        (["revoke", "laptop", "--write"], 2),
        (["list", "--memory", "work"], 2),
        (["new", "other", "--read", "--write"], 2),
        (["new", "dreamer"], 2),
        (["new", "Laptop"], 2),
        (["new", "other", "--memory", "../x"], 2),
        (["new", "other", "--expires", "soon"], 2),
        (["new", "other", "--expires", "2001-01-01"], 2),
        (["new", "laptop"], 6),
        (["revoke", "other"], 3),
    ],
)
def test_what_is_wrong_changes_nothing(cli: Cli, words: list[str], code: int) -> None:
    """A wrong use has the exit code of its kind, prints no token, and leaves the table as it was."""
    cli("init")
    cli("token", "new", "laptop")
    before = cli("token", "list").out
    result = cli("token", *words)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("error: ")
    assert cli("token", "list").out == before


def test_nothing_is_made_where_there_is_no_store(cli: Cli, surroundings: Path) -> None:
    """A token for a store that does not exist is refused, and makes no file."""
    assert cli("token", "new", "laptop").code == 3
    assert list(surroundings.iterdir()) == []


@pytest.mark.parametrize("store", STORES)
def test_a_memory_without_its_tokens_is_copied_checked_and_exported(
    bare: Cli, surroundings: Path, store: str
) -> None:
    """No command that reads a store reads its tokens: what it writes has neither their names nor hashes."""
    bare("add", "The kettle is descaled on Mondays.", "--store", store)
    token = bare("token", "new", "zanzibar", "--store", store).out.strip()
    root = bare("root", "--store", store).out
    steps = [
        ["copy", store, "sqlite:copy.db"],
        ["rescue", store, "--output", "sqlite:rescued.db"],
        ["export", "out.jsonl", "--store", store],
        ["backup", "out.backup", "--store", store],
        ["scrub", "--store", store],
        ["verify-root", "--store", store],
        ["rebuild", "--store", store],
    ]
    for step in steps:
        assert bare(*step).code == 0, step
    assert bare("root", "--store", "sqlite:copy.db").out == bare("root", "--store", store).out == root
    of_store = {tokens_file(surroundings / store.partition(":")[2])}
    for path in {path for path in surroundings.rglob("*") if path.is_file()} - of_store:
        found = path.read_bytes()
        assert b"zanzibar" not in found, path
        assert hashlib.sha256(token.encode()).digest() not in found, path
    assert bare("token", "list", "--store", "sqlite:copy.db", "--json").data == []
    with contextlib.closing(Tokens(store)) as tokens:
        assert tokens.check(token) is not None


@pytest.mark.parametrize("root", ["memories", "sqlite:memories.db"])
def test_tokens_of_a_root_are_no_memory(bare: Cli, root: str) -> None:
    """The tokens are for all memories of a root. Listing, renaming and deleting memories keeps them."""
    bare("memory", "create", "work", "--store", root)
    token = bare("token", "new", "laptop", "--store", root).out.strip()
    assert [one["name"] for one in bare("memory", "list", "--store", root, "--json").data] == ["work"]
    bare("memory", "rename", "work", "home", "--store", root)
    assert bare("memory", "delete", "home", "--yes", "--store", root).code == 0
    assert bare("memory", "list", "--store", root, "--json").data == []
    with contextlib.closing(Tokens(root)) as tokens:
        assert tokens.check(token) is not None


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("leveldb", marks=needs_leveldb)])
@pytest.mark.parametrize("foreign", [False, True])
def test_tokens_of_one_memory_follow_it(bare: Cli, surroundings: Path, kind: str, foreign: bool) -> None:
    """If a memory of a folder has tokens of its own, they are renamed and deleted with it."""
    (surroundings / "all").mkdir()
    bare("init", "--store", f"{kind}:all/work")
    token = bare("token", "new", "laptop", "--store", f"{kind}:all/work").out.strip()
    bare("memory", "rename", "work", "home", "--store", "all")
    with contextlib.closing(Tokens(f"{kind}:all/home")) as tokens:
        assert tokens.check(token) is not None
    if foreign and kind == "leveldb":
        (surroundings / "all" / "home" / "mine.txt").touch()
    assert bare("memory", "delete", "home", "--yes", "--store", "all").code == 0
    left = {path.name for path in surroundings.joinpath("all").rglob("*")}
    assert left == ({"home", "mine.txt"} if foreign and kind == "leveldb" else set())


def test_tokens_of_a_database_are_for_all_its_memories(bare: Cli) -> None:
    """In PostgreSQL, the tokens are beside the memories of a database, and a copy has none of them."""
    url = shared_server().url
    open_backend(url.replace("postgresql", "postgresql+tokens-test", 1)).close()
    token = bare("token", "new", "laptop", "--store", url).out.strip()
    try:
        names = [one["name"] for one in bare("memory", "list", "--store", url, "--json").data]
        assert "tokens-test" in names
        assert bare("token", "new", "laptop", "--store", url).code == 6
        source = url.replace("postgresql", "postgresql+tokens-test", 1)
        bare("add", "One text.", "--store", source)
        assert bare("copy", source, "sqlite:copy.db").code == 0
        with contextlib.closing(sqlite3.connect("copy.db")) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        assert not any("token" in name for name in tables)
        with contextlib.closing(Tokens(source)) as tokens:
            assert tokens.check(token) is not None
    finally:
        assert bare("token", "revoke", "laptop", "--store", url).code == 0


def test_the_memory_in_the_environment_does_not_move_the_tokens(
    cli: Cli, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ENGINE_MEMORY and --memory before the command choose no other place for the tokens."""
    cli("memory", "create", "work")
    cli("token", "new", "one")
    monkeypatch.setenv("ENGINE_MEMORY", "work")
    cli("--memory", "work", "token", "new", "two")
    assert [one["name"] for one in cli("token", "list", "--json").data] == ["one", "two"]
    assert [path.name for path in (surroundings / "store").iterdir() if path.is_file()] == [".memroot-tokens"]
