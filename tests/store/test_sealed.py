"""A sealed store: nothing readable without the key, the same root, and damage is no wrong key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blake3 import blake3

from backends import open_backend
from backends.base import HEADERS, Backend, Batch, Guard
from backends.errors import BackendCorrupt, GuardFailed
from backends.memory import MemoryBackend
from backends.sealed import seal as sealing
from backends.sealed.seal import Seal, decode_header
from backends.sealed.sealed_backend import SealedBackend, opened, reseal
from engine import Add, CorruptionError, Engine, LockedError
from engine.base.errors import EngineError, translated
from engine.exchange.backup import import_journal, verify_backup
from engine.exchange.rescue.rescue_run import rescue
from engine.ledger.layout import FAMILIES, LOG, family_of
from engine.store.replay import scratch_backend
from engine.trust.audit.verify import verify
from tests.support.engines import engine_on, put_rows
from tests.support.leveldb import LEVELDB
from tests.support.postgresql import shared_server
from tests.support.sealed import SEAL, sealed

pytestmark = pytest.mark.slow

WORDS = ("Quokka7", "Title9z", "tag9z", "bucket9z", "page9z", "alias9z", "key9z", "value9z", "actor9z")
MORE = ("request9z", "predicate9z", "Kettle9z", "reason9z")
TEXT, TITLE, TAG, BUCKET, PAGE, ALIAS, KEY, VALUE, ACTOR = WORDS
REQUEST, PREDICATE, OTHER, REASON = MORE
SECRET = "correct horse"  # noqa: S105  of no store but those of the tests


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make new headers cost nothing, and let no key come from outside."""
    monkeypatch.setattr(sealing, "COST", sealing.Cost(1, 1, 8))
    for name in ("ENGINE_KEY_FILE", "ENGINE_KEY_COMMAND"):
        monkeypatch.delenv(name, raising=False)


def fill(engine: Engine) -> str:
    """Write every kind of word, and return the root."""
    added = Add(
        TEXT,
        title=TITLE,
        tags=[TAG],
        buckets=[BUCKET],
        source=f"{PAGE}.md",
        meta={KEY: VALUE},
        aliases=[ALIAS],
    )
    engine.apply([added], actor=ACTOR, request=REQUEST)
    engine.relate(TEXT, PREDICATE, OTHER)
    doomed = engine.add(f"{OTHER} doomed").subject
    engine.tombstone(doomed, REASON)
    engine.apply([Add(f"{number} {TEXT} {OTHER}") for number in range(80)])
    return engine.root().root


