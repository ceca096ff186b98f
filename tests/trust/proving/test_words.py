"""Claims in words: in the extended syntax for people, and in the canonical form of every claim."""

from __future__ import annotations

import json
from collections.abc import Sequence
from string import ascii_uppercase
from unicodedata import category
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import ConflictError, EngineError, InvalidInputError, NotFoundError
from engine.text.analyzer import index_terms
from engine.trust.proving.prove import ParsedClaim, claim_of, term_of
from proofs import claims as kinds
from proofs.claim_words import FORMS, parse_claim, words_of
from proofs.claims import Claim
from proofs.errors import ProofError
from proofs.leaves import State
from proofs.verify_arguments import parse_claims
from tests.support.engines import engine_on
from tests.support.shared_data import needs
from tests.trust.proving.support import every_claim, filled

FIRST, SECOND, ALIKE = (bytes.fromhex(f"{head}{'0' * 24}") for head in ("1f0c0001", "9a2e0002", "9a2e0003"))
ENGINE = engine_on()
for _id in (FIRST, SECOND, ALIKE):
    ENGINE.add("The kettle.", id=str(UUID(bytes=_id)), tags=["Two Words"])
ENGINE.register_type("listens_on")
ENGINE.register_type("8000")
PREDICATE, LIKE_A_CODE = b"\x80\x00", b"\x80\x01"
ROOT = "ab" * 32

WRITTEN: list[tuple[str, Claim]] = [
    ("atom 1f0c", kinds.AtomIs(FIRST)),
    ("atom 1F0C-0001", kinds.AtomIs(FIRST)),
    (f"atom {UUID(bytes=SECOND)} tombstoned", kinds.AtomIs(SECOND, State.TOMBSTONED)),
    ("atom 1f0c sealed", kinds.AtomIs(FIRST, opened=False)),
    ("atom 1f0c erased", kinds.AtomIs(FIRST, State.ERASED, opened=False)),
    (f"no-atom {'7' * 32}", kinds.NoAtom(bytes([0x77] * 16))),
    ("edge 1f0c listens_on 9a2e0002", kinds.EdgeIs(FIRST, PREDICATE, SECOND)),
    ("edge 1f0c 8001 9a2e0002", kinds.EdgeIs(FIRST, LIKE_A_CODE, SECOND)),
    ("edge 1f0c 8000 9a2e0002", kinds.EdgeIs(FIRST, LIKE_A_CODE, SECOND)),
    ("edge 1f0c part_of 9a2e0002 live sealed", kinds.EdgeIs(FIRST, b"\x05", SECOND, opened=False)),
    ("no-edge 9a2e0002 references 1f0c", kinds.NoEdge(SECOND, b"\x06", FIRST)),
    ("tag 1f0c #Kitchen", kinds.HasTag(FIRST, "kitchen")),
    ("no-tag 1f0c STRASSE", kinds.LacksTag(FIRST, "strasse")),
    ("no-tag 1f0c straße", kinds.LacksTag(FIRST, "strasse")),
    ("tagged #Kitchen", kinds.AtomsTagged("kitchen")),
    ("none-tagged É", kinds.NoneTagged("é")),
    ("term Kettles", kinds.AtomsMentioning("kettl")),
    ("term kettl", kinds.AtomsMentioning("kettl")),
    ("no-term ADR-016", kinds.NoneMentioning("adr-016")),
    ("no-term 016", kinds.NoneMentioning("016")),
    ("no-term the", kinds.NoneMentioning("the")),
    ("no-term 猫が", kinds.NoneMentioning("猫が")),
    ("event 0 sealed", kinds.EventIs(0, opened=False)),
    (f"prefix 3 {ROOT.upper()}", kinds.LogBegins(3, bytes.fromhex(ROOT))),
    (f"root {ROOT}", kinds.RootRecorded(bytes.fromhex(ROOT))),
    (f"prefix-root {ROOT}", kinds.BeginsWithRoot(bytes.fromhex(ROOT))),
]


