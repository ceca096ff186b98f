"""Unusual questions: odd, long and invalid ones."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine import Add, Engine, EngineError, Protocol, RecallConfig, Signals
from engine.base.errors import InvalidInputError, LimitError
from engine.base.limits import QUERY_BYTES_MAX
from tests.query.recall.support import ask, fillers, keys, memory, named

ATOMS = (
    named("han", "昨日、日本語の急須を買いました。"),
    named("thai", "เมื่อวานฉันซื้อกาน้ำชา"),
    named("cyrillic", "Мы решили купить чайник в Твери."),
    named("greek", "Ο βραστήρας είναι στην κουζίνα."),
    named("arabic", "الغلاية في المطبخ القديم"),
    named("emoji", "Done 🎉🫖"),
    named("record", "As decided in ADR-016, stores are one file."),
    named("code", "The function foo_bar reads `configFile` first."),
    named("mail", "Ask anna@example.org for the plan, or see https://example.org/kettle/copper"),
    named("who", "The Who: we saw them in 1989."),
    named("accent", "Zoë's café in Kraków serves crème brûlée"),
    *fillers(10),
)


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("日本語の急須", "han"),
        ("急", "han"),
        ("กาน้ำชา", "thai"),
        ("Что мы решили купить?", "cyrillic"),
        ("ЧАЙНИК", "cyrillic"),
        ("Πού είναι ο βραστήρας;", "greek"),
        ("أين الغلاية؟", "arabic"),
        ("🫖", "emoji"),
        ("tell me about 🎉", "emoji"),
        ("ADR-016", "record"),
        ("adr 16 or 016?", "record"),
        ("what does ADR‑016 say", "record"),
        ("foo_bar", "code"),
        ("config file", "code"),
        ("configFile()", "code"),
        ("anna@example.org", "mail"),
        ("https://example.org/kettle/copper", "mail"),
        ("the who", "who"),
        ("zoë", "accent"),
        ("Zoe\u0308 in KRAKÓW", "accent"),
        ('"crème brûlée"', "accent"),
        ("?!… ADR-016 …!?", "record"),
        ("a\u00add\u00adr-016", "record"),
        ("%s {0} \\d+ <b> ' OR 1=1; -- ADR-016", "record"),
    ],
)
def test_odd_questions_find_what_they_ask_for(question: str, key: str) -> None:
    """Other scripts, identifiers, addresses, punctuation and accents in any Unicode form are found."""
    assert keys(ask(ATOMS, question).hits)[0] == key


@pytest.mark.parametrize("question", ["the", "what is it", "Who was that?", "to be or not to be"])
def test_a_question_of_stop_words_is_asked_by_them(question: str) -> None:
    """A question of stop words only is searched by these."""
    found = ask(
        [named("to", "to be or not to be, what is it, who was that in the end"), *fillers(5)], question
    )
    assert found.terms
    assert keys(found.hits)[0] == "to"


@pytest.mark.parametrize("question", ["", " ", "\n\t ", "\u3000\u2003"])
def test_a_blank_question_is_refused(question: str) -> None:
    """A question of white space only raises an error that says so."""
    with memory([Add("kettle")]) as engine, pytest.raises(InvalidInputError, match="blank"):
        engine.recall(question)


@pytest.mark.parametrize("question", ["?", "...", "!? -- \u2014", "\u200b", "\u0301", "/ \\ | &", "«»"])
def test_a_question_of_marks_is_refused(question: str) -> None:
    """A question of punctuation and invisible characters raises an error that says so."""
    with memory([Add("kettle")]) as engine, pytest.raises(InvalidInputError, match="no searchable word"):
        engine.recall(question)


@pytest.mark.parametrize("question", [None, 5, b"kettle", ["kettle"], "a\ud800", "NUL \x00", "\uffff"])
def test_what_is_no_text_is_refused(question: object) -> None:
    """Other types, lone surrogates and NUL raise an EngineError."""
    with memory([Add("kettle")]) as engine, pytest.raises(EngineError, match="query"):
        engine.recall(question)  # type: ignore[arg-type]  # that is the point


def test_a_question_is_64_kib_at_most() -> None:
    """The longest question is answered; one byte more raises an error with both numbers."""
    words = " ".join(map("".join, product("bcdfghjklm", repeat=5)))[: QUERY_BYTES_MAX - len(" kettle")]
    longest = f"{words} kettle"
    with memory(ATOMS) as engine:
        engine.add("a kettle", key="kettle")
        assert keys(engine.recall(longest).hits)[0] == "kettle"
        with pytest.raises(LimitError, match="65537 bytes; at most 65536"):
            engine.recall(longest + "s")
        with pytest.raises(LimitError):
            engine.recall("é" * (QUERY_BYTES_MAX // 2) + "a")


def test_only_the_rarest_terms_of_a_long_question_are_searched() -> None:
    """Of more terms than the limit, those that the fewest atoms contain are looked up, in their order."""
    config = RecallConfig(protocol=Protocol(terms=2))
    atoms = [Add("kettle tea copper"), Add("kettle tea"), Add("kettle")]
    asked = ask(atoms, "absent kettle tea copper", config)
    assert asked.terms == ("tea", "copper")
    assert ask(atoms, "absent tea", config).terms == ("absent", "tea")
    assert asked.hits[0].snippet == "kettle tea copper"


def test_a_pasted_page_is_a_question() -> None:
    """A question of 3,000 words is answered, and its main subject comes first."""
    page = "The copper kettle in our kitchen leaks where its handle was soldered in 1989. " * 215
    assert len(page.split()) > 3000
    atoms = [named("about", "The handle of the copper kettle was soldered"), *ATOMS]
    found = ask(atoms, page)
    assert keys(found.hits)[0] == "about"
    assert {"copper", "kettl", "1989"} <= set(found.terms)


@pytest.mark.parametrize(
    ("question", "core"),
    [
        ("Hi! Can you remind me what we said about the kettle, please?", "the kettle"),
        ("please tell me about the kettle", "the kettle"),
        ("Do you remember the kettle?", "the kettle"),
        ("What's the latest on the kettle", "the kettle"),
        ("So, I was wondering about the kettle. Thanks!", "the kettle"),
        ("the kettle", "the kettle"),
        ("tell me", "tell me"),
    ],
)
def test_a_question_is_reduced_to_its_core(question: str, core: str) -> None:
    """Greetings, thanks and request phrases are removed; `core` has the rest and is not empty."""
    found = ask(ATOMS, question)
    assert (found.query, found.core) == (question, core)


@pytest.mark.parametrize("question", ["Can you remind me what we said about the kettle, please?", "kettle?"])
def test_what_is_said_around_a_question_changes_no_hit(question: str) -> None:
    """Polite phrases do not change hits and scores."""
    atoms = [Add("remind me, please: said can said"), Add("the copper kettle leaks"), *ATOMS]
    assert ask(atoms, question).hits == ask(atoms, "the kettle").hits


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60))
@example("a" * 5000)
@example("😀" * 300)
@example("\u0915\u094d" * 200)
@example('=HYPERLINK("x") \x1b[2J \'; DROP TABLE atoms; --')
def test_every_text_is_answered_or_refused(question: str) -> None:
    """For any text, recall returns an answer or raises an EngineError."""
    with memory(ATOMS) as engine, suppress(EngineError):
        found = engine.recall(question, explain=True)
        assert found.terms
        assert found.core in question


@pytest.mark.parametrize("limit", [0, -1, 10_001, 2**70, "5", 2.0, True])
def test_a_limit_out_of_range_is_refused(limit: object) -> None:
    """A limit is a whole number from 1 to 10,000."""
    with memory(ATOMS) as engine, pytest.raises(EngineError, match="limit"):
        engine.recall("kettle", limit=limit)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("weight", [-0.1, float("nan"), float("inf"), 1000.5, "1", None])
def test_a_weight_out_of_range_is_refused(weight: object) -> None:
    """A weight with which scores would not be finite raises an error that names it."""
    with pytest.raises(InvalidInputError, match="near"):
        RecallConfig(signals=Signals(near=weight))  # type: ignore[arg-type]  # that is the point


def test_internal_is_a_factor() -> None:
    """A factor `internal` of 0 raises an error; 1 switches the signal off."""
    with pytest.raises(InvalidInputError, match="internal"):
        RecallConfig(signals=Signals(internal=0.0))


@pytest.mark.parametrize(
    "protocol",
    [
        {"tokens_per_atom": 0},
        {"tokens_per_atom": -200},
        {"atoms_min": -5},
        {"atoms_min": 0},
        {"walkers": -0.1},
        {"walkers": 1.1},
        {"walkers": float("nan")},
        {"covers": float("nan")},
        {"entities": 0},
        {"candidates": 0},
        {"candidates": -1},
    ],
)
def test_a_protocol_that_makes_no_sense_is_refused(protocol: dict[str, float]) -> None:
    """Constants out of range raise an error at construction."""
    with pytest.raises(InvalidInputError, match=next(iter(protocol))):
        RecallConfig(protocol=Protocol(**protocol))  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("chars", [-5, 0])
def test_snippets_have_some_room(chars: int) -> None:
    """A snippet length of 0 raises an error."""
    with pytest.raises(InvalidInputError, match="snippet_chars"):
        RecallConfig(snippet_chars=chars)


@pytest.mark.parametrize(
    "protocol", [{"tokens_per_atom": 0}, {"atoms_min": -5}, {"candidates": -1}, {"entities": 0}]
)
def test_no_configuration_makes_a_question_fail(protocol: dict[str, int]) -> None:
    """With any valid configuration, recall only raises EngineError."""
    with (
        suppress(EngineError),
        Engine.open("memory:", config=RecallConfig(protocol=Protocol(**protocol))) as engine,
    ):
        engine.apply(ATOMS)
        engine.recall("ADR-016", budget=100)
        engine.recall("Did Anna and Zoë agree on ADR-016 in Kraków?")
