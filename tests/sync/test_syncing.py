"""The laws of the folder, on real stores."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from backends import open_backend
from backends.files import fsync_path
from engine.base import outside_files
from engine.base.errors import ConflictError, EngineError, NotFoundError, RefusedError, SystemFailureError
from engine.engine import Engine
from engine.sync import setup, syncing
from engine.sync.device import Device, place_of
from engine.sync.devices import HEAD
from tests.support.soak import seed, times
from tests.sync.devices import START, Family, Ticking, opened_folder, state, texts

WORDS = ("kettle", "monday", "oak", "gate", "boiler", "lamp")


def act(chance: Random, engine: Engine) -> None:
    """Carry out a random command, as far as it is possible in this state."""
    found = engine.find(limit=50)
    atom = chance.choice(found).id if found else ""
    other = chance.choice(found).id if found else ""
    text = " ".join(chance.choices(WORDS, k=4))
    commands: list[Callable[[], object]] = [lambda: engine.add(text, tags=[chance.choice(WORDS)])]
    if found:
        commands += [
            lambda: engine.revise(atom, content=f"{text} again"),
            lambda: engine.tag(atom, chance.choice(WORDS)),
            lambda: engine.link(atom, "related_to", other),
            lambda: engine.tombstone(atom, reason="old"),
            lambda: engine.erase(atom, reason="gone"),
        ]
    weights = (6, 3, 2, 2, 1, 1)[: len(commands)]
    with suppress(EngineError):  # such as an edge from an atom to itself
        chance.choices(commands, weights)[0]()


@pytest.mark.parametrize("number", range(times(48)))
def test_devices_agree_after_a_full_exchange(family: Family, number: int) -> None:
    """Whatever is written, read in part, delayed or cut, all devices agree in the end, and each verifies."""
    chance = Random(f"{seed(1)} {number}")
    clocks = [Ticking(START + chance.randrange(-1, 2) * 365 * 86_400_000_000) for _ in range(4)]
    devices = [
        family.join(name, clock=clock)[0]
        for name, clock in zip("abcd"[: chance.choice((3, 4))], clocks, strict=False)
    ]
    family.exchange()
    for _ in range(30):
        device = chance.choice(devices)
        if chance.random() < 0.7:
            act(chance, device)
            continue
        hidden = [path for path in family.folder.glob("device-*/*") if chance.random() < 0.2]
        hidden = [path for path in hidden if path.parent != family.place(device_name(family, device))]
        for path in hidden:  # not here yet
            path.rename(path.with_name(f".{path.name}.partial"))
        device.sync()
        for path in hidden:
            path.with_name(f".{path.name}.partial").rename(path)
    family.exchange()
    states = [state(device) for device in devices]
    for one in states:
        assert one == states[0]
    assert all(device.verify().ok for device in devices)
    # What a removed device wrote stays, and a new device gets it from the one that removed it.
    family.phrase = devices[0].sync_remove("b")
    (new,) = family.join("new")
    family.exchange([devices[0], *devices[2:], new])
    assert state(new) == state(devices[2]) == states[0]


def device_name(family: Family, device: Engine) -> str:
    """Return the name of a device."""
    return next(name for name, one in family.devices.items() if one is device)


def test_a_second_sync_changes_nothing(family: Family) -> None:
    """If nothing is new, no file of the folder and no event of the store is written."""
    a, b = family.join("a", "b")
    a.add("The kettle is descaled on Mondays.")
    family.exchange()
    before = {path: path.read_bytes() for path in family.folder.rglob("*") if path.is_file()}
    sizes = a.size, b.size
    family.exchange()
    assert {path: path.read_bytes() for path in family.folder.rglob("*") if path.is_file()} == before
    assert (a.size, b.size) == sizes


def test_what_is_not_of_the_folder_is_ignored(family: Family) -> None:
    """Copies that a program made after a conflict, placeholders and other files do not matter."""
    a, b = family.join("a", "b")
    a.add("The oak beside the gate.")
    a.sync()
    for path in list(family.place("a").iterdir()):
        for name in (
            f"{path.name}.sync-conflict-20261128-120000-ABCDEFG",
            f".{path.name}.icloud",
            f"{path.name} (1)",
        ):
            path.with_name(name).write_bytes(b"?")
    (family.folder / "device-notes").mkdir()
    (family.folder / "notes.txt").write_text("mine")
    assert not b.sync().problems
    assert texts(b) == ["The oak beside the gate."]


FAULTS: dict[str, Callable[[Path], object]] = {
    "flipped": lambda path: path.write_bytes(path.read_bytes()[:-9] + b"x" + path.read_bytes()[-8:]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-5]),
    "missing": lambda path: path.unlink(),
    "huge": lambda path: os.truncate(path, 100 << 20),
    "empty": lambda path: path.write_bytes(b""),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("what", [HEAD, "pack-*"])
def test_a_damaged_file_is_named_and_the_rest_is_read(family: Family, what: str, fault: str) -> None:
    """A damaged pack or head of one device is refused or waited for; what others wrote arrives."""
    a, b, c = family.join("a", "b", "c")
    a.add("The kettle is descaled on Mondays.")
    b.add("The oak beside the gate.")
    a.sync(), b.sync()
    (path,) = family.place("a").glob(what)
    whole = path.read_bytes()
    FAULTS[fault](path)
    report = c.sync()
    assert texts(c) == ["The oak beside the gate."]
    told = " ".join(report.problems) + " ".join(one.problem for one in report.devices)
    assert (family.place("a").name in told or str(path) in told or "cannot be read" in told) or what == HEAD
    path.write_bytes(whole)
    family.exchange()
    assert len(texts(c)) == 2


def test_swapped_and_replayed_packs_are_refused(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pack in the place of another, of the same or of another device, is named and not read."""
    monkeypatch.setattr(syncing, "_SMALL_BYTES", 0)
    a, b, c = family.join("a", "b", "c")
    for text in ("first", "second"):
        a.add(text)
        a.sync()
    b.add("third")
    b.sync()
    first, second = sorted(family.place("a").glob("pack-*"))[-2:]
    contents = first.read_bytes(), second.read_bytes()
    (others,) = family.place("b").glob("pack-*")
    for replaced in (contents[0], others.read_bytes()):
        second.write_bytes(replaced.ljust(len(contents[1]), b"\0"))
        (problem,) = c.sync().problems
        assert str(second) in problem
        assert texts(c) == ["first", "third"]
    second.write_bytes(contents[1])
    family.exchange()
    assert texts(c) == ["first", "second", "third"]