def asked(words: Sequence[str]) -> ParsedClaim:
    """Return the claim that the words describe for the store of these tests."""
    with ENGINE.store.view() as rows:
        return claim_of(rows, words)


@pytest.mark.parametrize(("text", "claim"), WRITTEN)
def test_claims_as_people_write_them(text: str, claim: Claim) -> None:
    """Shortened ids, names of predicates before codes, tags with # in any case, and words for terms."""
    assert asked(text.split(" ")) == (claim, None)


def test_an_earlier_root_may_have_its_size() -> None:
    """`prefix-root ROOT` may be followed by the number of events that it covers."""
    assert asked(["prefix-root", ROOT, "12"]) == (kinds.BeginsWithRoot(bytes.fromhex(ROOT)), 12)


def test_a_tag_of_two_words_is_one_word_on_a_command_line() -> None:
    """White space in a tag of a claim is normalized as in a stored tag."""
    assert asked(["tagged", "Two  Words"]).claim == kinds.AtomsTagged("two-words")


NO_CLAIMS: list[tuple[list[str], type[EngineError]]] = [
    ([], InvalidInputError),
    ([""], InvalidInputError),
    (["atoms"], InvalidInputError),
    (["ATOM", "1f0c"], InvalidInputError),
    (["atom"], InvalidInputError),
    (["atom", "1f0"], InvalidInputError),
    (["atom", "xyzw"], InvalidInputError),
    (["atom", "7777"], NotFoundError),
    (["atom", "9a2e"], ConflictError),
    (["atom", "1f0c", "dead"], InvalidInputError),
    (["atom", "1f0c", "live", "sealed", "sealed"], InvalidInputError),
    (["no-atom", "7777"], InvalidInputError),
    (["no-atom", "0" * 32], InvalidInputError),
    (["edge", "1f0c", "listens_on"], InvalidInputError),
    (["edge", "1f0c", "unheard_of", "9a2e0002"], NotFoundError),
    (["edge", "1f0c", "8002", "9a2e0002"], NotFoundError),
    (["edge", "1f0c", "part_of", "1f0c"], InvalidInputError),
    (["tagged", ""], InvalidInputError),
    (["tagged", "#"], InvalidInputError),
    (["tagged", "x" * 2000], InvalidInputError),
    (["tagged", "a", "b"], InvalidInputError),
    (["term"], InvalidInputError),
    (["term", ""], InvalidInputError),
    (["term", "!!!"], InvalidInputError),
    (["term", "two", "words"], InvalidInputError),
    (["event"], InvalidInputError),
    (["event", "-1"], InvalidInputError),
    (["event", "01"], InvalidInputError),
    (["event", "१"], InvalidInputError),
    (["event", "9" * 19], InvalidInputError),
    (["prefix", "0", ROOT], InvalidInputError),
    (["prefix", "1", ROOT[1:]], InvalidInputError),
    (["root", ROOT, ROOT], InvalidInputError),
    (["prefix-root", ROOT, "1", "1"], InvalidInputError),
]


@pytest.mark.parametrize(("words", "error"), NO_CLAIMS)
def test_words_that_make_no_claim(words: list[str], error: type[EngineError]) -> None:
    """Words that are too few, too many, invalid, out of bounds or ambiguous are refused with the reason."""
    with pytest.raises(error) as caught:
        asked(words)
    assert str(caught.value)


@pytest.mark.parametrize("word", ["two words", "ADR-016 sails", "\x1b[31m"])
def test_a_word_of_several_terms_is_refused_with_a_choice(word: str) -> None:
    """The hint lists the terms to choose from, each of which is accepted as it is."""
    with pytest.raises(InvalidInputError, match=r"has \d terms") as caught:
        term_of(word)
    choices = caught.value.hint.removeprefix("choose one of: ").split()
    assert choices == list(dict.fromkeys(index_terms(word)))
    assert "\x1b" not in f"{caught.value}{caught.value.hint}"


