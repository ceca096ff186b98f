"""Damaged files: each flipped bit must be noticed or make no difference, and no wrong answer is given."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from backends.errors import BackendError
from engine.base.errors import EngineError, NotFoundError, VerificationError
from engine.commands import Add
from engine.engine import Engine
from tests.support.workloads import id_of
from tests.torture.acts import opened, prepare, url_of
from tests.torture.oracle import FOREIGN

WRONG_ANSWERS: Final = "wrong answers"
UNNOTICED: Final = "not noticed with a kept root"
AT_OPENING, AT_READING, BY_VERIFYING, HARMLESS = (
    "noticed at opening",
    "noticed at reading",
    "by verify-root",
    "harmless",
)

Answers = Mapping[str, str]


def _missing(engine: Engine) -> list[str]:
    """Return the ids of atoms that were never recorded, and are said to be recorded."""
    found = []
    for number in (7777, 8888):
        try:
            found.append(engine.get(id_of(number)).id)
        except NotFoundError:
            continue
    return found


QUESTIONS: Final[Mapping[str, Callable[[Engine], Any]]] = {
    "size": lambda engine: engine.size,
    "get": lambda engine: [engine.get(id_of(number)) for number in (0, 1, 101, 102, 200, 205, 300, 500)],
    "find": lambda engine: [atom.id for atom in engine.find(limit=1000)],
    "tag": lambda engine: [atom.id for atom in engine.find(tags=["red"], limit=1000)],
    "tags": lambda engine: engine.tags(),
    "recall": lambda engine: [
        [(hit.id, hit.snippet, round(hit.score, 9)) for hit in engine.recall(question, limit=9).hits]
        for question in ("kettle of the house", "Anna at Orbit Labs", "sea ship storm")
    ],
    "edges": lambda engine: [engine.edges(id_of(n), direction="both", tombstoned=True) for n in (0, 1, 200)],
    "history": lambda engine: [engine.history(id_of(number)) for number in (0, 101, 300)],
    "log": lambda engine: list(engine.log()),
    "duplicates": lambda engine: engine.duplicates(),
    "context": lambda engine: engine.context("kettle Monday"),
    "unknown": _missing,
    "root": lambda engine: engine.root(),
}  # fmt: skip
"""What is asked of a damaged store."""


class Whole(NamedTuple):
    """An undamaged store and what it answers."""

    scheme: str
    place: Path
    answers: Answers
    root: str


def left_open(scheme: str, folder: Path, *, closed: bool) -> Whole:
    """Make a store; unless `closed`, its process dies, so that the newest events are in the log file only."""
    place = folder / "whole"
    prepare(scheme, place)
    child = os.fork()
    if child == 0:
        engine = opened(url_of(scheme, place))
        for number in range(500, 530):
            engine.apply([Add(f"late text {number} of the sea", id=id_of(number), tags=["red", "late"])])
        engine.root()
        if closed:
            engine.close()
        os._exit(0)
    os.waitpid(child, 0)
    copy = folder / "copy"
    shutil.copytree(place, copy)
    with opened(url_of(scheme, copy)) as engine:
        answers = {name: repr(ask(engine)) for name, ask in QUESTIONS.items()}
        root = engine.root().root
    shutil.rmtree(copy)
    return Whole(scheme, place, answers, root)


def files(whole: Whole) -> list[Path]:
    """Return the files of the store that are not empty, relative to its folder."""
    store = whole.place / "store"
    found = store.rglob("*") if store.is_dir() else whole.place.glob("store*")
    return sorted(path.relative_to(whole.place) for path in found if path.is_file() and path.stat().st_size)


Damage = tuple[str, Callable[[Path], None]]
"""What is done to a store, and the function that does it to a copy."""


def flips(whole: Whole, seed: int, wanted: int) -> list[Damage]:
    """Return bits to flip: half of them in a file drawn first, half anywhere in the bytes of all files."""
    chosen = Random(f"rot {whole.scheme} {seed}")
    paths = files(whole)
    sizes = [(whole.place / path).stat().st_size for path in paths]
    made = []
    for number in range(wanted):
        path, size = chosen.choices(list(zip(paths, sizes, strict=True)), sizes if number % 2 else None)[0]
        made.append(_flip(path, chosen.randrange(size), chosen.randrange(8)))
    return made


def _flip(path: Path, at: int, bit: int) -> Damage:
    def damage(place: Path) -> None:
        data = bytearray((place / path).read_bytes())
        data[at] ^= 1 << bit
        (place / path).write_bytes(data)

    return f"{path} byte {at} bit {bit}", damage


def surgery(whole: Whole, seed: int, wanted: int) -> list[Damage]:
    """Return changes to whole files: cut short, emptied, deleted, a block of zeros, two tables swapped."""
    chosen = Random(f"surgery {whole.scheme} {seed}")
    paths = files(whole)
    made: list[Damage] = []
    for _ in range(wanted):
        path = chosen.choice(paths)
        size = (whole.place / path).stat().st_size
        how = chosen.choice(("cut", "zeros", "deleted", "swapped"))
        other = chosen.choice([one for one in paths if one.suffix == path.suffix])
        made.append(_surgery(how, path, chosen.randrange(size), other))
    return made


def _surgery(how: str, path: Path, at: int, other: Path) -> Damage:
    def damage(place: Path) -> None:
        target = place / path
        data = target.read_bytes()
        if how == "cut":
            target.write_bytes(data[:at])
        elif how == "zeros":
            end = min(at + 4096, len(data))
            target.write_bytes(data[:at] + bytes(end - at) + data[end:])
        elif how == "deleted":
            target.unlink()
        else:
            target.write_bytes((place / other).read_bytes())
            (place / other).write_bytes(data)

    return f"{path} {how} at {at}", damage


def asked(whole: Whole, url: str) -> tuple[str, str]:
    """Open a damaged store and ask everything; return the class of what happened, and a note."""
    try:
        engine = opened(url)
    except (EngineError, BackendError) as error:
        return AT_OPENING, str(error)
    except Exception as error:  # noqa: BLE001  what a user would see as a crash
        return FOREIGN, f"opening: {type(error).__name__}: {error}"
    with engine:
        noticed = ""
        for name, ask in QUESTIONS.items():
            try:
                answer = repr(ask(engine))
            except VerificationError as error:
                noticed = f"{name}: {error}"
            except EngineError as error:
                return WRONG_ANSWERS, f"{name}: {type(error).__name__}: {error}"
            except Exception as error:  # noqa: BLE001  as above
                return FOREIGN, f"{name}: {type(error).__name__}: {error}"
            else:
                if answer != whole.answers[name]:
                    return WRONG_ANSWERS, f"{name} differs"
        if noticed:
            return AT_READING, noticed
        return _replayed(engine)


def _replayed(engine: Engine) -> tuple[str, str]:
    try:
        return (HARMLESS, "") if engine.verify().ok else (BY_VERIFYING, "")
    except VerificationError as error:
        return BY_VERIFYING, str(error)


def unnoticed(whole: Whole, url: str) -> bool:
    """Return True if `verify` with the root that was kept outside finds nothing wrong."""
    try:
        with opened(url) as engine:
            return engine.verify(expect=whole.root).ok
    except (EngineError, BackendError):
        return False


def torture(whole: Whole, damages: list[Damage], folder: Path) -> tuple[Counter[str], list[str]]:
    """Damage a copy of the store in each way; return the counts, and a line for each failure."""
    counts: Counter[str] = Counter()
    told = []
    for name, damage in damages:
        place = folder / "damaged"
        shutil.copytree(whole.place, place)
        try:
            damage(place)
            how, note = asked(whole, url_of(whole.scheme, place))
            counts.update({"damages": 1, how: 1})
            if how == WRONG_ANSWERS and unnoticed(whole, url_of(whole.scheme, place)):
                counts[UNNOTICED] += 1
            if how in (WRONG_ANSWERS, FOREIGN):
                told.append(f"{whole.scheme} {name}: {how}: {note}"[:400])
        finally:
            shutil.rmtree(place)
    return counts, told
