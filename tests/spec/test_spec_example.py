"""SPEC suffices to compute its example and whole stores again without code of the engine."""

from __future__ import annotations

import random
import unicodedata
from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine.engine import Engine
from engine.followers.trees import read_value
from engine.ledger.layout import LOG
from engine.text.analyzer import analyze_query, index_terms
from engine.text.analyzer_fingerprint import fingerprint, probes
from proofs.leaves import encode_value
from tests.spec import spec_naive as naive
from tests.spec.spec_analyzer import SpecAnalyzer
from tests.spec.spec_facts import Document, document, number
from tests.spec.spec_naive import u
from tests.spec.spec_page import blocks, example_values, named, stop_words
from tests.spec.spec_rows import all_rows
from tests.vectors.example import TAIL, Clock, example_memory, rows_of, salt_of

pytestmark = pytest.mark.slow

ROOTS = ("log", "atoms", "edges", "index", "tags")

needs_unicode14 = pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0",
    reason="the page's classes need a Python that has Unicode 14.0 (3.11)",
)


def example_rows() -> list[tuple[bytes, bytes]]:
    """Return the journal of the page's example."""
    example = example_values()
    return [
        (bytes.fromhex(example[f"header {n}"]), bytes.fromhex(example[f"payload {n}"]))
        for n in range(sum(name.startswith("header") for name in example))
    ]


def example_terms(text: str) -> list[str]:
    """Return the terms of the texts, titles and labels of the page's example."""
    example = example_values()
    return {
        "ADR-016\nThe daemon listens on port 8080.": example["terms 0"],
        "ADR-016": example["heading 0"],
        "Écoute: l'été, daemon!": example["terms 1"],
        "Écoute": example["heading 1"],
    }[text].split()


def example_documents() -> list[Document]:
    """Return the documents of the page's example."""
    bodies = [naive.opened(*row)[1] for row in example_rows()[1:3]]
    return [document(body, example_terms, stop_words()) for body in bodies]


def example_roots() -> dict[str, str]:
    """Return the roots of the page's example."""
    return {name: example_values()[f"root {name}"] for name in (*ROOTS, "overall")}


@pytest.fixture(scope="module")
def example_engine() -> Engine:
    """Return an engine with the page's example."""
    return example_memory()


def test_engine_writes_the_rows_of_the_example(example_engine: Engine) -> None:
    """With the page's clock and salts the engine writes the headers and payloads of the example."""
    assert rows_of(example_engine.store.backend) == example_rows()


def test_engine_gives_the_roots_of_the_example(example_engine: Engine) -> None:
    """The engine's roots over the example are the page's."""
    shown = example_engine.root()
    assert {"log": shown.log_root, "overall": shown.root, **shown.namespaces} == example_roots()


def test_engine_keeps_the_other_bytes_of_the_example(example_engine: Engine) -> None:
    """The store holds the frontier and the leaf value of the example."""
    rows, example = example_engine.store.backend, example_values()
    log = rows.get(LOG)
    assert log is not None
    assert cbor2.loads(log)[1].hex() == example["frontier"]
    value = read_value(rows, "atoms", bytes.fromhex(example["id first"]))
    assert value is not None
    assert encode_value(value).hex() == example["value first"]


def test_page_alone_gives_the_roots_of_the_example() -> None:
    """The rules of the page compute its roots from its rows and terms, without code of the engine."""
    found = naive.all_roots(example_rows(), example_terms, stop_words())
    assert {name: root.hex() for name, root in found.items()} == example_roots()


def test_checkpoint_of_the_example_holds_the_roots_before_it() -> None:
    """The last event of the example holds the overall and namespace roots of the first five events."""
    rows = example_rows()
    found = naive.all_roots(rows[:-1], example_terms, stop_words())
    header, body = naive.opened(*rows[-1])
    assert header[7] == found["overall"]
    assert body[0] == [[name, found[name]] for name in ("atoms", "edges", "index", "tags")]


