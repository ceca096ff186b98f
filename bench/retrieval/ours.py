"""memroot as a system to measure: with its defaults, and with all signals turned off.

Question: what do the signals add to plain BM25? Data: the files of the set, ingested as by a user. Seed: the
    seed of the salts.
How: a LevelDB store for each memory, with fixed salts and a fixed clock. Both are needed for equal results:
    ties are broken by ids, ids depend on the salts, and a text without a date gets the time of the clock. All
    configurations use the same open store.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final

from bench.retrieval.lexical_rivals import Ask, LoadedMemory, System
from engine import Engine
from engine.base.errors import InvalidInputError
from engine.query.recall.recall_config import RecallConfig

CLOCK_US: Final = 1_767_225_600_000_000
"""The fixed time of the clock: 2026-01-01T00:00:00Z in µs, later than all shared data."""

FACTORS: Final = frozenset({"internal"})
"""The signals that multiply a score. Their neutral weight is 1."""


def open_engine(folder: Path, seed: int) -> Engine:
    """Open or create the store at `folder`; the same seed and commands give the same store."""

    def salt(seq: int) -> bytes:
        return Random(f"{seed}/{seq}").randbytes(32)

    return Engine.open(str(folder), clock=lambda: CLOCK_US, salts=salt)


def open_store(folder: Path, files: Sequence[Path], seed: int) -> Engine:
    """Open the store at `folder`; if it does not exist, create it and ingest `files`."""
    new = not folder.exists()
    engine = open_engine(folder, seed)
    if new:
        skipped = engine.ingest(files).skipped
        if skipped:
            first = f"{skipped[0].source}: {skipped[0].reason}"
            print(f"{len(skipped)} files or lines were not ingested, the first: {first}", file=sys.stderr)
    return engine


def memroot(config: RecallConfig) -> System:
    """Return the system that is memroot with this configuration."""

    @contextmanager
    def load(loaded: LoadedMemory) -> Iterator[Ask]:
        yield recall_with(loaded.engine, config)

    return load


def recall_with(engine: Engine, config: RecallConfig) -> Ask:
    """Return a function that recalls from the open store, and returns the key or the id of each hit."""

    def ask(question: str, limit: int) -> list[str]:
        # All configurations share one engine, and so its caches.
        engine.view.config = config
        try:
            hits = engine.recall(question, limit=limit).hits
        except InvalidInputError:
            return []  # a question without search terms is refused, so nothing is found
        return [hit.id if hit.key is None else hit.key for hit in hits]

    return ask


def neutral(signal: str) -> float:
    """Return the weight at which a signal has no effect."""
    return 1.0 if signal in FACTORS else 0.0


def without(config: RecallConfig) -> dict[str, RecallConfig]:
    """For each part of `config` that is on and can be turned off, return the configuration without it."""
    signals, off = config.signals, {}
    for one in fields(signals):
        if getattr(signals, one.name) != neutral(one.name):
            off[one.name] = replace(config, signals=replace(signals, **{one.name: neutral(one.name)}))
    if config.protocol.walkers:
        off["walkers"] = replace(config, protocol=replace(config.protocol, walkers=0.0))
    if config.collapse:
        off["collapse"] = replace(config, collapse=False)
    if config.spelling:
        off["spelling"] = replace(config, spelling=False)
    return off


def all_off(config: RecallConfig) -> RecallConfig:
    """Return `config` after turning off every part that `without` can turn off."""
    while rest := without(config):
        config = next(iter(rest.values()))
    return config


def config_with(weights: Sequence[str]) -> RecallConfig:
    """Return the default configuration with `weights` changed, each given as `name=number`.

    A name without a dot is a signal, or one of the fields `collapse` (0 or 1) and `snippet_chars`. Names such
    as `bm25.k1` and `protocol.walkers` are fields of these parts.

    Raises:
        InvalidInputError: there is no such name, or the number is not valid or out of range.
    """
    config: Any = RecallConfig()
    for setting in weights:
        name, equals, number = setting.partition("=")
        dotted = name if "." in name or name in _settable(config) else f"signals.{name}"
        part, _, inner = dotted.rpartition(".")
        holder: Any = getattr(config, part, None) if part else config
        if not equals or inner not in _settable(holder):
            known = ", ".join([*_settable(config.signals), *_settable(config), "bm25.…", "protocol.…"])
            raise InvalidInputError(f"--set {setting}: give name=number with one of the names {known}")
        changed = replace(holder, **{inner: _number(setting, number, _settable(holder)[inner])})
        config = replace(config, **{part: changed}) if part else changed
    made: RecallConfig = config
    return made


def _settable(holder: Any) -> dict[str, Callable[[float], Any]]:
    """Return those fields of a part of the configuration that are numbers or switches, with their types."""
    if not is_dataclass(holder):
        return {}
    kinds = {one.name: type(getattr(holder, one.name)) for one in fields(holder)}
    return {name: kind for name, kind in kinds.items() if kind in (int, float, bool)}


def _number(setting: str, number: str, kind: Callable[[float], Any]) -> Any:
    try:
        return kind(float(number))
    except ValueError:
        raise InvalidInputError(f"--set {setting}: {number!r} is not a number") from None
