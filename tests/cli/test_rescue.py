"""The command rescue: what it prints, and how it ends."""

from pathlib import Path

import pytest

from backends import open_backend
from engine.base.errors import CorruptionError
from engine.engine import Engine
from engine.ledger.layout import payload_key
from tests.support.command_line import Cli
from tests.support.engines import put_rows


@pytest.fixture
def damaged(surroundings: Path) -> str:
    """The URL of a store in which the content of event 3 is lost."""
    url = f"sqlite:{surroundings / 'damaged.db'}"
    with Engine.open(url) as engine:
        for number in range(5):
            engine.add(f"the kettle number {number}")
    with open_backend(url) as backend:
        put_rows(backend, {payload_key(3): None})
    return url


def test_a_rescue_with_losses_says_what_is_lost_and_ends_with_4(bare: Cli, damaged: str) -> None:
    """The report names the backend, the ways of reading, the events, the last of them and the reason."""
    result = bare("rescue", damaged, "-o", "sqlite:new.db")
    assert result.code == 4
    for told in (
        "backend      sqlite",
        "found        6 events",
        "rescued      3 events",
        "no content   event 3",
    ):
        assert told in result.out
    assert "3 of 6 events: the content of event 3 is missing" in result.out
    assert bare("verify-root", "--store", "sqlite:new.db").code == 0


def test_the_json_of_a_rescue_has_every_figure(bare: Cli, damaged: str) -> None:
    """A program finds out what was lost, although the exit code is 4."""
    envelope = bare("rescue", damaged, "-o", "sqlite:new.db", "--json").envelope
    assert envelope["status"] == "error"
    data = envelope["data"]
    assert (data["events"], data["found"], data["recorded"], data["lost"]) == (3, 6, 6, 3)
    assert (data["complete"], data["lost_contents"], data["backend"]) == (False, [3], "sqlite")
    assert data["readings"][0]["way"].startswith("SQLite on a copy")


def test_erase_lost_keeps_the_events_after_a_lost_content(bare: Cli, damaged: str) -> None:
    """All events are kept, and the exit code still says that a content is lost."""
    result = bare("rescue", damaged, "-o", "sqlite:new.db", "--erase-lost")
    assert result.code == 4
    assert "rescued      6 events" in result.out
    assert "the rescue lost 1 content" in result.err
    assert bare("status", "--store", "sqlite:new.db").code == 0


def test_a_named_memory_is_rescued_with_the_option_memory(bare: Cli, surroundings: Path) -> None:
    """`--memory` names the memory among those at STORE."""
    with Engine.open(f"sqlite:{surroundings / 'all.db'}", memory="work") as engine:
        engine.add("at work")
        root = engine.root().root
    result = bare("rescue", f"sqlite:{surroundings / 'all.db'}", "-o", "sqlite:new.db", "--memory", "work")
    assert (result.code, result.out.splitlines()[-1].split()[-1]) == (0, root)


def test_a_store_that_does_not_open_names_the_command(bare: Cli, damaged: str, surroundings: Path) -> None:
    """The hint of the error of a damaged file is to rescue it."""
    file = surroundings / "damaged.db"
    file.write_bytes(file.read_bytes()[:100] + bytes(4096))
    with pytest.raises(CorruptionError) as raised:
        Engine.open(damaged)
    assert "engine rescue" in raised.value.hint
    result = bare("recall", "kettle", "--store", damaged)
    assert result.code == 4
    assert "engine rescue STORE -o NEW" in result.err
