"""The second verifier refuses items that are not canonical, even if their hashes match."""

from __future__ import annotations

import pytest

from tests.reference import claims as c
from tests.reference.cases import SMALL, refused, small_case
from tests.reference.cbor import Malformed, read, write
from tests.reference.claims import Claim
from tests.reference.forms import header, payload, row
from tests.reference.hashes import EMPTY, digest
from tests.reference.journals import atom_id
from tests.reference.refused import Refused
from tests.spec.spec_naive import opened

NO_ATOM: Claim = (c.NO_ATOM, atom_id(99), None, False)
NOT_CANONICAL = """
    f5 f4 f7 20 f97e00 c100 a0 9fff 5f40ff 1817 190017 1a00000017 1b0000000000000000
    5801 61ff 63eda080 8180f6 82f6 1c 9bffffffffffffffff 5bffffffffffffffff"""


@pytest.mark.parametrize("data", ["", "81" * 17 + "80", *NOT_CANONICAL.split()])
def test_noncanonical_items_are_refused(data: str) -> None:
    """The reader refuses long forms, indefinite lengths, other types, bad text and wrong numbers of items."""
    assert refused(bytes.fromhex(data), small_case().basis("root"), [NO_ATOM]) == "encoding"


def test_no_more_items_are_read_than_allowed() -> None:
    """The reader accepts 2^20 items, including the outermost array, and no more."""
    assert len(read(write([None] * ((1 << 20) - 1))) or ()) == (1 << 20) - 1  # type: ignore[arg-type]
    with pytest.raises(Malformed):
        read(write([None] * (1 << 20)))


def test_forged_rows_and_payloads_are_refused_by_their_form() -> None:
    """Rows, headers and payloads with wrong fields are refused even if their hashes match."""
    for data in (
        "0000000001",
        "00000001010400" + "01",
        "0000000101" + "0000" + "00",
        "0000000102" + "0000" + "01",
    ):
        with pytest.raises(Refused, match="row"):
            row(bytes.fromhex(data), 4, 4)
    for data in ("000000020200000100" + "0002", "000000020100000000" + "0101", "000000020101000000" + "0101"):
        with pytest.raises(Refused, match="row"):
            row(bytes.fromhex(data), 4, 4)
    assert row(bytes.fromhex("000000020200000300" + "0102"), 4, 4) == [0, 3]
    for kind, body in ((3, [""]), (3, []), (8, [bytes(4)]), (10, [[EMPTY] * 3]), (5, [["x" * 257]])):
        whole = EMPTY + write(body)  # type: ignore[arg-type]  # a list of lists
        if (kind, body) == (3, [""]):
            assert payload(whole, kind, digest("commitment", whole)) == body
        else:
            with pytest.raises(Refused, match="payload"):
                payload(whole, kind, digest("commitment", whole))
    fields = opened(*SMALL[1])[0]
    for at, other in ((0, 1), (0, 3), (3, 12), (4, "x" * 33), (5, b""), (1, (1 << 53) + 1)):
        with pytest.raises(Refused, match="header"):
            header(write([*fields[:at], other, *fields[at + 1 :]]))
