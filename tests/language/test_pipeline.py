"""Which pipeline analyses questions, and that a trained one is used where it is installed."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.language import pipeline, question
from engine.language.question import Part, analyze_question

RULES = "blank en, memroot rules 1"
Install = Callable[[str], Path]

LOADING = """
from spacy.util import load_model_from_init_py

def load(**overrides):
    return load_model_from_init_py(__file__, **overrides)
"""


@pytest.fixture
def anew() -> Iterator[None]:
    """Pipelines are looked for again, and again after the test."""

    def forget() -> None:
        pipeline._load.cache_clear()
        question._cached.cache_clear()

    forget()
    yield
    forget()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anew: None) -> Install:
    """Installs an empty package of that name, which makes itself known as a pipeline."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(name: str) -> Path:
        package = tmp_path / name
        package.mkdir()
        (package / "__init__.py").write_text(LOADING)
        about = tmp_path / f"{name}-9.8.7.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.8.7\n")
        (about / "entry_points.txt").write_text(f"[spacy_models]\n{name} = {name}\n")
        monkeypatch.delitem(sys.modules, name, raising=False)
        return package

    return make


def train(package: Path) -> None:
    """Fill `package` with a pipeline that knows a few words."""
    import spacy

    language = spacy.blank("en")
    parts = {
        "caroline": "PROPN",
        "research": "VERB",
        "red": "ADJ",
        "valves": "NOUN",
        "in": "ADP",
        "2023": "NUM",
    }
    tagger = language.add_pipe("attribute_ruler")
    for word, part in parts.items():
        tagger.add([[{"LOWER": word}]], {"POS": part})  # type: ignore[attr-defined]
    names = language.add_pipe("entity_ruler")
    names.add_patterns(  # type: ignore[attr-defined]
        [{"label": "PERSON", "pattern": "caroline of the hill"}, {"label": "DATE", "pattern": "2023"}]
    )
    meta = {"lang": "en", "name": package.name.removeprefix("en_"), "version": "9.8.7"}
    language.meta.update(meta)
    language.to_disk(package / f"{package.name}-9.8.7")
    (package / "meta.json").write_text(json.dumps(language.meta))


def test_without_a_trained_pipeline_the_rules_are_used(anew: None) -> None:
    """Every analysis names what made it."""
    assert analyze_question("What did Caroline research?").pipeline == RULES == pipeline.pipeline_name()


def test_a_trained_pipeline_is_used(install: Install) -> None:
    """Parts of speech and names come from it; times, identifiers and quotations are found as ever."""
    train(install("en_core_web_sm"))
    found = analyze_question('did caroline of the hill research red valves, "big fish" ADR-016 in 2023?')
    assert found.pipeline == "en_core_web_sm 9.8.7" == pipeline.pipeline_name()
    assert {word.text: word.part for word in found.words if word.part is not Part.FUNCTION} == {
        "did": Part.OTHER,
        "of": Part.OTHER,
        "the": Part.OTHER,
        "hill": Part.PROPER,
        "caroline": Part.PROPER,
        "research": Part.VERB,
        "red": Part.ADJECTIVE,
        "valves": Part.NOUN,
        "big": Part.PROPER,
        "fish": Part.PROPER,
        "ADR-016": Part.PROPER,
        "2023": Part.TIME,
    }
    assert [entity.text for entity in found.entities] == [
        "caroline of the hill",
        "big fish",
        "ADR-016",
        "valves",
    ]
    assert [time.text for time in found.times] == ["2023"]


def test_odd_text_goes_through_a_trained_pipeline(install: Install) -> None:
    """What spaCy refuses does not reach it."""
    train(install("en_core_web_sm"))
    found = analyze_question("did\ud800caroline\x00 \t\n research don't state-of-the-art \U0001f389")
    assert [word.text for word in found.words][:3] == ["did", "caroline", "research"]
    assert found.names == ("carolin",)


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["xx_ent_wiki", "de_core_news_sm", "en_own", "en_core_web_trf", "en_core_web_md"], "en_core_web_md"),
        (["xx_ent_wiki", "de_core_news_sm", "en_own"], "en_own"),
        (["xx_ent_wiki", "de_core_news_sm"], "de_core_news_sm"),
    ],
)
def test_the_choice_among_pipelines_is_fixed(install: Install, names: list[str], chosen: str) -> None:
    """The smallest of spaCy's English ones, else an English one, else the first by name."""
    for name in names:
        install(name)
    entry = pipeline._installed()
    assert entry is not None
    assert entry.name == chosen


def test_a_pipeline_that_does_not_load_is_named(install: Install) -> None:
    """The rules take its place, and every analysis says so, with the reason."""
    package = install("en_core_web_sm")
    (package / "__init__.py").write_text("raise RuntimeError('made for\\nspaCy 2')")
    found = analyze_question("What did Caroline research?")
    assert found.names == ("carolin",)
    reason = "en_core_web_sm 9.8.7 does not load: RuntimeError: made for spaCy 2"
    assert found.pipeline == f"{RULES} ({reason})" == pipeline.pipeline_name()


def test_a_pipeline_without_its_data_is_named(install: Install) -> None:
    """Nothing is fetched for it."""
    install("en_core_web_sm")
    assert "en_core_web_sm 9.8.7 does not load: " in analyze_question("What is it?").pipeline


def test_importing_loads_no_spacy() -> None:
    """The library waits for the first question, and the name of the pipeline is known without it."""
    program = (
        "import sys, engine.text.nlp.question, engine.text.nlp.pipeline as p; p.pipeline_name();"
        "print(sorted({'spacy', 'thinc', 'numpy'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout == "[]\n"


def test_threads_share_one_pipeline(anew: None) -> None:
    """Questions of many threads, the first ones at once, get the answers they get alone."""
    texts = [f"What did Caroline{i} paint in May 20{i:02} at {'x' * i}?" for i in range(40)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(analyze_question, texts))
    question._cached.cache_clear()
    assert together == [analyze_question(text) for text in texts]
    assert pipeline._load.cache_info().misses == 1


def test_words_are_forgotten_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch, anew: None) -> None:
    """Beyond a number of words the vocabulary grows no more, and answers stay the same."""
    analyze_question("What did Caroline research?")
    monkeypatch.setattr(pipeline, "_KEPT_WORDS", 0)
    kept = pipeline._load().language.vocab.strings
    words = len(kept)
    found = analyze_question("Which unheard-of Zyzzyva did Quodlibet misplace in Xanadu?")
    assert len(kept) == words
    monkeypatch.undo()
    assert question._analyzed(found.text).question == found
