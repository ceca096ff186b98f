"""Laws of the reader of sentences that hold for every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge.dreaming.relations import Statement, statements_of

PLAIN = """Rob Jade rob Leeds Dune a the my his it I I'm she and or is are was not in at on of by to with
who that if met went visited loved married works lives sister daughter favorite cat named trip author
Rob: 's Rob's , . ? : ( ) " + 8080 web-01 J. \u2019 [[ ``` Dr"""
WORDS = st.sampled_from([*PLAIN.split(), "\n"])
TEXTS = st.lists(WORDS | st.text(max_size=6), max_size=30).map(" ".join)


def stated(text: str) -> list[Statement]:
    """What a text states, if `Rob` is a known name, on the page `Dune`."""
    return statements_of(text, "Dune", lambda words: words == ("rob",))


@given(TEXTS)
def test_every_statement_has_its_ends_in_a_sentence_of_the_text(text: str) -> None:
    """Any text can be read, and the evidence is a part of it."""
    for one in stated(text):
        assert 0 <= one.start < one.end <= len(text)
        assert one.subject.strip()
        assert one.object.strip()
        assert one.subject.lower() != one.object.lower()


@given(TEXTS)
def test_a_question_states_nothing(text: str) -> None:
    """A sentence that ends with a question mark states nothing."""
    asked = f"{text} ?"
    assert not any(asked[one.start : one.end].endswith("?") for one in stated(asked))


@given(TEXTS)
def test_the_same_text_states_the_same(text: str) -> None:
    """Reading a text twice gives the same statements, each once."""
    once = stated(text)
    assert once == stated(text)
    assert len({one.key for one in once}) == len(once)
