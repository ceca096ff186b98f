"""What can be asked: every term and tag that there is, and nothing that no text or atom can have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base import validation
from engine.base.errors import InvalidInputError, RefusedError
from engine.engine import Engine
from engine.text.analyzer import index_terms
from engine.text.probes import probes
from proofs.claims import HasTag, NoneMentioning, NoneTagged
from proofs.errors import ProofError
from proofs.sets import tag_identity


@pytest.mark.parametrize("text", list(probes()), ids=repr)
def test_every_term_of_the_probes_can_be_claimed(text: str) -> None:
    """What the analyzer makes of the probes is always a term to the verifier."""
    for term in index_terms(text):
        assert NoneMentioning(term).term == term


@pytest.mark.parametrize("words", [["event", "0"], ["event", "00"]])
def test_words_do_not_give_away_the_key_of_the_ids(words: list[str]) -> None:
    """`event 0` must be sealed: whoever knows its payload can test guesses of contents."""
    with Engine.open("memory:") as memory:
        with pytest.raises((RefusedError, InvalidInputError)):
            memory.prove([words])
        assert memory.prove([["event", "0", "sealed"]]).data


@given(st.text(max_size=60))
def test_every_term_of_any_text_can_be_claimed(text: str) -> None:
    """So is what it makes of any text."""
    for term in index_terms(text):
        assert NoneMentioning(term).term == term


@given(st.text(max_size=40))
def test_every_tag_can_be_claimed(text: str) -> None:
    """The identity of whatever is kept as a tag is one to the verifier."""
    try:
        identity = tag_identity(validation.tag(text))
    except InvalidInputError:
        return
    assert NoneTagged(identity).identity == identity


@pytest.mark.parametrize("term", ["Kettle", "two words", "kettle ", "\u3000", ""])
def test_what_can_be_no_term_is_refused(term: str) -> None:
    """Its absence would be true and say nothing."""
    with pytest.raises(ProofError, match=r"^input: "):
        NoneMentioning(term)


@pytest.mark.parametrize("identity", ["Kitchen", "#kitchen", "two words", "kitchen\t", "", "a\0", "\x85"])
def test_what_can_be_no_tag_is_refused(identity: str) -> None:
    """Neither can its absence be claimed, nor that of it on one atom."""
    with pytest.raises(ProofError, match=r"^input: "):
        NoneTagged(identity)
    with pytest.raises(ProofError, match=r"^input: "):
        HasTag(b"\x01" * 16, identity)