def test_a_rollback_is_told_by_a_device_that_knows_more(family: Family) -> None:
    """An older copy of a sub-folder is refused by who saw the later head, and accepted by who did not."""
    a, b, c = family.join("a", "b", "c")
    a.add("first")
    a.sync()
    shutil.copytree(family.place("a"), family.folder.with_name("older"))
    a.add("second")
    a.sync()
    b.sync()
    shutil.rmtree(family.place("a"))
    shutil.copytree(family.folder.with_name("older"), family.place("a"))
    assert "rolled back" in b.sync().problems[0]
    assert texts(b) == ["first", "second"]
    assert not c.sync().problems
    assert texts(c) == ["first"]


@pytest.mark.parametrize("copied", [True, False])
def test_a_copied_device_gets_an_id_of_its_own(family: Family, tmp_path: Path, copied: bool) -> None:
    """A copy of a device that also writes, and an older copy, are told, and join anew without a loss."""
    (b,) = family.join("b")
    url, older = f"leveldb:{tmp_path / 'store'}", tmp_path / "older"
    with Engine.sync_join(url, family.folder, family.phrase, name="a") as a:
        a.add("first")
        a.sync()
    shutil.copytree(tmp_path / "store", older)
    with Engine.open(url) as a:
        a.add("second")
        a.sync()
    with Engine.open(f"leveldb:{older}") as a:
        if copied:
            a.add("by the copy")
            a.add("and more")
        with pytest.raises(ConflictError, match="another history of this device"):
            a.sync()
    expected = ["and more", "by the copy", "first", "second"] if copied else ["first", "second"]
    with Engine.sync_join(f"leveldb:{older}", family.folder, "", name="a2", take=True) as a:
        a.sync()
        family.exchange([a, b])
        assert texts(a) == texts(b) == expected
        assert len(a.sync().devices) == 3