def test_small_values_of_the_example_follow_from_the_page() -> None:
    """The rules of the page compute the example's ids, frontier, leaf value, facts and summary."""
    example, rows = example_values(), example_rows()
    events = [naive.opened(*row) for row in rows]
    id_key = events[0][1][0]
    for name, (_, body) in (("id first", events[1]), ("id second", events[2])):
        assert naive.default_id(id_key, body).hex() == example[name]
    assert naive.frontier([header for header, _ in rows]).hex() == example["frontier"]
    atoms = naive.values([fields for fields, _ in events])["atoms"]
    assert naive.dumps(atoms[bytes.fromhex(example["id first"])]).hex() == example["value first"]
    documents = example_documents()
    for ordinal, found in enumerate(documents):
        assert " ".join(f"{fact:x}" for fact in found.facts) == example[f"facts {ordinal}"]
    assert (
        naive.summary(TAIL, documents, stop_words(), naive.keys_of(events)).hex() == example["summary tail"]
    )


def placed(
    content: str, source: str | None, sequence: int | None, occurrence: int | None, key: str | None
) -> list[Any]:
    """Return the body of an atom with the fields that its id depends on."""
    return [content, None, "note", [], [], source, sequence, "internal", None, None, occurrence, key]


def test_constants_follow_from_the_page() -> None:
    """Each constant of the pages is the result of its rule, and the fingerprint is the analyzer's."""
    key = b"\x22" * 32
    expected = {
        "log root of no events": naive.log_root([]),
        "H(key; 05 ‖ atoms ‖ 16 bytes 0x01)": naive.digest("key", b"\x05atoms" + b"\x01" * 16),
        "H(leaf; EMPTY ‖ EMPTY)": naive.digest("leaf", bytes(64)),
        "commitment of salt 32 bytes 0x00, body 80": naive.digest("commitment", bytes(32) + b"\x80"),
        "id under K: no source, content a, occurrence 0": naive.default_id(
            key, placed("a", None, None, 0, None)
        ),
        "id under K: source s, key k": naive.default_id(key, placed("a", "s", None, None, "k")),
        "id under K: source s, content a, sequence 1": naive.default_id(key, placed("a", "s", 1, None, None)),
        "code under K: predicate knows": naive.predicate_code(key, "knows"),
        "fingerprint of memroot-1": fingerprint(),
        "source number of adr/016.md": u(number("source", "adr/016.md"), 8),
        "h(daemon)": u(number("term", "daemon"), 8),
    }
    assert named("constants") == {name: value.hex() for name, value in expected.items()}


WORDS = (
    "daemon",
    "listens",
    "on",
    "port",
    "ADR-016",
    "C++",
    "Anna's",
    "HTTPServer",
    "sha256",
    "東京都",
    "été",
    "the",
    "🚀",
)
SPEAKERS = ((), ("Anna:",), ("**Dr. Bo:**",), ("李：",))
TITLES = (None, "Title of it", "Sea (ship)", "The Who (band)", "東京都")


def busy_store(seed: int, rounds: int) -> Engine:
    """Return a memory after `rounds` commands of every kind, in batches that follow from the seed."""
    chance = random.Random(seed)
    engine = Engine(MemoryBackend(), clock=Clock(), salts=salt_of)
    engine.register_type("listens_on")
    atoms = [engine.add(f"start {n}").subject for n in range(3)]
    for n in range(rounds):
        text = " ".join([*chance.choice(SPEAKERS), *chance.choices(WORDS, k=chance.randrange(1, 12))])
        atom = chance.choice(atoms)
        one, two = chance.sample(atoms[:3], 2)
        live = engine.get(atom).tombstone is None
        match chance.randrange(9):
            case 0 if live:
                engine.revise(atom, content=f"{text} {n}", title=chance.choice(TITLES))
            case 1 if live:
                engine.tombstone(atom)
            case 2:
                engine.revive(atom)
            case 3 if live:
                engine.tag(atom, chance.choice(("Straße", "ﬁn", "x", "Y", "ÉTÉ")))
            case 4 if live:
                engine.untag(atom, chance.choice(("STRASSE", "X", "y")))
            case 5:
                engine.link(one, chance.choice(("references", "listens_on")), two, weight=0.5)
            case 6:
                engine.unlink(one, "references", two)
            case 7 if n % 5 == 0:
                engine.checkpoint()
            case _:
                fields: dict[str, Any] = {
                    "source": chance.choice((None, "a/b.md")),
                    "created": chance.choice((None, 0, -86_400_000_001, 253_402_300_799_999_999)),
                    "meta": chance.choice((None, {"a": n, "b.c": True}, {"x": -0.1})),
                    "aliases": chance.choice(((), ("Other", "other"))),
                    "folder": chance.choice((None, "notes")),
                }
                fields |= {"key": chance.choice((None, f"key {n}")), "trust": n % 101}
                fields |= {"sequence": chance.choice((None, n)), "title": chance.choice(TITLES)}
                atoms.append(engine.add(f"{text} {n}", **fields).subject)
    return engine


