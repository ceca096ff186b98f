"""Properties of dreaming: split, interrupted or repeated, it gives the same result."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import Batch
from engine.engine import Engine
from engine.ledger.layout import DREAM
from tests.knowledge.dreaming.support import EAGER, Left, added, dreamt, dreamt_to_the_end, left_in
from tests.support.engines import backend_of, engine_on

_PEOPLE = (
    *("Ada Lovelace", "Charles Babbage", "Grace Hopper", "Bristol", "Turin", "Acme", "NASA", "Will"),
    *("Ada", "ada", "Ms Hopper", "Hopper's", "Babbage said", "Ada King"),
)
_WORDS = (
    "tide clock",
    "spring steel",
    "old harbour",
    "will",
    "because",
    "yesterday",
    "wrote to",
    "rusty",
    "paid",
)
_SENTENCES = st.lists(st.sampled_from(_PEOPLE + _WORDS), min_size=1, max_size=7).map(" ".join)
_TEXTS = st.lists(
    st.tuples(_SENTENCES, st.sampled_from(["internal", "internal", "external", "quarantine"])), max_size=14
)
_STEPS = st.sampled_from(["untag", "tombstone", "revise", "entity"])


def _filled(texts: list[tuple[str, str]]) -> Engine:
    engine = engine_on()
    for number, (text, provenance) in enumerate(texts):
        added(engine, f"{text} {number}", provenance=provenance)
    return engine


def _result(engine: Engine) -> Left:
    with engine:
        return left_in(engine)


@given(_TEXTS, st.lists(st.integers(1, 9), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_cut_into_cycles_anywhere_it_comes_to_the_same(
    texts: list[tuple[str, str]], budgets: list[int]
) -> None:
    """Any split into cycles gives the same tags, entities and edges."""
    once, cut = _filled(texts), _filled(texts)
    once.dream(config=EAGER)
    dreamt_to_the_end(cut, *budgets)
    assert _result(once) == _result(cut)


@given(_TEXTS, st.lists(st.integers(1, 9), max_size=4))
@settings(max_examples=40, deadline=None)
def test_a_second_run_appends_nothing(texts: list[tuple[str, str]], budgets: list[int]) -> None:
    """A second complete run appends nothing, with and without its cursor."""
    with _filled(texts) as engine:
        dreamt_to_the_end(engine, *budgets)
        size = engine.size
        engine.dream(config=EAGER)
        assert engine.size == size
        _forget(engine)
        engine.dream(config=EAGER)
        assert engine.size == size


@given(_TEXTS, st.integers(1, 9), st.integers(0, 6))
@settings(max_examples=40, deadline=None)
def test_a_cursor_lost_half_way_costs_only_time(
    texts: list[tuple[str, str]], budget: int, cycles: int
) -> None:
    """Losing the cursor at any point does not change the result."""
    once, forgetful = _filled(texts), _filled(texts)
    once.dream(config=EAGER)
    for _ in range(cycles):
        forgetful.dream(budget=budget, config=EAGER)
    _forget(forgetful)
    dreamt_to_the_end(forgetful, budget)
    assert _result(once) == _result(forgetful)


@given(_TEXTS, _TEXTS, st.lists(st.integers(1, 9), max_size=3))
@settings(max_examples=40, deadline=None)
def test_two_rounds_are_cut_as_one_is(
    first: list[tuple[str, str]], second: list[tuple[str, str]], budgets: list[int]
) -> None:
    """A second round over more texts gives the same result for any split."""
    results = []
    for cut in ((), tuple(budgets)):
        with _filled(first) as engine:
            dreamt_to_the_end(engine, *cut)
            for number, (text, provenance) in enumerate(second):
                added(engine, f"{text} again {number}", provenance=provenance)
            dreamt_to_the_end(engine, *cut)
            results.append(left_in(engine))
    assert results[0] == results[1]


@given(_TEXTS)
@settings(max_examples=40, deadline=None)
def test_a_rehearsal_says_what_a_run_does(texts: list[tuple[str, str]]) -> None:
    """A dry run reports the same as the run after it, and writes nothing."""
    with _filled(texts) as engine:
        rows = dict(backend_of(engine).scan())
        engine.catch_up()
        said = engine.dream(dry_run=True, config=EAGER)
        assert not dreamt(engine)
        assert DREAM not in dict(backend_of(engine).scan())
        assert set(rows) <= set(dict(backend_of(engine).scan()))
        assert engine.dream(config=EAGER) == replace(said, dry_run=False)


@given(_TEXTS, st.lists(st.tuples(_STEPS, st.integers(0, 13)), max_size=5), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_what_people_do_in_between_stays_done(
    texts: list[tuple[str, str]], steps: list[tuple[str, int]], budget: int
) -> None:
    """Removed tags and hidden items do not come back in later dreams."""
    with _filled(texts) as engine:
        dreamt_to_the_end(engine)
        gone, hidden = set(), set()
        for step, number in steps:
            found = [one.atom for one in engine.find(limit=100, form="full") if one.atom is not None]
            atom = found[number % len(found)] if found else None
            if atom is None:
                continue
            if step == "untag" and atom.tags:
                engine.untag(atom.id, atom.tags[0])
                gone.add((atom.id, atom.tags[0]))
            elif step == "tombstone" or (step == "entity" and atom.kind == "entity"):
                engine.tombstone(atom.id)
                hidden.add(atom.id)
            elif step == "revise" and atom.kind != "entity":
                engine.revise(atom.id, content=atom.content + " now")
        dreamt_to_the_end(engine, budget)
        _forget(engine)
        dreamt_to_the_end(engine)
        live = {one.id for one in engine.find(limit=100)}
        assert not live & hidden
        assert not {(atom, tag) for atom, tag in gone if atom in live and tag in engine.get(atom).tags}


@given(_TEXTS, st.lists(st.integers(1, 9), max_size=3))
@settings(max_examples=15, deadline=None)
def test_a_dreamt_memory_verifies(texts: list[tuple[str, str]], budgets: list[int]) -> None:
    """The store verifies in the middle and at the end of a dream."""
    with _filled(texts) as engine:
        for budget in budgets:
            engine.dream(budget=budget, config=EAGER)
            assert engine.verify().ok


def _forget(engine: Engine) -> None:
    batch = Batch()
    batch.delete(DREAM)
    backend_of(engine).write(batch)
