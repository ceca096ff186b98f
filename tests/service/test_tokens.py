"""Tokens: their form, what they allow, and how soon a revoked token is refused."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import re
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.base.errors import (
    BusyError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    LimitError,
    NotFoundError,
)
from engine.base.scopes import Scope
from engine.service import access
from engine.service import tokens as module
from engine.service.access import ALL, KEPT_MAX, KEPT_SECONDS, LOOKUPS_MAX, UNNAMED, Grant
from engine.service.token_tables import TokenRow
from engine.service.tokens import RESERVED, Tokens
from engine.store.named_places import tokens_file

WRONG = "mr_" + "a" * 43
NAMES = st.text("abz09_-.", min_size=1, max_size=8).filter(lambda name: not name.startswith("."))


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        """Return the time that the test has set."""
        return self.now


class Table:
    """A table of tokens in main memory, which counts its lookups and can fail or wait."""

    def __init__(self) -> None:
        self.held: dict[bytes, TokenRow] = {}
        self.lookups = 0
        self.failure: Exception | None = None
        self.waiting: threading.Barrier | None = None
        self.going_on: threading.Event | None = None

    def find(self, digest: bytes) -> TokenRow | None:
        """Count the lookup; then fail, wait or answer."""
        self.lookups += 1
        if self.failure is not None:
            raise self.failure
        found = self.held.get(digest)
        if found is None and self.waiting is not None and self.going_on is not None:
            self.waiting.wait(10)
            self.going_on.wait(10)
        return found

    def rows(self) -> list[TokenRow]:
        """Return all rows."""
        return sorted(self.held.values())

    def add(self, row: TokenRow) -> bool:
        """Keep a row."""
        self.held[row.hash] = row
        return True

    def remove(self, name: str) -> bool:
        """Forget the row of this name."""
        before = len(self.held)
        self.held = {digest: row for digest, row in self.held.items() if row.name != name}
        return len(self.held) < before

    def close(self) -> None:
        """Forget everything."""
        self.held.clear()


@pytest.fixture
def clock() -> Clock:
    """A clock for times and for the age of grants."""
    return Clock()


@pytest.fixture
def tokens(tmp_path: Path, clock: Clock) -> Iterator[Tokens]:
    """The tokens of a folder."""
    opened = Tokens(str(tmp_path), clock=clock, monotonic=clock)
    yield opened
    opened.close()


@pytest.fixture
def table() -> Table:
    """A table that the test can look into."""
    return Table()


@pytest.fixture
def counted(table: Table, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    """Tokens on `table`."""
    monkeypatch.setattr(module, "open_tokens", lambda url: table)
    return Tokens("folder", clock=clock, monotonic=clock)


def test_a_token_is_random_and_only_its_hash_is_stored(tokens: Tokens, tmp_path: Path) -> None:
    """A token has 32 random bytes; the files have its SHA-256 and nothing else of it."""
    made = [tokens.new(name) for name in ("one", "two")]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert made[0] != made[1]
    for token in made:
        assert re.fullmatch(r"mr_[A-Za-z0-9_-]{43}", token)
        assert token[3:].encode() not in stored
        assert hashlib.sha256(token.encode()).digest() in stored
        assert token not in repr(tokens.listed())


def test_a_token_gives_its_grant(tokens: Tokens) -> None:
    """The holder gets the name, the scope and the patterns of the token; nobody else gets anything."""
    token = tokens.new("bob", Scope.WRITE, ["work-*", "~"])
    assert tokens.check(token) == Grant("bob", Scope.WRITE, ("work-*", "~"))
    assert tokens.check(WRONG) is None


@pytest.mark.parametrize(
    "bearer",
    ["", "mr_", WRONG[:-1], WRONG + "a", "xx_" + "a" * 43, WRONG[:-1] + "=", WRONG[:-1] + "é", WRONG + "\n",
     " " + WRONG, "mr_" + "a" * 10_000_000],
)  # fmt: skip
def test_what_is_not_a_token_is_not_looked_up(counted: Tokens, table: Table, bearer: str) -> None:
    """A text of another form is refused without asking the table."""
    assert counted.check(bearer) is None
    assert table.lookups == 0


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize("needed", Scope)
def test_a_scope_includes_those_before_it(scope: Scope, needed: Scope) -> None:
    """Who may administer may write, and who may write may read; not the other way round."""
    assert Grant("bob", scope, (ALL,)).allows(needed, "work") is (needed <= scope)


@pytest.mark.parametrize(
    ("patterns", "allowed", "refused"),
    [
        (["*"], ["work", "home", "~"], []),
        (["~"], ["~"], ["work"]),
        (["work"], ["work"], ["work2", "wor", "~"]),
        (["work-*"], ["work-1", "work-"], ["work", "homework-1", "~"]),
        (["*-work"], ["my-work"], ["work", "~"]),
        (["?"], ["a"], ["ab", "~"]),
        (["*?"], ["a", "ab"], ["~"]),
        (["team.a*b?"], ["team.axb1"], ["teamxaxb1", "team.ab"]),
        (["work", "~"], ["work", "~"], ["home"]),
    ],
)
def test_patterns_cover_memories(
    tokens: Tokens, patterns: list[str], allowed: list[str], refused: list[str]
) -> None:
    """`*` and `?` are wildcards; the memory without a name is covered by `~`, and by `*` alone."""
    grant = tokens.check(tokens.new("bob", memories=patterns))
    assert grant is not None
    assert [grant.allows(Scope.READ, name) for name in allowed] == [True] * len(allowed)
    assert [grant.allows(Scope.READ, name) for name in refused] == [False] * len(refused)


@given(NAMES, st.lists(NAMES, max_size=3))
def test_a_plain_name_covers_itself_alone(name: str, others: list[str]) -> None:
    """A pattern without wildcards covers one memory, whatever characters it has."""
    grant = Grant("bob", Scope.READ, (name,))
    assert grant.allows(Scope.READ, name)
    assert [other for other in [*others, UNNAMED] if other != name and grant.allows(Scope.READ, other)] == []


@pytest.mark.parametrize("pattern", ["", "**", "a**b", "[a-z]", "Work", "a/b", "../x", "a b", "a\n", "x" * 33,
                                     "~*", ".hidden", "lock", "x-wal", 7, None])  # fmt: skip
def test_a_pattern_that_covers_nothing_is_refused(tokens: Tokens, pattern: object) -> None:
    """A pattern that no name of a memory can match, or that could mean several things, is not stored."""
    with pytest.raises(InvalidInputError):
        tokens.new("bob", memories=[pattern])  # type: ignore[list-item]
    assert tokens.listed() == []


def test_the_patterns_of_a_token_are_bounded(tokens: Tokens) -> None:
    """A token has at least one pattern and at most PATTERNS_MAX; a single text is not a list."""
    with pytest.raises(LimitError):
        tokens.new("bob", memories=[f"m{number}" for number in range(module.PATTERNS_MAX + 1)])
    with pytest.raises(InvalidInputError, match="at least one"):
        tokens.new("bob", memories=[])
    with pytest.raises(InvalidInputError, match="list of texts"):
        tokens.new("bob", memories="*")


@pytest.mark.parametrize("name", ["", "Bob", "a b", "x" * 33, "a/b", "é", "a\n", *sorted(RESERVED)])
def test_a_name_that_is_no_actor_of_its_own_is_refused(tokens: Tokens, name: str) -> None:
    """A name is a plain word, and not the name of an actor of memroot itself."""
    with pytest.raises(InvalidInputError):
        tokens.new(name)
    assert tokens.listed() == []


def test_every_actor_of_the_engine_is_reserved() -> None:
    """Each actor that a module of the engine names for its own events is a reserved name."""
    found = set()
    for path in Path(str(engine.__file__)).parent.rglob("*.py"):
        text = path.read_text()
        if not re.search(r"\bactor: str =|ACTOR: |ACTOR =|DREAMER: ", text):
            continue  # parsing every file takes seconds
        for node in ast.walk(ast.parse(text)):
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            value = getattr(node, "value", None)
            if names & {"ACTOR", "DEFAULT_ACTOR", "DREAMER"} and isinstance(value, ast.Constant):
                found.add(value.value)
            if isinstance(node, ast.arguments):
                defaults = zip(node.kwonlyargs, node.kw_defaults, strict=True)
                found |= {
                    value.value
                    for argument, value in defaults
                    if argument.arg == "actor" and isinstance(value, ast.Constant) and value.value
                }
    assert {"dreamer", "ingest", "import", "rescue", "user", "agent"} <= found
    assert found <= RESERVED


def test_a_name_has_one_token(tokens: Tokens) -> None:
    """A second token of the same name is refused until the first is revoked."""
    first = tokens.new("bob")
    with pytest.raises(ConflictError, match="already a token named 'bob'"):
        tokens.new("bob", Scope.ADMIN)
    assert tokens.check(first) is not None
    tokens.revoke("bob")
    second = tokens.new("bob", Scope.ADMIN)
    assert tokens.check(first) is None
    assert tokens.check(second) == Grant("bob", Scope.ADMIN, (ALL,))


def test_a_revoked_token_is_refused_by_the_one_who_revokes_at_once(tokens: Tokens) -> None:
    """The kept grant is forgotten, too."""
    token = tokens.new("bob")
    assert tokens.check(token) is not None
    tokens.revoke("bob")
    assert tokens.check(token) is None
    with pytest.raises(NotFoundError, match="no token named 'bob'"):
        tokens.revoke("bob")


def test_a_revoked_token_is_refused_by_others_soon(tokens: Tokens, tmp_path: Path, clock: Clock) -> None:
    """Another service on the place refuses it after KEPT_SECONDS; a new token works there at once."""
    other = Tokens(str(tmp_path), clock=clock, monotonic=clock)
    token = tokens.new("bob")
    assert other.check(token) is not None
    tokens.revoke("bob")
    clock.now += KEPT_SECONDS
    assert other.check(token) is None
    assert other.check(tokens.new("bob")) is not None
    other.close()


def test_a_busy_token_is_looked_up_once_in_a_while(counted: Tokens, table: Table, clock: Clock) -> None:
    """Within KEPT_SECONDS, a token is looked up once; later it is looked up again."""
    token = counted.new("bob")
    assert {counted.check(token) for _ in range(9)} == {Grant("bob", Scope.READ, (ALL,))}
    assert table.lookups == 1
    clock.now += KEPT_SECONDS
    assert counted.check(token) is not None
    assert table.lookups == 2


def test_grants_in_memory_are_bounded(counted: Tokens, table: Table) -> None:
    """However many tokens are used, at most KEPT_MAX grants are kept, and all tokens work."""
    made = [counted.new(f"t{number}") for number in range(KEPT_MAX + 9)]
    assert all(counted.check(token) for token in made)
    assert len(counted._kept) == KEPT_MAX
    assert counted.check(made[0]) is not None


def test_wrong_tokens_are_not_kept(counted: Tokens, table: Table) -> None:
    """A wrong token leaves nothing in memory, so a token that is made later works at once."""
    for number in range(99):
        assert counted.check(f"mr_{number:043}") is None
    assert (table.lookups, len(counted._kept)) == (99, 0)


def test_a_token_expires(tokens: Tokens, clock: Clock) -> None:
    """From its time on, a token is refused, even if its grant is kept."""
    token = tokens.new("bob", expires=int(clock.now * 1_000_000) + 1_000_000)
    assert tokens.check(token) is not None
    assert [one.state for one in tokens.listed()] == ["valid"]
    clock.now += 1
    assert tokens.check(token) is None
    assert [one.state for one in tokens.listed()] == ["expired"]


def test_a_token_is_not_made_for_the_past(tokens: Tokens, clock: Clock) -> None:
    """A token that would never work is not made."""
    with pytest.raises(InvalidInputError, match="before it was made"):
        tokens.new("bob", expires=int(clock.now * 1_000_000))
    assert tokens.listed() == []


def test_without_its_table_nothing_is_allowed(counted: Tokens, table: Table, clock: Clock) -> None:
    """If the table fails, a kept grant ends in time, and then the failure is raised."""
    token = counted.new("bob")
    assert counted.check(token) is not None
    table.failure = OSError(5, "Input/output error")
    assert counted.check(token) is not None
    clock.now += KEPT_SECONDS
    for bearer in (token, WRONG):
        with pytest.raises(engine.EngineError, match="input/output error") as caught:
            counted.check(bearer)
        assert bearer not in str(caught.value) + caught.value.hint
    table.failure = None
    assert counted.check(token) is not None


def test_a_row_with_another_hash_grants_nothing(counted: Tokens, table: Table) -> None:
    """What the table returns is compared with the token again, whatever the table took for equal."""
    digest = hashlib.sha256(WRONG.encode()).digest()
    table.held[digest] = TokenRow("bob", bytes(32), "admin", ALL, 1, 0)
    assert counted.check(WRONG) is None


def test_a_scope_that_is_unknown_grants_nothing(
    counted: Tokens, table: Table, caplog: pytest.LogCaptureFixture
) -> None:
    """A token with a scope of a later version is refused, and the log and the list say why."""
    token = counted.new("bob")
    table.held = {digest: row._replace(scope="owner") for digest, row in table.held.items()}
    assert counted.check(token) is None
    assert "the token bob has a scope that this version does not know" in caplog.text
    assert [(one.scope, one.state) for one in counted.listed()] == [(None, "unsupported")]


def test_unknown_tokens_cannot_stop_known_ones(
    counted: Tokens, table: Table, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most LOOKUPS_MAX unknown tokens are looked up at once; further ones are busy, known ones go on."""
    monkeypatch.setattr(access, "LOOKUP_SECONDS", 0.01)
    token = counted.new("bob")
    assert counted.check(token) is not None
    table.waiting, table.going_on = threading.Barrier(LOOKUPS_MAX + 1), threading.Event()
    with ThreadPoolExecutor(LOOKUPS_MAX) as pool:
        slow = [pool.submit(counted.check, f"mr_{number:043}") for number in range(LOOKUPS_MAX)]
        table.waiting.wait(10)
        with pytest.raises(BusyError, match="unknown tokens"):
            counted.check(WRONG)
        clock.now += KEPT_SECONDS
        assert counted.check(token) is not None
        table.going_on.set()
        assert [one.result() for one in slow] == [None] * LOOKUPS_MAX
    table.waiting = None
    assert counted.check(WRONG) is None


