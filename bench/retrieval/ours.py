"""memroot as it is asked: as it comes, and with every signal off.

Question: what do the signals add to plain BM25? Data: the files of the set, through the project's own
    ingest, as a user would have them. Seed: that of the salts.
How: a LevelDB store for each memory, with fixed salts and a fixed clock: ids break ties and hang on the
    salts, and a text without a date is as old as the clock says. All configurations ask one open store.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final

from bench.retrieval.rivals import Ask, Loaded, System
from engine import Engine
from engine.base.errors import InvalidInputError
from engine.query.recall.config import RecallConfig

CLOCK_US: Final = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z, in µs: after everything in the shared data."""

FACTORS: Final = frozenset({"internal"})
"""The signals that multiply a score: they are off at 1."""


def opened(folder: Path, seed: int) -> Engine:
    """The memory at `folder`, made if it is not there; the same commands give the same one for a seed."""

    def salt(seq: int) -> bytes:
        return Random(f"{seed}/{seq}").randbytes(32)

    return Engine.open(str(folder), clock=lambda: CLOCK_US, salts=salt)


def open_store(folder: Path, files: Sequence[Path], seed: int) -> Engine:
    """The memory that holds `files`, at `folder`, ingested if it is not there yet."""
    new = not folder.exists()
    engine = opened(folder, seed)
    if new:
        skipped = engine.ingest(files).skipped
        if skipped:
            first = f"{skipped[0].source}: {skipped[0].reason}"
            print(f"{len(skipped)} files or lines not ingested, the first: {first}", file=sys.stderr)
    return engine


def memroot(config: RecallConfig) -> System:
    """A system: memroot with this configuration."""

    @contextmanager
    def loaded(given: Loaded) -> Iterator[Ask]:
        yield asking(given.engine, config)

    return loaded


def asking(engine: Engine, config: RecallConfig) -> Ask:
    """Asks the open memory: the caller's own key for a hit where it has one, else its id."""

    def ask(question: str, limit: int) -> list[str]:
        # One engine for all configurations: another one would not share what it keeps in memory.
        engine.view.config = config
        try:
            hits = engine.recall(question, limit=limit).hits
        except InvalidInputError:
            return []  # a question without anything to search for: refused, so nothing is found
        return [hit.id if hit.key is None else hit.key for hit in hits]

    return ask


def neutral(signal: str) -> float:
    """The weight at which a signal changes nothing."""
    return 1.0 if signal in FACTORS else 0.0


def without(config: RecallConfig) -> dict[str, RecallConfig]:
    """`config` with each part that can be off and is not off in turn: the part's name → the rest."""
    signals, off = config.signals, {}
    for one in fields(signals):
        if getattr(signals, one.name) != neutral(one.name):
            off[one.name] = replace(config, signals=replace(signals, **{one.name: neutral(one.name)}))
    if config.protocol.walkers:
        off["walkers"] = replace(config, protocol=replace(config.protocol, walkers=0.0))
    if config.collapse:
        off["collapse"] = replace(config, collapse=False)
    return off


def plain(config: RecallConfig) -> RecallConfig:
    """`config` with everything off that `without` takes off."""
    while rest := without(config):
        config = next(iter(rest.values()))
    return config


def configured(weights: Sequence[str]) -> RecallConfig:
    """The defaults but for `weights`, each as `name=number`.

    A bare name is a signal; `bm25.k1`, `protocol.walkers` and the like are fields of those parts, and
    `collapse` (0 or 1) and `snippet_chars` those of the whole.

    Raises:
        InvalidInputError: there is no such name, or the number is none or out of range.
    """
    config: Any = RecallConfig()
    for given in weights:
        name, equals, number = given.partition("=")
        dotted = name if "." in name or name in _settable(config) else f"signals.{name}"
        part, _, inner = dotted.rpartition(".")
        holder: Any = getattr(config, part, None) if part else config
        if not equals or inner not in _settable(holder):
            known = ", ".join([*_settable(config.signals), *_settable(config), "bm25.…", "protocol.…"])
            raise InvalidInputError(f"--set {given}: give name=number with one of {known}")
        changed = replace(holder, **{inner: _number(given, number, _settable(holder)[inner])})
        config = replace(config, **{part: changed}) if part else changed
    made: RecallConfig = config
    return made


def _settable(holder: Any) -> dict[str, Callable[[float], Any]]:
    """The fields of a part of the configuration that are numbers or switches, and how they are made."""
    if not is_dataclass(holder):
        return {}
    kinds = {one.name: type(getattr(holder, one.name)) for one in fields(holder)}
    return {name: kind for name, kind in kinds.items() if kind in (int, float, bool)}


def _number(given: str, number: str, kind: Callable[[float], Any]) -> Any:
    try:
        return kind(float(number))
    except ValueError:
        raise InvalidInputError(f"--set {given}: {number!r} is no number") from None
