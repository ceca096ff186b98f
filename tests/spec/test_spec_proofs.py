"""The proofs, claims, grammar and paths of docs/spec/proofs.md are those of the engine and both verifiers."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs.basis import LogHead
from proofs.claim_words import FORMS, parse_claim
from proofs.claims import IDENTITY_BYTES_MAX
from proofs.errors import REASONS, ProofError
from proofs.hashing import (
    DIGEST_BYTES,
    EMPTY,
    TREE_HASHER,
    key_digest,
    row_hash,
    rows_node,
    value_digest,
)
from proofs.leaves import Group, set_row
from proofs.limits import BUNDLE_BYTES_MAX, PROOF_BYTES_MAX
from proofs.proof_file import DEPTH_MAX, ITEMS_MAX, MAGIC, PATH_HASHES_MAX
from proofs.smt import bit_of
from proofs.verifier import verify
from proofs.vkey import FORMAT
from tests.reference.both import real_claim
from tests.reference.verifier import Basis, check
from tests.spec.spec_grammar import grammar
from tests.spec.spec_page import PARTS, block, example_values, named, table
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

CLAIMS: dict[str, Plain] = {
    "atom": (1, FIRST.bytes, 0, False),
    "no-term": (10, b"kettl", None, False),
    "term": (9, b"daemon", None, False),
    "no-tag": (6, FIRST.bytes + b"kitchen", None, False),
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


def annotated(name: str) -> list[str]:
    """Return the bytes of each line of an annotated proof in hex; every line has a comment."""
    opening = "".join(line.split("  ")[0] for line in OPENING_LINES)
    lines = [re.split(r" {2,}", line.strip()) for line in block(f"annotated-{name}")]
    assert all(len(line) == 2 for line in lines), "a line without a comment"
    return [line[0].replace("(opening)", opening).replace(" ", "") for line in lines]


OPENING_LINES = [line.strip() for line in block("annotated-atom")[4:11]]
"""The lines of the opening in the first annotated proof, which the second one repeats."""


@pytest.mark.parametrize("name", ["atom", "no-term"])
def test_the_annotated_proofs_are_those_of_the_example(name: str) -> None:
    """The bytes of an annotated block, joined, are a proof of the example; its claim is before the block."""
    assert "".join(annotated(name)) == EXAMPLE[f"proof {name}"]
    text = FLAT.partition("### 20.11")[2].partition(f"```annotated-{name}")[0]
    words = claim_in_words(name, str(FIRST))
    assert f"`{' '.join(words)}`" in text
    assert f"`{EXAMPLE['root overall']}`" in text
    assert f"`{UUID(bytes=STORE)}`" in text


def test_the_walk_of_the_first_annotated_proof_leads_to_its_root() -> None:
    """The page prints the digests and the hash at each depth, from the leaf up to the root of atoms."""
    walk = {name: bytes.fromhex(value) for name, value in named("walk-atom").items()}
    key, value = (
        key_digest("atoms", FIRST.bytes),
        value_digest("atoms", bytes.fromhex(EXAMPLE["value first"])),
    )
    (sibling,) = (line for line in block("annotated-atom") if "right of depth 2" in line)
    right = bytes.fromhex(sibling.split()[0])
    at = TREE_HASHER.leaf(key, value)
    expected = {"key digest": key, "value digest": value, "depth 3": at}
    expected["depth 2"] = at = TREE_HASHER.node(at, right)
    expected["depth 1"] = at = TREE_HASHER.node(EMPTY, at)
    expected["depth 0"] = TREE_HASHER.node(EMPTY, at)
    assert walk == expected
    assert walk["depth 0"].hex() == EXAMPLE["root atoms"]
    assert f"begins with the bits {', '.join(str(bit_of(key, depth)) for depth in range(3))}," in FLAT


def test_the_walk_of_the_second_annotated_proof_leads_to_the_root_of_the_index() -> None:
    """The leaves of the tail and of N give the root of index that the page and the example print."""
    walk = named("walk-no-term")
    leaves = []
    for name in ("tail", "N"):
        key = key_digest("index", bytes.fromhex(walk[f"{name} key"]))
        assert key.hex() == walk[f"{name} digest"]
        leaves.append(TREE_HASHER.leaf(key, value_digest("index", bytes.fromhex(walk[f"{name} value"]))))
    depth_1 = TREE_HASHER.node(TREE_HASHER.node(*leaves), EMPTY)
    assert TREE_HASHER.node(EMPTY, depth_1).hex() == walk["depth 0"] == EXAMPLE["root index"]
    assert walk["tail value"] == EXAMPLE["summary tail"]


def test_the_rows_of_the_second_annotated_proof_lead_to_their_root() -> None:
    """The two neighbours and the four hashes give the rows root of the summary."""
    walk = named("walk-no-term")
    lines = [line.split() for line in block("annotated-no-term")]
    inner, inner2 = (bytes.fromhex(line[1]) for line in lines if line[-1] in ("inner", "inner2"))
    hashes = {" ".join(line[1:]): bytes.fromhex(line[0]) for line in lines if line[1].startswith("root(")}
    left, right = row_hash(b"daemon", inner), row_hash(b"l", inner2)
    assert [left.hex(), right.hex()] == [walk["row leaf 10"], walk["row leaf 11"]]
    first_16 = rows_node(
        hashes["root(0, 8)"],
        rows_node(rows_node(hashes["root(8, 10)"], rows_node(left, right)), hashes["root(12, 16)"]),
    )
    root = rows_node(first_16, hashes["root(16, 19)"]).hex()
    assert root == walk["root(0, 19)"]
    assert EXAMPLE["summary tail"].endswith(root)


def test_the_keys_of_sets_in_the_page_are_those_of_the_verifier() -> None:
    """The example keys of section 3.8 are the keys that the verifier looks up."""
    found = {"live 0": set_row(Group.LIVE, "", 0), "été 1": set_row(Group.TAG, "été", 1)}
    assert named("set-rows") == {name: key.hex() for name, key in found.items()}


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


@pytest.mark.parametrize("name", FORMS)
def test_words_within_the_grammar_are_accepted(name: str) -> None:
    """The grammar and the verifier accept every optional form of each claim."""
    kind, readers = FORMS[name]
    places = {"parse_id": [ID, OTHER], "_code": ["8001"], "parse_number": ["7"], "parse_root": ["ab" * 32]}
    given_ids = iter(places["parse_id"])
    words = [
        next(given_ids) if reader.__name__ == "parse_id" else places.get(reader.__name__, ["été"])[0]
        for reader in readers
    ]
    with_state = hasattr(kind, "state")
    with_opening = hasattr(kind, "opened")
    states = [[], ["live"], ["tombstoned"], ["erased"]] if with_state else [[]]
    for state in states:
        for sealed in ([], ["sealed"]) if with_opening else ([],):
            line = [name, *words, *state, *sealed]
            assert grammar().fullmatch(" ".join(line)), line
            parse_claim(line)
    assert not grammar().fullmatch(" ".join([name, *words, "sealed", "live"]))


def test_every_reason_has_a_step() -> None:
    """Each reason of the table is given by a check above it, and each check gives a reason of the table."""
    steps, _, rest = FLAT.partition("<!-- table: reasons -->")
    assert {row[0] for row in table("reasons")} == set(REASONS)
    given = {word for word in re.findall(r"`([a-z-]+)`", steps) if word in REASONS}
    assert given | {"signature"} == set(REASONS)
    unknown = set(re.findall(r"[Ee]lse `([a-z-]+)`", FLAT)) - set(REASONS)
    assert unknown == set()
    assert rest


def test_format_characters_are_listed() -> None:
    """Rule N4 lists exactly the format characters that the verifier refuses."""
    listed = set[int]()
    text = FLAT.partition("- N4 ")[2].partition("(general category")[0]
    for first, last in re.findall(r"\b([0-9A-F]{4,5})(?:–([0-9A-F]{4,5}))?\b", text):
        listed |= set(range(int(first, 16), int(last or first, 16) + 1))
    assert listed == {point for point in range(0x110000) if FORMAT.match(chr(point))}


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ('proof = ["{}", 2,', MAGIC),
        ("the file has at most {:,} bytes; in all", PROOF_BYTES_MAX),
        ("in all other cases it has at most {:,} (else `size`)", BUNDLE_BYTES_MAX),
        ("arrays nested more than {} deep", DEPTH_MAX),
        ("more than 2^{} items", ITEMS_MAX.bit_length() - 1),
        ("at most {} hashes (else `form`)", PATH_HASHES_MAX),
        ("an identity has 1 to {:,} bytes", IDENTITY_BYTES_MAX),
        ("a length that is a multiple of {}", DIGEST_BYTES),
    ],
)
def test_numbers_in_the_algorithm_are_the_constants(sentence: str, value: int | str) -> None:
    """The bounds in the algorithm have the values of the code."""
    assert sentence.format(value) in FLAT
