"""The envelope: one file with a proof, its basis and its claims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.engine import Engine
from engine.trust.notes.signing import new_key
from proofs import check_envelope, verify
from proofs.basis import LogHead, Root
from proofs.envelope import ENVELOPE_BYTES_MAX, decode, encode
from proofs.errors import ProofError
from proofs.note import parse_note
from tests.support.engines import engine_on
from tests.support.workloads import id_of

CLAIMS = [
    f"atom {id_of(1)} live",
    "tagged kitchen",
    "no-term unicorn",
    f"edges-from {id_of(1)}",
    "event 1 sealed",
]


class Kept(NamedTuple):
    """What a store wrote: envelopes for its root, a checkpoint, and the checkpoint with a signature."""

    root: bytes
    note: bytes
    signed: bytes
    store_id: bytes
    text: str
    """The signed checkpoint."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A store with an atom, a tag and an edge."""
    with engine_on() as engine:
        engine.add("The kettle is descaled on Mondays.", id=id_of(1), tags=["Kitchen"])
        engine.add("Later.", id=id_of(2))
        engine.link(id_of(1), "references", id_of(2))
        store = engine.status().store_id
        root = proved(engine)
        key = tmp_path_factory.mktemp("key") / "signing.key"
        new_key(key, f"memroot.local/{store}")
        text = engine.checkpoint_note(key=key).note
        note = parse_note(text.encode())
        at = engine.prove(words(), checkpoint=note.checkpoint.text)
        return Kept(root, at.envelope(), at.envelope(note), UUID(store).bytes, text)


def words() -> list[list[str]]:
    """Return the words of the claims."""
    return [claim.split() for claim in CLAIMS]


def proved(engine: Engine) -> bytes:
    """Return the envelope of a proof of the claims against the present root."""
    return engine.prove(words()).envelope()


def test_the_parts_are_where_the_specification_puts_them(kept: Kept) -> None:
    """The file is the CBOR of an array of six items, of which the fourth is a root or the text of a note."""
    for data, head in ((kept.root, bytes), (kept.note, str), (kept.signed, str)):
        whole = cbor2.loads(data)
        assert data == cbor2.dumps(whole, canonical=True)
        assert whole[:3] == ["memroot-envelope", 3, kept.store_id]
        assert type(whole[3]) is head
        assert whole[4] == CLAIMS
        assert whole[5][:15] == b"\x8a\x6dmemroot-proof"
    assert cbor2.loads(kept.signed)[3] == kept.text
    assert cbor2.loads(kept.note)[3] == kept.text.partition("\n\n")[0] + "\n"


def test_an_envelope_is_read_as_it_was_written(kept: Kept) -> None:
    """The parts of a decoded envelope give the same bytes again."""
    for data in (kept.root, kept.note, kept.signed):
        read = decode(data)
        assert isinstance(read.basis, Root if read.note is None else LogHead)
        basis = read.basis if read.note is None else read.note
        assert encode(basis, read.claims, read.proof) == data  # type: ignore[arg-type]  # a Root without note


def test_the_file_alone_shows_its_claims(kept: Kept) -> None:
    """The facts are those of the proof in it, in the order of the claims."""
    for data in (kept.root, kept.note, kept.signed):
        shown, read = check_envelope(data), decode(data)
        assert shown.facts == verify(read.proof, read.basis, read.claims)
        assert shown.lines == CLAIMS
        assert shown.size == 4


def test_the_answer_says_what_is_to_be_compared(kept: Kept) -> None:
    """The sentence has the root, the store's id and, for a signed checkpoint, the name and id of the key."""
    store = str(UUID(bytes=kept.store_id))
    for data in (kept.root, kept.note, kept.signed):
        shown = check_envelope(data)
        assert shown.basis.root.hex() in shown.compare
        assert store in shown.compare
        assert ("signatures" in shown.compare) is (data is kept.signed)
    (line,) = parse_note(kept.text.encode()).signatures
    assert f"{line.name}+{line.key_id.hex()}" in check_envelope(kept.signed).compare


@pytest.mark.parametrize("change", [0x01, 0x20, 0x80, 0xFF])
def test_one_wrong_byte_anywhere_is_refused(kept: Kept, change: int) -> None:
    """No byte of a file without signatures can change, and of a signed one none in front of the signature."""
    for data in (kept.root, kept.note, kept.signed):
        signature = range(0)
        if data is kept.signed:
            lines = kept.text.partition("\n\n")[2].encode()
            signature = range(data.index(lines), data.index(lines) + len(lines))
        for at in range(len(data)):
            if at in signature:
                continue
            changed = bytearray(data)
            changed[at] ^= change
            with pytest.raises(ProofError):
                check_envelope(bytes(changed))