IDS = st.binary(min_size=16, max_size=16).filter(any)
ROOTS = st.binary(min_size=32, max_size=32)
CODES = st.integers(1, 0x7F).map(lambda code: bytes([code])) | st.integers(0x8000, 0xFFFF).map(
    lambda code: code.to_bytes(2, "big")
)
TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
NAMES = TEXT.filter(
    lambda text: text.split() == [text] and not any(c in ascii_uppercase or category(c) == "Cc" for c in text)
)
TAGS = NAMES.filter(lambda tag: tag[0] != "#")
TERMS = NAMES.filter(lambda term: len(term.encode()) <= 64)
STATED = st.sampled_from(
    [(state, opened) for state in State for opened in (True, False) if not (state is State.ERASED and opened)]
)
EDGES = st.tuples(IDS, CODES, IDS).filter(lambda edge: edge[0] != edge[2])
CLAIMS: st.SearchStrategy[Claim] = st.one_of(
    st.builds(lambda atom, stated: kinds.AtomIs(atom, *stated), IDS, STATED),
    st.builds(kinds.NoAtom, IDS),
    st.builds(lambda edge, stated: kinds.EdgeIs(*edge, *stated), EDGES, STATED),
    EDGES.map(lambda edge: kinds.NoEdge(*edge)),
    st.builds(kinds.HasTag, IDS, TAGS),
    st.builds(kinds.LacksTag, IDS, TAGS),
    st.builds(kinds.AtomsTagged, TAGS),
    st.builds(kinds.NoneTagged, TAGS),
    st.builds(kinds.AtomsMentioning, TERMS),
    st.builds(kinds.NoneMentioning, TERMS),
    st.builds(kinds.EventIs, st.integers(0, 1 << 53), st.booleans()),
    st.builds(kinds.LogBegins, st.integers(1, 1 << 60), ROOTS),
    st.builds(kinds.RootRecorded, ROOTS),
    st.builds(kinds.BeginsWithRoot, ROOTS),
)


@settings(max_examples=400, deadline=None)
@given(claim=CLAIMS)
def test_every_claim_has_words_that_make_it(claim: Claim) -> None:
    """`parse_claim` returns the claim that was formatted as words."""
    assert parse_claim(words_of(claim)) == claim


def test_a_list_has_a_claim_on_each_line() -> None:
    """The words of claims, joined by spaces and ended by newlines, are parsed as these claims."""
    claims = every_claim(filled())
    text = "".join(" ".join(words_of(claim)) + "\n" for claim in claims)
    assert parse_claims([], text.encode()) == claims


WORDS = st.sampled_from([*FORMS, "sealed", "live", "1f0c", "part_of", ROOT, "0", "\x00", "\ud800", "\x1b[2J"])


def refused(words: list[str]) -> str:
    """Return the message of the error with which the words are refused, or an empty text."""
    try:
        claim = asked(words).claim
    except EngineError as error:
        return str(error)
    assert parse_claim(words_of(claim)) == claim
    return ""


def reason_of(words: list[str]) -> str:
    """Return the reason for which the words are not a claim in canonical form."""
    try:
        assert type(parse_claim(words)) in kinds.ALL.values()
    except ProofError as error:
        return error.reason
    return "input"


@settings(max_examples=400, deadline=None)
@given(words=st.lists(WORDS | st.text(max_size=8), max_size=6))
def test_hostile_words_make_a_claim_or_an_error_of_ours(words: list[str]) -> None:
    """Any words are a claim or raise one EngineError."""
    assert reason_of(words) == "input"
    assert refused(words).isprintable()


def test_naughty_strings_are_only_ever_words() -> None:
    """Every naughty string is a tag, a term or an error, in every place of a claim."""
    for text in json.loads(needs("vectors/strings/blns.json").read_text(encoding="utf-8")):
        for words in ([text], ["tagged", text], ["term", text], ["atom", text], ["tag", "1f0c", text]):
            assert refused(words).isprintable(), words
