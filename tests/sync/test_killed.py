"""A sync that is killed at a system call, or whose system call fails."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from engine.engine import Engine
from tests.support.soak import often, seed
from tests.sync.devices import texts
from tests.torture.calls import why_not
from tests.torture.injected import CALLS, Acknowledge, Fault, calls_of, run

pytestmark = pytest.mark.slow


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two devices, of which each has something that the other one lacks."""
    if reason := why_not():
        pytest.skip(reason)
    world = tmp_path / "world"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(world / "config"))
    with Engine.open(f"sqlite:{world / 'a'}") as a:
        gone = a.add("The combination is seventeen left.").id
        phrase = a.sync_init(world / "folder", name="a")
    with Engine.sync_join(f"sqlite:{world / 'b'}", world / "folder", phrase, name="b") as b:
        b.sync()
        b.erase(gone, reason="private")
        b.add("The oak beside the gate.")
        b.sync()
    with Engine.open(f"sqlite:{world / 'a'}") as a:
        a.add("The kettle is descaled on Mondays.")
    shutil.copytree(world, tmp_path / "start")
    return world


def synced(world: Path, name: str) -> list[str]:
    """Sync a device; return its texts. Nothing may be refused."""
    with Engine.open(f"sqlite:{world / name}") as device:
        assert not device.sync().problems
        return texts(device)


@pytest.mark.parametrize("number", often(5, 60))
def test_a_sync_that_breaks_off_anywhere_is_continued(world: Path, number: int) -> None:
    """After a kill, or a failing call, others read whole files, and the next sync ends in the same state."""

    def sync(acknowledge: Acknowledge) -> None:
        acknowledge(0)
        with Engine.open(f"sqlite:{world / 'a'}") as device:
            device.sync()

    def begin() -> None:
        shutil.rmtree(world)
        shutil.copytree(world.with_name("start"), world)

    sync(lambda _: None)
    begin()
    calls = calls_of(sync, world.with_name("log"))
    chance = Random(f"{seed(1)}")
    possible = [Fault(call, at, "SIGKILL") for call in CALLS for at in range(1, calls[call] + 1)]
    possible += [Fault(one.call, one.number, chance.choice(("EIO", "ENOSPC"))) for one in possible]
    for fault in chance.sample(possible, min(number, len(possible))):
        begin()
        ended = run(sync, ("-e", f"trace={fault.call}", "-e", fault.option))
        assert ended.how in {"killed", "our error", "finished"}, (fault, ended)
        assert "The oak beside the gate." in synced(world, "b"), fault
        expected = ["The kettle is descaled on Mondays.", "The oak beside the gate."]
        assert synced(world, "a") == synced(world, "b") == expected, fault
