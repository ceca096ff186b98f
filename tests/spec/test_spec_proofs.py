"""The proofs, claims, grammar and paths of docs/spec/proofs.md are those of the engine and both verifiers."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs.basis import LogHead
from proofs.claim_words import FORMS, parse_claim, value_word
from proofs.claims import IDENTITY_BYTES_MAX
from proofs.errors import REASONS, ProofError
from proofs.hashing import (
    DIGEST_BYTES,
    EMPTY,
    TREE_HASHER,
    inner_row_hash,
    key_digest,
    row_hash,
    rows_node,
    value_digest,
)
from proofs.labels import TERMS, label_of
from proofs.leaves import Group, set_row
from proofs.limits import BUNDLE_BYTES_MAX, PROOF_BYTES_MAX, SOURCE_BYTES_MAX
from proofs.proof_file import DEPTH_MAX, ITEMS_MAX, MAGIC, PATH_HASHES_MAX
from proofs.smt import bit_of
from proofs.verifier import verify
from proofs.vkey import FORMAT
from tests.reference.both import real_claim
from tests.reference.claims import is_set
from tests.reference.verifier import Basis, check
from tests.spec.spec_grammar import grammar
from tests.spec.spec_page import PARTS, block, example_values, named, page
from tests.vectors.example import OF_THE_LOG, PROVED, STORE, claim_in_words, example_memory

pytestmark = pytest.mark.slow

EXAMPLE = example_values()
FIRST = UUID(hex=EXAMPLE["id first"])
HEAD = LogHead(STORE, 6, bytes.fromhex(EXAMPLE["root log"]))
OVERALL: Basis = ("root", HEAD.store_id, bytes.fromhex(EXAMPLE["root overall"]), 6)
LOG: Basis = ("log", HEAD.store_id, HEAD.size, HEAD.root)
PART = next(part for part in PARTS if part.stem == "proofs").read_text(encoding="utf-8")
FLAT = " ".join(PART.split())
"""The page with single spaces, so that sentences are found across line breaks."""
ID, OTHER = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"

Plain = tuple[int, bytes, int | None, bool]
ALL = bytes(4) + b"\xff" * 4
"""The range of all ordinals."""

CLAIMS: dict[str, Plain] = {
    "atom": (1, FIRST.bytes, 0, False),
    "no-term": (10, ALL + b"kettl", None, False),
    "term": (9, ALL + b"daemon", None, False),
    "no-tag": (6, FIRST.bytes + b"\x02kitchen", 0, False),
}
"""The claim of each proof of the example, in the terms of section 20.1."""


@pytest.mark.parametrize("name", PROVED)
def test_the_engine_makes_the_proofs_of_the_example(name: str) -> None:
    """The engine makes the proofs of the example byte for byte, and both verifiers accept them."""
    raw, basis = bytes.fromhex(EXAMPLE[f"proof {name}"]), LOG if name in OF_THE_LOG else OVERALL
    with example_memory() as memory:
        proof = memory.prove([claim_in_words(name, str(FIRST))], checkpoint=HEAD if basis is LOG else None)
    assert proof.data == raw
    assert verify(raw, proof.basis, proof.claims) == proof.shown
    assert check(raw, basis, [CLAIMS[name]])


def annotated() -> list[str]:
    """Return the bytes of each line of the annotated proof in hex; every line has a comment."""
    lines = [re.split(r" {2,}", line.strip()) for line in block("annotated-term")]
    assert all(len(line) == 2 for line in lines), "a line without a comment"
    return [line[0].replace(" ", "") for line in lines]


def commented(words: str) -> bytes:
    """Return the bytes of the one line of the annotated proof with this comment."""
    lines = [re.split(r" {2,}", line.strip()) for line in block("annotated-term")]
    (found,) = (line[0] for line in lines if line[1] == words)
    return bytes.fromhex(found.split()[-1])


def test_the_annotated_proof_is_that_of_the_example() -> None:
    """The bytes of the annotated block, joined, are a proof of the example; its claim is before the block."""
    assert "".join(annotated()) == EXAMPLE["proof term"]
    text = FLAT.partition("### 20.11")[2].partition("```annotated-term")[0]
    words = claim_in_words("term", str(FIRST))
    assert f"`{' '.join(words)}`" in text
    assert f"`{EXAMPLE['root overall']}`" in text
    assert f"`{UUID(bytes=STORE)}`" in text


def test_the_row_of_the_annotated_proof_leads_to_its_root() -> None:
    """The label of the term, the row and the five hashes give the rows root of the summary."""
    label = label_of(commented("label key"), TERMS, b"daemon")
    assert named("walk-term")["label"] == label.hex()
    lines = [re.split(r" {2,}", line.strip())[0] for line in block("annotated-term")]
    at = lines.index("581b")
    inner = inner_row_hash(bytes.fromhex("".join(lines[at + 1 : at + 3]).replace(" ", "")))
    node, beside = row_hash(label, inner), dict[str, bytes]()
    for name in ("root(0, 8)", "root(8, 12)", "root(12, 14)", "root(14, 15)", "root(16, 19)"):
        beside[name] = commented(name)
    for name in ("root(14, 15)", "root(12, 14)", "root(8, 12)", "root(0, 8)"):
        node = rows_node(beside[name], node)
    assert rows_node(node, beside["root(16, 19)"]) == commented("rows root")
    assert EXAMPLE["summary tail"].endswith(commented("rows root").hex())


def test_the_walks_of_the_annotated_proof_lead_to_their_roots() -> None:
    """The printed digests lead to the roots of atoms and tags through the hashes of the proof."""
    walk = {name: bytes.fromhex(value) for name, value in named("walk-term").items()}
    assert walk["atoms digest"] == key_digest("atoms", FIRST.bytes)
    node = TREE_HASHER.leaf(
        walk["atoms digest"], value_digest("atoms", bytes.fromhex(EXAMPLE["value first"]))
    )
    node = TREE_HASHER.node(TREE_HASHER.node(commented("left of depth 1"), node), EMPTY)
    assert node.hex() == EXAMPLE["root atoms"]
    assert walk["tags key"] == set_row(commented("label key"), Group.LIVE, "", 0)
    assert walk["tags digest"] == key_digest("tags", walk["tags key"])
    lines = [re.split(r" {2,}", line.strip())[0] for line in block("annotated-term")]
    at = lines.index("52")
    leaf = TREE_HASHER.leaf(
        walk["tags digest"], value_digest("tags", bytes.fromhex("".join(lines[at + 1 : at + 3])))
    )
    inner = TREE_HASHER.node(leaf, commented("right of depth 1"))
    assert TREE_HASHER.node(commented("left of depth 0"), inner).hex() == EXAMPLE["root tags"]


def test_the_leaves_of_the_index_lead_to_its_root() -> None:
    """The summary of the tail and N give the root of index; their paths are those that the page names."""
    tail, count = key_digest("index", bytes.fromhex("ff00000000")), key_digest("index", b"\xfe")
    of_tail = TREE_HASHER.leaf(tail, value_digest("index", bytes.fromhex(EXAMPLE["summary tail"])))
    both = TREE_HASHER.node(of_tail, TREE_HASHER.leaf(count, value_digest("index", b"\x81\x02")))
    assert TREE_HASHER.node(both, EMPTY).hex() == EXAMPLE["root index"]
    bits = [f"{bit_of(key, 0)}, {bit_of(key, 1)}" for key in (tail, count)]
    assert f"begin with the bits {bits[0]} and {bits[1]}." in FLAT


def test_the_keys_of_sets_in_the_page_are_those_of_the_verifier() -> None:
    """The example keys of section 3.8 are the keys that the verifier looks up."""
    key = b"\x33" * 32
    found = {"live 0": set_row(key, Group.LIVE, "", 0), "été 1": set_row(key, Group.TAG, "été", 1)}
    assert named("set-rows") == {name: key.hex() for name, key in found.items()}


@pytest.mark.parametrize(
    ("group", "value", "right"),
    [
        ("source", "é" * 256, True),
        ("source", "é" * 256 + "a", False),
        ("source", "a b%", True),
        ("source", "a\u2028", False),
        ("source", "", False),
        ("bucket", "a.b_c-1", True),
        ("bucket", "a" * 33, False),
        ("kind", "A", False),
        ("provenance", "é", False),
        ("day", "2026-11-28", True),
        ("day", "2026-1-28", False),
        ("day", "２026-11-28", False),
    ],
)
def test_values_of_groups_have_the_bounds_of_the_page(group: str, value: str, right: bool) -> None:
    """Both verifiers accept the values that section 20.1 allows for a group, and no others."""
    subject = bytes([Group[group.upper()]]) + value.encode()
    assert is_set(subject) is right
    if right:
        assert real_claim(8, ALL + subject, None, False) == parse_claim(["none", group, value_word(value)])
        return
    with pytest.raises(ProofError, match=r"^input"):
        real_claim(8, ALL + subject, None, False)


@pytest.mark.parametrize("line", block("claims"))
def test_claims_in_words_are_the_claims_beside_them(line: str) -> None:
    """Each example of section 20.2 is read as the number, subject, state and opening after it."""
    words, _, expected = line.partition(" = ")
    number, subject, state, opened = expected.split(" ")
    claim = real_claim(
        int(number), bytes.fromhex(subject), None if state == "-" else int(state), opened == "opened"
    )
    assert parse_claim(words.split(" ")) == claim
    assert grammar().fullmatch(words)


WORDS = (
    *FORMS,
    *(
        "live",
        "tombstoned",
        "erased",
        "sealed",
        "Sealed",
        "supersedes",
        "8001",
        "80",
        "7f",
        "8A01",
        "0",
        "7",
        "07",
    ),
    *(ID, OTHER, ID[:-1], ID.replace("a", "A"), "ab" * 32, "AB" * 32, "ab" * 31, "9" * 19, "9" * 20),
    *("kettl", "été", "#a", "a b"),
    *(
        "source",
        "day",
        "tag",
        "2026-11-28",
        "a%20b",
        "%41",
        "%2",
        "3-7",
        "7-3",
        "3-",
        "03-7",
        "80000000000000ff",
    ),
)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
def test_words_outside_the_grammar_are_refused(words: list[str]) -> None:
    """The verifier refuses words that are not in the grammar, as `input`."""
    if grammar().fullmatch(" ".join(words)):
        return
    with pytest.raises(ProofError) as refused:
        parse_claim(words)
    assert refused.value.reason == "input"


@pytest.mark.parametrize(
    "words",
    [
        *("event 07", "event 00", "event -1", "event 1.0", f"event {'9' * 20}", "Event 7", "event 7 Sealed"),
        *(f"atom {ID} Live", f"atom {ID} sealed live", f"no-atom {ID} sealed", f"atom {ID} {ID}", "atom"),
        *(
            f"edge {ID} 8A01 {OTHER}",
            f"edge {ID} 800 {OTHER}",
            f"edge {ID} 800101 {OTHER}",
            f"edge {ID} {OTHER}",
        ),
        *(f"prefix 1 {'ab' * 31}", f"prefix {'ab' * 32}", f"root {'xy' * 32}", "tagged", "term a b"),
    ],
)
def test_words_that_nearly_fit_are_outside_the_grammar(words: str) -> None:
    """The grammar and the verifier refuse words that differ from a claim in one point."""
    assert not grammar().fullmatch(words)
    with pytest.raises(ProofError, match=r"^input"):
        parse_claim(words.split(" "))


OPERANDS = {
    "id": ID,
    "src": ID,
    "dst": OTHER,
    "store_id": ID,
    "code": "80000000000000ff",
    "value": "été",
    "term": "été",
    "group": "source",
    "seq": "7",
    "size": "7",
    "root": "ab" * 32,
}
"""A word for each field of a claim."""


@pytest.mark.parametrize("name", FORMS)
def test_words_within_the_grammar_are_accepted(name: str) -> None:
    """The grammar and the verifier accept every optional form of each claim."""
    form = FORMS[name]
    words = [OPERANDS[field] for field in form.fields]
    optional: list[list[str]] = [[]]
    if form.optional is not None:
        of_range = hasattr(form.kind, "last")
        typed = "direction" in form.fixed
        states = ["live", "tombstoned", *(["erased"] if form.sealable else [])]
        optional += [[word] for word in (["3-70000"] if of_range else ["references"] if typed else states)]
    for extra in optional:
        for sealed in ([], ["sealed"]) if form.sealable else ([],):
            line = [name, *words, *extra, *sealed]
            assert grammar().fullmatch(" ".join(line)), line
            parse_claim(line)
    assert not grammar().fullmatch(" ".join([name, *words, "sealed", "live"]))


def test_every_reason_has_a_step() -> None:
    """Each reason of the verifier is given by a check before section 20.9, and no check gives another."""
    steps, _, rest = FLAT.partition("### 20.9")
    given = {word for word in re.findall(r"`([a-z-]+)`", steps) if word in REASONS}
    assert given | {"signature"} == set(REASONS)
    unknown = set(re.findall(r"[Ee]lse `([a-z-]+)`", FLAT)) - set(REASONS)
    assert unknown == set()
    assert rest


def test_format_characters_are_listed() -> None:
    """Rule N4 lists exactly the format characters that the verifier refuses."""
    listed = set[int]()
    text = page().partition("- N4 ")[2].partition("(general category")[0]
    for first, last in re.findall(r"\b([0-9A-F]{4,5})(?:–([0-9A-F]{4,5}))?\b", text):
        listed |= set(range(int(first, 16), int(last or first, 16) + 1))
    assert listed == {point for point in range(0x110000) if FORMAT.match(chr(point))}


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ('proof = ["{}", 3,', MAGIC),
        ("the file has at most {:,} bytes; in all", PROOF_BYTES_MAX),
        ("in all other cases it has at most {:,} (else `size`)", BUNDLE_BYTES_MAX),
        ("arrays nested at most {} deep", DEPTH_MAX),
        ("at most 2^{} items", ITEMS_MAX.bit_length() - 1),
        ("at most {} hashes (else `form`)", PATH_HASHES_MAX),
        ("an *identity*, has 1 to {:,} bytes", IDENTITY_BYTES_MAX),
        ("of group 6, 1 to {} bytes", SOURCE_BYTES_MAX),
        ("a length that is a multiple of {}", DIGEST_BYTES),
    ],
)
def test_numbers_in_the_algorithm_are_the_constants(sentence: str, value: int | str) -> None:
    """The bounds in the algorithm have the values of the code."""
    assert sentence.format(value) in FLAT