@pytest.mark.parametrize("seed", range(4))
def test_page_alone_gives_every_row_of_a_busy_store(seed: int) -> None:
    """The rules of the page compute exactly the rows of a store with every kind of event."""
    engine = busy_store(seed, 120)
    engine.catch_up()
    stored = dict(engine.store.backend.scan())
    assert all_rows(rows_of(engine.store.backend), index_terms, stop_words()) == stored


@pytest.mark.parametrize("seed", range(4))
def test_page_alone_gives_the_roots_of_a_busy_store(seed: int) -> None:
    """The rules of the page compute the roots of a store with every kind of event."""
    engine = busy_store(seed, 120)
    shown = engine.root()
    found = naive.all_roots(rows_of(engine.store.backend), index_terms, stop_words())
    expected = {"log": shown.log_root, "overall": shown.root, **shown.namespaces}
    assert {name: root.hex() for name, root in found.items()} == expected


def test_page_alone_gives_all_of_a_store_with_segments_and_dense_chunks() -> None:
    """With 5,400 ordinals (segments, a tail, dense chunks) roots and rows are the engine's."""
    from engine import Add

    engine = Engine(MemoryBackend(), clock=Clock(), salts=salt_of)
    commands = (
        Add(
            f"{WORDS[n % 13]}: {WORDS[n % 7]} {n % 97}",
            title=TITLES[n % 5],
            tags=("all",),
            source=f"{n % 11}",
            sequence=n,
            occurrence=n,
        )
        for n in range(5_400)
    )
    assert len(list(engine.apply_many(commands))) == 5_400
    shown = engine.root()
    found = naive.all_roots(rows_of(engine.store.backend), index_terms, stop_words())
    expected = {"log": shown.log_root, "overall": shown.root, **shown.namespaces}
    assert {name: root.hex() for name, root in found.items()} == expected
    stored = dict(engine.store.backend.scan())
    assert all_rows(rows_of(engine.store.backend), index_terms, stop_words()) == stored


@pytest.fixture(scope="module")
def spec_analyzer() -> SpecAnalyzer:
    """Return the analyzer that section 11 describes."""
    return SpecAnalyzer(blocks(), stop_words())


@needs_unicode14
def test_analyzer_of_the_page_agrees_on_every_probe(spec_analyzer: SpecAnalyzer) -> None:
    """Section 11 and the engine give the same terms for every text that the fingerprint covers."""
    for probe in probes():
        assert spec_analyzer.index_terms(probe) == index_terms(probe), repr(probe)
        assert spec_analyzer.query_terms(probe) == analyze_query(probe), repr(probe)


_PIECES = [
    *"aAsSzZ09_-.'@+# éÉßİſ\u0301\u0345\u200b\u200d\u2019\u2010\ufe0f\u0378\u034f",
    *"日本はひﾞกำ한ᄒ🚀👍\U00010400\U00020000",
    *("AB", "ABs", "xABs", "xY", "12", "'s", "don't", "++", "__", "ing"),
]


@needs_unicode14
@settings(max_examples=300)
@given(text=st.lists(st.sampled_from(_PIECES), max_size=30).map("".join) | st.text(max_size=20))
def test_analyzer_of_the_page_agrees_on_any_text(spec_analyzer: SpecAnalyzer, text: str) -> None:
    """Section 11 and the engine give the same terms for texts that are generated to strain its rules."""
    assert spec_analyzer.index_terms(text) == index_terms(text)
    assert spec_analyzer.query_terms(text) == analyze_query(text)
