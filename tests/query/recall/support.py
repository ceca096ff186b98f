"""Small memories for queries with selected signals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

from engine import Add, Engine, Filters, Hit, Protocol, Recall, RecallConfig, Signals
from engine.commands import Command
from engine.query.filters import NO_FILTERS
from tests.support.engines import salt_of, ticking

NO_SIGNALS = replace(Signals(**dict.fromkeys((one.name for one in fields(Signals)), 0.0) | {"internal": 1.0}))
"""Only the words of the question count."""

WORDS_ONLY = RecallConfig(signals=NO_SIGNALS, protocol=Protocol(walkers=0.0), collapse=False, spelling=False)
"""What is left of recall is BM25."""


def id_of(number: int) -> str:
    """An id by its number; lower numbers come first among ties."""
    return f"00000000-0000-8000-8000-{number:012x}"


def only(signal: str, **weights: float) -> RecallConfig:
    """A configuration with one signal at its default, or with the given weights, and no other signal."""
    default = getattr(Signals(), signal)
    return RecallConfig(signals=replace(NO_SIGNALS, **({signal: default} | weights)), collapse=False)


def without(signal: str) -> RecallConfig:
    """A configuration with all signals but one."""
    return RecallConfig(signals=replace(Signals(), **{signal: float(signal == "internal")}))


@contextmanager
def memory(commands: Iterable[Command], config: RecallConfig | None = None) -> Iterator[Engine]:
    """A new memory with these commands applied, with a deterministic clock and salts."""
    with Engine.open("memory:", clock=ticking(), salts=salt_of, config=config) as engine:
        engine.apply(list(commands))
        yield engine


def ask(
    commands: Iterable[Command],
    question: str,
    config: RecallConfig | None = None,
    *,
    limit: int | None = None,
    budget: int | None = None,
    filters: Filters = NO_FILTERS,
    explain: bool = False,
) -> Recall:
    """The answer of a new memory with these commands applied."""
    with memory(commands, config) as engine:
        return engine.recall(question, limit=limit, budget=budget, filters=filters, explain=explain)


def keys(hits: Sequence[Hit]) -> list[str | None]:
    """The callers' own keys of the atoms in an answer."""
    return [hit.key for hit in hits]


def named(key: str, content: str, number: int | None = None, **more: Any) -> Add:
    """An atom with a key of its own, and with an id by number if the order of ties matters."""
    return Add(content, key=key, id=None if number is None else id_of(number), **more)


def fillers(count: int, text: str = "nothing of note happened") -> list[Add]:
    """Atoms without a source and with unrelated texts."""
    return [Add(f"{text} {number} sheets{number}") for number in range(count)]
