"""Claims and bases of all sorts: right ones, and questions that cannot be put to a verifier at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from proofs.basis import LogHead, Root
from proofs.errors import ProofError
from tests.javascript.node import Question
from tests.reference.both import real_claim

WORDS = (
    *("a", "A", "#", "#a", "a#", "é", "É", "\x1f", "\x20", "~", "\x7f", "\x80", "\x9f", "\xa0", "\xa1"),
    *(
        "\u1680",
        "\u1681",
        "\u2000",
        "\u200a",
        "\u200b",
        "a\u2028b",
        "a\u202fb",
        "\u205f",
        "\u3000",
        "\u3001",
        "\ufeffa",
        "\x00",
        "\x01",
        "a\x00",
        "\x02",
        "",
    ),
    *("\u105d2\u0307", "\U000105d2\u0307", "\ud7ff", "\U0010ffff", "ß", "ſ", "\u212a", "İ", "e\u0301", "%"),
    *("x" * length for length in (63, 64, 65, 255, 1023, 1024, 1025)),
    *("é" * length for length in (32, 33, 512, 513)),
)
IDS = (bytes(16), b"\x01" * 16, b"\xff" * 16, bytes(15) + b"\x01", b"", b"\x01" * 15, b"\x01" * 17)
CODES = (b"", b"\0", b"\x01", b"\x7f", b"\x80", b"\0\0", b"\x7f\xff", b"\x80\0", b"\xff\xff", b"\x80\0\0")
NUMBERS = (0, 1, 1 << 32, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
ROOTS = (b"", bytes(31), bytes(32), bytes(33))
NO_TEXTS = (b"\xff", b"a\xc0\x80", b"\xed\xa0\x80")
SUBJECT_WORDS = [*(word.encode() for word in WORDS), *NO_TEXTS]


def subjects_of(number: int) -> list[bytes]:
    """Return subjects for a claim of this number, few of which are right."""
    match number:
        case 3 | 4:
            return [one + code + two for one in IDS for code in CODES for two in IDS]
        case 5 | 6:
            return [one + word for one in IDS for word in SUBJECT_WORDS]
        case 11:
            return [*(seq.to_bytes(8, "big") for seq in NUMBERS), b"", bytes(7), bytes(9)]
        case 12:
            return [size.to_bytes(8, "big") + root for size in NUMBERS for root in ROOTS]
        case 0 | 13 | 14 | 15:
            return list(ROOTS)
    return [*IDS, *SUBJECT_WORDS]


def claim_questions() -> Iterator[Question]:
    """Give claims of every number, with subjects of all sorts, within their bounds and beyond."""
    for number in range(16):
        states = (None, 0, 1, 2, 3) if number in (1, 3) else (None, 0)
        for subject in subjects_of(number):
            for state in states:
                for opened in (False, True):
                    yield {"number": number, "subject": subject.hex(), "state": state, "opened": opened}


def is_claim(question: Question) -> bool:
    """Return whether Python takes a claim."""
    subject = bytes.fromhex(question["subject"])
    return is_taken(lambda: real_claim(question["number"], subject, question["state"], question["opened"]))


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
    if question["kind"] == "root":
        return is_taken(lambda: Root(store_id, root, question["size"]))
    return is_taken(lambda: LogHead(store_id, question["size"], root))


def is_taken(make: Callable[[], object]) -> bool:
    """Return whether `make` does not refuse its arguments as `input`; other errors are let through."""
    try:
        make()
    except ProofError as error:
        if error.reason != "input":
            raise
        return False
    return True
