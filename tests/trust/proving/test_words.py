"""Claims in words: in the extended syntax for people, and in the canonical form of every claim."""

from __future__ import annotations

import json
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any
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
from proofs.leaves import Direction, Group, State
from proofs.limits import ORDINAL_MAX, SEQ_MAX
from proofs.log import SIZE_MAX
from proofs.verify_arguments import parse_claims
from tests.support.engines import engine_on
from tests.support.shared_data import needs
from tests.trust.proving.support import every_claim, filled, predicate

FIRST, SECOND, ALIKE = (bytes.fromhex(f"{head}{'0' * 24}") for head in ("1f0c0001", "9a2e0002", "9a2e0003"))
ENGINE = engine_on()
for _id in (FIRST, SECOND, ALIKE):
    ENGINE.add("The kettle.", id=str(UUID(bytes=_id)), tags=["Two Words"])
ENGINE.register_type("listens_on")
PREDICATE = predicate(ENGINE)
ENGINE.register_type(PREDICATE.hex())
LIKE_A_CODE = predicate(ENGINE, PREDICATE.hex())
ROOT = "ab" * 32
STORE = UUID("cd" * 16)

WRITTEN: list[tuple[str, Claim]] = [
    ("atom 1f0c", kinds.AtomIs(FIRST)),
    ("atom 1f0c0001", kinds.AtomIs(FIRST)),
    (f"atom {UUID(bytes=SECOND)} tombstoned", kinds.AtomIs(SECOND, State.TOMBSTONED)),
    ("atom 1f0c sealed", kinds.AtomIs(FIRST, opened=False)),
    ("atom 1f0c erased", kinds.AtomIs(FIRST, State.ERASED, opened=False)),
    (f"no-atom {UUID('7' * 32)}", kinds.NoAtom(bytes([0x77] * 16))),
    ("edge 1f0c listens_on 9a2e0002", kinds.EdgeIs(FIRST, PREDICATE, SECOND)),
    (f"edge 1f0c {LIKE_A_CODE.hex()} 9a2e0002", kinds.EdgeIs(FIRST, LIKE_A_CODE, SECOND)),
    (f"edge 1f0c {PREDICATE.hex()} 9a2e0002", kinds.EdgeIs(FIRST, LIKE_A_CODE, SECOND)),
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
    ("in 1f0c kind note", kinds.HasTag(FIRST, "note", group=Group.KIND)),
    ("not-in 1f0c source a%20b%25 tombstoned", kinds.LacksTag(FIRST, "a b%", State.TOMBSTONED, Group.SOURCE)),
    ("tagged kitchen 0-9", kinds.AtomsTagged("kitchen", last=9)),
    ("none day 2026-01-01", kinds.NoneTagged("2026-01-01", Group.DAY)),
    ("term Kettles 3-4", kinds.AtomsMentioning("kettl", first=3, last=4)),
    ("edges-from 1f0c", kinds.EdgesOf(FIRST)),
    ("edges-to 9a2e0002 listens_on", kinds.EdgesOf(SECOND, Direction.TO, PREDICATE)),
    ("tags 1f0c tombstoned", kinds.TagsOf(FIRST, State.TOMBSTONED)),
    (f"seen {STORE} 7 {ROOT}", kinds.HeadSeen(STORE.bytes, 7, bytes.fromhex(ROOT))),
    ("event 0 sealed", kinds.EventIs(0, opened=False)),
    (f"prefix 3 {ROOT}", kinds.LogBegins(3, bytes.fromhex(ROOT))),
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
    (["atom", "1F0C"], InvalidInputError),
    (["atom", "7777"], NotFoundError),
    (["atom", "9a2e"], ConflictError),
    (["atom", "1f0c", "dead"], InvalidInputError),
    (["atom", "1f0c", "live", "sealed", "sealed"], InvalidInputError),
    (["no-atom", "7777"], InvalidInputError),
    (["no-atom", "0" * 32], InvalidInputError),
    (["edge", "1f0c", "listens_on"], InvalidInputError),
    (["edge", "1f0c", "unheard_of", "9a2e0002"], NotFoundError),
    (["edge", "1f0c", "80" * 8, "9a2e0002"], NotFoundError),
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
    (["root", ROOT.upper()], InvalidInputError),
    (["no-atom", "7" * 32], InvalidInputError),
    (["event", "0"], InvalidInputError),
    (["in", "1f0c", "tag", "kitchen"], InvalidInputError),
    (["all", "source", "a%2"], InvalidInputError),
    (["all", "source", "a%61"], InvalidInputError),
    (["tagged", "kitchen", "3-2"], InvalidInputError),
    (["seen", STORE.hex, "1", ROOT], InvalidInputError),
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
CODES = st.integers(1, 0x7F).map(lambda code: bytes([code])) | st.binary(min_size=8, max_size=8).map(
    lambda code: bytes([code[0] | 0x80]) + code[1:]
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
LABELS = st.text("abz019._-", min_size=1, max_size=32)
SOURCES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), min_size=1, max_size=20
)
SETS = st.one_of(
    st.tuples(st.just(Group.TAG), TAGS),
    st.tuples(st.sampled_from([Group.BUCKET, Group.KIND, Group.PROVENANCE]), LABELS),
    st.tuples(st.just(Group.SOURCE), SOURCES | st.sampled_from(["a b", "100%", "%20", "\u3000"])),
    st.tuples(st.just(Group.DAY), st.dates().map(str)),
)
KEPT = st.sampled_from([State.LIVE, State.TOMBSTONED])
RANGES = st.just((0, ORDINAL_MAX)) | st.tuples(*[st.integers(0, ORDINAL_MAX)] * 2).map(
    lambda bounds: (min(bounds), max(bounds))
)


