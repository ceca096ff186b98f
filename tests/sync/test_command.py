"""The command sync, and the setting that does the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import Cli


@pytest.fixture
def phrase(bare: Cli) -> bytes:
    """The phrase of a family whose first device has one text."""
    bare("add", "The kettle is descaled on Mondays.", "--store", "a")
    ended = bare("sync", "init", "shared", "--name", "laptop", "--store", "a")
    assert ended.code == 0
    return ended.out.split()[1].encode()


def test_two_devices_share_what_each_adds(bare: Cli, phrase: bytes) -> None:
    """`join` asks for the phrase and reads; `sync` writes and reads; `devices` names both."""
    assert bare("sync", "join", "shared", "--name", "desktop", "--store", "b", stdin=phrase).code == 0
    bare("add", "The oak beside the gate.", "--store", "b")
    assert bare("sync", "--store", "b").code == bare("sync", "--store", "a").code == 0
    assert bare("find", "--store", "a").out.split("\n")[1].endswith("The oak beside the gate.")
    shown = bare("sync", "devices", "--store", "a").out
    assert "laptop" in shown
    assert "desktop" in shown
    removed = bare("sync", "remove", "desktop", "--store", "a")
    assert removed.out.split()[1].encode() != phrase
    assert "removed" in bare("sync", "status", "--store", "a").out


def test_something_refused_gives_exit_code_8(bare: Cli, phrase: bytes, surroundings: Path) -> None:
    """A damaged pack is named, and the exit code says that not everything was read."""
    (pack,) = (surroundings / "shared").glob("device-*/pack-*")
    pack.write_bytes(b"x" * pack.stat().st_size)
    ended = bare("sync", "join", "shared", "--store", "b", stdin=phrase)
    assert ended.code == 8
    assert pack.name in ended.out


def test_the_setting_reads_before_a_command_and_writes_after_it(
    bare: Cli, phrase: bytes, surroundings: Path
) -> None:
    """With `sync` in the settings, each command reads what is new, and what it writes is there for others."""
    bare("sync", "join", "shared", "--store", "b", stdin=phrase)
    settings = surroundings / ".engine.toml"
    settings.write_text('store = "b"\nsync = "shared"\nmirror = "shown"\n')
    bare("add", "By b.")
    settings.write_text('store = "a"\nsync = "shared"\n')
    assert "By b." in bare("find").out
    bare("add", "By a.")
    settings.write_text('store = "b"\nsync = "shared"\nmirror = "shown"\n')
    assert "By a." in bare("find").out
    assert "By a." in "".join(page.read_text() for page in (surroundings / "shown").rglob("*.md"))
    (surroundings / "shared").rename(surroundings / "away")
    away = bare("add", "While it is away.")
    assert away.code == 0
    assert "While it is away." in bare("find").out
