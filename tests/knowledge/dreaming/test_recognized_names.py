"""What a pipeline says about names. The tests need the dependency group `pipeline`."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.knowledge.dreaming import cycle
from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.knowledge.dreaming.pipeline import Recognizer, Seen
from tests.knowledge.dreaming.pipeline import PACKAGE, PARSED, needs_pipeline
from tests.knowledge.dreaming.support import dreamt
from tests.support.engines import engine_on

RULES = DreamConfig(pipeline="none")
GUINEA_PIG = (
    "I found a guinea pig for the kids and we call him Oscar.",
    "Oscar, my guinea pig, and the kids are fine.",
)
"""Only one text has the name inside a sentence, and it is no listed given name after a title."""
JUMPERS = (
    "He was a Norwegian ski jumper.",
    "She saw a Norwegian farmer in May.",
    "They found a Norwegian pilot for the summer.",
)
HEADINGS = ("Oscar in London", "Oscar in the garden", "Oscar on holiday")
"""In headings too, the pipeline takes `Oscar` for a person."""


def learned(*texts: str, config: DreamConfig) -> tuple[str, ...]:
    """The names that a dream over these texts learns."""
    with engine_on() as engine:
        for text in texts:
            engine.add(text)
        return engine.dream(config=config).entities


@needs_pipeline
def test_an_entity_of_the_pipeline_is_a_name() -> None:
    """A name that the texts hardly show is learned if the pipeline mostly takes it for one."""
    assert learned(*GUINEA_PIG, config=RULES) == ()
    assert learned(*GUINEA_PIG, config=PARSED) == ("Oscar",)


@needs_pipeline
def test_a_nationality_is_no_name() -> None:
    """A capitalised word is no name if the pipeline mostly takes it for a nationality."""
    assert learned(*JUMPERS, config=RULES) == ("Norwegian",)
    assert learned(*JUMPERS, config=PARSED) == ()


@needs_pipeline
def test_two_sentences_do_not_reject_a_name() -> None:
    """At least three sentences are needed to reject what the texts show as a name."""
    assert learned(*JUMPERS[:2], config=PARSED) == ("Norwegian",)


@needs_pipeline
def test_headings_do_not_count() -> None:
    """What a pipeline says about a heading is ignored, so its words do not become a name."""
    assert learned(*HEADINGS, config=PARSED) == ()


@needs_pipeline
def test_the_origin_names_the_pipeline() -> None:
    """Only the entity that the pipeline alone caused has the pipeline in its origin."""
    with engine_on() as engine:
        for text in (*GUINEA_PIG, "We saw Grace Hopper.", "We wrote to Grace Hopper."):
            engine.add(text)
        report = engine.dream(config=PARSED)
        pipelines = {
            engine.get(item.subject).content: item.detail["pipeline"]
            for item in dreamt(engine)
            if item.kind.name == "ATOM_ADDED"
        }
    assert report.pipeline == f"{PACKAGE} 3.8.0"
    assert pipelines == {"Oscar": f"{cycle.PIPELINE}; {PACKAGE} 3.8.0", "Grace Hopper": cycle.PIPELINE}


@needs_pipeline
def test_cycles_do_not_matter() -> None:
    """Cycles of one atom leave the same entities, tags and edges as one cycle."""
    left = []
    for budget in (None, 1):
        with engine_on() as engine:
            for text in (*GUINEA_PIG, *JUMPERS, *HEADINGS):
                engine.add(text)
            while engine.dream(budget=budget, config=PARSED).left:
                pass
            left.append({(item.subject, str(item.detail)) for item in dreamt(engine)})
    assert left[0] == left[1]


@pytest.fixture
def read_sentences(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sentences that the pipeline read."""
    read: list[str] = []
    names_in = Recognizer.names_in

    def kept(recognizer: Recognizer, sentences: Sequence[str]) -> list[list[Seen]]:
        read.extend(sentences)
        return names_in(recognizer, sentences)

    monkeypatch.setattr(Recognizer, "names_in", kept)
    return read


@needs_pipeline
@pytest.mark.parametrize(("most", "count"), [(12, 6), (4, 4)])
def test_the_number_of_sentences_is_limited(most: int, count: int, read_sentences: list[str]) -> None:
    """At most as many sentences are read for one possible name as the setting `parsed` says."""
    texts = (*JUMPERS, *(text.replace("a Norwegian", "one Norwegian") for text in JUMPERS))
    learned(*texts, config=DreamConfig(pipeline=PACKAGE, parsed=most))
    assert len(read_sentences) == count


@needs_pipeline
def test_nothing_is_read_for_a_clear_name(read_sentences: list[str]) -> None:
    """A name that the texts show clearly needs no pipeline, however many texts have it."""
    texts = [f"We thought of Grace Hopper in {month}." for month in ("May", "June", "July")]
    assert learned(*texts, config=PARSED) == ("Grace Hopper",)
    assert read_sentences == []


@needs_pipeline
def test_a_rebuild_reads_no_sentence(read_sentences: list[str]) -> None:
    """The names that a pipeline decided are in the journal, so a rebuild gives the same root without it."""
    with engine_on() as engine:
        for text in (*GUINEA_PIG, *JUMPERS):
            engine.add(text)
        assert engine.dream(config=PARSED).entities == ("Oscar",)
        root = engine.root().root
        assert read_sentences
        read_sentences.clear()
        assert engine.rebuild().root == root
    assert read_sentences == []