def test_a_token_of_this_run_is_nowhere_stored(tokens: Tokens, tmp_path: Path) -> None:
    """It reads all memories, is not listed, and ends with the object."""
    token = tokens.for_this_run()
    grant = tokens.check(token)
    assert grant == Grant("visitor", Scope.READ, (ALL,))
    assert tokens.check(tokens.for_this_run(Scope.WRITE)) == Grant("visitor", Scope.WRITE, (ALL,))
    assert (tokens.listed(), list(tmp_path.iterdir())) == ([], [])
    tokens.close()
    assert tokens.check(token) is None


def test_a_store_in_main_memory_has_tokens_of_this_run_only() -> None:
    """It has no table: nothing can be stored, and only the tokens of this run are known."""
    tokens = Tokens("memory:")
    assert tokens.check(tokens.for_this_run()) is not None
    assert (tokens.check(WRONG), tokens.listed()) == (None, [])
    for call in (lambda: tokens.new("bob"), lambda: tokens.revoke("bob")):
        with pytest.raises(InvalidInputError, match="main memory"):
            call()
    tokens.close()


def damage(place: Path, change: str) -> None:
    """Change the row of the token bob, without its checksum."""
    with contextlib.closing(sqlite3.connect(tokens_file(place), isolation_level=None)) as connection:
        connection.execute(f"UPDATE tokens SET {change} WHERE name = 'bob'")  # noqa: S608


