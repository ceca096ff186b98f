"""The commands that are killed and made to fail, each on its own copy of one store."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from engine.base.model import Receipt
from engine.commands import Add
from engine.engine import Engine
from engine.exchange.backup import import_journal, verify_backup
from engine.files.mirror.mirror_place import MANIFEST
from tests.support.engines import BEGIN
from tests.support.workloads import commands, id_of
from tests.torture.injected import Acknowledge
from tests.torture.programs import salts

LATER: Final = BEGIN * 2
Act = Callable[[Engine, Path], Any]

NEAR: Final = "The kettle in the kitchen of the small house is descaled on each Monday of the month."


def url_of(scheme: str, place: Path) -> str:
    """Return the URL of the store in a folder."""
    return f"{scheme}:{place / 'store'}"


def opened(url: str) -> Engine:
    """Open a store with a clock that stands still, so that a repeated command gives the same event."""
    return Engine.open(url, create=False, clock=lambda: LATER, salts=salts)


def prepare(scheme: str, place: Path) -> None:
    """Make the store, its export, its mirror, its backup, and files to ingest."""
    place.mkdir(parents=True)
    with Engine.open(url_of(scheme, place), clock=lambda: BEGIN, salts=salts) as engine:
        engine.apply(commands(40, seed=5))
        for number in (1, 2):
            engine.add(NEAR + "!" * number, id=id_of(100 + number), tags=[f"t{number}"])
        for number in range(6):
            engine.add(f"Anna Berg works at Orbit Labs with Tom Hill. Note {number}.", id=id_of(200 + number))
        engine.link(id_of(200), "references", id_of(101))
        engine.checkpoint()
        engine.backup(place / "backup")
        engine.mirror(place / "mirror")
        engine.add("not in the mirror yet", id=id_of(300))
        with (place / "export").open("wb") as out:
            engine.export(out.write)
    notes = place / "notes"
    notes.mkdir()
    for number in range(5):
        (notes / f"n{number}.md").write_text(
            f"# Note {number}\n\nSee [[n{(number + 1) % 5}]] #tag\n\n## Two\n\nText.\n"
        )


def _import(engine: Engine, place: Path) -> None:
    scheme = engine.store.backend.name
    import_journal(place / "export", f"{scheme}:{place / 'imported'}")


def _many(engine: Engine, _: Path) -> list[Receipt]:
    texts = [Add(f"bulk text {number} of many", id=id_of(400 + number)) for number in range(300)]
    return list(engine.apply_many(texts))


ACTS: Final[Mapping[str, Act]] = {
    "add": lambda engine, _: engine.add("a new text", id=id_of(301), tags=["red"]),
    "apply_many": _many,
    "revise": lambda engine, _: engine.revise(id_of(101), "Another text about the sea."),
    "erase": lambda engine, _: engine.erase(id_of(200), "asked for", probe=False),
    "rebuild": lambda engine, _: engine.rebuild(),
    "checkpoint": lambda engine, _: engine.checkpoint(),
    "backup": lambda engine, place: engine.backup(place / "backup"),
    "import": _import,
    "ingest": lambda engine, place: engine.ingest([place / "notes"]),
    "mirror": lambda engine, place: engine.mirror(place / "mirror"),
    "dream": lambda engine, _: engine.dream(),
    "merge": lambda engine, _: engine.merge(id_of(101), id_of(102), force=True),
    "supersede": lambda engine, _: engine.supersede(id_of(101), id_of(102), "newer"),
}
"""Command → what carries it out."""


def carry_out(name: str, scheme: str, place: Path, acknowledge: Acknowledge) -> None:
    """Carry out a command on the store of a folder, and acknowledge when it has returned."""
    with opened(url_of(scheme, place)) as engine:
        acknowledge(engine.size)
        ACTS[name](engine, place)
        acknowledge(engine.size)


def side_effects(name: str, scheme: str, place: Path) -> str:
    """Return what is wrong with the files that a command writes beside the store, or an empty string.

    An earlier backup or mirror, or a new one, must be whole; an imported store must be whole or absent.
    """
    if name == "backup":
        verify_backup(place / "backup")
    if name == "import" and (place / "imported").exists():
        with Engine.open(f"{scheme}:{place / 'imported'}", create=False) as engine:
            return "" if engine.verify().ok else "the imported store does not verify"
    if name == "mirror" and not _is_whole(place / "mirror"):
        return "the mirror is torn"
    return ""


def _is_whole(mirror: Path) -> bool:
    """Return True if the files of a mirror are those that its manifest lists."""
    files = json.loads((mirror / MANIFEST).read_text())["files"]
    return all(
        sha256((mirror / path).read_bytes()).hexdigest() == listed["sha256"] for path, listed in files.items()
    )
