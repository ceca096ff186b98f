"""Equal journals give equal dreams, in every environment."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from backends import open_backend
from tests.knowledge.dreaming.support import EAGER, LETTERS, added, left_in
from tests.support.children import ROOT
from tests.support.engines import engine_on

PROGRAM = """
from tests.knowledge.dreaming.support import EAGER, LETTERS, added
from tests.support.engines import engine_on
with engine_on() as engine:
    added(engine, *LETTERS, "Zoë Müller met İpek near ﬁne straße.", "Again Zoë Müller and İpek; PAID.")
    engine.dream(config=EAGER)
    print(engine.root().root)
"""


def _root(**surroundings: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={**os.environ, **surroundings, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_neither_hash_seed_nor_locale_nor_zone_matters() -> None:
    """Hash seed, locale and time zone do not change the events."""
    first = _root(PYTHONHASHSEED="0", LC_ALL="C", TZ="UTC")
    assert first == _root(PYTHONHASHSEED="4711", LC_ALL="tr_TR.UTF-8", TZ="Asia/Tokyo")


def test_steps_of_another_size_append_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of a step does not change the events."""
    roots = []
    for step in (64, 1, 3):
        monkeypatch.setattr("engine.knowledge.dreaming.cycle.STEP", step)
        with engine_on() as engine:
            added(engine, *LETTERS)
            engine.dream(config=EAGER)
            roots.append([(item.subject, item.kind, item.detail) for item in engine.log()])
    assert roots[0] == roots[1] == roots[2]


def test_what_is_kept_in_memory_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of the caches does not change the result."""
    results = []
    for name, most in (("CACHED_MAX", 8192), ("CACHED_MAX", 2), ("TOKENS_MAX", 20)):
        monkeypatch.setattr(f"engine.knowledge.dreaming.survey.{name}", most)
        with engine_on() as engine:
            added(engine, *LETTERS, "the tide clock is late", "a tide clock for sale")
            engine.dream(config=EAGER)
            results.append(left_in(engine))
    assert results[0] == results[1] == results[2]


def test_backends_do_not_matter(tmp_path: object) -> None:
    """A dream on SQLite gives the same root as one in memory."""
    roots = []
    for backend in (None, open_backend(f"sqlite:{tmp_path}/notes.db", create=True)):
        with engine_on(backend) as engine:
            added(engine, *LETTERS)
            engine.dream(config=EAGER)
            roots.append(engine.root().root)
    assert roots[0] == roots[1]


def test_seconds_only_say_where_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cycles with time limits give the same result as a single cycle."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 1.0
        return now

    with engine_on() as once, engine_on() as late:
        for engine in (once, late):
            added(engine, *LETTERS)
        once.dream(config=EAGER)
        monkeypatch.setattr("engine.knowledge.dreaming.cycle.STEP", 1)
        monkeypatch.setattr("engine.knowledge.dreaming.cycle.time.monotonic", clock)
        cycles = 1
        while late.dream(seconds=2.5, config=EAGER).left:
            cycles += 1
        assert cycles > 2
        assert left_in(once) == left_in(late)
