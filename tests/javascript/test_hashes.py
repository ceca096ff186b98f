"""BLAKE3, SHA-256 and Ed25519 in JavaScript give what the published test vectors say."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from engine.base.characters import is_assigned
from proofs.leaves import tag_identity
from tests.javascript.node import ask
from tests.support.shared_data import needs

pytestmark = pytest.mark.slow

FIPS = {
    b"": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    b"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": (
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    b"a" * 1_000_000: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
}
"""The examples that NIST publishes for SHA-256 (FIPS 180-4)."""


def published(path: str) -> Any:
    """Return the content of a file of public test vectors."""
    return json.loads((needs("vectors") / path).read_bytes())


def test_blake3_gives_the_published_keys() -> None:
    """All 35 lengths of the vectors of the BLAKE3 team, in the mode `derive_key`."""
    vectors = published("blake3/test_vectors.json")
    cases = vectors["cases"]
    inputs = [bytes(at % 251 for at in range(case["input_len"])).hex() for case in cases]
    found = ask({"ask": "blake3", "context": vectors["context_string"], "input": one} for one in inputs)
    assert [one["hash"] for one in found] == [case["derive_key"][:64] for case in cases]
    assert len(cases) == 35


def test_sha256_gives_the_published_hashes() -> None:
    """The examples of NIST, and every length about the ends of a block as Python hashes it."""
    expected = FIPS | {
        bytes(range(length)): sha256(bytes(range(length))).hexdigest() for length in range(200)
    }
    found = ask({"ask": "sha256", "input": data.hex()} for data in expected)
    assert [one["hash"] for one in found] == list(expected.values())


def test_ed25519_accepts_what_wycheproof_says() -> None:
    """All 151 cases of Wycheproof, of which 88 are signatures."""
    groups = published("ed25519/wycheproof_ed25519_test.json")["testGroups"]
    cases = [(group["publicKey"]["pk"], case) for group in groups for case in group["tests"]]
    found = ask(
        {"ask": "ed25519", "message": case["msg"], "signature": case["sig"], "key": key}
        for key, case in cases
    )
    assert [one["signed"] for one in found] == [case["result"] == "valid" for _, case in cases]
    assert len(cases) == 151


def test_tags_have_the_identities_that_python_gives() -> None:
    """Of every character of Unicode 14, alone and in a word, the case is folded alike."""
    characters = [chr(code) for code in range(0x110000) if is_assigned(code) and not 0xD800 <= code < 0xE000]
    tags = [tag for one in characters if one != "#" for tag in (one, f"a{one}Σ")]
    (found,) = ask([{"ask": "identities", "tags": tags}])
    assert found["identities"] == [tag_identity(tag) for tag in tags]
