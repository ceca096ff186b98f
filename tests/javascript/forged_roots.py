"""Proofs that were changed, against roots that were made to fit, and questions that may be none at all."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from proofs.basis import LogHead, Root
from proofs.errors import ProofError
from tests.javascript.agreement import Asked
from tests.javascript.node import Question
from tests.reference.both import real_claim
from tests.reference.cbor import read, write
from tests.reference.reroot import Hopeless, rerooted
from tests.reference.test_differential import changed, honest

WORDS = (
    *"a A # #a a# é É \x1f \x20 \x7e \x7f \x80 \x9f \xa0 \xa1 \u1680 \u1681 \u2000 \u200a \u200b".split(" "),
    *("a\u2028b", "a\u202fb", "\u205f", "\u3000", "\u3001", "\ufeffa", "\x00", "\x01", "a\x00", "\x02", ""),
    *("\u105d2\u0307", "\U000105d2\u0307", "\ud7ff", "\U0010ffff", "ß", "ſ", "K", "İ", "e\u0301", "%"),
    *("x" * length for length in (63, 64, 65, 255, 1023, 1024, 1025)),
    *("é" * length for length in (32, 33, 512, 513)),
)
IDS = (bytes(16), b"\x01" * 16, b"\xff" * 16, bytes(15) + b"\x01", b"", b"\x01" * 15, b"\x01" * 17)
CODES = (b"", b"\0", b"\x01", b"\x7f", b"\x80", b"\0\0", b"\x7f\xff", b"\x80\0", b"\xff\xff", b"\x80\0\0")
NUMBERS = (0, 1, 1 << 32, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
ROOTS = (b"", bytes(31), bytes(32), bytes(33))


def forged_roots(rng: Random) -> Iterator[Asked]:
    """Give honest proofs with something in them changed, and the overall root that the change leads to."""
    while True:
        data, store_id, claims = rng.choice(honest())
        parts: Any = read(data)
        changed(parts, rng)
        try:
            root = rerooted(parts, store_id, claims)
            data = write(parts)
        except (Hopeless, OverflowError, StopIteration):
            continue
        yield Asked(data, Root.of(store_id.hex(), root.hex()), [real_claim(*claim) for claim in claims])


def claim_questions() -> Iterator[Question]:
    """Give claims of every number, with subjects of all sorts, within their bounds and beyond."""
    words = [word.encode("utf-8", "surrogatepass") for word in WORDS] + [b"\xff", b"a\xc0\x80", b"\xed\xa0\x80"]
    edges = [one + code + two for one in IDS for code in CODES for two in IDS]
    subjects = {
        **dict.fromkeys((1, 2), [*IDS, *words]),
        **dict.fromkeys((3, 4), edges),
        **dict.fromkeys((5, 6), [one + word for one in IDS for word in words]),
        **dict.fromkeys((7, 8, 9, 10), [*IDS, *words]),
        11: [*(number.to_bytes(8, "big") for number in NUMBERS), b"", bytes(7), bytes(9)],
        12: [number.to_bytes(8, "big") + root for number in NUMBERS for root in ROOTS],
        **dict.fromkeys((0, 13, 14, 15), list(ROOTS)),
    }
    for number, of_number in subjects.items():
        states = (None, 0, 1, 2, 3) if number in (1, 3) else (None, 0)
        for subject in of_number:
            for state in states:
                for opened in (False, True):
                    yield {"number": number, "subject": subject.hex(), "state": state, "opened": opened}


def is_claim(question: Question) -> bool:
    """Return whether Python takes a claim."""
    try:
        subject = bytes.fromhex(question["subject"])
        real_claim(question["number"], subject, question["state"], question["opened"])
    except ProofError as error:
        assert error.reason == "input"
        return False
    return True


def basis_questions() -> Iterator[Question]:
    """Give bases of both kinds, within their bounds and beyond."""
    for kind in ("root", "log"):
        for store in IDS:
            for root in ROOTS:
                for size in (None, *NUMBERS):
                    yield {"kind": kind, "store": store.hex(), "size": size, "root": root.hex()}


def is_basis(question: Question) -> bool:
    """Return whether Python takes a basis."""
    store_id, root = bytes.fromhex(question["store"]), bytes.fromhex(question["root"])
    try:
        if question["kind"] == "root":
            Root(store_id, root, question["size"])
        else:
            LogHead(store_id, question["size"], root)
    except ProofError as error:
        assert error.reason == "input"
        return False
    return True