@pytest.fixture(params=[LEVELDB, "sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Callable[[], list[Path]]]:
    """The URL of a new store, and a function that lists all files that can have its bytes."""
    if request.param == "postgresql":
        server = shared_server()
        url = server.url.replace("postgresql:", f"postgresql+sealed{tmp_path.name[-40:]}:".replace("_", ""))
        return url.replace("[", "").replace("]", ""), lambda: [*server.data.rglob("*")]
    url = f"{request.param}:{tmp_path}/store"
    return url, lambda: [*tmp_path.rglob("*")]


def hidden() -> Iterator[bytes]:
    """Every word that was written, as it is and in lower case, and the beginning of its hash."""
    for form in {form for word in (*WORDS, *MORE) for form in (word, word.lower())}:
        yield form.encode()
        yield blake3(form.encode()).digest()[:6]


def test_no_file_has_a_word_or_an_unkeyed_hash_of_one(place: tuple[str, Callable[[], list[Path]]]) -> None:
    """No file of a sealed store has a word that somebody wrote, open, rebuilt or closed."""
    url, files = place
    found: list[tuple[Path, bytes]] = []

    def look() -> None:
        for path in files():
            if path.is_file():
                raw = path.read_bytes()
                found.extend((path, word) for word in hidden() if word in raw)

    with Engine.open(url, key=SECRET) as engine:
        fill(engine)
        if engine.store.backend.files():
            look()
        engine.rebuild()
        assert engine.recall(TEXT).hits
    look()
    assert found == []
    with pytest.raises(LockedError):
        Engine.open(url)


def test_temporary_stores_of_a_process_with_a_key_are_sealed() -> None:
    """After a process has had a key, what it writes for a replay, a check or the past is encrypted, too."""
    with scratch_backend(on_disk=True) as scratch:
        assert scratch.seal is None
    Seal.new({})
    with scratch_backend(on_disk=True) as scratch:
        put_rows(scratch, {b"row": TEXT.encode()})
        assert scratch.get(b"row") == TEXT.encode()
        assert not any(TEXT.encode() in path.read_bytes() for path in scratch.files())


def test_a_sealed_store_has_the_root_of_the_open_one() -> None:
    """The same events give one root, sealed or not, and sealing, rotating and unsealing keep every row."""
    backend = MemoryBackend()
    root = fill(engine_on(backend))
    assert fill(engine_on(sealed(MemoryBackend()))) == root
    rows = dict(backend.scan())
    reseal(backend, SEAL)
    held = opened(backend, SEAL)
    assert dict(held.scan()) == rows
    other = Seal.new({})
    reseal(held, other)
    assert not set(dict(backend.scan()).values()) & set(rows.values())
    reseal(opened(backend, other), None)
    assert dict(backend.scan()) == rows


def test_a_wrong_key_is_one_error_that_writes_nothing() -> None:
    """A key that is nearly right in one slot and any other wrong key give one error; no key gives another."""
    inner = MemoryBackend()
    made = Seal.new({"passphrase": SECRET, "recovery": "abcd-efgh"})
    fill(Engine(opened(inner, made)))
    rows = dict(inner.scan())
    told = set()
    for key in ("wrong", SECRET + "!", "abcd-efgi", SECRET.upper()):
        with pytest.raises(LockedError) as raised, translated():
            opened(inner, key)
        told.add((str(raised.value), raised.value.hint, raised.value.exit_code))
    assert [code for _, _, code in told] == [LockedError.exit_code]
    with pytest.raises(LockedError, match="no key was given"), translated():
        opened(inner, None)
    assert dict(inner.scan()) == rows
    for key in (SECRET, f"{SECRET}\n", "abcd-efgh"):
        assert opened(inner, key).seal is not None


def test_a_key_comes_from_a_file_or_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ENGINE_KEY_FILE comes before ENGINE_KEY_COMMAND; the error says which of them gave a wrong key."""
    inner, file = MemoryBackend(), tmp_path / "key"
    opened(inner, SECRET)
    monkeypatch.setenv("ENGINE_KEY_COMMAND", f"echo '{SECRET}'")
    assert opened(inner, None).seal is not None
    file.write_text("wrong\n")
    monkeypatch.setenv("ENGINE_KEY_FILE", str(file))
    with pytest.raises(LockedError, match="ENGINE_KEY_FILE"), translated():
        opened(inner, None)
    file.write_text(f"{SECRET}\n")
    assert opened(inner, None).seal is not None
    monkeypatch.delenv("ENGINE_KEY_FILE")
    monkeypatch.setenv("ENGINE_KEY_COMMAND", "false")
    with pytest.raises(LockedError, match="ENGINE_KEY_COMMAND failed"), translated():
        opened(inner, None)


def filled() -> tuple[Backend, SealedBackend]:
    """A store in memory, and its sealed view with all kinds of rows."""
    inner = MemoryBackend()
    held = sealed(inner)
    fill(engine_on(held))
    assert isinstance(held, SealedBackend)
    return inner, held


def test_values_that_were_changed_moved_or_cut_are_damage_of_their_row() -> None:
    """In every family, a flipped bit, a value of another row and a shorter one are damage of the row."""
    inner, held = filled()
    rows = [row for row in inner.scan() if row[0] not in HEADERS]
    first = {family_of(key): (key, raw) for key, raw in reversed(rows)}
    assert len(first) > len(FAMILIES) / 2
    for key, raw in first.values():
        moved = next(other for at, other in rows if at != key and len(other) != len(raw))
        for wrong in (bytes([raw[0] ^ 1]) + raw[1:], raw[:-1] + bytes([raw[-1] ^ 128]), raw[:-1], b"", moved):
            put_rows(inner, {key: wrong})
            with pytest.raises(CorruptionError), translated():
                held.get(key)
            with pytest.raises(CorruptionError), translated(), held.snapshot() as snapshot:
                list(snapshot.scan(key, key + b"\0"))
        put_rows(inner, {key: raw})
    assert verify(held).ok


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_a_conversion_meets_damage_and_changes_nothing(scheme: str, tmp_path: Path) -> None:
    """If a value is damaged, unsealing names its row, and the store stays sealed as it was."""
    url = f"{scheme}:{tmp_path}/store"
    with open_backend(url, key=SEAL) as held:
        put_rows(held, {b"%03d" % number: b"value" for number in range(9)})
        assert isinstance(held, SealedBackend)
        put_rows(held.inner, {b"005": b"damaged"})
    with open_backend(url, key=SEAL) as held:
        with pytest.raises(BackendCorrupt) as raised:
            reseal(held, None)
        assert raised.value.key == b"005"
    with open_backend(url, key=SEAL) as held:
        assert held.get(b"004") == b"value"


def test_a_value_that_comes_back_is_found_as_in_an_open_store() -> None:
    """Verifying finds a row that has an earlier value of its own again."""
    inner, held = filled()
    engine = engine_on(held)
    before = dict(inner.scan_prefix(FAMILIES["trees"]))
    engine.apply([Add(f"later {number}") for number in range(40)])
    engine.catch_up()
    key = next(key for key, raw in inner.scan_prefix(FAMILIES["trees"]) if before.get(key, raw) != raw)
    put_rows(inner, {key: before[key]})
    assert held.get(key) is not None
    assert not verify(held).ok


def test_a_damaged_header_is_damage_and_one_copy_is_enough() -> None:
    """A changed header is damaged, never a wrong key; with one good copy of two, the store opens."""
    made = Seal.new({"passphrase": SECRET})
    raw = made.header.encode()
    for at in range(len(raw)):
        with pytest.raises(BackendCorrupt):
            decode_header(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
    inner = MemoryBackend()
    opened(inner, made)
    for key in sorted(HEADERS):
        put_rows(inner, {key: raw[:-3]})
        assert opened(inner, SECRET).seal is not None
        put_rows(inner, {key: raw})
    put_rows(inner, dict.fromkeys(HEADERS, raw[:-3]))
    with pytest.raises(BackendCorrupt):
        opened(inner, SECRET)


def test_a_key_that_was_changed_elsewhere_is_no_damage() -> None:
    """A handle that is open while the key is rotated or removed is told so, and its writes are refused."""
    inner, held = filled()
    batch = Batch()
    batch.put(LOG, b"other")
    guard = Guard(LOG, held.get(LOG))
    reseal(sealed(inner), other := Seal.new({}))
    for now in (other, None):
        with pytest.raises(LockedError, match="was changed"), translated():
            held.get(LOG)
        with pytest.raises(LockedError, match="was changed"), translated():
            held.write(batch, guard=guard)
        if now is not None:
            reseal(opened(inner, now), None)


def test_a_store_that_is_sealed_elsewhere_is_no_damage() -> None:
    """A handle that is open while the store is sealed is told so, and writes nothing."""
    inner = MemoryBackend()
    engine = engine_on(inner)
    fill(engine)
    reseal(inner, SEAL)
    rows = dict(inner.scan())
    for call in (lambda: engine.add("later"), lambda: engine.recall("later"), engine.root):
        with pytest.raises(LockedError, match="was sealed"):
            call()
    assert dict(inner.scan()) == rows


def test_a_guard_compares_values_not_bytes() -> None:
    """A guard holds if another handle has written the same value again, and fails after another value."""
    inner = MemoryBackend()
    one, two = sealed(inner), sealed(inner)
    for handle in (one, two, one):
        put_rows(handle, {b"a": b"1"})
        handle.write(Batch(), guard=Guard(b"a", b"1"))
    put_rows(two, {b"a": b"1"})
    batch = Batch()
    batch.put(b"a", b"2")
    one.write(batch, guard=Guard(b"a", b"1"))
    assert two.get(b"a") == b"2"
    with pytest.raises(GuardFailed):
        two.write(batch, guard=Guard(b"a", b"1"))


def test_slots_come_and_go() -> None:
    """A slot that is added opens the store, one that is removed does not, and the last one stays."""
    inner = MemoryBackend()
    held = opened(inner, SECRET)
    assert isinstance(held, SealedBackend)
    held.set_header(held.seal.with_slot("anna", "second").header)
    assert opened(inner, "second").seal is not None
    held.set_header(held.seal.without_slot("passphrase").header)
    with pytest.raises(LockedError), translated():
        opened(inner, SECRET)
    with pytest.raises(EngineError, match="last slot"), translated():
        held.seal.without_slot("anna")


def test_backups_of_a_sealed_store_are_sealed_if_asked(tmp_path: Path) -> None:
    """A sealed backup has no word, is checked and restored with the key, and a changed one is damaged."""
    file = tmp_path / "backup"
    with Engine.open(f"sqlite:{tmp_path}/store", key=SECRET) as engine:
        root = fill(engine)
        engine.backup(file, sealed=True)
        engine.backup(file, sealed=True)
    raw = file.read_bytes()
    assert not any(word in raw for word in hidden())
    with pytest.raises(LockedError):
        verify_backup(file)
    key = tmp_path / "key"
    key.write_text(SECRET)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENGINE_KEY_FILE", str(key))
        assert verify_backup(file).root == root
        restored = f"sqlite:{tmp_path}/restored"
        assert import_journal(file, restored).root == root
        with open_backend(restored) as backend:
            assert backend.seal is not None
        for wrong in (raw[:-1], raw + b"x", raw[:700] + bytes([raw[700] ^ 1]) + raw[701:]):
            file.write_bytes(wrong)
            with pytest.raises(CorruptionError):
                verify_backup(file)


@pytest.mark.parametrize(
    ("scheme", "broken"), [pytest.param("leveldb", "db/CURRENT", marks=LEVELDB.marks), ("sqlite", "")]
)
def test_a_damaged_sealed_store_is_rescued_with_its_key(
    scheme: str, broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rescue without the key makes nothing; with it, what is left becomes a store under the same key."""
    url, target = f"{scheme}:{tmp_path}/store", f"{scheme}:{tmp_path}/new"
    with Engine.open(url, key=SECRET) as engine:
        root = fill(engine)
    place = tmp_path / "store" / broken
    place.write_bytes(b"" if broken else b"x" * 100 + place.read_bytes()[100:])
    with pytest.raises(LockedError):
        rescue(url, target)
    assert not (tmp_path / "new").exists()
    (tmp_path / "key").write_text(SECRET)
    monkeypatch.setenv("ENGINE_KEY_FILE", str(tmp_path / "key"))
    assert rescue(url, target).root == root
    with open_backend(target) as backend:
        assert backend.seal is not None
