"""Only signatures of known keys count, and a wrong signature of a known key invalidates the note."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError, VerificationError
from engine.trust.notes.signing import sign_ed25519, verify_ed25519
from engine.trust.notes.trusted_keys import Judged, Trust, judge, require
from proofs.errors import ProofError
from proofs.note import Checkpoint, Note, Signature, cosignature_message, parse_note, verify_signatures
from proofs.vkey import COSIGNATURE, ED25519, VerifierKey, parse_vkey
from tests.support.shared_data import needs
from tests.trust.notes.support import (
    CHECKPOINT,
    ORIGIN,
    cosigned,
    log_key,
    note_bytes,
    seed,
    signed,
    witness_key,
)

EXAMPLE = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
"""The verifier key in C2SP signed-note."""

TIME = 1_679_315_147


def test_the_example_of_the_specification() -> None:
    """The verifier key of C2SP is parsed, has its key id, and is formatted the same."""
    key = parse_vkey(EXAMPLE)
    assert (key.name, key.type, key.key_id.hex(), key.vkey) == ("example.com/foo", 1, "530d903a", EXAMPLE)


@given(st.binary(min_size=32, max_size=32), st.sampled_from([ED25519, COSIGNATURE]))
def test_a_verifier_key_is_read_as_it_is_written(public: bytes, kind: int) -> None:
    """Any key with any name is parsed back from its text."""
    key = VerifierKey(ORIGIN, kind, public)
    assert parse_vkey(key.vkey) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.com/foo",
        EXAMPLE.replace("530d903a", "530d903b"),
        EXAMPLE.replace("530d903a", "530D903A"),
        EXAMPLE.replace("530d903a", "530d903"),
        EXAMPLE.replace("example.com/foo", "example.com/bar"),
        EXAMPLE.replace("example.com/foo", ""),
        EXAMPLE.replace("example.com/foo", "a b"),
        EXAMPLE + "\n",
        EXAMPLE[:-1],
        EXAMPLE + "=",
        "example.com/foo+530d903a+Ag==",
        "PRIVATE+KEY+" + EXAMPLE,
        VerifierKey("a", 6, bytes(32)).vkey,
        VerifierKey("a\0b", 1, bytes(32)).vkey,
        VerifierKey("a\ufeff", 1, bytes(32)).vkey,
        VerifierKey("a", 1, bytes(31)).vkey,
        "\ud800+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        None,
    ],
)
def test_what_is_not_exactly_a_verifier_key_is_refused(text: str) -> None:
    """A text with another name, key id, type or spelling is refused."""
    with pytest.raises(ProofError) as caught:
        parse_vkey(text)
    assert caught.value.reason == "input"


def found(*lines: Signature, keys: list[VerifierKey], checkpoint: Checkpoint = CHECKPOINT) -> list[str]:
    """Return the names of the keys that made lines, with the time."""
    note = parse_note(note_bytes(*lines, checkpoint=checkpoint))
    marks = verify_signatures(note, keys, verify_ed25519)
    return [f"{one.key.name} {one.time}" if one else "?" for one in marks]


def test_a_log_and_its_witnesses_are_recognised() -> None:
    """The lines of a known log and a known witness verify, and the witness's line has a time."""
    lines = signed(), cosigned("w1", TIME), cosigned("w2", 2**63 - 1)
    keys = [log_key(), witness_key("w1"), witness_key("w2")]
    assert found(*lines, keys=keys) == [f"{ORIGIN} None", f"w1 {TIME}", f"w2 {2**63 - 1}"]
    with pytest.raises(ProofError, match="time over"):
        found(cosigned("w1", 2**63), keys=keys)


def test_the_message_of_a_witness() -> None:
    """A witness signs a line with its format, the time, and the text."""
    said = f"cosignature/v1\ntime {TIME}\n{CHECKPOINT.text}"
    assert cosignature_message(CHECKPOINT, TIME) == said.encode()


def test_lines_of_unknown_keys_are_kept_and_ignored() -> None:
    """Lines with other names, key ids or types are ignored and stay in the note."""
    key = log_key()
    lines = (
        signed(name="somebody.else"),
        Signature(key.name, bytes(4), bytes(64)),
        Signature("somebody.else", key.key_id, bytes(64)),
        Signature("post.quantum", b"\x06\x06\x06\x06", bytes(2420)),
    )
    assert found(*lines, keys=[key]) == ["?"] * 4
    assert parse_note(note_bytes(*lines)).signatures == lines


