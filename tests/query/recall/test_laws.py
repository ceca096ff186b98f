"""Properties of recall that hold for every history, question and limit."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine import Add, Engine, Filters, Protocol, Recall, RecallConfig, Role
from engine.commands import Command
from engine.text.analyzer import analyze_query, index_terms
from tests.query.recall.histories import DAY, QUESTIONS, TAGS, histories, live_contents, questions
from tests.query.recall.searching import search
from tests.query.recall.support import WORDS_ONLY, ask, fillers, id_of, memory
from tests.support.children import ROOT
from tests.support.engines import BEGIN, backend_of, head_of, salt_of

pytestmark = pytest.mark.slow

laws = settings(max_examples=25, deadline=None)

limits = st.one_of(st.integers(1, 12), st.integers(1, 500))


def still(backend: MemoryBackend | None = None, config: RecallConfig | None = None) -> Engine:
    """An engine with a constant clock, so that times do not depend on commits."""
    return Engine(backend or MemoryBackend(), clock=lambda: BEGIN, salts=salt_of, config=config)


def answers(engine: Engine, limit: int | None = None, budget: int | None = None) -> list[Recall]:
    """The answers of an engine to all questions."""
    return [engine.recall(question, limit=limit, budget=budget, explain=True) for question in QUESTIONS]


@laws
@given(histories(), st.sampled_from((0, 244, 250)), st.integers(1, 5))
def test_equal_stores_give_equal_answers(history: list[Command], before: int, size: int) -> None:
    """An engine with earlier queries and a newly opened one give the same answers."""
    engine = still()
    engine.apply(fillers(before))
    for at in range(0, len(history), size):
        engine.apply(history[at : at + size])
        engine.recall(QUESTIONS[at % len(QUESTIONS)])
    found = answers(engine)
    assert answers(Engine(backend_of(engine))) == found
    engine.rebuild()
    assert answers(engine) == found


@laws
@given(histories(), st.sampled_from((0, 244, 250)), st.integers(1, 7), st.booleans())
def test_answers_do_not_depend_on_how_a_history_was_cut(
    history: list[Command], before: int, size: int, follow: bool
) -> None:
    """The number of commits and the times of catching up do not change answers."""
    whole, parts = still(), still()
    commands = [*fillers(before), *history]
    whole.apply(commands)
    step = 40 * size if before else size
    for at in range(0, len(commands), step):
        parts.apply(commands[at : at + step])
        if follow:
            parts.catch_up()
    assert answers(parts, budget=90) == answers(whole, budget=90)
    assert answers(parts, limit=7) == answers(whole, limit=7)


@laws
@given(histories(), questions, limits, st.sampled_from((0, 250)))
def test_without_signals_recall_is_bm25(
    history: list[Command], question: str, limit: int, before: int
) -> None:
    """With all signals off and no walkers, hits and scores are those of BM25."""
    engine = still(config=WORDS_ONLY)
    engine.apply([*fillers(before), *history])
    found = engine.recall(question, limit=limit)
    with head_of(engine) as rows:
        live = {one.id: one.atom.ordinal for one in engine.find(limit=1000, form="full") if one.atom}
        scores = dict(search(engine.store.index.view(rows), found.terms, 10_000))
    expected = [(-scores[ordinal], one) for one, ordinal in live.items() if ordinal in scores]
    assert [(-hit.score, hit.id) for hit in found.hits] == sorted(expected)[:limit]
    assert {hit.role for hit in found.hits} <= {Role.ANCHOR}


@laws
@given(histories(), limits)
def test_only_live_atoms_come_back_each_once_and_as_they_are_now(history: list[Command], limit: int) -> None:
    """Tombstoned atoms and old versions are never in an answer."""
    with memory(history) as engine:
        live = live_contents(engine)
        for question in QUESTIONS:
            found = engine.recall(question, limit=limit, budget=100_000, explain=True)
            ids = [hit.id for hit in found.hits]
            assert len(ids) == len(set(ids)) <= limit
            assert {hit.id: hit.content for hit in found.hits}.items() <= live.items()
            assert {one.id for one in found.dropped} <= live.keys()
            assert {one for hit in found.hits for one in hit.duplicates} <= live.keys()
            assert {one for hit in found.hits for one in hit.path if one[0] != "#"} <= live.keys()


@laws
@given(histories())
def test_hits_are_ranked(history: list[Command]) -> None:
    """Hits are sorted by score, ties by id, and every score is a positive number of millionths."""
    with memory(history) as engine:
        for found in answers(engine, limit=500):
            ranks = [(-hit.score, hit.id) for hit in found.hits]
            assert ranks == sorted(ranks)
            assert all(hit.score > 0 and round(hit.score, 6) == hit.score for hit in found.hits)


@laws
@given(histories(), questions)
def test_every_atom_that_mentions_a_word_is_a_hit(history: list[Command], question: str) -> None:
    """With a large limit, every live atom that contains a word of the question is a hit."""
    with memory(history, RecallConfig(collapse=False)) as engine:
        found = engine.recall(question, limit=500)
        atoms = [engine.get(one) for one in live_contents(engine)]
    having = {
        atom.id
        for atom in atoms
        if not set(found.terms).isdisjoint(index_terms(f"{atom.title or ''}\n{atom.content}"))
    }
    assert having <= {hit.id for hit in found.hits if hit.role is Role.ANCHOR}


@laws
@given(histories(), st.sampled_from(("samovar", "tapes of samovars", "Xenia")))
def test_where_no_live_atom_has_a_word_there_are_no_hits(history: list[Command], question: str) -> None:
    """Words of hidden and old texts find neither these texts nor their neighbours."""
    gone: list[Command] = [
        Add(f"{question} kettle", id=id_of(90), source="talk/1", sequence=1, tags=["home"], title="Anna"),
        Add(f"{question} copper", id=id_of(91), source="talk/1", sequence=2, tags=["home", "samovar"]),
    ]
    with memory([*gone, *history]) as engine:
        assert engine.recall(question).hits
        engine.tombstone(id_of(90))
        engine.revise(id_of(91), content="nothing of the sort", tags=["home"])
        assert engine.recall(question).hits == ()


filters = st.builds(
    Filters,
    tags=st.lists(st.sampled_from(TAGS), max_size=1).map(tuple),
    without_tags=st.lists(st.sampled_from(TAGS), max_size=1).map(tuple),
    buckets=st.sampled_from(((), ("inbox",), ("work", "inbox"))),
    sources=st.sampled_from(((), ("talk/*",), ("notes.md", "talk/2"))),
    kinds=st.sampled_from(((), ("turn",))),
    provenances=st.sampled_from(((), ("internal",), ("external", "quarantine"))),
    since=st.sampled_from((None, BEGIN - 2 * DAY)),
    until=st.sampled_from((None, BEGIN)),
    categories=st.sampled_from(((), (), ("technical",), ("#Temporal", "location"))),
    meta=st.sampled_from(({}, {}, {"n": 1}, {"n": [1, True], "room": "hall"})),
)


@laws
@given(histories(), filters, questions)
def test_filters_hold(history: list[Command], wanted: Filters, question: str) -> None:
    """Hits, their duplicates and their anchors pass the filters as `find` applies them."""
    with memory(history) as engine:
        through = {one.id for one in engine.find(limit=1000, filters=wanted)}
        found = engine.recall(question, filters=wanted, limit=500, explain=True)
    assert {hit.id for hit in found.hits} | {one for hit in found.hits for one in hit.duplicates} <= through
    if not wanted.categories:
        assert {one for hit in found.hits for one in hit.path if one[0] != "#"} <= through


def test_what_leads_to_a_hit_is_of_the_wanted_category() -> None:
    """An anchor outside the wanted categories is not named in a path."""
    atoms = [Add("Anna: kettle", id=id_of(1)), Add("On Monday", title="Anna", id=id_of(2)), *fillers(9)]
    with memory(atoms) as engine:
        assert engine.recall("kettle", limit=4).hits[1].path == (id_of(1),)
        found = engine.recall("kettle", limit=4, filters=Filters(categories=("temporal",)))
    assert id_of(1) not in {step for hit in found.hits for step in hit.path}


@laws
@given(histories(), questions, st.integers(1, 500))
def test_a_limit_is_the_most_there_are(history: list[Command], question: str, limit: int) -> None:
    """There are at most `limit` hits, with and without a budget."""
    with memory(history) as engine:
        found = engine.recall(question, limit=limit)
        assert len(found.hits) <= found.target == limit
        assert len(engine.recall(question, limit=limit, budget=10_000).hits) <= min(limit, 50)


@laws
@given(histories(most=6), questions, st.data())
def test_the_past_is_asked_as_it_was(history: list[Command], question: str, data: st.DataObject) -> None:
    """A query as of an event gives the answer that the memory gave at that event."""
    with memory([]) as engine:
        then: dict[int, Recall] = {}
        for command in history:
            engine.apply([command])
            then[engine.size - 1] = engine.recall(question, budget=200, explain=True)
        moment = data.draw(st.sampled_from(sorted(then)))
        assert engine.recall(question, budget=200, explain=True, as_of=moment) == then[moment]


@laws
@given(histories(), questions)
def test_the_order_of_the_words_of_a_filter_does_not_matter(history: list[Command], question: str) -> None:
    """The order and repetition of the values of a filter do not matter."""
    with memory(history) as engine:
        one = engine.recall(
            question, filters=Filters(tags=("home", "kettle"), sources=("talk/1", "notes.md"))
        )
        other = Filters(tags=("Kettle", "home", "#home"), sources=("notes.md", "talk/*", "talk/1"))
        assume(not any(atom.source == "talk/2" for atom in map(engine.get, live_contents(engine))))
        assert engine.recall(question, filters=other) == one


@pytest.mark.parametrize("walkers", [0.0, 0.3, 1.0])
def test_a_larger_limit_keeps_the_anchors(walkers: float) -> None:
    """A larger limit keeps the anchors of a smaller one, in the same order."""
    atoms = [Add(f"kettle {'sheet ' * (at % 9)}of{at}", source=f"s{at % 4}", sequence=at) for at in range(40)]
    with memory(atoms, RecallConfig(protocol=Protocol(walkers=walkers))) as engine:
        whole = [hit.id for hit in engine.recall("kettle", limit=40).hits]
        for limit in (1, 2, 5, 17):
            assert [hit.id for hit in engine.recall("kettle", limit=limit).hits] == whole[:limit]


MAKE = """
from tests.query.recall.test_laws import digest
print(digest("memory:"))
"""


def digest(url: str) -> str:
    """All details of the answers of a memory of some hundred atoms, as one text."""
    atoms: list[Command] = [
        Add(
            f"Anna: the kettle of sheet{at % 11} is for ADR-{at % 5} and 日本語{at % 3}",
            id=id_of(at + 1),
            title=(None, "Copper Kettle", f"sheet{at % 11}")[at % 3],
            tags=[TAGS[at % 5], TAGS[at % 3], f"rare{at // 7}"],
            source=f"talk/{at // 9}",
            sequence=at,
            trust=at % 101,
            provenance=("internal", "external", "quarantine")[at // 5 % 3],
        )
        for at in range(300)
    ]
    with Engine.open(url, clock=lambda: BEGIN, salts=salt_of) as engine:
        engine.apply(atoms)
        return ascii([*answers(engine), *answers(engine, budget=500)])


@cache
def in_memory() -> str:
    """The digest of such a memory in this process."""
    return digest("memory:")


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_answers_are_the_same_in_every_process(seed: str) -> None:
    """Set order and hash seeds do not affect an answer."""
    environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": "Asia/Kathmandu"}
    child = subprocess.run(
        [sys.executable, "-c", MAKE], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert child.stdout.strip() == in_memory()


@pytest.mark.parametrize("scheme", ["sqlite", "leveldb"])
def test_answers_are_the_same_on_every_backend(scheme: str, tmp_path: Path) -> None:
    """Equal events give equal answers on every backend."""
    if scheme == "leveldb" and find_spec("plyvel") is None:
        pytest.skip("NOT TESTED: plyvel is not installed")
    assert digest(f"{scheme}:{tmp_path / 'store'}") == in_memory()


def test_nothing_is_found_in_an_empty_memory() -> None:
    """A query in a new memory has no hits."""
    found = ask([], "kettle", explain=True)
    assert (found.hits, found.dropped, found.bridges, found.candidates, found.tokens) == ((), (), (), 0, 0)
    assert analyze_query("kettle") == list(found.terms)