def member(kind: Any, atom: bytes, of: tuple[Group, str], state: State) -> Claim:
    """Return a claim about an atom and a set."""
    return kind(atom, of[1], state, of[0])  # type: ignore[no-any-return]


def listed(kind: Any, of: tuple[Group, str], bounds: tuple[int, int]) -> Claim:
    """Return a claim about the atoms of a set in a range."""
    return kind(of[1], of[0], first=bounds[0], last=bounds[1])  # type: ignore[no-any-return]


def mentioning(kind: Any, term: str, bounds: tuple[int, int]) -> Claim:
    """Return a claim about the atoms with a term in a range."""
    return kind(term, first=bounds[0], last=bounds[1])  # type: ignore[no-any-return]


CLAIMS: st.SearchStrategy[Claim] = st.one_of(
    st.builds(lambda atom, stated: kinds.AtomIs(atom, *stated), IDS, STATED),
    st.builds(kinds.NoAtom, IDS),
    st.builds(lambda edge, stated: kinds.EdgeIs(*edge, *stated), EDGES, STATED),
    EDGES.map(lambda edge: kinds.NoEdge(*edge)),
    st.builds(member, st.sampled_from([kinds.HasTag, kinds.LacksTag]), IDS, SETS, KEPT),
    st.builds(listed, st.sampled_from([kinds.AtomsTagged, kinds.NoneTagged]), SETS, RANGES),
    st.builds(mentioning, st.sampled_from([kinds.AtomsMentioning, kinds.NoneMentioning]), TERMS, RANGES),
    st.builds(kinds.EventIs, st.integers(1, SEQ_MAX), st.booleans()),
    st.just(kinds.EventIs(0, opened=False)),
    st.builds(kinds.LogBegins, st.integers(1, SIZE_MAX), ROOTS),
    st.builds(kinds.EdgesOf, IDS, st.sampled_from(Direction), st.none() | CODES),
    st.builds(kinds.TagsOf, IDS, KEPT),
    st.builds(kinds.HeadSeen, st.binary(min_size=16, max_size=16), st.integers(1, SEQ_MAX + 1), ROOTS),
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