def test_a_store_with_texts_joins_with_take(family: Family, tmp_path: Path) -> None:
    """A store that is not empty joins only with `take`; its texts, tags and edges get ids of the family."""
    (b,) = family.join("b")
    b.add("first")
    b.sync()
    url = f"sqlite:{tmp_path / 'own.db'}"
    with Engine.open(url) as own:
        one, other = own.add("mine", tags=["kept"]).id, own.add("first").id
        own.link(one, "related_to", other)
    with pytest.raises(RefusedError, match="has 4 events already"):
        Engine.sync_join(url, family.folder, family.phrase)
    with Engine.sync_join(url, family.folder, family.phrase, take=True) as a:
        a.sync()
        family.exchange([a, b])
        assert texts(b) == ["first", "mine"]
        (mine,) = b.find(tags=["kept"])
        assert [edge.type for edge in b.edges(mine.id)] == ["related_to"]


@pytest.mark.parametrize("where", ["open_backend", "Device", ""])
def test_a_join_that_breaks_off_is_continued_by_the_same_command(
    family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Wherever `join --take` ends, repeating it adds the texts; without `take`, it tells them."""
    family.join("b")
    url = f"sqlite:{tmp_path / 'own.db'}"
    with Engine.open(url) as own:
        own.add("mine")

    def broken(*given: object, **options: object) -> object:
        if options.get("create", True):
            raise KeyboardInterrupt
        return open_backend(*given, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        if where == "Device":
            patch.setattr(Device, "create", broken)
        elif where:
            patch.setattr(setup, where, broken)
        setup.join(url, family.folder, lambda: family.phrase, "a", Ticking(), take=True)
    if where:
        with pytest.raises(RefusedError, match="before-join"):
            Engine.sync_join(url, family.folder, family.phrase)
    with Engine.sync_join(url, family.folder, family.phrase, take=True) as a:
        a.sync()
        assert texts(a) == ["mine"]


def test_a_text_that_was_erased_goes_from_the_folder(family: Family) -> None:
    """Once its writer has pulled an erasure, no pack has the text; until then the packs are named."""
    a, b, c = family.join("a", "b", "c")
    atom = a.add("The combination is seventeen left.").id
    b.add("The oak beside the gate.")
    family.exchange()
    b.erase(atom, reason="private")
    b.sync(), c.sync()
    assert b"seventeen" in opened_folder(family.folder, [family.phrase])
    (erasure,) = c.sync_status().erasures
    assert (erasure.done, erasure.devices) == (2, 3)
    assert [Path(name).parent.name for name in erasure.packs] == [family.place("a").name]
    assert (family.folder / erasure.packs[0]).exists()
    family.exchange()
    found = opened_folder(family.folder, [family.phrase])
    assert b"seventeen" not in found
    assert b"oak" in found
    assert not c.sync_status().erasures
    (d,) = family.join("d")
    family.exchange()
    assert texts(d) == ["The oak beside the gate."]


def test_without_the_phrase_the_folder_shows_no_word(family: Family) -> None:
    """No file and no name of a file has a word of a text, tag or device."""
    (a, b) = family.join("laptop", "desktop")
    a.add("The kettle is descaled on Mondays.", tags=["kitchen"])
    family.exchange()
    del b
    everything = b"".join(path.read_bytes() for path in family.folder.rglob("*") if path.is_file())
    names = " ".join(str(path.relative_to(family.folder)) for path in family.folder.rglob("*"))
    for word in (b"kettle", b"Mondays", b"kitchen", b"laptop", b"desktop"):
        assert word not in everything
        assert word.decode() not in names
    assert all(name == name.lower() and name.isascii() for name in names.split())


def test_a_removed_device_leaves_what_it_wrote(family: Family) -> None:
    """After a removal the texts stay, also for who had not read them; sub-folder and old phrase are gone."""
    a, b, c = family.join("a", "b", "c")
    family.exchange()
    kept = a.add("The oak beside the gate.").id
    gone = a.add("The combination is seventeen left.").id
    a.erase(a.add("Never mind.").id, reason="a mistake")
    a.sync(), b.sync()
    b.erase(gone, reason="private")
    phrase = b.sync_remove("a")
    assert not family.place("a").exists()
    a.add("Too late.")
    a.sync()
    c.sync()
    assert [atom.id for atom in c.find()] == [kept]
    assert any(one.state == "removed" for one in c.sync().devices)
    c.add("By c.")
    family.exchange([b, c])
    assert texts(b) == ["By c.", "The oak beside the gate."]
    for report in (a.sync(), a.sync_status()):
        assert "probably removed" in report.devices[0].problem
    with pytest.raises(ConflictError, match="probably removed"):
        a.sync_remove("c")
    assert not family.place("a").exists()
    family.phrase = phrase
    (d,) = family.join("d")
    family.exchange([b, c, d])
    assert texts(d) == ["By c.", "The oak beside the gate."]
    assert b"seventeen" not in opened_folder(family.folder, [phrase, *device_phrases(b)])


def test_a_removed_device_joins_again_with_what_it_did(family: Family, tmp_path: Path) -> None:
    """With the new phrase and `take`, the others hear of all that it did, too, with the same ids."""
    b, c = family.join("b", "c")
    url = f"leveldb:{tmp_path / 'store'}"
    with Engine.sync_join(url, family.folder, family.phrase, name="a") as a:
        gone = a.add("The combination is seventeen left.").id
        a.sync()
        family.exchange()
        phrase = b.sync_remove("a")
        b.erase(b.add("Never mind.").id, reason="a mistake")
        a.add("After the removal.")
        a.erase(gone, reason="private")
        family.exchange()
    with Engine.sync_join(url, family.folder, phrase, take=True) as a:
        a.sync()
        family.exchange([a, b, c])
        assert texts(a) == texts(b) == texts(c) == ["After the removal."]
        assert state(a) == state(b) == state(c)


def device_phrases(engine: Engine) -> list[str]:
    """Return the phrases that a device knows."""
    return Device.read(engine.store.identity).phrases


@pytest.mark.parametrize("number", range(12))
def test_a_failure_at_any_file_operation_loses_nothing(
    family: Family, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """If the disk is full at some write, nothing is half there, and the next sync continues."""
    a, b = family.join("a", "b")
    a.add("first")
    family.exchange()
    a.add("second")
    b.add("third")
    b.sync()
    left = number

    def failing(original: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **given: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return original(*args, **given)

        return call

    with monkeypatch.context() as broken:
        broken.setattr("engine.base.outside_files.make_file", failing(outside_files.make_file))
        broken.setattr("engine.base.outside_files.fsync_path", failing(fsync_path))
        for _ in range(2):
            with suppress(SystemFailureError, RefusedError):
                a.sync()
    b.sync()
    family.exchange()
    assert texts(a) == texts(b) == ["first", "second", "third"]


def test_a_later_version_is_told(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that writes a later form is named by one that cannot read it; the rest is read."""
    a, b, c = family.join("a", "b", "c")
    b.add("third")
    b.sync()
    with monkeypatch.context() as later:
        later.setattr("engine.sync.family_key.VERSION", 2)
        a.add("first")
        a.sync()
    (problem,) = c.sync().problems
    assert "version 2" in problem
    assert texts(c) == ["third"]


def test_keys_are_private(family: Family) -> None:
    """The keys are in files that only the user can read, outside the folder, and the phrase is in none."""
    (a,) = family.join("a")
    place = place_of(a.store.identity.store_id)
    assert place.stat().st_mode & 0o777 == 0o700
    assert {(place / name).stat().st_mode & 0o777 for name in ("key", "state")} == {0o600}
    files = [path for folder in (family.folder, place) for path in folder.rglob("*") if path.is_file()]
    assert family.phrase not in str([path.read_bytes() for path in files])


def test_a_folder_that_is_away_is_no_harm(family: Family) -> None:
    """Without the folder, a sync says so, and the memory works."""
    (a,) = family.join("a")
    a.sync()
    family.folder.rename(family.folder.with_name("away"))
    with pytest.raises(NotFoundError, match="there is no folder"):
        a.sync()
    a.add("written meanwhile")
    family.folder.with_name("away").rename(family.folder)
    assert a.sync().written