@pytest.mark.parametrize("change", ["scope = 'admin'", "memories = '*'", "expires = 0", "scope = 7"])
def test_a_damaged_token_is_refused_alone(
    tokens: Tokens, tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    """Its row never becomes a grant, even if it was valid before; the log names it, without its content."""
    expires = int(clock.now * 1_000_000) + 60_000_000
    token, other = tokens.new("bob", memories=["secret-*"], expires=expires), tokens.new("eve")
    assert tokens.check(token) is not None
    damage(tmp_path, change)
    clock.now += KEPT_SECONDS
    assert tokens.check(token) is None
    assert tokens.check(other) == Grant("eve", Scope.READ, (ALL,))
    assert "the token bob is damaged" in caplog.text
    assert "`engine token revoke bob`" in caplog.text
    assert not {"secret", "admin", token} & set(re.split(r"\W+", caplog.text))
    assert [(one.name, one.scope, one.memories, one.state) for one in tokens.listed()] == [
        ("bob", None, (), "damaged"),
        ("eve", Scope.READ, (ALL,), "valid"),
    ]
    tokens.revoke("bob")
    assert [one.name for one in tokens.listed()] == ["eve"]


def test_a_damaged_name_can_be_revoked(tokens: Tokens, tmp_path: Path) -> None:
    """A token whose name is damaged is revoked by the text that is shown for its name."""
    tokens.new("bob")
    damage(tmp_path, "name = 'B b'")
    (listed,) = tokens.listed()
    assert module.problem_of(listed) is not None
    tokens.revoke(listed.name)
    assert tokens.listed() == []
    for wrong in (listed.name, "B b", "é"):
        with pytest.raises(InvalidInputError):
            tokens.revoke(wrong)


def test_a_damaged_table_has_a_repair(tokens: Tokens, tmp_path: Path) -> None:
    """A damaged file is reported with what to do."""
    file = tokens_file(tmp_path)
    tokens.new("bob")
    file.write_bytes(b"garbage" * 999)
    with pytest.raises(CorruptionError, match=str(file)) as caught:
        tokens.listed()
    assert "delete this file" in caught.value.hint
    file.unlink()
    assert tokens.check(tokens.new("bob")) is not None


def test_a_grant_is_kept_for_a_short_time(tokens: Tokens, tmp_path: Path, clock: Clock) -> None:
    """What `kept` returns without the table is what `check` returned, and only for KEPT_SECONDS."""
    with contextlib.closing(Tokens(str(tmp_path), clock=clock, monotonic=clock)) as other:
        token = tokens.new("bob", expires=int((clock.now + KEPT_SECONDS / 2) * 1_000_000))
        assert other.kept(token) is None
        assert other.check(token) == other.kept(token) == Grant("bob", Scope.READ, (ALL,))
        clock.now += KEPT_SECONDS / 2
        assert other.kept(token) is None  # it has expired
        lasting = tokens.new("eve")
        assert other.check(lasting) == other.kept(lasting)
        clock.now += KEPT_SECONDS
        assert other.kept(lasting) is None
        assert other.kept("no token") is other.kept(WRONG) is None


def test_a_token_is_known_after_it_was_valid(counted: Tokens, table: Table, clock: Clock) -> None:
    """Who was valid when checked last is known, without a lookup; a wrong or revoked token is not."""
    token = counted.new("bob")
    assert not counted.is_known(token)
    assert counted.check(token) is not None
    clock.now += KEPT_SECONDS
    lookups = table.lookups
    assert counted.is_known(token)
    assert counted.is_known(counted.for_this_run())
    assert not counted.is_known(WRONG)
    assert not counted.is_known("")
    assert table.lookups == lookups
    table.remove("bob")
    assert counted.check(token) is None
    assert not counted.is_known(token)