BROKEN = {
    "of another text": signed(CHECKPOINT._replace(size=8)),
    "by another key": Signature(ORIGIN, log_key().key_id, signed(made_by="other").signature),
    "a byte short": Signature(ORIGIN, log_key().key_id, signed().signature[:-1]),
    "a byte long": Signature(ORIGIN, log_key().key_id, signed().signature + b"\0"),
    "a cosignature in its place": Signature(ORIGIN, log_key().key_id, cosigned("w1", TIME).signature),
    "a witness of another text": cosigned("w1", TIME, CHECKPOINT._replace(root=bytes(32))),
    "a witness at another time": Signature(
        "w1", witness_key("w1").key_id, bytes(8) + cosigned("w1", TIME).signature[8:]
    ),
    "a witness that signed as a log does": Signature(
        "w1", witness_key("w1").key_id, bytes(8) + sign_ed25519(seed("w1"), CHECKPOINT.text.encode())
    ),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("first", [True, False])
def test_a_known_key_with_a_wrong_signature_spoils_the_note(name: str, first: bool) -> None:
    """A wrong signature of a known key is refused, whatever valid signatures are in the note."""
    right = signed(name="log.example")
    lines = (BROKEN[name], right) if first else (right, BROKEN[name])
    with pytest.raises(ProofError) as caught:
        found(*lines, keys=[log_key(), log_key("log.example"), witness_key("w1")])
    assert caught.value.reason == "signature"


def test_two_keys_that_look_the_same_are_refused() -> None:
    """Different keys with the same name and key id are refused."""

    class Twin(VerifierKey):
        @property
        def key_id(self) -> bytes:
            return log_key().key_id

    with pytest.raises(ProofError, match="input"):
        found(signed(), keys=[log_key(), Twin(ORIGIN, ED25519, bytes(32))])


def judged(*lines: Signature, trust: Trust) -> tuple[Judged, ...]:
    """Return the engine's result for a note."""
    marks = judge(Note(CHECKPOINT, lines), trust)
    require(marks, trust)
    return marks


def test_one_of_the_keys_must_have_signed() -> None:
    """If keys are given, an unsigned note and one with unknown signatures only are refused."""
    trust = Trust.of([log_key().vkey, log_key("log.example", "other").vkey], [])
    assert [one.by for one in judged(signed(), signed(name="x"), trust=trust)] == ["key", "unknown"]
    for lines in ([], [signed(name="x")], [cosigned("w1", TIME)]):
        with pytest.raises(VerificationError, match="not signed by any of the given keys"):
            judged(*lines, trust=trust)


def test_enough_witnesses_must_have_signed() -> None:
    """The threshold counts different witnesses; without one, all of them must have signed."""
    vkeys = [witness_key(name).vkey for name in ("w1", "w2", "w3")]
    two = cosigned("w1", TIME), cosigned("w2", TIME), cosigned("w1", TIME + 1)
    assert len(judged(*two, trust=Trust.of([], vkeys, 2))) == 3
    with pytest.raises(VerificationError, match="2 of 3"):
        judged(*two, trust=Trust.of([], vkeys))
    with pytest.raises(VerificationError, match="1 of 3"):
        judged(two[0], two[2], trust=Trust.of([], vkeys, 2))


@pytest.mark.parametrize(
    ("keys", "witnesses", "threshold"),
    [
        ([witness_key("w1").vkey], [], None),
        ([], [log_key().vkey], None),
        (["nonsense"], [], None),
        ([], [], 1),
        ([], [witness_key("w1").vkey], 2),
        ([], [witness_key("w1").vkey, witness_key("w1").vkey], 2),
        ([], [witness_key("w1").vkey], 0),
        ([], [], -1),
    ],
)
def test_trust_that_cannot_be_met_is_refused(keys: list[str], witnesses: list[str], threshold: int) -> None:
    """A key of the wrong type, a text that is not a key, and an impossible threshold are refused."""
    with pytest.raises(InvalidInputError):
        Trust.of(keys, witnesses, threshold)


@pytest.mark.parametrize("text", ["signing.key.vkey", "", "a+b"])
def test_what_is_no_verifier_key_is_named_as_such(text: str) -> None:
    """The error about a file's name in place of a key explains how to give the key in the file."""
    with pytest.raises(InvalidInputError, match="is not a verifier key: a verifier key consists") as caught:
        Trust.of([text], [])
    assert "--key $(cat FILE)" in caught.value.hint


@pytest.mark.parametrize("before", ["", " ", "\n", "x"])
@pytest.mark.parametrize("as_witness", [False, True])
def test_a_private_key_is_never_repeated(before: str, as_witness: bool) -> None:
    """The error about a private key in place of a verifier key repeats no part of it."""
    text = f"{before}PRIVATE+KEY+log.example+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
    with pytest.raises(InvalidInputError, match=r"^this is a private key$") as caught:
        Trust.of(*([], [text]) if as_witness else ([text], []))
    assert caught.value.hint == "give the verifier key (`engine key show FILE`)"


@pytest.mark.parametrize(
    ("public", "signature"), [(b"", bytes(64)), (bytes(31), bytes(64)), (bytes(32), b"")]
)
def test_no_bytes_make_the_check_itself_fail(public: bytes, signature: bytes) -> None:
    """Keys and signatures of wrong lengths do not verify and raise nothing."""
    assert not verify_ed25519(public, b"text", signature)


def test_the_edge_cases_of_ed25519_have_a_known_verdict() -> None:
    """Of 914 edge cases, those with a residue of low order or another encoding of R fail.

    The other 208 verify, including those with a key of small order or in another encoding: the equation has
    no cofactor, and R is compared by its bytes.
    """
    vectors = json.loads(needs("vectors/ed25519/cctv_ed25519vectors.json").read_text())
    passed = [
        verify_ed25519(bytes.fromhex(one["key"]), one["msg"].encode(), bytes.fromhex(one["sig"]))
        for one in vectors
    ]
    expected = [not {"low_order_residue", "non_canonical_R"} & set(one["flags"] or ()) for one in vectors]
    assert passed == expected
    assert (len(passed), sum(passed)) == (914, 208)


def test_the_vectors_of_wycheproof_pass() -> None:
    """All 88 valid signatures verify, and all 63 invalid ones do not."""
    groups = json.loads(needs("vectors/ed25519/wycheproof_ed25519_test.json").read_text())["testGroups"]
    verdicts = [
        (one["result"], verify_ed25519(*(bytes.fromhex(text) for text in (key, one["msg"], one["sig"]))))
        for group in groups
        for key in [group["publicKey"]["pk"]]
        for one in group["tests"]
    ]
    assert sorted(verdicts) == [("invalid", False)] * 63 + [("valid", True)] * 88