@given(st.data())
def test_a_file_that_is_cut_or_longer_is_refused(kept: Kept, given_data: st.DataObject) -> None:
    """Every beginning of a file, and a file with bytes behind it, is no envelope."""
    cut = given_data.draw(st.integers(0, len(kept.root) - 1))
    more = given_data.draw(st.binary(min_size=1, max_size=8))
    for data in (kept.root[:cut], kept.root + more):
        with pytest.raises(ProofError) as refused:
            check_envelope(data)
        assert refused.value.reason in {"encoding", "version"}


Change = Callable[[list[Any]], None]


def put(at: int, value: object) -> Change:
    """Return a change that puts another item in place of one."""

    def change(whole: list[Any]) -> None:
        whole[at] = value

    return change


CHANGES: list[tuple[str, Change]] = [
    ("version", put(0, "memroot-proof")),
    ("version", put(1, 2)),
    ("version", put(1, 4)),
    ("version", put(1, None)),
    ("form", list[Any].pop),
    ("form", lambda whole: whole.append(None)),
    ("form", put(2, bytes(15))),
    ("form", put(3, bytes(31))),
    ("form", put(3, None)),
    ("form", put(3, 7)),
    ("note", put(3, "")),
    ("note", put(3, "memroot.local/x\n1\n")),
    ("origin", put(3, f"example.com\n1\n{'A' * 43}=\n")),
    ("form", put(4, [])),
    ("form", put(4, CLAIMS[0])),
    ("form", put(4, [*CLAIMS, CLAIMS[0]])),
    ("form", put(4, [*CLAIMS[1:], CLAIMS[0].replace(" ", "  ", 1)])),
    ("form", put(4, [*CLAIMS[1:], CLAIMS[0] + " "])),
    ("form", put(4, [*CLAIMS[1:], CLAIMS[0] + "\n"])),
    ("form", put(4, [*CLAIMS[1:], CLAIMS[0].replace(" ", "\t")])),
    ("form", put(4, [*CLAIMS[1:], "tagged Kitchen"])),
    ("form", put(4, [*CLAIMS[1:], "event 0"])),
    ("form", put(4, [*CLAIMS[1:], ""])),
    ("form", put(4, [*CLAIMS[1:], "no-term " + "a" * 5000])),
    ("form", put(4, [*CLAIMS[1:], b"event 1"])),
    ("kind", put(4, CLAIMS[1:])),
    ("state", put(4, [*CLAIMS[1:], CLAIMS[0].replace("live", "tombstoned")])),
    ("form", put(5, "proof")),
    ("encoding", put(5, b"")),
    ("root", put(2, bytes([1] * 16))),
    ("root", put(3, bytes(32))),
]


@pytest.mark.parametrize(("reason", "change"), CHANGES)
def test_a_wrong_part_has_a_reason(kept: Kept, reason: str, change: Change) -> None:
    """Each part that is malformed, or is not of this proof, is refused with the reason for it."""
    whole = cbor2.loads(kept.root)
    change(whole)
    with pytest.raises(ProofError) as refused:
        check_envelope(cbor2.dumps(whole, canonical=True))
    assert refused.value.reason == reason


def test_a_checkpoint_of_another_store_is_refused(kept: Kept) -> None:
    """The store id and the origin of the note are of one store."""
    whole = cbor2.loads(kept.note)
    whole[2] = bytes([1] * 16)
    with pytest.raises(ProofError, match="origin"):
        check_envelope(cbor2.dumps(whole, canonical=True))


def test_a_file_that_is_too_large_is_refused() -> None:
    """The size is checked before the bytes are read."""
    with pytest.raises(ProofError, match="size"):
        decode(bytes(ENVELOPE_BYTES_MAX + 1))
    with pytest.raises(ProofError, match="input"):
        decode(bytearray())  # type: ignore[arg-type]


def test_an_envelope_that_cannot_be_read_is_not_written() -> None:
    """An envelope without a claim is refused where it is made."""
    with pytest.raises(ProofError, match="form"):
        encode(Root(bytes(range(16)), bytes(32)), [], b"proof")


def test_other_encodings_of_the_same_parts_are_refused(kept: Kept) -> None:
    """A length in more bytes than it needs is not canonical."""
    long = kept.root.replace(b"\x70memroot-envelope", b"\x78\x10memroot-envelope", 1)
    assert cbor2.loads(long) == cbor2.loads(kept.root)
    with pytest.raises(ProofError, match="encoding"):
        check_envelope(long)
